#include "analysis/evaluation/misses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

EvaluatedSystem system_with(const std::string& trait, double error) {
  Accuracy all = {.points = 1, .mape = error, .bias = -error};
  all.band = "all";
  all.model = std::string(name(EvaluatedModel::ringside));
  all.fold = std::string(name(Fold::held_out));
  Accuracy large = all;
  large.band = "large";
  return {.name = trait, .group = trait, .traits = {trait, "common"}, .records = {all, large}};
}

TEST(Misses, NameWhatIsCommonerAmongThem) {
  AccuracyReport report;
  for (int i = 0; i < 4; ++i) {
    report.systems.push_back(system_with("slow bridges", 0.3));
    report.systems.push_back(system_with("a switch", 0.05));
  }
  EvaluatedSystem excluded = system_with("a broken fan", 0.9);
  excluded.excluded = "it is broken";
  report.systems.push_back(excluded);
  const std::vector<MissGoal> goals = {{.what = "one node", .machine_class = "node_nvlink", .goal = 0.1}};
  const std::string table = misses(report, goals);
  EXPECT_THAT(table, HasSubstr("| one node | 10 | 4 of 8 | 1 | large 4 | slow bridges (4 of 4) |"));
  EXPECT_THAT(table, Not(HasSubstr("broken")));
}

TEST(Misses, OfIntervalsAreSystemsWithTooFewMeasurementsInside) {
  AccuracyReport report;
  for (int i = 0; i < 4; ++i) {
    for (const double inside : {0.5, 0.9}) {
      EvaluatedSystem system = system_with(inside < 0.8 ? "slow bridges" : "a switch", 0.1);
      for (Accuracy& record : system.records) {
        record.coverage = inside;
        record.model = std::string(name(EvaluatedModel::ringside_known2));
      }
      report.systems.push_back(system);
    }
  }
  MissGoal goal = {
      .what = "told two", .machine_class = "node_nvlink", .goal = 0.86, .band = "large", .of_coverage = true};
  EXPECT_THAT(misses(report, std::vector{goal}), Not(HasSubstr("told two")))
      << "no record is of the model alone";
  goal.model = EvaluatedModel::ringside_known2;
  EXPECT_THAT(misses(report, std::vector{goal}, "systems below it"),
              testing::AllOf(HasSubstr("| systems below it |"),
                             HasSubstr("| told two | 86 | 4 of 8 | 1 | large 4 | slow bridges (4 of 4) |")));
}

TEST(Misses, TraitsComeFromTheDescription) {
  NcclSystem system;
  system.ranks = 16;
  system.nodes = 8;
  system.network = InterKind::efa;
  system.nics = 1;
  EXPECT_THAT(traits_of(system),
              testing::ElementsAre("GPUs of ampere", "network efa", "GPUs share NICs", "8 nodes or more"));
}

}  // namespace
}  // namespace ringside
