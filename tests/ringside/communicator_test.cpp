#include "ringside/communicator.hpp"

#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/launch.hpp"
#include "tests/ringside/error_of.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Thread ranks fail the test of the thread that started them.
void with_ranks(int ranks, const RankFunction& function) {
  launch({.ranks = ranks, .backend = Backend::threads, .timeout = 10s}, function);
}

std::vector<std::string> algorithms(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return {"naive",           "tutorial_ring",      "ring",
              "direct",          "double_binary_tree", "halving_doubling",
              "direct_two_shot", "recursive_doubling", "pipelined_ring"};
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::gather:
      return {"naive", "ring", "binomial_tree"};
    case Collective::reduce_scatter:
    case Collective::all_gather:
      return {"naive", "ring"};
    case Collective::all_to_all:
    case Collective::send_recv:
      break;
  }
  return {};
}

/// Element i of a rank's message.
template <typename T>
std::vector<T> contribution(Rank rank, int count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), static_cast<T>(100 * rank));
  return values;
}

/// The sum of the contributions of all ranks.
template <typename T>
std::vector<T> sum_of_all(int ranks, int count) {
  std::vector<T> sum(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    sum[static_cast<std::size_t>(i)] = static_cast<T>(100 * ranks * (ranks - 1) / 2 + ranks * i);
  }
  return sum;
}

class EveryCount : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, EveryCount, ::testing::Values(1, 2, 3, 4, 8));

template <typename T>
void expect_all_reduce(int ranks) {
  for (const std::string& algorithm : algorithms(Collective::all_reduce)) {
    for (const int count : {0, 1, 2, 37}) {
      with_ranks(ranks, [&](Communicator& communicator) {
        std::vector<T> message = contribution<T>(communicator.rank(), count);
        communicator.all_reduce(message, ReduceOp::sum, algorithm);
        EXPECT_EQ(message, sum_of_all<T>(ranks, count)) << algorithm;
      });
    }
  }
}

TEST_P(EveryCount, AllReduceSumsElementsOfEveryTypeWithEveryAlgorithm) {
  expect_all_reduce<float>(GetParam());
  expect_all_reduce<double>(GetParam());
  expect_all_reduce<std::int32_t>(GetParam());
  expect_all_reduce<std::int64_t>(GetParam());
}

TEST_P(EveryCount, EveryOperationIsWhatItsNameSays) {
  const int ranks = GetParam();
  with_ranks(ranks, [&](Communicator& communicator) {
    const auto reduced = [&](ReduceOp op) {
      std::array<double, 1> value = {communicator.rank() + 1.0};
      communicator.all_reduce(value, op);
      return value.front();
    };
    EXPECT_EQ(reduced(ReduceOp::sum), ranks * (ranks + 1) / 2.0);
    EXPECT_EQ(reduced(ReduceOp::avg), (ranks + 1) / 2.0);
    EXPECT_EQ(reduced(ReduceOp::min), 1);
    EXPECT_EQ(reduced(ReduceOp::max), ranks);
    EXPECT_EQ(reduced(ReduceOp::prod), std::tgamma(ranks + 1));
  });
}

TEST_P(EveryCount, RootedCollectivesServeAnyRoot) {
  const int ranks = GetParam();
  for (Rank root = 0; root < ranks; ++root) {
    for (const std::string& algorithm : algorithms(Collective::reduce)) {
      with_ranks(ranks, [&](Communicator& communicator) {
        const Rank rank = communicator.rank();
        std::vector<float> message = contribution<float>(rank, 5);
        communicator.reduce(message, root, ReduceOp::sum, algorithm);
        if (rank == root) {
          EXPECT_EQ(message, sum_of_all<float>(ranks, 5)) << algorithm;
        }
        message = contribution<float>(rank, 5);
        communicator.broadcast(message, root, algorithm);
        EXPECT_EQ(message, contribution<float>(root, 5)) << algorithm;

        const std::vector<std::int32_t> own = {rank, -rank};
        std::vector<std::int32_t> all(rank == root ? 2 * static_cast<std::size_t>(ranks) : 0);
        communicator.gather(own, all, root, algorithm);
        for (Rank part = 0; rank == root && part < ranks; ++part) {
          EXPECT_EQ(all[2 * static_cast<std::size_t>(part)], part) << algorithm;
          EXPECT_EQ(all[2 * static_cast<std::size_t>(part) + 1], -part) << algorithm;
        }
      });
    }
  }
}

TEST_P(EveryCount, ScatteredCollectivesKeepTheOrderOfRanks) {
  const int ranks = GetParam();
  for (const std::string& algorithm : algorithms(Collective::all_gather)) {
    with_ranks(ranks, [&](Communicator& communicator) {
      const std::vector<std::int64_t> own = contribution<std::int64_t>(communicator.rank(), 3);
      std::vector<std::int64_t> all(3 * static_cast<std::size_t>(ranks));
      communicator.all_gather(own, all, algorithm);
      for (Rank part = 0; part < ranks; ++part) {
        const auto begin = all.begin() + 3 * part;
        EXPECT_EQ(std::vector(begin, begin + 3), contribution<std::int64_t>(part, 3)) << algorithm;
      }

      const std::vector<std::int64_t> before = contribution<std::int64_t>(communicator.rank(), 3 * ranks);
      const std::vector<std::int64_t> sum = sum_of_all<std::int64_t>(ranks, 3 * ranks);
      std::vector<std::int64_t> reduced(3);
      const std::vector<std::int64_t> message = before;
      communicator.reduce_scatter(message, reduced, ReduceOp::sum, algorithm);
      const auto begin = sum.begin() + 3 * communicator.rank();
      EXPECT_EQ(reduced, std::vector(begin, begin + 3)) << algorithm;
      EXPECT_EQ(message, before) << "the input is only read";
    });
  }
}

TEST(Communicator, ACollectiveMayBeRepeatedOnTheSameAndOnOtherMemory) {
  with_ranks(3, [](Communicator& communicator) {
    std::vector<float> message(10, 1.0F);
    communicator.all_reduce(message);
    communicator.all_reduce(message);
    EXPECT_THAT(message, Each(9.0F));
    for (int i = 0; i < 600; ++i) {  // More than are kept prepared.
      std::vector<float> other(static_cast<std::size_t>(i + 1), 1.0F);
      communicator.all_reduce(other);
      EXPECT_THAT(other, Each(3.0F));
    }
    communicator.all_reduce(message);
    EXPECT_THAT(message, Each(27.0F));
  });
}

TEST(Communicator, MessagesOfOneDirectionArriveInOrder) {
  with_ranks(2, [](Communicator& communicator) {
    std::array<std::int32_t, 2> first = {1, 2};
    std::array<std::int32_t, 1> second = {3};
    if (communicator.rank() == 0) {
      Request a = communicator.isend(first, 1);
      Request b = communicator.isend(second, 1);
      communicator.wait(b);
      communicator.wait(a);
      communicator.wait(a);  // Does nothing.
    } else {
      first = {};
      second = {};
      communicator.recv(first, 0);
      communicator.recv(second, 0);
      EXPECT_THAT(first, ElementsAre(1, 2));
      EXPECT_THAT(second, ElementsAre(3));
    }
    communicator.barrier();
  });
}

TEST(Communicator, CountsTheBytesThatItSends) {
  with_ranks(4, [](Communicator& communicator) {
    std::vector<float> message(100);
    communicator.all_reduce(message, ReduceOp::sum, "ring");
    EXPECT_EQ(communicator.bytes_sent(), 2 * 3 * 100);  // 2(N−1)/N · S
    communicator.all_reduce(message, ReduceOp::sum, "naive");
    EXPECT_EQ(communicator.bytes_sent(), 600 + (communicator.rank() == 0 ? 3 * 400 : 400));
  });
}

TEST(Communicator, WhatIsWrongWithACallIsSaidBeforeAnythingIsSent) {
  with_ranks(2, [](Communicator& communicator) {
    std::vector<float> message(4);
    const Rank rank = communicator.rank();
    EXPECT_EQ(error_of([&] { communicator.all_reduce(message, ReduceOp::sum, "rng"); }).substr(0, 59),
              "2: unknown all_reduce algorithm 'rng'; did you mean 'ring'?");
    EXPECT_EQ(error_of([&] { communicator.send(message, 2); }),
              fmt::format("2: rank {} cannot send to rank 2: there are 2 ranks, from 0 on", rank));
    EXPECT_EQ(error_of([&] { communicator.recv(message, -1); }),
              fmt::format("2: rank {} cannot receive from rank -1: there are 2 ranks, from 0 on", rank));
    EXPECT_EQ(error_of([&] { communicator.send(message, rank); }),
              fmt::format("2: rank {} cannot send to itself", rank));
    EXPECT_THAT(error_of([&] { communicator.broadcast(message, 5); }), HasSubstr("2: "));
    EXPECT_EQ(error_of([&] { communicator.all_gather(message, message); }),
              "2: all_gather of 2 ranks with 4 float32 elements each needs 8 float32 elements in all, not 4 "
              "float32");
    EXPECT_THAT(error_of([&] { communicator.all_reduce(message, ReduceOp::sum, "native"); }),
                AllOf(HasSubstr("2: "), HasSubstr("threads")));
    communicator.all_reduce(message);  // Nothing was sent: all ranks still understand each other.
  });
}

}  // namespace
}  // namespace ringside
