#include "analysis/comparison/speedup_grid.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <variant>

#include "sim/predict.hpp"
#include "sim/topology/node.hpp"

namespace ringside {
namespace {

/// How many ranks the described machine holds; one that leaves it open holds as many as asked.
int most_ranks(const Machine& machine) {
  int per_node = std::numeric_limits<int>::max();
  if (machine.gpus_per_node) {
    per_node = *machine.gpus_per_node;
  } else if (machine.intra && machine.intra->wiring == "hybrid_cube_mesh") {
    per_node = kCubeGpus;
  }
  per_node = std::min(per_node, machine.ranks_per_node.value_or(per_node));
  const std::int64_t all = std::int64_t{per_node} * std::max(machine.nodes, 1);
  const std::int64_t ordered =
      machine.ring_order ? static_cast<std::int64_t>(machine.ring_order->size()) : all;
  return static_cast<int>(std::min({all, ordered, std::int64_t{std::numeric_limits<int>::max()}}));
}

std::vector<int> grid_ranks(const Scenario& scenario, const Machine& machine) {
  std::set<int> ranks(scenario.ranks.begin(), scenario.ranks.end());
  std::erase_if(ranks, [held = most_ranks(machine)](int n) { return n == 1 || n > held; });
  return {ranks.begin(), ranks.end()};
}

std::vector<Bytes> grid_sizes(const Scenario& scenario) {
  const auto [smallest, largest] =
      std::minmax_element(scenario.message_sizes.begin(), scenario.message_sizes.end());
  const std::int64_t first = std::max<std::int64_t>(1024, smallest->value / 4);
  const std::int64_t last = std::min<std::int64_t>(largest->value * 4, 4LL << 30);
  std::set<Bytes> sizes(scenario.message_sizes.begin(), scenario.message_sizes.end());
  const auto element = static_cast<std::int64_t>(size_of(scenario.dtype));
  for (std::int64_t size = 1024; size <= last; size *= 2) {
    if (size >= first && size % element == 0) {
      sizes.insert({size});
    }
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace

SpeedupGrid speedup_grid(const Scenario& scenario, const Machine& machine, std::span<const Point> points,
                         const AlgorithmPair& pair) {
  SpeedupGrid grid{.baseline = pair.baseline,
                   .candidate = pair.candidate,
                   .ranks = grid_ranks(scenario, machine),
                   .sizes = grid_sizes(scenario),
                   .speedup = {}};
  const auto seconds = [&](const std::string& algorithm, int ranks, Bytes bytes) {
    const auto outcome = predict(machine,
                                 {.collective = scenario.collective,
                                  .algorithm = algorithm,
                                  .ranks = ranks,
                                  .bytes = bytes,
                                  .dtype = scenario.dtype,
                                  .op = scenario.op},
                                 {.backend = scenario.backend});
    const auto* prediction = std::get_if<Prediction>(&outcome);
    return prediction != nullptr ? prediction->seconds.value : std::numeric_limits<double>::quiet_NaN();
  };
  for (const int ranks : grid.ranks) {
    std::vector<double>& row = grid.speedup.emplace_back();
    for (const Bytes bytes : grid.sizes) {
      row.push_back(seconds(pair.baseline, ranks, bytes) / seconds(pair.candidate, ranks, bytes));
    }
  }
  for (const Verdict& verdict : verdicts(points, pair)) {
    if (verdict.measured_speedup) {
      grid.measured.push_back({verdict.ranks, verdict.bytes, *verdict.measured_speedup});
    }
  }
  return grid;
}

}  // namespace ringside
