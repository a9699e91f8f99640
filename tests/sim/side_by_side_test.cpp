// Predictions that are made at the same time share nothing that is written: the thread sanitizer watches
// this.

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "common/parallel.hpp"
#include "scenario/scenario.hpp"
#include "sim/predict.hpp"

namespace ringside {

namespace {

std::vector<double> all_seconds(const std::vector<Machine>& machines, bool side_by_side) {
  const std::vector<std::string> algorithms = {"ring", "halving_doubling", "binomial_tree", "native"};
  std::vector<double> seconds(24);
  const auto predict_one = [&](std::size_t i) {
    const PointKey key = {.collective = Collective::all_reduce,
                          .algorithm = algorithms[i % algorithms.size()],
                          .ranks = 16,
                          .bytes = {std::int64_t{4096} << i}};
    const auto outcome = predict(machines[i % machines.size()], key, {.backend = Backend::nccl});
    if (const auto* prediction = std::get_if<Prediction>(&outcome)) {
      seconds[i] = prediction->seconds.value;
    }
  };
  if (side_by_side) {
    for_each_in_parallel(seconds.size(), predict_one);
  } else {
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      predict_one(i);
    }
  }
  return seconds;
}

TEST(PredictionsSideBySide, AreThoseOfOneAfterAnother) {
  const std::vector<Machine> machines = {
      parse_machine(
          "nodes: 2\ngpus_per_node: 8\ngpu: {model: H100-SXM}\nintra: {kind: nvlink, generation: 4, "
          "switch: true}\ninter: {kind: infiniband, rate: 400 Gb/s, nics: 8, gpudirect: true}\n",
          "test"),
      parse_machine(
          "nodes: 2\ngpus_per_node: 8\ngpu: {model: L40S}\nintra: {kind: pcie, generation: 4, lanes: "
          "16}\ninter: {kind: ethernet, rate: 100 Gb/s, nics: 1}\n",
          "test")};
  const std::vector<double> side_by_side = all_seconds(machines, true);
  EXPECT_EQ(side_by_side, all_seconds(machines, false));
  EXPECT_GT(side_by_side.front(), 0);
}

}  // namespace

}  // namespace ringside
