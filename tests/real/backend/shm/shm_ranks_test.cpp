// Real rank processes through shared memory: results, and leftovers when killed, stopped or short of memory.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/measure/measure.hpp"
#include "real/probe/probe.hpp"
#include "schedule/registry.hpp"
#include "tests/real/processes.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Caught {
  ErrorKind kind = ErrorKind::failed;
  std::string text;
};

class ShmRanks : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_TRUE(temporary_.wait_for_ranks(0)) << "a rank process is left";
    EXPECT_TRUE(temporary_.empty()) << "a temporary file is left";
  }

  static MeasureOptions quick() {
    return {.launch = {.backend = Backend::shm, .timeout = 20s, .program = RINGSIDE_TEST_RANKS},
            .budget_per_point = {0.02},
            .max_iterations = 5};
  }

  static MeasureOptions endless() {
    MeasureOptions options = quick();
    options.budget_per_point = {1000};
    options.target_interval = 0;
    options.max_iterations = 1'000'000'000;
    return options;
  }

  static void expect_right(const std::vector<PointKey>& points, const MeasureOptions& options) {
    std::size_t reported = 0;
    measure(points, options, [&](const PointKey& key, const Measurement& measurement) {
      ++reported;
      const bool possible = !unsupported(key, Backend::shm);
      EXPECT_EQ(name(measurement.outcome), name(possible ? Outcome::ok : Outcome::unsupported))
          << name(key.collective) << ' ' << key.algorithm << ", " << key.ranks << " ranks, "
          << format(key.bytes) << ": " << measurement.note;
    });
    EXPECT_EQ(reported, points.size());
  }

  static Caught caught(const std::vector<PointKey>& points, const MeasureOptions& options) {
    std::string ended = "nothing was thrown";
    try {
      measure(points, options, [&](const PointKey& key, const Measurement& measurement) {
        ended += fmt::format("; {}: {} {}", key.algorithm, name(measurement.outcome), measurement.note);
      });
    } catch (const Error& error) {
      return {.kind = error.kind(), .text = error.what()};
    }
    return {.text = ended};
  }

  /// Sends a signal to a rank in the midst of the timed calls.
  Caught caught_with_signal(const PointKey& point, const MeasureOptions& options, Rank rank, int signal) {
    std::thread assassin([&, num_ranks = static_cast<std::size_t>(point.ranks)] {
      EXPECT_TRUE(temporary_.wait_for_ranks(num_ranks));
      while (!temporary_.empty()) {  // Until they have met.
        std::this_thread::sleep_for(5ms);
      }
      std::this_thread::sleep_for(300ms);
      EXPECT_TRUE(temporary_.strike(rank, signal)) << "rank " << rank << " had ended before";
      struck_ = Clock::now();
    });
    const Caught result = caught({point}, options);
    answered_ = Clock::now();
    assassin.join();
    return result;
  }

  static bool can_make_namespaces() { return std::system("unshare --mount true 2>/dev/null") == 0; }

  OwnTemporaryDirectory temporary_;
  Clock::time_point struck_;
  Clock::time_point answered_;
};

/// Lengths that stand in an announcement, in a buffer, and that are read where they lie.
TEST_F(ShmRanks, EveryAlgorithmOfEveryCollectiveIsRight) {
  std::vector<PointKey> points;
  for (const int ranks : {1, 2, 3, 4}) {
    for (const Algorithm& algorithm : all_algorithms()) {
      for (const std::int64_t bytes : {20LL, 4004LL, 400'004LL}) {
        points.push_back({.collective = algorithm.collective,
                          .algorithm = std::string(algorithm.name),
                          .ranks = ranks,
                          .bytes = {bytes}});
      }
    }
  }
  expect_right(points, quick());
}

TEST_F(ShmRanks, ItsOwnAllReduceIsRight) {
  std::vector<PointKey> points;
  for (const int ranks : {1, 2, 3, 5}) {
    for (const std::int64_t bytes : {8LL, 504LL, 4008LL, 16'384LL, 16'392LL, 1'000'008LL}) {
      points.push_back({.algorithm = "native", .ranks = ranks, .bytes = {bytes}});
    }
  }
  for (const DataType dtype : {DataType::float64, DataType::int32, DataType::int64}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg}) {
      for (const std::int64_t bytes : {400LL, 40'000LL}) {
        points.push_back({.algorithm = "native", .ranks = 3, .bytes = {bytes}, .dtype = dtype, .op = op});
      }
    }
  }
  expect_right(points, quick());
}

TEST_F(ShmRanks, WhatItLacksIsUnsupported) {
  const std::optional<std::string> reason = unsupported(
      {.collective = Collective::broadcast, .algorithm = "native", .ranks = 2, .bytes = {8}}, Backend::shm);
  ASSERT_TRUE(reason.has_value());
  EXPECT_THAT(*reason, HasSubstr("the shm backend has no broadcast of its own"));
}

TEST_F(ShmRanks, ProbesRun) {
  ProbeOptions options = {.launch = quick().launch, .budget = {2}, .ranks = {2, 4}, .max_bytes = {1 << 20}};
  std::map<std::tuple<ProbeKind, int, int>, std::vector<std::int64_t>> sizes;
  for (const ProbeSample& sample : probe(options, {})) {
    EXPECT_FALSE(sample.seconds.empty()) << name(sample.key.kind);
    sizes[{sample.key.kind, sample.key.ranks, sample.key.messages}].push_back(sample.key.bytes.value);
  }
  using ::testing::ElementsAre;
  constexpr std::int64_t kKi = 1024;
  // Where buffering ends, and pairs twice as far; two ranks in smaller steps from there.
  EXPECT_THAT((sizes[{ProbeKind::ping_pong, 2, 1}]),
              ElementsAre(8, 32, 128, 512, 2 * kKi, 8 * kKi, 16 * kKi, 32 * kKi, 64 * kKi, 128 * kKi,
                          256 * kKi, 512 * kKi, 1024 * kKi, 2048 * kKi));
  EXPECT_THAT((sizes[{ProbeKind::reducing_exchange, 2, 1}]),
              ElementsAre(8, 32, 128, 512, 2 * kKi, 8 * kKi, 16 * kKi, 32 * kKi, 64 * kKi, 128 * kKi,
                          256 * kKi, 512 * kKi, 1024 * kKi));
  EXPECT_THAT(
      (sizes[{ProbeKind::neighbour_exchange, 2, 2}]),
      ElementsAre(8, 32, 128, 512, 2 * kKi, 8 * kKi, 16 * kKi, 32 * kKi, 128 * kKi, 512 * kKi, 1024 * kKi));
  // A quarter of a power of four is one.
  for (const int messages : {1, 2}) {
    EXPECT_THAT((sizes[{ProbeKind::neighbour_exchange, 4, messages}]),
                ElementsAre(16, 64, 256, kKi, 4 * kKi, 16 * kKi, 64 * kKi, 256 * kKi, 1024 * kKi));
  }
  EXPECT_THAT((sizes[{ProbeKind::reduction, 1, 1}]),
              ElementsAre(4 * kKi, 16 * kKi, 64 * kKi, 256 * kKi, 1024 * kKi));
  EXPECT_THAT(
      (sizes[{ProbeKind::reduction, 2, 1}]),
      ElementsAre(4 * kKi, 16 * kKi, 32 * kKi, 64 * kKi, 128 * kKi, 256 * kKi, 512 * kKi, 1024 * kKi));
  // Only what lies where a library would write; nothing is posted ahead.
  EXPECT_THAT((sizes[{ProbeKind::writing_exchange, 2, 1}]),
              ElementsAre(32 * kKi, 128 * kKi, 512 * kKi, 1024 * kKi));
  EXPECT_THAT((sizes[{ProbeKind::writing_exchange, 4, 1}]), ElementsAre(64 * kKi, 256 * kKi, 1024 * kKi));
  for (const int ranks : {2, 4}) {
    EXPECT_FALSE(sizes.contains({ProbeKind::chained_exchange_posted, ranks, 1}));
  }
}

TEST_F(ShmRanks, ProbesReachTheLargestMessageAskedForAndTwoAtOnceEightMebibytes) {
  const auto largest = [](ProbeKind kind, int messages, std::int64_t max_bytes) {
    std::int64_t most = 0;
    for (const ProbeSample& sample :
         probe({.launch = quick().launch, .budget = {0}, .ranks = {2}, .max_bytes = {max_bytes}}, {})) {
      if (sample.key.kind == kind && sample.key.messages == messages) {
        most = std::max(most, sample.key.bytes.value);
      }
    }
    return most;
  };
  constexpr std::int64_t kKi = 1024;
  EXPECT_EQ(largest(ProbeKind::writing_exchange, 1, 32 * kKi), 32 * kKi) << "its smallest is probed, too";
  EXPECT_EQ(largest(ProbeKind::writing_exchange, 1, 32 * kKi - 8), 0);
  EXPECT_EQ(largest(ProbeKind::neighbour_exchange, 2, 9 * kKi * kKi), 8 * kKi * kKi);
}

TEST_F(ShmRanks, AKilledRankIsNamedWithItsSignal) {
  for (const std::string algorithm : {"ring", "recursive_doubling", "native"}) {
    const Caught error =
        caught_with_signal({.algorithm = algorithm, .ranks = 4, .bytes = {1 << 20}}, endless(), 2, SIGKILL);
    EXPECT_EQ(error.kind, ErrorKind::peer_lost);
    EXPECT_EQ(error.text, fmt::format("rank 2 was killed by signal 9 (Killed) while running all_reduce {}, 4 "
                                      "ranks, 1 MiB",
                                      algorithm));
    EXPECT_LT(answered_ - struck_, 2s);
  }
}

TEST_F(ShmRanks, AStoppedRankIsNamedWhenTheTimeoutIsOver) {
  MeasureOptions options = endless();
  options.launch.timeout = 2s;  // Also for meeting, beside other tests.
  for (const std::string algorithm : {"ring", "naive", "native"}) {
    const Caught error =
        caught_with_signal({.algorithm = algorithm, .ranks = 3, .bytes = {4096}}, options, 1, SIGSTOP);
    EXPECT_EQ(error.kind, ErrorKind::peer_lost);
    EXPECT_THAT(error.text, AllOf(HasSubstr("rank 1 did not answer within 2 s while running all_reduce"),
                                  HasSubstr("it is stopped")));
    EXPECT_LT(answered_ - struck_, 5s);
  }
}

TEST_F(ShmRanks, TwoRunsAtOnceDoNotMeetEachOther) {
  std::vector<pid_t> runs;
  for (int run = 0; run < 2; ++run) {
    runs.push_back(start({RINGSIDE_TEST_RANKS, "shm", "ring", "3", "65536", "0.3"}));
  }
  for (const pid_t run : runs) {
    int status = 0;
    ::waitpid(run, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(ShmRanks, RanksDieWithAParentThatHasNoTimeToEndThem) {
  const pid_t parent = start({RINGSIDE_TEST_RANKS, "shm", "ring", "3", "65536", "1000"});
  ASSERT_TRUE(temporary_.wait_for_ranks(3));
  while (!temporary_.empty()) {
    std::this_thread::sleep_for(5ms);
  }
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(temporary_.wait_for_ranks(0));
}

TEST_F(ShmRanks, NeitherASmallNorAFullDevShmMatters) {
  if (!can_make_namespaces()) {
    GTEST_SKIP() << "no namespaces may be made here";
  }
  MeasureOptions options = quick();
  for (const std::string size : {"64m", "4k"}) {
    options.launch.wrap = fmt::format(
        R"(unshare --mount sh -c 'mount -t tmpfs -o size={} none /dev/shm && head -c 4096 /dev/zero > /dev/shm/full; exec "$@"' --)",
        size);
    expect_right({{.algorithm = "ring", .ranks = 2, .bytes = {96 << 20}}}, options);
  }
}

TEST_F(ShmRanks, RanksOfOtherProcessNamespacesAreToldSo) {
  if (!can_make_namespaces()) {
    GTEST_SKIP() << "no namespaces may be made here";
  }
  MeasureOptions options = quick();
  options.launch.timeout = 10s;
  options.launch.wrap = "unshare --pid --fork --mount-proc";
  const Caught error = caught({{.algorithm = "ring", .ranks = 2, .bytes = {4096}}}, options);
  EXPECT_THAT(error.text, HasSubstr("PID namespace"));
}

TEST_F(ShmRanks, LimitsOfAProcessAreSaid) {
  MeasureOptions options = quick();
  options.launch.wrap = R"(sh -c 'ulimit -f 20000; exec "$@"' --)";  // 512-byte blocks of dash: 10 MB.
  Caught error = caught({{.algorithm = "ring", .ranks = 2, .bytes = {64 << 20}}}, options);
  EXPECT_EQ(error.kind, ErrorKind::environment);
  EXPECT_THAT(error.text, HasSubstr("ulimit -f"));
}

TEST_F(ShmRanks, ARendezvousThatIsNoFolderIsRefused) {
  MeasureOptions options = quick();
  options.launch.rendezvous = "redis://127.0.0.1:1";
  const Caught error = caught({{.algorithm = "ring", .ranks = 2, .bytes = {400}}}, options);
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_THAT(error.text, HasSubstr("must be file:///directory"));
}

}  // namespace
}  // namespace ringside
