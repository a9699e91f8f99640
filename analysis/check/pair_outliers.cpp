#include "analysis/check/pair_outliers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "common/mapped.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

constexpr double kByChance = 0.05;
constexpr std::size_t kFewestPairs = 3;

/// What healthy pairs are like.
struct Healthy {
  double median = 0;  ///< Median of the logarithms of their ratios.
  double deviation = 0;

  /// Share of healthy pairs that are at least as slow.
  double share_as_slow(const PairRun& run) const {
    return 0.5 * std::erfc((std::log(run.ratio) - median) / deviation / std::sqrt(2.0));
  }
  double slowdown(double log_ratio) const { return std::exp(log_ratio - median); }
};

bool has_any(const PairRun& run, const std::set<std::string>& nodes) {
  return nodes.contains(run.first) || nodes.contains(run.second);
}

/// From the pairs without any of `nodes`; nothing where there are too few.
std::optional<Healthy> healthy_without(std::span<const PairRun> runs, const std::set<std::string>& nodes) {
  /// The median distance of a Gaussian from its median, in deviations.
  constexpr double kMedianDistance = 0.6745;
  constexpr double kRepeats = 0.03;
  std::vector<double> logs;
  for (const PairRun& run : runs) {
    if (!has_any(run, nodes)) {
      logs.push_back(std::log(run.ratio));
    }
  }
  if (logs.size() < kFewestPairs) {
    return std::nullopt;
  }
  Healthy result{.median = summarize(logs).median};
  for (double& value : logs) {
    value = std::abs(value - result.median);
  }
  result.deviation = std::max(summarize(logs).median / kMedianDistance, kRepeats);
  return result;
}

/// Whether each pair of the node is slow, and by chance none of `nodes` nodes would be.
bool is_slow(const std::vector<const PairRun*>& pairs, const Healthy& healthy, std::size_t nodes) {
  const double by_chance =
      static_cast<double>(nodes) * std::pow(kByChance, static_cast<double>(pairs.size()));
  return by_chance < kByChance && std::ranges::all_of(pairs, [&](const PairRun* run) {
           return healthy.share_as_slow(*run) < kByChance;
         });
}

}  // namespace

PairOutliers pair_outliers(std::span<const PairRun> runs) {
  std::map<std::string, std::vector<const PairRun*>> pairs_of;
  for (const PairRun& run : runs) {
    pairs_of[run.first].push_back(&run);
    pairs_of[run.second].push_back(&run);
  }
  std::vector<PairOutliers::Node> nodes;
  for (const auto& [name, pairs] : pairs_of) {
    const std::vector<double> logs = mapped(pairs, [](const PairRun* run) { return std::log(run->ratio); });
    nodes.push_back(
        {.name = name, .pairs = static_cast<int>(pairs.size()), .slowdown = summarize(logs).median});
  }
  std::ranges::stable_sort(nodes, std::greater<>(), &PairOutliers::Node::slowdown);
  // The most nodes that are all slow beside the rest: among it, several slow ones hide each other.
  std::size_t slow = 0;
  std::set<std::string> taken_out;
  std::set<std::string> slow_nodes;
  for (std::size_t count = 1; count <= nodes.size() / 2; ++count) {
    taken_out.insert(nodes[count - 1].name);
    const auto rest = healthy_without(runs, taken_out);
    if (rest && std::ranges::all_of(taken_out, [&](const std::string& name) {
          return is_slow(pairs_of.at(name), *rest, nodes.size());
        })) {
      slow = count;
      slow_nodes = taken_out;
    }
  }
  PairOutliers result;
  const auto healthy = healthy_without(runs, slow_nodes);
  if (!healthy) {
    return result;
  }
  nodes.resize(slow);
  for (PairOutliers::Node& node : nodes) {
    node.slowdown = healthy->slowdown(node.slowdown);
    result.nodes.push_back(std::move(node));
  }
  for (const PairRun& run : runs) {
    if (!has_any(run, slow_nodes) &&
        healthy->share_as_slow(run) * static_cast<double>(runs.size()) < kByChance) {
      result.pairs.push_back({.run = run, .slowdown = healthy->slowdown(std::log(run.ratio))});
    }
  }
  std::ranges::stable_sort(result.pairs, std::greater<>(), &PairOutliers::Pair::slowdown);
  return result;
}

}  // namespace ringside
