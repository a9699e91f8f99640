#include "lab/nccl/nccl_fit.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "lab/evaluation/evaluation.hpp"
#include "lab/nccl/nccl_meanings.hpp"
#include "scenario/scenario.hpp"
#include "sim/nccl/model.hpp"
#include "sim/nccl/native.hpp"

namespace ringside {
namespace {

/// A world whose launch takes 1.3 times what the guesses say, and whose rates are 0.8 of theirs.
NcclParameters other_world() {
  NcclParameters parameters = nccl_guesses();
  for (const auto launch : {NcclParameter::launch_ll, NcclParameter::launch_simple}) {
    parameters.values[static_cast<std::size_t>(launch)] *= 1.3;
  }
  for (const auto rate : {NcclParameter::pcie_rate, NcclParameter::nic_rate, NcclParameter::xgmi_rate}) {
    parameters.values[static_cast<std::size_t>(rate)] *= 0.8;
  }
  return parameters;
}

NcclTable table_of(const std::string& name, const std::string& group, const NcclSystem& system) {
  NcclTable table = {.name = name, .group = group, .rows = {}};
  for (double bytes = 1024; bytes <= 1e9; bytes *= 16) {
    table.rows.push_back(
        {.system = system, .bytes = bytes, .seconds = nccl_all_reduce(other_world(), system, bytes).seconds});
  }
  return table;
}

/// Three groups, every class in two of them.
std::vector<NcclTable> tables() {
  NcclSystem pcie;
  pcie.ranks = 4;
  pcie.link = GpuLink::pcie;
  pcie.link_rate = 31.5;
  pcie.peer_ring_rate = 11;
  pcie.host_ring_rate = 6;
  NcclSystem nvlink = pcie;
  nvlink.link = GpuLink::nvswitch;
  nvlink.link_rate = 300;
  NcclSystem nodes = nvlink;
  nodes.ranks = 16;
  nodes.nodes = 2;
  nodes.network = InterKind::infiniband;
  nodes.network_rate = 200;
  nodes.nics = 8;
  std::vector<NcclTable> result;
  for (const char* group : {"a", "b", "c"}) {
    for (const auto& [name, system] : {std::pair("pcie", pcie), {"nvlink", nvlink}, {"nodes", nodes}}) {
      result.push_back(table_of(fmt::format("{} of {}", name, group), group, system));
    }
  }
  return result;
}

TEST(NcclFitting, FindsAWorldThatDiffersFromItsGuesses) {
  const std::vector<NcclTable> data = tables();
  const NcclParameters fitted = fit_nccl_parameters(data, {.seed = 1, .starts = 1});
  for (const NcclTable& table : data) {
    for (const NcclTable::Row& row : table.rows) {
      EXPECT_NEAR(nccl_all_reduce(fitted, row.system, row.bytes).seconds / row.seconds, 1, 0.08)
          << table.name << " " << row.bytes;
    }
  }
  // Nothing was said about AMD.
  EXPECT_NEAR(fitted[NcclParameter::amd_launch], nccl_guesses()[NcclParameter::amd_launch], 1e-6);
}

TEST(NcclFitting, IsTheSameEveryTime) {
  const std::vector<NcclTable> data = tables();
  EXPECT_EQ(fit_nccl_parameters(data, {.seed = 7, .starts = 2}),
            fit_nccl_parameters(data, {.seed = 7, .starts = 2}));
  std::vector<NcclTable> changed = data;
  EXPECT_EQ(hash_of(changed), hash_of(data));
  changed.back().rows.back().seconds *= 1.0001;
  EXPECT_NE(hash_of(changed), hash_of(data));
}

TEST(NcclFitting, StudyHoldsOutEverySourceAndGenerationAndReadsBack) {
  const NcclStudy study = study_nccl(tables(), {.seed = 1, .starts = 1}, [](const std::string&) {});
  ASSERT_EQ(study.held_out.size(), 4u);
  EXPECT_EQ(study.held_out.back().group, "generation ampere");
  EXPECT_THAT(study.all.groups, testing::ElementsAre("a", "b", "c"));
  const auto folds = parse_held_out(held_out_file(study), "test");
  ASSERT_EQ(folds.size(), 4u);
  EXPECT_EQ(folds[1].group, "b");
  for (std::size_t i = 0; i < kNumNcclParameters; ++i) {
    EXPECT_NEAR(folds[1].fit.parameters.values[i] / study.held_out[1].fit.parameters.values[i], 1, 1e-6);
  }
  EXPECT_EQ(parse_nccl_fit(to_yaml(study.all), "test"), study.all);
  EXPECT_THROW(parse_held_out("folds: [{group: x, parameters: [1], spreads: []}]", "test"), Error);
}

// ---- evaluation -------------------------------------------------------------------------------------------

EvaluationSystem box(const std::string& name, const std::string& group, double slower) {
  EvaluationSystem system;
  system.name = name;
  system.group = group;
  system.machine = parse_machine(
      "gpus_per_node: 4\ngpu: {model: L40S}\nintra: {kind: pcie, generation: 4, lanes: 16}\n", name);
  for (const std::int64_t bytes : {1024, 1 << 20, 1 << 26, 1 << 28}) {
    PointKey key{.collective = Collective::all_reduce, .algorithm = "native", .ranks = 4, .bytes = {bytes}};
    const auto outcome = predict_nccl_native(system.machine, key, NativeModel::ringside);
    Measurement measured;
    measured.seconds = slower * std::get<Prediction>(outcome).seconds;
    system.points.push_back({.key = key, .predicted = {}, .measured = measured});
  }
  return system;
}

TEST(Evaluating, ErrorsAreThoseOfTheFoldThatNeverSawTheSystem) {
  NcclStudy::Fold fold{.group = "seen", .fit = nccl_fit()};
  for (const auto rate : {NcclParameter::pcie_rate, NcclParameter::host_rate}) {
    fold.fit.parameters.values[static_cast<std::size_t>(rate)] /= 2;
  }
  const std::vector<EvaluationSystem> systems = {box("one", "seen", 1), box("two", "new", 1)};
  const AccuracyReport report = evaluate(systems, nccl_fit(), std::span(&fold, 1));
  ASSERT_EQ(report.systems.size(), 2u);
  const auto mape = [&](std::size_t i, const AccuracyQuestion& question) {
    const Accuracy* record = find(report.systems[i].records, question);
    return record != nullptr ? record->mape : -1;
  };
  EXPECT_GT(mape(0, {.band = "large"}), 0.5);
  EXPECT_NEAR(mape(0, {.fold = Fold::in_sample}), 0, 1e-9);
  EXPECT_NEAR(mape(1, {}), 0, 1e-9);
  EXPECT_EQ(mape(1, {.fold = Fold::in_sample}), -1) << "nobody fitted to it";
}

TEST(Evaluating, WhatWasGivenIsNotScored) {
  const std::vector<EvaluationSystem> systems = {box("slow", "new", 3)};
  const AccuracyReport report = evaluate(systems, nccl_fit(), {});
  const Accuracy* plain = find(report.systems[0].records, {});
  const Accuracy* told = find(report.systems[0].records, {.model = EvaluatedModel::ringside_known});
  ASSERT_TRUE(plain != nullptr && told != nullptr);
  EXPECT_EQ(plain->points, 4);
  EXPECT_EQ(told->points, 3);
  EXPECT_NEAR(plain->mape, 2.0 / 3, 1e-9);
  EXPECT_NEAR(*plain->factor, 3, 1e-9);
  EXPECT_NEAR(plain->bias, -2.0 / 3, 1e-9);
  EXPECT_LT(told->mape, plain->mape);
}

TEST(Evaluating, OddSystemsStandApart) {
  std::vector<EvaluationSystem> systems = {box("good", "a", 1), box("sick", "b", 10)};
  systems[1].excluded = "its fan is broken";
  EvaluationSystem empty = box("empty", "c", 1);
  empty.points.clear();
  systems.push_back(empty);
  const AccuracyReport report = evaluate(systems, nccl_fit(), {});
  EXPECT_THAT(report.skipped, testing::ElementsAre(testing::HasSubstr("empty")));
  const Accuracy* summary = find(report.summaries, {.statistic = "median", .machine_class = "node_pcie"});
  ASSERT_NE(summary, nullptr);
  EXPECT_EQ(summary->systems, 1);
  EXPECT_NEAR(summary->mape, 0, 1e-9);
  EXPECT_EQ(fit_tables(systems).size(), 1u);
}

}  // namespace
}  // namespace ringside
