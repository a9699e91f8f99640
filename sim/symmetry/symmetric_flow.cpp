#include "sim/symmetry/symmetric_flow.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "sim/symmetry/check.hpp"
#include "sim/symmetry/find.hpp"
#include "sim/symmetry/quotient.hpp"

namespace ringside {

namespace {

/// So many stages may turn out to overlap before all become one.
constexpr int kMostMerges = 4;
/// Stages with fewer moves are not worth it; rounds that repeat more often are, without symmetry.
constexpr std::size_t kFewMoves = 1024;
constexpr std::int64_t kFewTimes = 8;
/// More lines than this make one stage from the start.
constexpr std::size_t kMostStages = 64;

double messages_of(const PartitionStage& stage) {
  std::vector<std::int64_t> times;
  for (const RepeatedRounds& line : stage.lines) {
    times.insert(times.end(), static_cast<std::size_t>(line.period), line.times);
  }
  double messages = 0;
  for (const MoveClass& move : stage.moves) {
    messages +=
        move.local ? 0 : static_cast<double>(move.members) * static_cast<double>(times[at(move.round)]);
  }
  return messages;
}

void add_uses(const PartitionStage& stage, const StageOutcome& outcome, std::vector<LinkUse>& links) {
  if (std::ranges::none_of(outcome.links, [](const ClassUse& use) { return use.limiting_time > 0; })) {
    return;
  }
  for (std::size_t link = 0; link < links.size(); ++link) {
    if (stage.link_class[link] == kNoClass) {
      continue;
    }
    const ClassUse& use = outcome.links[at(stage.link_class[link])];
    links[link].limiting_time += use.limiting_time;
    if (use.flows > links[link].flows) {
      links[link].flows = use.flows;
      links[link].crossings = use.crossings;
    }
  }
}

SymmetricFlow flow_of(Partition partition, const std::vector<StageOutcome>& outcomes,
                      const std::vector<bool>& carried, std::int64_t events) {
  SymmetricFlow flow{.links = std::vector<LinkUse>(carried.size()), .events = events};
  for (std::size_t link = 0; link < flow.links.size(); ++link) {
    flow.links[link].carried = carried[link];
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    flow.seconds = {std::max(flow.seconds.value, outcomes[i].settled)};
    flow.rank_classes =
        std::max(flow.rank_classes, static_cast<std::int32_t>(partition.stages[i].ranks.size()));
    flow.num_messages += messages_of(partition.stages[i]);
    add_uses(partition.stages[i], outcomes[i], flow.links);
  }
  flow.partition = std::move(partition);
  return flow;
}

/// By a partition of another network; none where it is not one of this network.
std::optional<SymmetricFlow> simulate_known(const Execution& execution, const Network& network,
                                            const SymmetryOptions& options) {
  std::optional<Partition> partition = with_numbers_of(options.known->partition, execution, network);
  if (!partition || partition->stages.empty() || !check_partition(execution, network, *partition).empty()) {
    return std::nullopt;
  }
  std::vector<StageOutcome> outcomes;
  std::int64_t events = 0;
  for (const PartitionStage& stage : partition->stages) {
    outcomes.push_back(simulate_stage(stage, outcomes, options.most_events - events));
    events += outcomes.back().events;
    if (outcomes.back().overlaps || outcomes.back().given_up) {
      return std::nullopt;
    }
  }
  return flow_of(*std::move(partition), outcomes, options.known->carried, events);
}

class SymmetricRun {
 public:
  SymmetricRun(const Execution& execution, const Network& network, const SymmetryOptions& options)
      : execution_(execution), network_(network), options_(options), finder_(execution, network) {}

  std::variant<SymmetricFlow, NoSymmetry> run() {
    if (finder_.obstacle()) {
      return NoSymmetry{*finder_.obstacle()};
    }
    entries_ = {finder_.first_entries()};
    bounds_ = {0};
    if (finder_.lines().empty()) {
      return result();
    }
    bounds_.push_back(finder_.lines().size() > kMostStages ? finder_.lines().size()
                                                           : finder_.next_pattern(0));
    while (true) {
      if (std::optional<NoSymmetry> none = add_stage()) {
        return *std::move(none);
      }
      if (bounds_.back() == finder_.lines().size() && outcomes_.size() + 1 == bounds_.size()) {
        return result();
      }
      if (outcomes_.size() + 1 == bounds_.size()) {
        bounds_.push_back(finder_.next_pattern(bounds_.back()));
      }
    }
  }

 private:
  /// Finds and simulates the stage between the last two bounds. Where it overlaps the one before, takes both
  /// away and leaves the bounds of one stage instead.
  std::optional<NoSymmetry> add_stage() {
    const std::size_t number = outcomes_.size();
    PartitionStage stage = finder_.find(bounds_[number], bounds_[number + 1], entries_[number]);
    if (has_little(stage)) {
      return NoSymmetry{fmt::format("it has hardly any symmetry: {} of {} ranks differ", stage.ranks.size(),
                                    execution_.num_ranks())};
    }
    StageOutcome outcome = simulate_stage(stage, outcomes_, options_.most_events - events_);
    events_ += outcome.events;
    if (outcome.overlaps) {
      merge();
      return std::nullopt;
    }
    if (outcome.given_up) {
      return NoSymmetry{
          fmt::format("its {} classes of ranks take too long to come to a steady state", stage.ranks.size())};
    }
    entries_.push_back(
        finder_.after(stage, static_cast<std::int32_t>(number), bounds_[number + 1], entries_[number]));
    outcomes_.push_back(std::move(outcome));
    partition_.stages.push_back(std::move(stage));
    return std::nullopt;
  }

  void merge() {
    if (++merges_ > kMostMerges) {
      bounds_ = {0, finder_.lines().size()};
    } else {
      bounds_.erase(bounds_.end() - 2);
    }
    const std::size_t kept = bounds_.size() - 2;
    outcomes_.resize(kept);
    entries_.resize(kept + 1);
    partition_.stages.resize(kept);
  }

  bool has_little(const PartitionStage& stage) const {
    std::size_t written = 0;
    for (const std::vector<std::int32_t>& round : stage.move_class) {
      written += round.size();
    }
    const bool repeats =
        std::ranges::any_of(stage.lines, [](const RepeatedRounds& line) { return line.times > kFewTimes; });
    return !repeats && written > kFewMoves &&
           static_cast<double>(stage.moves.size()) > options_.most_classes * static_cast<double>(written);
  }

  SymmetricFlow result() {
    const std::vector<std::string> faults = check_partition(execution_, network_, partition_);
    RINGSIDE_CHECK(faults.empty(), "a partition is not equitable: " + faults.front());
    if (options_.known != nullptr) {
      options_.known->carried = finder_.carried();
    }
    return flow_of(std::move(partition_), outcomes_, finder_.carried(), events_);
  }

  const Execution& execution_;
  const Network& network_;
  const SymmetryOptions& options_;
  PartitionFinder finder_;
  std::vector<std::size_t> bounds_;  ///< Lines where stages begin, and where the last one ends.
  std::vector<RankEntries> entries_;
  std::vector<StageOutcome> outcomes_;
  Partition partition_;
  std::int64_t events_ = 0;
  int merges_ = 0;
};

}  // namespace

std::variant<SymmetricFlow, NoSymmetry> simulate_symmetric(const Execution& execution, const Network& network,
                                                           const SymmetryOptions& options) {
  if (options.known != nullptr && !symmetry_obstacle(execution, network)) {
    if (std::optional<SymmetricFlow> flow = simulate_known(execution, network, options)) {
      return *std::move(flow);
    }
  }
  auto found = SymmetricRun(execution, network, options).run();
  if (const auto* flow = std::get_if<SymmetricFlow>(&found); flow != nullptr && options.known != nullptr) {
    options.known->partition = flow->partition;
  }
  return found;
}

}  // namespace ringside
