#include "common/names.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kAlgorithms = {"naive", "tutorial_ring", "ring", "halving_doubling"};

template <typename E>
class Names : public testing::Test {};

using Sets = testing::Types<Collective, DataType, ReduceOp, Backend, Fidelity, Outcome>;
TYPED_TEST_SUITE(Names, Sets);

TYPED_TEST(Names, ReadBackAsTheValueThatTheySpell) {
  const auto names = names_of<TypeParam>();
  EXPECT_FALSE(names.empty());
  int value = 0;
  for (const std::string& text : names) {
    const auto parsed = parse_name<TypeParam>(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(name(*parsed), text);
    EXPECT_EQ(static_cast<int>(*parsed), value++) << "names stand in the order of declaration";
  }
  EXPECT_FALSE(parse_name<TypeParam>(""));
  EXPECT_FALSE(parse_name<TypeParam>(names.front() + " "));
}

TEST(Names, AutomaticIsSpeltAuto) {
  EXPECT_EQ(name(Backend::automatic), "auto");
  EXPECT_EQ(name(Fidelity::automatic), "auto");
}

TEST(Names, ElementsHaveTheirSize) {
  std::vector<std::size_t> sizes;
  for (const std::string& text : names_of<DataType>()) {
    sizes.push_back(size_of(*parse_name<DataType>(text)));
  }
  EXPECT_THAT(sizes, ElementsAre(4, 8, 2, 2, 4, 8));
}

/// What proofs, prices, measurements and logs take from the rows.
TEST(Collectives, HaveTheirRows) {
  std::string rows;
  for (const CollectiveRow& row : kCollectives) {
    const Collective one = row.collective;
    EXPECT_EQ(&row_of(one), &row);
    rows += fmt::format("{}: {} to {}, {}{}{}{}, {} in a buffer, {} of S, '{}' '{}' '{}'\n", name(one),
                        name(row.starts), name(row.ends), reduces(one) ? "reduces " : "",
                        has_root(one) ? "root " : "", scattered(one) ? "scattered " : "",
                        row.nccl_sends ? "sends" : "", messages_in_buffer(one, 5), bus_share(one, 4),
                        row.nccl_tests, row.osu, row.imb);
  }
  EXPECT_EQ(
      rows,
      R"(all_reduce: everything to everything, reduces , 1 in a buffer, 1.5 of S, '' 'Allreduce' 'Allreduce'
reduce_scatter: everything to own_part, reduces scattered , 1 in a buffer, 0.75 of S, '' 'Reduce_scatter' 'Reduce_scatter'
all_gather: own_part to everything, scattered , 1 in a buffer, 0.75 of S, '' 'Allgather' 'Allgather'
broadcast: everything_at_root to everything, root , 1 in a buffer, 1 of S, '' 'Broadcast' 'Bcast'
reduce: everything to everything_at_root, reduces root , 1 in a buffer, 1 of S, '' 'Reduce' 'Reduce'
gather: own_part to everything_at_root, root scattered sends, 1 in a buffer, 0.75 of S, '' 'Gather' 'Gather'
all_to_all: own_part to part_of_each, scattered sends, 5 in a buffer, 0.75 of S, 'alltoall' 'All-to-All' 'Alltoall'
send_recv: own_part to previous_part, scattered sends, 5 in a buffer, 1 of S, 'sendrecv' '' ''
)");
  EXPECT_EQ(CollectiveRow{}.bus_factor, 0);
  EXPECT_FALSE(CollectiveRow{}.nccl_sends);
}

TEST(NearestName, FindsSlipsOfTheFinger) {
  EXPECT_EQ(nearest_name("rng", kAlgorithms), "ring") << "left out";
  EXPECT_EQ(nearest_name("rinng", kAlgorithms), "ring") << "one too many";
  EXPECT_EQ(nearest_name("rong", kAlgorithms), "ring") << "another letter";
  EXPECT_EQ(nearest_name("rign", kAlgorithms), "ring") << "swapped";
  EXPECT_EQ(nearest_name("RING", kAlgorithms), "ring") << "capitals";
  EXPECT_EQ(nearest_name("tutorial-ring", kAlgorithms), "tutorial_ring");
  EXPECT_EQ(nearest_name("halving_doublng", kAlgorithms), "halving_doubling");
}

TEST(NearestName, OffersNothingThatIsNotMeant) {
  EXPECT_EQ(nearest_name("halv", kAlgorithms), "halving_doubling") << "cut short";
  EXPECT_EQ(nearest_name("hal", kAlgorithms), "halving_doubling") << "three letters suffice";
  EXPECT_EQ(nearest_name("ha", kAlgorithms), std::nullopt);
  EXPECT_EQ(nearest_name("alv", kAlgorithms), std::nullopt) << "not its beginning";
  EXPECT_EQ(nearest_name("tree", kAlgorithms), std::nullopt);
  EXPECT_EQ(nearest_name("", kAlgorithms), std::nullopt);
  EXPECT_EQ(nearest_name("x", kAlgorithms), std::nullopt);
  EXPECT_EQ(nearest_name("ring", std::vector<std::string>{}), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(10'000'000, 'r'), kAlgorithms), std::nullopt);
}

TEST(NearestName, AThirdOfTheLongerWordMayBeWrong) {
  const std::vector<std::string> known = {"abcdefgh"};
  EXPECT_EQ(nearest_name("abcdexyz", known), "abcdefgh") << "3 of 8, rounded up";
  EXPECT_EQ(nearest_name("abcdwxyz", known), std::nullopt) << "4 of 8";
  EXPECT_EQ(nearest_name("bcde", std::vector<std::string>{"abcde"}), "abcde") << "the first is left out";
  EXPECT_EQ(nearest_name("badc", std::vector<std::string>{"abcd"}), std::nullopt)
      << "two swaps in four letters";
  EXPECT_EQ(nearest_name("bacd", std::vector<std::string>{"abcd"}), "abcd");
  EXPECT_EQ(nearest_name("abxdefgh", std::vector<std::string>{"abxxefgh", "abxdefxh", "abxdefgh"}),
            "abxdefgh")
      << "the nearest";
}

TEST(Backends, HaveTheLibraryWhoseCollectivesAreNative) {
  EXPECT_EQ(library_of(Backend::gloo), "Gloo");
  EXPECT_EQ(library_of(Backend::nccl), "NCCL");
  EXPECT_EQ(library_of(Backend::mpi), "MPI");
  for (const Backend none : {Backend::shm, Backend::threads, Backend::automatic}) {
    EXPECT_EQ(library_of(none), "");
  }
}

TEST(NearestName, TakesTheFirstOfTwoThatAreEquallyNear) {
  EXPECT_EQ(nearest_name("int", std::vector<std::string>{"int1", "int2"}), "int1");
}

TEST(UnknownName, SaysWhatIsKnown) {
  EXPECT_EQ(
      unknown_name("algorithm", "rng", kAlgorithms),
      "unknown algorithm 'rng'; did you mean 'ring'? Known: naive, tutorial_ring, ring, halving_doubling");
  EXPECT_EQ(unknown_name("algorithm", "tree", kAlgorithms),
            "unknown algorithm 'tree'. Known: naive, tutorial_ring, ring, halving_doubling");
}

TEST(Error, EachKindHasItsExitStatus) {
  EXPECT_EQ(exit_status(ErrorKind::bad_input), 2);
  EXPECT_EQ(exit_status(ErrorKind::environment), 3);
  EXPECT_EQ(exit_status(ErrorKind::peer_lost), 1);
  EXPECT_EQ(exit_status(ErrorKind::failed), 1);
  EXPECT_EQ(kExitBug, 70) << "scripts tell a bug of ours by it";
}

TEST(Error, OfAKeyIsBadInputAndOthersStayAsTheyAre) {
  EXPECT_EQ(value_of_key([] { return 7; }), 7);
  const auto thrown = [](ErrorKind kind) -> std::string {
    try {
      value_of_key([&]() -> int { throw Error(kind, "ranks: too many"); });
    } catch (const KeyError& error) {
      return "key " + std::to_string(exit_status(error.kind())) + " " + error.what();
    } catch (const Error& error) {
      return std::to_string(exit_status(error.kind())) + " " + error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(thrown(ErrorKind::bad_input), "key 2 ranks: too many");
  EXPECT_EQ(thrown(ErrorKind::environment), "3 ranks: too many");
  EXPECT_EQ(thrown(ErrorKind::failed), "1 ranks: too many");
}

TEST(Error, AValueThatNoEnumDeclaresIsABug) {
  const auto said = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const Bug& bug) {
      return bug.what();
    }
    return "nothing";
  };
  EXPECT_THAT(said([] { name(static_cast<DataType>(99)); }),
              testing::EndsWith("an enum holds a value that has no name (expected a declared value)"));
  EXPECT_THAT(said([] { size_of(static_cast<DataType>(99)); }),
              testing::EndsWith("an unknown data type has no size (expected a declared value)"));
  EXPECT_EQ(exit_status(static_cast<ErrorKind>(99)), kExitBug);
}

TEST(Error, ABugNamesItsPlace) {
  try {
    RINGSIDE_CHECK(1 + 1 == 3, "arithmetic is broken");
    FAIL();
  } catch (const Bug& bug) {
    EXPECT_THAT(bug.what(), testing::MatchesRegex(
                                ".*names_test.cpp:[0-9]+: arithmetic is broken \\(expected 1 \\+ 1 == 3\\)"));
  }
}

}  // namespace
}  // namespace ringside
