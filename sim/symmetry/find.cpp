#include "sim/symmetry/find.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Rounds and moves that are written one by one, at most.
constexpr std::size_t kMostLines = 4096;
constexpr std::int64_t kMostMoves = 6'000'000;
/// Rounding of a sum of rates that is equal to a capacity.
constexpr double kRounding = 1 + 1e-12;

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Rounds repeat as the schedule says where all chunks are equally long.
std::vector<RepeatedRounds> lines_of(const Execution& execution) {
  std::vector<RepeatedRounds> lines = execution.schedule().repeats();
  if (execution.has_even_chunks() || execution.num_rounds() > static_cast<std::int64_t>(kMostLines)) {
    return lines;
  }
  lines.clear();
  for (std::int64_t round = 0; round < execution.num_rounds(); ++round) {
    lines.push_back({.first = round});
  }
  return lines;
}

bool repeats(const std::vector<RepeatedRounds>& lines) {
  return std::ranges::any_of(lines, [](const RepeatedRounds& line) { return line.times > 1; });
}

}  // namespace

std::optional<std::string> symmetry_obstacle(const Execution& execution, const Network& network) {
  if (network.processor || network.topology == nullptr) {
    return "its ranks share processors or ports instead of links";
  }
  if (execution.policy().in_flight > 1 || execution.policy().segments > 1) {
    return "several rounds of a rank are in flight";
  }
  return std::nullopt;
}

PartitionFinder::PartitionFinder(const Execution& execution, const Network& network)
    : execution_(execution), network_(network), obstacle_(symmetry_obstacle(execution, network)) {
  if (obstacle_) {
    return;
  }
  lines_ = lines_of(execution);
  if (!execution.has_even_chunks() && repeats(lines_)) {
    obstacle_ = "its chunks differ in length, so that no round is like another";
    return;
  }
  std::int64_t written = 0;
  for (const RepeatedRounds& line : lines_) {
    if (written <= kMostMoves) {
      execution_.write_round(line.first, round_);
      written += line.period * static_cast<std::int64_t>(round_.size());
    }
  }
  if (written > kMostMoves || lines_.size() > kMostLines) {
    obstacle_ = "too many of its rounds differ";
    return;
  }
  if (reduces_in_time(network)) {
    std::optional<std::vector<LineWaits>> waits = find_waits(execution, lines_);
    if (!waits) {
      obstacle_ = "the order in which its ranks reduce depends on which message comes first";
      return;
    }
    waits_ = *std::move(waits);
  }
  link_node_.assign(network.topology->links().size(), kNoClass);
  carried_.assign(link_node_.size(), false);
  for (const Link& link : network.topology->links()) {
    inverse_capacity_.push_back(inverse(link.capacity).value);
    latency_.push_back(link.latency.value);
  }
}

std::size_t PartitionFinder::next_pattern(std::size_t first) {
  std::size_t next = first + 1;
  while (next < lines_.size() && same_ends(next, next - 1)) {
    ++next;
  }
  return next;
}

/// Whether the first rounds of two lines have moves between the same ranks.
bool PartitionFinder::same_ends(std::size_t line, std::size_t other) {
  execution_.write_round(lines_[line].first, round_);
  execution_.write_round(lines_[other].first, other_round_);
  return std::equal(
      round_.begin(), round_.end(), other_round_.begin(), other_round_.end(),
      [](const Move& a, const Move& b) { return a.source == b.source && a.target == b.target; });
}

RankEntries PartitionFinder::first_entries() const {
  return {.of_rank = std::vector<std::int32_t>(at(execution_.num_ranks()), 0), .rows = {{}}};
}

PartitionStage PartitionFinder::find(std::size_t first, std::size_t last, const RankEntries& entries) {
  collect(first, last);
  leave_out_wide_links();
  free_flow_ = flows_freely();
  if (free_flow_) {
    std::fill(link_node_.begin(), link_node_.end(), kNoClass);
    kept_.clear();
  }
  const Colours colours = colour(entries);
  PartitionStage stage{.lines = {lines_.begin() + static_cast<std::ptrdiff_t>(first),
                                 lines_.begin() + static_cast<std::ptrdiff_t>(last)},
                       .free_flow = free_flow_};
  write_ranks(entries, colours, stage);
  const auto num_rank_classes = static_cast<std::int32_t>(stage.ranks.size());
  write_moves(colours, num_rank_classes, stage);
  write_links(colours, num_rank_classes, stage);
  return stage;
}

/// The moves of the stage and the links that each crosses.
void PartitionFinder::collect(std::size_t first, std::size_t last) {
  moves_.clear();
  uses_.clear();
  first_use_.assign(1, 0);
  num_rounds_ = 0;
  static const MoveWaits kNone;
  for (std::size_t line = first; line < last; ++line) {
    for (std::int64_t round = 0; round < lines_[line].period; ++round) {
      execution_.write_round(lines_[line].first + round, round_);
      for (std::size_t i = 0; i < round_.size(); ++i) {
        add_move(round_[i], num_rounds_,
                 waits_.empty() ? kNone : waits_[line].rounds[static_cast<std::size_t>(round)][i]);
      }
      ++num_rounds_;
    }
  }
}

void PartitionFinder::add_move(const Move& move, std::int32_t round, const MoveWaits& waits) {
  StageMove& added =
      moves_.emplace_back(StageMove{.round = round,
                                    .move = move,
                                    .bytes = execution_.bytes(move),
                                    .slowdown = transfer_slowdown(network_, move.source, move.target),
                                    .waits = waits});
  if (!move.local()) {
    network_.topology->route(move.source, move.target, route_);
    RINGSIDE_CHECK(!route_.empty(), "two ranks of a network have no route");
    const auto begin = static_cast<std::ptrdiff_t>(uses_.size());
    for (const std::int32_t link : route_) {
      added.latency += latency_[at(link)];
      carried_[at(link)] = carried_[at(link)] || added.bytes > 0;
      const auto same = std::find_if(uses_.begin() + begin, uses_.end(),
                                     [link](const Use& use) { return use.link == link; });
      if (same != uses_.end()) {
        ++same->times;
      } else {
        uses_.push_back({.link = link});
      }
    }
    for (auto use = uses_.begin() + begin; use != uses_.end(); ++use) {
      added.inverse_bandwidth =
          std::max(added.inverse_bandwidth, use->times * inverse_capacity_[at(use->link)]);
    }
  }
  first_use_.push_back(static_cast<std::int32_t>(uses_.size()));
}

/// A link that is the narrowest of no route, and that all flows of the stage together cannot fill, holds
/// nothing back: see partition.hpp. The others get numbers.
void PartitionFinder::leave_out_wide_links() {
  most_.assign(link_node_.size(), 0);
  for (std::size_t move = 0; move < moves_.size(); ++move) {
    const double inverse_bandwidth = moves_[move].inverse_bandwidth;
    const double alone = rate_of(inverse_bandwidth);
    for (std::int32_t i = first_use_[move]; i < first_use_[move + 1]; ++i) {
      const Use& use = uses_[at(i)];
      const bool narrowest = use.times * inverse_capacity_[at(use.link)] >= inverse_bandwidth;
      most_[at(use.link)] += narrowest ? kInfinite : use.times * alone;
    }
  }
  std::fill(link_node_.begin(), link_node_.end(), kNoClass);
  kept_.clear();
  for (std::size_t link = 0; link < most_.size(); ++link) {
    if (most_[link] > 0 && most_[link] * inverse_capacity_[link] > kRounding) {
      link_node_[link] = static_cast<std::int32_t>(kept_.size());
      kept_.push_back(static_cast<std::int32_t>(link));
    }
  }
}

/// Whether every link is crossed by flows that follow one another, or is wide.
bool PartitionFinder::flows_freely() const {
  std::vector<LinkFlows> flows(link_node_.size());
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    for (std::int32_t use = first_use_[i]; use < first_use_[i + 1]; ++use) {
      flows[at(uses_[at(use)].link)].add(moves_[i].move, moves_[i].round);
    }
  }
  return std::ranges::all_of(kept_, [&](std::int32_t id) { return flows[at(id)].follow_one_another(); });
}

Colours PartitionFinder::colour(const RankEntries& entries) {
  constexpr std::uint32_t kRankEdge = 1U << 31;
  const int num_ranks = execution_.num_ranks();
  std::vector<std::uint64_t> items;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    items.push_back(mixed(mixed(bits(reduction_cost(network_, rank)), bits(slowdown(network_, rank))),
                          bits(std::int64_t{entries.of_rank[at(rank)]})));
  }
  for (const std::int32_t link : kept_) {
    items.push_back(mixed(1, bits(inverse_capacity_[at(link)])));
  }
  TouchGraph graph;
  std::vector<std::uint64_t> attributes;
  graph.item.reserve(2 * moves_.size() + uses_.size());
  graph.label.reserve(2 * moves_.size() + uses_.size());
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    const StageMove& move = moves_[i];
    std::uint64_t attribute = mixed(static_cast<std::uint64_t>(move.round), bits(move.bytes));
    attribute =
        mixed(attribute, (move.move.local() ? 2U : 0U) + (move.move.kind == MoveKind::reduce ? 1U : 0U));
    attribute =
        mixed(mixed(mixed(attribute, bits(move.latency)), bits(move.slowdown)), bits(move.inverse_bandwidth));
    attributes.push_back(attribute);
    const auto end = [&](Rank rank, std::int32_t behind, std::uint32_t role) {
      graph.item.push_back(rank);
      graph.label.push_back(kRankEdge | (static_cast<std::uint32_t>(behind) << 3) | role);
    };
    end(move.move.source, move.waits.source_behind,
        (move.waits.holds ? 4U : 0U) + (move.move.local() ? 2U : 0U));
    if (!move.move.local()) {
      end(move.move.target, move.waits.target_behind, 1);
    }
    for (std::int32_t use = first_use_[i]; use < first_use_[i + 1]; ++use) {
      const std::int32_t node = link_node_[at(uses_[at(use)].link)];
      if (node != kNoClass) {
        graph.item.push_back(num_ranks + node);
        graph.label.push_back(static_cast<std::uint32_t>(uses_[at(use)].times));
      }
    }
    graph.first.push_back(static_cast<std::int32_t>(graph.item.size()));
  }
  return refine(graph, items, attributes);
}

void PartitionFinder::write_ranks(const RankEntries& entries, const Colours& colours,
                                  PartitionStage& stage) const {
  const auto num_ranks = execution_.num_ranks();
  stage.rank_class.assign(colours.of_item.begin(), colours.of_item.begin() + num_ranks);
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    const std::int32_t number =
        stage.rank_class[at(rank)];  // Numbers are given in order of their first member.
    if (at(number) == stage.ranks.size()) {
      stage.ranks.push_back({.reduction = reduction_cost(network_, rank),
                             .slowdown = slowdown(network_, rank),
                             .entry = entries.rows[at(entries.of_rank[at(rank)])]});
    }
    ++stage.ranks[at(number)].members;
  }
}

void PartitionFinder::write_moves(const Colours& colours, std::int32_t num_rank_classes,
                                  PartitionStage& stage) const {
  stage.move_class.resize(at(num_rounds_));
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    const StageMove& move = moves_[i];
    const std::int32_t number = colours.of_move[i];
    stage.move_class[at(move.round)].push_back(number);
    if (at(number) == stage.moves.size()) {
      const bool local = move.move.local();
      MoveClass& row = stage.moves.emplace_back(MoveClass{.round = move.round,
                                                          .kind = move.move.kind,
                                                          .local = local,
                                                          .bytes = move.bytes,
                                                          .latency = move.latency,
                                                          .slowdown = move.slowdown,
                                                          .alone = rate_of(move.inverse_bandwidth)});
      row.source = {.rank_class = stage.rank_class[at(move.move.source)],
                    .behind = move.waits.source_behind,
                    .holds = move.waits.holds};
      row.target = {.rank_class = stage.rank_class[at(move.move.target)],
                    .behind = local ? move.waits.source_behind : move.waits.target_behind};
      for (std::int32_t use = first_use_[i]; use < first_use_[i + 1]; ++use) {
        const std::int32_t node = link_node_[at(uses_[at(use)].link)];
        if (node != kNoClass) {
          add_crossing(row.crossings, colours.of_item[at(execution_.num_ranks() + node)] - num_rank_classes,
                       uses_[at(use)].times);
        }
      }
    }
    ++stage.moves[at(number)].members;
  }
  for (MoveClass& row : stage.moves) {
    const auto share = [&](MoveEnd& end) {
      end.moves = static_cast<std::int32_t>(row.members / stage.ranks[at(end.rank_class)].members);
    };
    share(row.source);
    share(row.target);
  }
}

void PartitionFinder::write_links(const Colours& colours, std::int32_t num_rank_classes,
                                  PartitionStage& stage) const {
  stage.link_class.assign(link_node_.size(), kNoClass);
  std::vector<bool> first_of_class(kept_.size(), false);
  for (std::size_t node = 0; node < kept_.size(); ++node) {
    const std::int32_t number = colours.of_item[at(execution_.num_ranks()) + node] - num_rank_classes;
    stage.link_class[at(kept_[node])] = number;
    if (at(number) == stage.links.size()) {
      stage.links.push_back({.capacity = rate_of(inverse_capacity_[at(kept_[node])])});
      first_of_class[node] = true;
    }
    ++stage.links[at(number)].members;
  }
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    for (std::int32_t use = first_use_[i]; use < first_use_[i + 1]; ++use) {
      const std::int32_t node = link_node_[at(uses_[at(use)].link)];
      if (node == kNoClass || !first_of_class[at(node)]) {
        continue;
      }
      std::vector<LinkLoad>& loads = stage.links[at(stage.link_class[at(kept_[at(node)])])].loads;
      const LinkLoad load = {.move_class = colours.of_move[i], .times = uses_[at(use)].times, .flows = 1};
      const auto same = std::ranges::find_if(loads, [&](const LinkLoad& other) {
        return other.move_class == load.move_class && other.times == load.times;
      });
      if (same != loads.end()) {
        ++same->flows;
      } else {
        loads.push_back(load);
      }
    }
  }
}

RankEntries PartitionFinder::after(const PartitionStage& stage, std::int32_t number, std::size_t last,
                                   const RankEntries& before) const {
  const std::vector<std::vector<StageClass>> moves = last_moves(stage, number);
  RankEntries entries{.of_rank = before.of_rank, .rows = before.rows};
  std::vector<std::int32_t> row_of_class(stage.ranks.size(), kNoClass);
  for (Rank rank = 0; rank < execution_.num_ranks(); ++rank) {
    const std::int32_t rank_class = stage.rank_class[at(rank)];
    if (moves[at(rank_class)].empty()) {
      continue;  // It has no part in this stage and enters the next one as it did this.
    }
    std::int32_t& row = row_of_class[at(rank_class)];
    if (row == kNoClass) {
      RankEntry entry{.ready_after = moves[at(rank_class)], .owes = {}};
      if (!waits_.empty() && waits_[last - 1].owing[at(rank)]) {
        entry.owes = {.stage = number, .number = rank_class};
      }
      const auto same = std::ranges::find(entries.rows, entry);
      row = static_cast<std::int32_t>(same - entries.rows.begin());
      if (same == entries.rows.end()) {
        entries.rows.push_back(std::move(entry));
      }
    }
    entries.of_rank[at(rank)] = row;
  }
  return entries;
}

}  // namespace ringside
