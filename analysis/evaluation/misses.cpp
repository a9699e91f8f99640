#include "analysis/evaluation/misses.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/names.hpp"

namespace ringside {

namespace {

bool belongs(const EvaluatedSystem& system, std::string_view machine_class) {
  if (system.excluded || system.collective != Collective::all_reduce) {
    return false;
  }
  return machine_class == name(system.machine_class) ||
         (machine_class == "multi_node_rdma" && system.kind == NcclKind::rdma) ||
         (machine_class == "multi_node_other" && system.kind == NcclKind::other_network) ||
         machine_class == fmt::format("node_{}", name(system.kind));
}

/// How many systems have a trait, of those that miss the goal and of the others.
struct Count {
  int missed = 0;
  int reached = 0;

  double share_missed() const { return static_cast<double>(missed) / (missed + reached); }
};

/// Those that miss more often than the class does, the most telling first: how many more than were to be expected.
std::vector<std::string> telling(const std::map<std::string, Count>& traits, const Count& all) {
  constexpr int kFew = 3;
  struct Trait {
    std::string text;
    double more = 0;
  };
  std::vector<Trait> found;
  for (const auto& [trait, count] : traits) {
    const int systems = count.missed + count.reached;
    const double more = count.missed - systems * all.share_missed();
    if (count.missed >= kFew && more >= 1) {
      found.push_back({.text = fmt::format("{} ({} of {})", trait, count.missed, systems), .more = more});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Trait& a, const Trait& b) { return a.more > b.more; });
  constexpr std::size_t kMost = 5;
  std::vector<std::string> texts;
  for (const Trait& trait : found) {
    if (texts.size() < kMost) {
      texts.push_back(trait.text);
    }
  }
  return texts;
}

/// The band in which a system's mean error is greatest.
std::string worst_band(const EvaluatedSystem& system, EvaluatedModel model) {
  std::string worst;
  double most = 0;
  for (const std::string_view band : {"small", "middle", "large"}) {
    const Accuracy* record = find(system.records, {.machine_class = {}, .band = band, .model = model});
    if (record != nullptr && record->mape > most) {
      most = record->mape;
      worst = band;
    }
  }
  return worst;
}

std::string row_of(const AccuracyReport& report, const MissGoal& goal) {
  Count all;
  std::map<std::string, Count> traits;
  std::map<std::string, int> bands;
  std::set<std::string> sources;
  for (const EvaluatedSystem& system : report.systems) {
    const Accuracy* record =
        belongs(system, goal.machine_class)
            ? find(system.records, {.machine_class = {}, .band = goal.band, .model = goal.model})
            : nullptr;
    if (record == nullptr || (goal.of_coverage && !record->coverage)) {
      continue;
    }
    const bool missed = goal.of_coverage ? *record->coverage < goal.goal : record->mape > goal.goal;
    const auto count = [missed](Count& where) { ++(missed ? where.missed : where.reached); };
    count(all);
    for (const std::string& trait : system.traits) {
      count(traits[trait]);
    }
    count(traits[record->bias < 0 ? "predicted too fast" : "predicted too slow"]);
    if (missed) {
      ++bands[goal.band == "all" ? worst_band(system, goal.model) : std::string(goal.band)];
      sources.insert(system.group);
    }
  }
  if (all.missed + all.reached == 0) {
    return {};
  }
  std::vector<std::string> furthest;
  for (const std::string_view band : {"small", "middle", "large"}) {
    if (const auto found = bands.find(std::string(band)); found != bands.end()) {
      furthest.push_back(fmt::format("{} {}", band, found->second));
    }
  }
  return fmt::format("| {} | {:.0f} | {} of {} | {} | {} | {} |\n", goal.what, 100 * goal.goal, all.missed,
                     all.missed + all.reached, sources.size(), fmt::join(furthest, ", "),
                     fmt::join(telling(traits, all), "; "));
}

}  // namespace

std::vector<std::string> traits_of(const NcclSystem& system) {
  struct Trait {
    bool holds;
    std::string text;
  };
  const bool many = system.nodes > 1;
  const bool on_pcie = !many && system.link == GpuLink::pcie;
  constexpr int kManyNodes = 8;
  constexpr int kFullNode = 8;
  const double share = system.transport.peer_to_peer;
  const std::vector<Trait> all = {
      {true, fmt::format("GPUs of {}", name(system.architecture))},
      {many, fmt::format("network {}", name(system.network))},
      {many && system.gpus_per_node() <= 1, "one GPU per node"},
      {many && system.gpus_per_node() > system.nics, "GPUs share NICs"},
      {system.nodes >= kManyNodes, fmt::format("{} nodes or more", kManyNodes)},
      {!many && system.ranks < kFullNode, fmt::format("fewer than {} GPUs", kFullNode)},
      {!many && system.ranks >= kFullNode, fmt::format("{} GPUs or more", kFullNode)},
      {!many && system.link == GpuLink::nvlink, "cables without a switch"},
      {system.link == GpuLink::xgmi, "xGMI"},
      {on_pcie && share <= 0, "host memory by NCCL's rule"},
      {on_pcie && share > 0 && share < 1, "transport left open"},
      {on_pcie && share >= 1, "peer to peer"},
      {system.single_process, "one process for all GPUs"},
      {system.before_2_9, "NCCL before 2.9"},
      {system.algorithm || system.protocol, "algorithm or protocol forced"},
  };
  std::vector<std::string> texts;
  for (const Trait& trait : all) {
    if (trait.holds) {
      texts.push_back(trait.text);
    }
  }
  return texts;
}

std::string misses(const AccuracyReport& report, std::span<const MissGoal> goals, std::string_view who) {
  std::string text = fmt::format(
      "| class | goal, % | {} | of sources | furthest off in | commoner there than in the class |\n"
      "| --- | ---: | ---: | ---: | --- | --- |\n",
      who);
  for (const MissGoal& goal : goals) {
    text += row_of(report, goal);
  }
  return text;
}

std::string misses_of_coverage(const AccuracyReport& report, std::span<const std::string_view> parts) {
  constexpr double kLeast = 0.86;
  std::vector<MissGoal> goals;
  for (const std::string_view part : parts) {
    for (const std::string_view band : {"all", "small", "middle", "large"}) {
      const Accuracy* record = find(report.summaries, {"median", part, band});
      if (record != nullptr && record->coverage && std::round(100 * *record->coverage) < 100 * kLeast) {
        goals.push_back({.what = fmt::format("{}, {}", part, band),
                         .machine_class = part,
                         .goal = kLeast,
                         .band = band,
                         .of_coverage = true});
      }
    }
  }
  return misses(report, goals, "systems below it");
}

}  // namespace ringside
