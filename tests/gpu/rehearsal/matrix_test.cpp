// Every algorithm of every collective on 1 to 8 rehearsal ranks, results checked element by element.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "real/backend/backends.hpp"
#include "real/measure/measure.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

/// Rank threads and processes inherit it.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

MeasureOptions options(int ranks_per_gpu = 1) {
  MeasureOptions options;
  options.launch = {
      .backend = Backend::nccl, .gpu = {.ranks_per_gpu = ranks_per_gpu}, .timeout = std::chrono::seconds(30)};
  options.launch.program = std::filesystem::read_symlink("/proc/self/exe");  // See rank_main.cpp.
  options.budget_per_point = {0.000'001};
  options.min_iterations = 1;
  options.max_iterations = 1;
  return options;
}

/// Parts of equal size, so that native runs too; once fewer elements than ranks.
std::vector<std::int64_t> element_counts(DataType dtype, int ranks) {
  if (dtype == DataType::float32) {
    return {3, 67 * ranks};
  }
  return {67 * ranks};
}

std::vector<PointKey> keys_of(Collective collective, DataType dtype, int ranks) {
  std::vector<std::string> algorithms = algorithm_names(collective);
  algorithms.emplace_back(kNative);
  std::vector<PointKey> keys;
  for (const std::string& algorithm : algorithms) {
    for (const std::int64_t count : element_counts(dtype, ranks)) {
      const PointKey key = {.collective = collective,
                            .algorithm = algorithm,
                            .ranks = ranks,
                            .bytes = {count * static_cast<std::int64_t>(size_of(dtype))},
                            .dtype = dtype};
      if (!unsupported(key, Backend::nccl)) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

std::vector<PointKey> all_keys(int ranks) {
  std::vector<PointKey> keys;
  for (const std::string& collective : names_of<Collective>()) {
    for (const std::string& dtype : names_of<DataType>()) {
      const auto more = keys_of(*parse_name<Collective>(collective), *parse_name<DataType>(dtype), ranks);
      keys.insert(keys.end(), more.begin(), more.end());
    }
  }
  return keys;
}

void expect_exact(const std::vector<PointKey>& keys, const MeasureOptions& options, LaunchMode mode) {
  std::size_t measured = 0;
  measure(keys, options, [&](const PointKey& key, const Measurement& measurement) {
    ++measured;
    EXPECT_EQ(measurement.outcome, Outcome::ok)
        << name(key.collective) << " " << key.algorithm << " " << name(key.dtype) << " " << format(key.bytes)
        << ": " << measurement.note;
    ASSERT_TRUE(measurement.launch.has_value());
    EXPECT_EQ(measurement.launch->mode, mode) << measurement.note;
  });
  EXPECT_EQ(measured, keys.size());
  EXPECT_FALSE(keys.empty());
}

class OnTheRehearsalDevice : public ::testing::TestWithParam<int> {};

TEST_P(OnTheRehearsalDevice, EveryAlgorithmOfEveryCollectiveAndTypeIsExactAsAGraph) {
  expect_exact(all_keys(GetParam()), options(), LaunchMode::cuda_graph);
}

TEST_P(OnTheRehearsalDevice, EveryAlgorithmOfEveryCollectiveAndTypeIsExactCallByCall) {
  const Environment graphs("RINGSIDE_CUDA_GRAPH", "0");
  expect_exact(all_keys(GetParam()), options(), LaunchMode::stream);
}

INSTANTIATE_TEST_SUITE_P(Ranks, OnTheRehearsalDevice, ::testing::Range(1, 9));

/// A stream that runs ahead of the other reads what is not there yet, unless it waits. Each seed holds
/// streams back in a way of its own.
class WhicheverStreamIsAhead : public ::testing::TestWithParam<int> {};

TEST_P(WhicheverStreamIsAhead, ResultsAreExact) {
  const Environment seed("RINGSIDE_REHEARSAL", "seed=" + std::to_string(GetParam()));
  std::vector<PointKey> keys;
  for (const std::string& collective : names_of<Collective>()) {
    const auto more = keys_of(*parse_name<Collective>(collective), DataType::float32, 3);
    keys.insert(keys.end(), more.begin(), more.end());
  }
  expect_exact(keys, options(), LaunchMode::cuda_graph);
  const Environment graphs("RINGSIDE_CUDA_GRAPH", "0");
  expect_exact(keys, options(), LaunchMode::stream);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WhicheverStreamIsAhead, ::testing::Range(1, 9));

/// NCCL multiplies by 1/3, which no type holds exactly.
TEST(AnAverage, IsAsExactAsItsTypeWhoeverTakesIt) {
  std::vector<PointKey> keys;
  for (const std::string& dtype : names_of<DataType>()) {
    for (PointKey key : keys_of(Collective::all_reduce, *parse_name<DataType>(dtype), 3)) {
      if (key.algorithm == "ring" || key.algorithm == kNative) {
        key.op = ReduceOp::avg;
        keys.push_back(key);
      }
    }
  }
  expect_exact(keys, options(), LaunchMode::cuda_graph);
}

TEST(SeveralRanksOnOneGpu, AreExactWithAnOldNcclAndWithANewOne) {
  for (const char* version : {"gpus=2,nccl=22809", "gpus=2,nccl=23001"}) {
    const Environment rehearsal("RINGSIDE_REHEARSAL", version);
    expect_exact(keys_of(Collective::all_reduce, DataType::float16, 4), options(2), LaunchMode::cuda_graph);
  }
}

}  // namespace
}  // namespace ringside
