#include "real/measure/timing.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "real/backend/threads/transport.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;

struct Timed {
  std::vector<std::vector<double>> samples;  ///< By rank.
  std::vector<int> calls;
};

Timed time_on_threads(int num_ranks, const TimingLimits& limits, bool rank_0_counts = true) {
  Timed timed = {.samples = std::vector<std::vector<double>>(static_cast<std::size_t>(num_ranks)),
                 .calls = std::vector<int>(static_cast<std::size_t>(num_ranks), 0)};
  run_as_threads(num_ranks, 10s, [&](std::unique_ptr<Transport> transport) {
    const auto rank = static_cast<std::size_t>(transport->rank());
    Coordination coordination(*transport);
    timed.samples[rank] = time_calls({.before = [] {},
                                      .run =
                                          [&calls = timed.calls[rank], rank] {
                                            ++calls;
                                            return 1e-6 * calls * static_cast<double>(3 - rank);
                                          },
                                      .counts = rank > 0 || rank_0_counts},
                                     limits, coordination, nullptr);
  });
  return timed;
}

TEST(Timing, AllRanksKnowTheSameTimesAndStopTogether) {
  const Timed timed = time_on_threads(3, {.budget = {0.02}, .target_interval = 0, .max_calls = 50});
  EXPECT_EQ(timed.samples[0], timed.samples[1]);
  EXPECT_EQ(timed.samples[0], timed.samples[2]);
  EXPECT_EQ(timed.calls[0], timed.calls[2]);
  EXPECT_GT(timed.calls[0], static_cast<int>(timed.samples[0].size())) << "the first calls are dropped";
  EXPECT_DOUBLE_EQ(timed.samples[0].back(), 3e-6 * timed.calls[0]) << "what the slowest rank took";
}

TEST(Timing, TheResultOfEveryCallCanBeLookedAt) {
  int calls = 0;
  int looks = 0;
  run_as_threads(1, 10s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    time_calls({.before = [&] { EXPECT_EQ(calls, looks); },
                .run =
                    [&] {
                      ++calls;
                      return 1e-6;
                    },
                .after = [&] { ++looks; }},
               {.budget = {0}, .min_calls = 8}, coordination, nullptr);
  });
  EXPECT_EQ(calls, 1 + 8) << "the dropped one, too";
  EXPECT_EQ(calls, looks);
}

TEST(Timing, NobodyPreparesTheNextCallWhileOthersAreStillAtThisOne) {
  std::atomic<int> busy = 0;
  run_as_threads(3, 10s, [&](std::unique_ptr<Transport> transport) {
    const Rank rank = transport->rank();
    Coordination coordination(*transport);
    time_calls({.before = [&] { EXPECT_EQ(busy, 0); },
                .run =
                    [&] {
                      ++busy;
                      std::this_thread::sleep_for(rank * 1ms);
                      --busy;
                      return 1e-6;
                    },
                .after = [&] { EXPECT_EQ(busy, 0); }},
               {.budget = {0}, .min_calls = 8}, coordination, nullptr);
  });
}

TEST(Timing, ATenthOfTheBudgetIsDropped) {
  int calls = 0;
  run_as_threads(1, 10s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    time_calls({.before = [] {},
                .run =
                    [&] {
                      ++calls;
                      std::this_thread::sleep_for(20ms);
                      return 0.02;
                    },
                .after = [] {}},
               {.budget = {0.4}, .min_calls = 1, .max_calls = 1}, coordination, nullptr);
  });
  // The first call takes 20 ms or more, so that two more fit into 40 ms at most; then the one that counts.
  EXPECT_LE(calls, 1 + 2 + 1);
}

TEST(Timing, GoesOnUntilTheMinimumWhateverTheBudget) {
  EXPECT_EQ(time_on_threads(2, {.budget = {0}, .min_calls = 8}).samples[0].size(), 8U);
  EXPECT_EQ(time_on_threads(2, {.budget = {0}, .min_calls = 8, .max_calls = 3}).samples[0].size(), 3U)
      << "nor more than the most";
}

TEST(Timing, StopsAtTheMaximum) {
  const Timed timed = time_on_threads(2, {.budget = {10}, .target_interval = -1, .max_calls = 13});
  EXPECT_EQ(timed.samples[0].size(), 13U);
  EXPECT_LE(timed.calls[0], 13 + 10) << "ten calls that are dropped are enough";
}

TEST(Timing, GoesOnWhereEveryCallTookTheSameAndNoIntervalIsNarrowEnough) {
  run_as_threads(2, 10s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    const std::vector<double> samples =
        time_calls({.before = [] {}, .run = [] { return 2e-6; }, .after = [] {}},
                   {.budget = {10}, .target_interval = 0, .max_calls = 13}, coordination, nullptr);
    EXPECT_EQ(samples.size(), 13U);
  });
}

TEST(Timing, StopsWhenTheIntervalIsNarrowEnough) {
  const Timed timed = time_on_threads(2, {.budget = {10}, .target_interval = 1e9, .min_calls = 2});
  // Before six samples there is no 95 % interval to be narrow.
  EXPECT_GE(timed.samples[0].size(), static_cast<std::size_t>(kMinSamplesOfInterval));
  EXPECT_LT(timed.samples[0].size(), 12U);
}

TEST(Timing, RanksThatDoNotCountAddNoTime) {
  const TimingLimits limits = {.budget = {0}, .min_calls = 5};
  EXPECT_THAT(time_on_threads(1, limits, false).samples[0], Each(0));
}

}  // namespace
}  // namespace ringside
