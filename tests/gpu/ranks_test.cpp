// Ranks as processes, all on one GPU: the whole path from schedule to checked result.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/measure/measure.hpp"
#include "real/probe/probe.hpp"
#include "schedule/registry.hpp"
#include "tests/gpu/gpu_case.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class RanksOnOneGpu : public GpuCase {
 protected:
  static MeasureOptions options(int ranks) {
    MeasureOptions options;
    options.launch = {.backend = Backend::nccl, .gpu = {.ranks_per_gpu = ranks}, .timeout = 60s};
    // What this program cannot be, the one beside it can: a rank.
    options.launch.program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "ringside";
    options.budget_per_point = {0.05};
    return options;
  }

  static std::vector<Measurement> measured(const std::vector<PointKey>& keys) {
    std::vector<Measurement> results;
    measure(keys, options(keys.front().ranks), [&](const PointKey& key, const Measurement& measurement) {
      EXPECT_EQ(measurement.outcome, Outcome::ok)
          << key.algorithm << ", " << format(key.bytes) << ": " << measurement.note;
      EXPECT_TRUE(measurement.shared_gpu);
      EXPECT_TRUE(measurement.launch.has_value());
      results.push_back(measurement);
    });
    return results;
  }
};

TEST_F(RanksOnOneGpu, EveryAlgorithmGivesTheExactResult) {
  std::vector<PointKey> keys;
  std::vector<std::string> algorithms = algorithm_names(Collective::all_reduce);
  algorithms.emplace_back(kNative);
  for (const std::string& algorithm : algorithms) {
    for (const std::int64_t bytes : {4LL, 1000LL, 1LL << 20}) {
      const PointKey key = {.algorithm = algorithm, .ranks = 2, .bytes = {bytes}};
      if (!unsupported(key, Backend::nccl)) {
        keys.push_back(key);
      }
    }
  }
  EXPECT_EQ(measured(keys).size(), keys.size());
}

TEST_F(RanksOnOneGpu, EveryTypeAndOpGivesTheExactResult) {
  std::vector<PointKey> keys;
  for (const std::string& word : names_of<DataType>()) {
    for (const std::string& op : names_of<ReduceOp>()) {
      for (const std::string_view algorithm : {std::string_view("ring"), kNative}) {
        keys.push_back({.algorithm = std::string(algorithm),
                        .ranks = 2,
                        .bytes = {1 << 16},
                        .dtype = *parse_name<DataType>(word),
                        .op = *parse_name<ReduceOp>(op)});
      }
    }
  }
  EXPECT_EQ(measured(keys).size(), keys.size());
}

TEST_F(RanksOnOneGpu, EveryCollectiveGivesTheExactResult) {
  std::vector<PointKey> keys;
  for (const std::string& word : names_of<Collective>()) {
    const Collective collective = *parse_name<Collective>(word);
    std::vector<std::string> algorithms = {algorithm_names(collective).front(), std::string(kNative)};
    for (const std::string& algorithm : algorithms) {
      const PointKey key = {
          .collective = collective, .algorithm = algorithm, .ranks = 3, .bytes = {12 * 1024}};
      if (!unsupported(key, Backend::nccl)) {
        keys.push_back(key);
      }
    }
  }
  EXPECT_EQ(measured(keys).size(), keys.size());
}

TEST_F(RanksOnOneGpu, AKilledRankEndsTheRunWithinTheDeadline) {
  MeasureOptions doomed = options(2);
  doomed.launch.timeout = 10s;
  // The second rank lives for three seconds; the points take far longer.
  doomed.launch.wrap = R"(sh -c 'case "$0" in 1) timeout -s KILL 3 "$@" ;; *) exec "$@" ;; esac' {rank})";
  doomed.budget_per_point = {60};
  doomed.target_interval = 0;
  doomed.max_iterations = 1'000'000;
  const auto start = std::chrono::steady_clock::now();
  try {
    measure(std::vector<PointKey>{{.algorithm = "ring", .ranks = 2, .bytes = {1 << 20}}}, doomed,
            [](const PointKey&, const Measurement&) {});
    FAIL() << "nobody noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::peer_lost);
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST_F(RanksOnOneGpu, ProbesTakeTime) {
  ProbeOptions probes;
  probes.launch = options(2).launch;
  probes.budget = {3};
  probes.max_bytes = {1 << 20};
  for (const ProbeSample& sample : probe(probes, nullptr)) {
    ASSERT_FALSE(sample.seconds.empty());
    for (const double seconds : sample.seconds) {
      EXPECT_GT(seconds, 0) << name(sample.key.kind);
    }
  }
}

}  // namespace
}  // namespace ringside
