// Points that people ask about by name, predicted with the parameters that were fitted without their source.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/import.hpp"
#include "lab/evaluation/evaluation.hpp"
#include "scenario/scenario.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/model.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = kKi * kKi;

/// A system of a source in configs/evaluation and what was measured there.
EvaluationSystem published(const std::string& source, const std::string& name) {
  const std::filesystem::path folder = RINGSIDE_SOURCE_DIR "/configs/evaluation";
  const Scenario scenario = load_scenario(folder / (source + ".yaml#" + name), {.algorithms = [](Collective) {
                                            return std::vector<std::string>{std::string(kNative)};
                                          }});
  const Import import =
      import_measurements(*scenario.measured, {.ranks = scenario.ranks.front(), .system = name});
  return {.name = scenario.name,
          .source = scenario.evaluation->source,
          .group = scenario.evaluation->group,
          .excluded = scenario.evaluation->excluded,
          .uncertain = scenario.evaluation->uncertain,
          .machine = *scenario.machine,
          .points = merge(import.series).points};
}

/// The point as `evaluate` reports it. A fold without the system's group must exist.
EvaluatedPoint held_out(const std::string& source, const std::string& name, std::int64_t bytes) {
  const EvaluationSystem system = published(source, name);
  const auto& folds = nccl_held_out();
  EXPECT_TRUE(std::any_of(folds.begin(), folds.end(), [&](const NcclStudy::Fold& fold) {
    return fold.group == system.group;
  })) << system.group;
  const AccuracyReport report = evaluate(std::span(&system, 1), nccl_fit(), folds);
  const EvaluatedPoint* point = find_point(report, name, {bytes});
  EXPECT_NE(point, nullptr) << name;
  return point != nullptr ? *point : EvaluatedPoint{};
}

double bus_bandwidth(const EvaluatedPoint& point, double seconds) {
  return static_cast<double>(point.bytes.value) / seconds * 2 * (point.ranks - 1) / point.ranks;
}

TEST(NcclHeldOut, NvlsOnEightH100) {
  // 512 MiB of half; ai-dynamo/aiconfigurator measured 445 GB/s.
  const EvaluatedPoint point = held_out("aic", "aic-h100_sxm-8x", 512 * kMi);
  EXPECT_NEAR(bus_bandwidth(point, point.measured), 445e9, 1e9);
  EXPECT_NEAR(bus_bandwidth(point, point.predicted), 445e9, 44.5e9);
  EXPECT_THAT(point.limits, Contains(Field(&Limit::text, HasSubstr("NVLS"))));
}

TEST(NcclHeldOut, BusBandwidthFallsOnL40sForAReason) {
  double before = HUGE_VAL;
  for (const int ranks : {2, 4, 8}) {
    const EvaluatedPoint point = held_out("aic", "aic-l40s-" + std::to_string(ranks) + "x", 512 * kMi);
    EXPECT_EQ(point.ranks, ranks);
    EXPECT_LT(bus_bandwidth(point, point.predicted), before);
    before = bus_bandwidth(point, point.predicted);
    if (ranks > 2) {
      EXPECT_THAT(point.limits, Contains(Field(&Limit::text, HasSubstr("share host bridges"))));
    }
    // Eight are slower than any other source's host lets expect, two faster, both by a little.
    constexpr double kNear = 1.1;
    EXPECT_GE(point.measured * kNear, point.interval->low);
    EXPECT_LE(point.measured, point.interval->high * kNear);
  }
}

TEST(NcclHeldOut, ForcedRingAndTreeOnTwoL40s) {
  for (const std::int64_t bytes : {4 * kKi, 64 * kMi}) {
    const EvaluatedPoint ring = held_out("cs244c", "l40s-pcie-2x-1node-ring__cs244c-research", bytes);
    const EvaluatedPoint tree = held_out("cs244c", "l40s-pcie-2x-1node-tree__cs244c-research", bytes);
    EXPECT_LT(ring.measured, tree.measured) << bytes;
    EXPECT_LT(ring.predicted, tree.predicted) << bytes;
  }
}

}  // namespace
}  // namespace ringside
