// How ranks of the shm backend meet and wait, and what each knows of the others.

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/system/this_machine.hpp"
#include "tests/real/backend/shm/in_one_process.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

TEST(ShmMeeting, AllRanksSeeTheSame) {
  for (const int num_ranks : {1, 2, 3}) {
    const ShmGroups groups = met(num_ranks);
    cpu_set_t cores;
    ASSERT_EQ(::sched_getaffinity(0, sizeof(cores), &cores), 0);
    std::set<Secret> secrets;
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      ShmGroup& own = *groups[static_cast<std::size_t>(rank)];
      EXPECT_EQ(own.rank(), rank);
      EXPECT_EQ(own.num_ranks(), num_ranks);
      EXPECT_FALSE(own.of_one_process());
      EXPECT_EQ(own.next_collective(), 1U);
      EXPECT_EQ(own.next_collective(), 2U);
      secrets.insert(own.header(rank).secret);
      for (Rank target = 0; target < num_ranks; ++target) {
        Channel& channel = own.channel(rank, target);
        channel.announcements.front().bytes = static_cast<std::uint64_t>(10 * rank + target);
        channel.buffers.back().back() = static_cast<std::byte>(100 + 10 * rank + target);
      }
    }
    EXPECT_EQ(secrets.size(), groups.size());
    for (const auto& seen_by : groups) {
      EXPECT_EQ(seen_by->reads_remotely(), groups[0]->reads_remotely());
      for (Rank rank = 0; rank < num_ranks; ++rank) {
        const RankHeader& header = seen_by->header(rank);
        const ShmGroup& other = *groups[static_cast<std::size_t>(rank)];
        EXPECT_EQ(header.address, other.shared()->reserved());
        EXPECT_TRUE(CPU_EQUAL(&header.cores, &cores));
        EXPECT_EQ(header.joined.load(), 1U);
        EXPECT_EQ(header.left.load(), 0U);
        EXPECT_EQ(header.reads_remotely.load() != 0, groups[0]->reads_remotely());
        for (Rank target = 0; target < num_ranks; ++target) {
          const Channel& channel = seen_by->channel(rank, target);
          EXPECT_EQ(channel.announcements.front().bytes, static_cast<std::uint64_t>(10 * rank + target));
          EXPECT_EQ(channel.buffers.back().back(), static_cast<std::byte>(100 + 10 * rank + target));
        }
      }
    }
  }
}

/// What rank 0 of two says when it has waited 10 ms for rank 1, which has left a note.
std::string waited_in_vain(const TemporaryDirectory& directory, const std::string& note) {
  if (!note.empty()) {
    meeting_folder(directory.path() / "here-shm")->set("rank-1", note);
  }
  RankPlace place = place_here(directory, 0, 2);
  place.timeout = 10ms;
  try {
    const ShmGroup group(place);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::peer_lost);
    const std::string text = error.what();
    const std::string begin = fmt::format("rank 0 did not meet rank 1 within 10 ms at {}", place.rendezvous);
    EXPECT_TRUE(text.starts_with(begin)) << text;
    return text.substr(std::min(begin.size(), text.size()));
  }
  return "they have met";
}

TEST(ShmMeeting, WhoDoesNotComeIsSaidWithTheReason) {
  const TemporaryDirectory directory;
  const auto note = [](int file, const Secret& secret) {
    return fmt::format("{} {} {}\n", ::getpid(), file, std::string_view(secret.data(), secret.size()));
  };
  EXPECT_EQ(waited_in_vain(directory, ""), "");
  EXPECT_EQ(waited_in_vain(directory, "12 3\n"), "") << "half a note";
  EXPECT_EQ(
      waited_in_vain(directory, "999999999 3 secret\n"),
      ": its memory is out of reach (No such file or directory); ranks of the shm backend are processes "
      "of one user on one machine, in one PID namespace");
  const FileDescriptor file(::memfd_create("test", MFD_CLOEXEC));
  Secret secret{};
  secret.fill('s');
  ASSERT_EQ(::ftruncate(file.number(), reserved_bytes(2) - 1), 0);
  EXPECT_EQ(waited_in_vain(directory, note(file.number(), secret)), "") << "it is still growing";
  ASSERT_EQ(::ftruncate(file.number(), reserved_bytes(2)), 0);
  EXPECT_EQ(waited_in_vain(directory, note(file.number(), secret)),
            ": its process is gone, or in another PID namespace");
  ASSERT_EQ(::pwrite(file.number(), secret.data(), secret.size(), 0), 32);
  EXPECT_EQ(waited_in_vain(directory, note(file.number(), secret)), "") << "it has not met the others";
  PeerMemory other(FileDescriptor(::dup(file.number())), reserved_bytes(2));
  header_in(other.reserved()).left = 1;
  EXPECT_EQ(waited_in_vain(directory, note(file.number(), secret)), ": it is gone");
  header_in(other.reserved()).joined = 1;
  EXPECT_EQ(waited_in_vain(directory, note(file.number(), secret)), "they have met");

  RankPlace elsewhere = place_here(directory, 0, 2);
  elsewhere.rendezvous = "redis://node:1";
  try {
    const ShmGroup group(elsewhere);
    FAIL() << "through Redis";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_STREQ(error.what(),
                 "rendezvous 'redis://node:1' must be file:///directory: ranks of the shm "
                 "backend are on one machine");
  }
}

TEST(ShmMeeting, OneRankWithMoreRanksThanCoresSaysForAllThatCoresAreShared) {
  const std::vector<std::size_t> allowed = allowed_cores();
  if (allowed.size() < 2) {
    GTEST_SKIP() << "one core";
  }
  const std::vector<std::size_t> a = {allowed[0]};
  const std::vector<std::size_t> b = {allowed[1]};
  const std::vector<std::size_t> both = {allowed[0], allowed[1]};
  const struct {
    std::vector<std::vector<std::size_t>> cores;
    bool shared;
  } table[] = {{{a, b}, false},       {{a, both}, true},          {{b, a, both}, true},
               {{both, both}, false}, {{both, both, both}, true}, {{a}, false}};
  for (const auto& row : table) {
    const ShmGroups groups = met(static_cast<int>(row.cores.size()), 20s, [&](Rank rank) {
      cpu_set_t set;
      CPU_ZERO(&set);
      for (const std::size_t core : row.cores[static_cast<std::size_t>(rank)]) {
        CPU_SET(core, &set);
      }
      ASSERT_EQ(::sched_setaffinity(0, sizeof(set), &set), 0);
    });
    for (const auto& group : groups) {
      EXPECT_EQ(group->shares_cores(), row.shared) << &row - table;
    }
  }
}

/// Met at a certain ask, or as soon as its rank has said that it sleeps.
class Asked final : public Condition {
 public:
  Asked(ShmGroup& group, int met_at) : asleep_(group.header(group.rank()).asleep), met_at_(met_at) {}
  bool met() override {
    ++asks;
    return asks == met_at_ || asleep_ != 0;
  }
  int asks = 0;

 private:
  std::atomic<std::uint32_t>& asleep_;
  int met_at_;
};

TEST(ShmWaits, AskForAWhileBeforeTheySleep) {
  const auto asks = [](ShmGroup& group, int met_at) {
    Asked condition(group, met_at);
    group.wait({.peer = 0}, condition);
    EXPECT_EQ(group.header(group.rank()).asleep.load(), 0U);
    return condition.asks;
  };
  const ShmGroups alone = ShmGroup::of_threads(1, 20s);
  EXPECT_EQ(asks(*alone[0], 1), 1);
  EXPECT_EQ(asks(*alone[0], 4000), 4000);
  EXPECT_EQ(asks(*alone[0], 0), 4001);
  std::thread([&] {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(allowed_cores().front(), &mine);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(mine), &mine), 0);
    const ShmGroups together = ShmGroup::of_threads(2, 20s);
    EXPECT_EQ(asks(*together[1], 1), 1);
    EXPECT_EQ(asks(*together[1], 2), 2);
    const int before_sleep = asks(*together[1], 0) - 1;
    EXPECT_GE(before_sleep, 3) << "it has let others run";
    EXPECT_LE(before_sleep, 102);
  }).join();
}

}  // namespace
}  // namespace ringside
