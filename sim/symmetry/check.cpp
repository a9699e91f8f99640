// 400 lines: one check, whose conditions look at the same round of moves.
#include "sim/symmetry/check.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "sim/symmetry/waits.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1 + 1e-12;

class PartitionCheck {
 public:
  PartitionCheck(const Execution& execution, const Network& network, const Partition& partition)
      : execution_(execution), network_(network), partition_(partition) {
    if (network.topology != nullptr) {
      for (const Link& link : network.topology->links()) {
        inverse_capacity_.push_back(inverse(link.capacity).value);
        capacity_.push_back(rate_of(inverse_capacity_.back()));
        latency_.push_back(link.latency.value);
      }
    }
  }

  std::vector<std::string> run() {
    check_lines();
    if (faults_.empty() && reduces_in_time(network_)) {
      read_waits();
    }
    for (std::size_t number = 0; number < partition_.stages.size() && faults_.empty(); ++number) {
      const PartitionStage& stage = partition_.stages[number];
      if (!fits(stage)) {
        fail(number, "classes are missing, or are not numbers of its classes");
        break;
      }
      check_ranks(number, stage);
      check_moves(number, stage);
      if (faults_.empty()) {
        leave(number, stage);
      }
    }
    return std::move(faults_);
  }

 private:
  struct Cross {
    std::int32_t link = 0;
    std::int32_t times = 0;
  };

  void fail(std::size_t stage, const std::string& what) {
    faults_.push_back(fmt::format("stage {}: {}", stage, what));
  }

  // --- Which rounds there are

  void check_lines() {
    if (network_.processor || network_.topology == nullptr || execution_.policy().in_flight != 1 ||
        execution_.policy().segments != 1) {
      faults_.emplace_back("partitions are of links and of ranks with one round in flight");
    }
    const std::vector<RepeatedRounds> told = execution_.schedule().repeats();
    std::int64_t next = 0;
    for (const PartitionStage& stage : partition_.stages) {
      for (const RepeatedRounds& line : stage.lines) {
        const bool known = std::ranges::any_of(told, [&](const RepeatedRounds& other) {
          return line.period == other.period && line.first >= other.first && line.end() <= other.end() &&
                 (line.first - other.first) % other.period == 0;
        });
        if (line.first != next || line.period < 1 || line.times < 1 ||
            (line.times > 1 && !(known && execution_.has_even_chunks()))) {
          faults_.push_back(fmt::format("rounds from {} on are left out, or do not repeat", next));
          return;
        }
        next = line.end();
      }
    }
    if (next != execution_.num_rounds()) {
      faults_.push_back(fmt::format("rounds from {} on are left out", next));
    }
  }

  void read_waits() {
    std::vector<RepeatedRounds> lines;
    for (const PartitionStage& stage : partition_.stages) {
      lines.insert(lines.end(), stage.lines.begin(), stage.lines.end());
    }
    const std::size_t num_told = lines.size();
    std::optional<std::vector<LineWaits>> waits = find_waits(execution_, lines);
    if (!waits || lines.size() > num_told) {
      faults_.emplace_back("what moves wait for is not fixed, or differs between a round and its images");
      return;
    }
    waits_ = *std::move(waits);
  }

  static bool in_range(std::int32_t number, std::size_t size) { return number >= 0 && at(number) < size; }

  bool fits(const PartitionStage& stage) const {
    std::size_t rounds = 0;
    for (const RepeatedRounds& line : stage.lines) {
      rounds += static_cast<std::size_t>(line.period);
    }
    const auto all_in = [](const std::vector<std::int32_t>& numbers, std::size_t size) {
      return std::ranges::all_of(numbers, [&](std::int32_t number) { return in_range(number, size); });
    };
    return stage.rank_class.size() == at(execution_.num_ranks()) &&
           stage.link_class.size() == network_.topology->links().size() &&
           stage.move_class.size() == rounds && all_in(stage.rank_class, stage.ranks.size()) &&
           std::ranges::all_of(stage.link_class,
                               [&](std::int32_t number) {
                                 return number == kNoClass || in_range(number, stage.links.size());
                               }) &&
           std::ranges::all_of(stage.move_class,
                               [&](const auto& round) { return all_in(round, stage.moves.size()); }) &&
           std::ranges::all_of(stage.moves, [&](const MoveClass& row) {
             return in_range(row.source.rank_class, stage.ranks.size()) &&
                    in_range(row.target.rank_class, stage.ranks.size()) &&
                    std::ranges::all_of(row.crossings, [&](const Crossing& crossing) {
                      return in_range(crossing.link_class, stage.links.size());
                    });
           });
  }

  // --- Condition (1)

  void check_ranks(std::size_t number, const PartitionStage& stage) {
    std::vector<std::int64_t> members(stage.ranks.size(), 0);
    std::vector<std::int32_t> entry_of_class(stage.ranks.size(), -1);
    entry_of_rank_.resize(at(execution_.num_ranks()), 0);
    for (Rank rank = 0; rank < execution_.num_ranks(); ++rank) {
      const std::int32_t in = stage.rank_class[at(rank)];
      const RankClass& row = stage.ranks[at(in)];
      ++members[at(in)];
      const std::int32_t entry = entry_of_rank_[at(rank)];
      const bool enters_so = entry_of_class[at(in)] == entry || row.entry == entries_[at(entry)];
      entry_of_class[at(in)] = entry;
      if (!enters_so || row.reduction != reduction_cost(network_, rank) ||
          row.slowdown != slowdown(network_, rank)) {
        return fail(number, fmt::format("rank {} is not like its class", rank));
      }
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] != stage.ranks[i].members || members[i] == 0) {
        return fail(number, fmt::format("class {} of ranks has not as many as it says", i));
      }
    }
  }

  // --- Conditions (2) to (4)

  void check_moves(std::size_t number, const PartitionStage& stage) {
    most_.assign(stage.link_class.size(), 0);
    flows_.assign(stage.free_flow ? stage.link_class.size() : 0, {});
    tally_.assign(std::max(stage.link_class.size(), stage.rank_class.size()), 0);
    link_members_.assign(stage.links.size(), 0);
    for (std::size_t link = 0; link < stage.link_class.size(); ++link) {
      const std::int32_t in = stage.link_class[link];
      if (in != kNoClass) {
        ++link_members_[at(in)];
        if (stage.links[at(in)].capacity != capacity_of(static_cast<std::int32_t>(link))) {
          return fail(number, fmt::format("link {} has not the capacity of its class", link));
        }
      }
    }
    if (stage.free_flow && !stage.links.empty()) {
      return fail(number, "links have classes where flows are said to be free");
    }
    loads_seen_.assign(stage.links.size(), 0);
    std::size_t round = 0;
    for (const RepeatedRounds& line : stage.lines) {
      for (std::int64_t i = 0; i < line.period && faults_.empty(); ++i, ++round) {
        check_round(number, stage, line.first + i, static_cast<std::int32_t>(round));
        if (!waits_.empty() && faults_.empty()) {
          check_waits(number, stage, stage.move_class[round],
                      waits_[line_].rounds[static_cast<std::size_t>(i)]);
        }
      }
      ++line_;
    }
    if (!faults_.empty()) {
      return;
    }
    for (std::size_t i = 0; i < stage.links.size(); ++i) {
      if (link_members_[i] != stage.links[i].members || link_members_[i] == 0 ||
          loads_seen_[i] != stage.links[i].loads.size()) {
        return fail(number, fmt::format("class {} of links has other members or loads than it says", i));
      }
    }
    for (std::size_t link = 0; link < most_.size(); ++link) {
      const bool follow_one_another = stage.free_flow && flows_[link].follow_one_another();
      if (!follow_one_another && most_[link] > capacity_of(static_cast<std::int32_t>(link)) * kRounding) {
        return fail(number, fmt::format("link {} can hold flows back, and has no class", link));
      }
    }
  }

  double capacity_of(std::int32_t link) const { return capacity_[at(link)]; }

  void check_round(std::size_t number, const PartitionStage& stage, std::int64_t round, std::int32_t place) {
    execution_.write_round(round, moves_);
    const std::vector<std::int32_t>& classes = stage.move_class[at(place)];
    if (classes.size() != moves_.size()) {
      return fail(number, fmt::format("round {} has {} moves, {} have a class", round, moves_.size(),
                                      classes.size()));
    }
    crosses_.clear();
    first_cross_.assign(1, 0);
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const std::string fault = check_move(stage, moves_[i], stage.moves[at(classes[i])], place);
      if (!fault.empty()) {
        return fail(number, fmt::format("round {}, move {} to {}: {}", round, moves_[i].source,
                                        moves_[i].target, fault));
      }
      first_cross_.push_back(static_cast<std::int32_t>(crosses_.size()));
    }
    group_by_class(stage, classes);
    for (std::size_t i = 0; i < stage.moves.size() && faults_.empty(); ++i) {
      if (stage.moves[i].round == place) {
        const std::string fault = check_counts(stage, static_cast<std::int32_t>(i));
        if (!fault.empty()) {
          fail(number, fmt::format("class {} of moves, round {}: {}", i, round, fault));
        }
      }
    }
  }

  void check_waits(std::size_t number, const PartitionStage& stage, const std::vector<std::int32_t>& classes,
                   const std::vector<MoveWaits>& waits) {
    const auto as_its_class = [&](std::int32_t in, const MoveWaits& own) {
      const MoveClass& row = stage.moves[at(in)];
      return row.source.behind == own.source_behind && row.source.holds == own.holds &&
             row.target.behind == (row.local ? own.source_behind : own.target_behind);
    };
    if (!std::equal(classes.begin(), classes.end(), waits.begin(), waits.end(), as_its_class)) {
      fail(number, "moves wait for other reductions than their classes");
    }
  }

  std::string check_move(const PartitionStage& stage, const Move& move, const MoveClass& row,
                         std::int32_t place) {
    const bool alike = row.round == place && row.kind == move.kind && row.local == move.local() &&
                       row.bytes == execution_.bytes(move) &&
                       row.slowdown == transfer_slowdown(network_, move.source, move.target) &&
                       row.source.rank_class == stage.rank_class[at(move.source)] &&
                       row.target.rank_class == stage.rank_class[at(move.target)];
    if (!alike) {
      return "it is not like its class";
    }
    if (move.local()) {
      return row.crossings.empty() ? "" : "a local move crosses no links";
    }
    network_.topology->route(move.source, move.target, route_);
    double latency = 0;
    for (const std::int32_t link : route_) {
      latency += latency_[at(link)];
    }
    if (row.latency != latency) {
      return "its route has another latency than its class";
    }
    return check_route(stage, row, move);
  }

  /// Appends the links of the route that have a class, with how often it crosses each.
  std::string check_route(const PartitionStage& stage, const MoveClass& row, const Move& move) {
    std::ranges::sort(route_);
    crossed_.clear();
    wide_.clear();
    double alone = stage.free_flow ? row.alone : kInfinite;
    double inverse_bandwidth = 0;
    for (std::size_t i = 0; i < route_.size();) {
      const std::size_t begin = i;
      while (i < route_.size() && route_[i] == route_[begin]) {
        ++i;
      }
      const Cross cross = {.link = route_[begin], .times = static_cast<std::int32_t>(i - begin)};
      const std::int32_t in = stage.link_class[at(cross.link)];
      inverse_bandwidth = std::max(inverse_bandwidth, cross.times * inverse_capacity_[at(cross.link)]);
      if (in == kNoClass) {
        wide_.push_back(cross);
        continue;
      }
      crosses_.push_back(cross);
      alone = std::min(alone, capacity_of(cross.link) / cross.times);
      add_crossing(crossed_, in, cross.times);
    }
    if (row.alone != rate_of(inverse_bandwidth)) {
      return "its route has another bandwidth than its class";
    }
    for (const Cross& cross : wide_) {
      most_[at(cross.link)] += cross.times * alone;
      if (stage.free_flow) {
        flows_[at(cross.link)].add(move, row.round);
      }
    }
    const bool permuted = crossed_.size() == row.crossings.size() &&
                          std::is_permutation(crossed_.begin(), crossed_.end(), row.crossings.begin());
    return permuted ? "" : "it crosses other links than its class";
  }

  void group_by_class(const PartitionStage& stage, const std::vector<std::int32_t>& classes) {
    first_member_.assign(stage.moves.size() + 1, 0);
    for (const std::int32_t in : classes) {
      ++first_member_[at(in) + 1];
    }
    for (std::size_t i = 1; i < first_member_.size(); ++i) {
      first_member_[i] += first_member_[i - 1];
    }
    member_.resize(classes.size());
    std::vector<std::int32_t> next(first_member_.begin(), first_member_.end() - 1);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      member_[at(next[at(classes[i])]++)] = static_cast<std::int32_t>(i);
    }
  }

  template <typename Visit>
  void for_members(std::int32_t in, Visit visit) const {
    for (std::int32_t i = first_member_[at(in)]; i < first_member_[at(in) + 1]; ++i) {
      visit(member_[at(i)]);
    }
  }

  /// Every rank has as many moves of the class as it says, and every link as many flows.
  std::string check_counts(const PartitionStage& stage, std::int32_t in) {
    const MoveClass& row = stage.moves[at(in)];
    const std::int64_t members = first_member_[at(in) + 1] - first_member_[at(in)];
    const auto shared_out = [&](const MoveEnd& end, Rank Move::*rank) {
      for_members(in, [&](std::int32_t move) { ++tally_[at(moves_[at(move)].*rank)]; });
      bool right = members == end.moves * stage.ranks[at(end.rank_class)].members;
      for_members(
          in, [&](std::int32_t move) { right = right && tally_[at(moves_[at(move)].*rank)] == end.moves; });
      for_members(in, [&](std::int32_t move) { tally_[at(moves_[at(move)].*rank)] = 0; });
      return right;
    };
    if (members != row.members || members == 0 || !shared_out(row.source, &Move::source) ||
        !shared_out(row.target, &Move::target)) {
      return "its ranks do not have equally many of its moves";
    }
    for (const Crossing& crossing : row.crossings) {
      if (!check_load(stage, in, crossing)) {
        return "links of one class do not carry equally many of its moves";
      }
    }
    return {};
  }

  bool check_load(const PartitionStage& stage, std::int32_t in, const Crossing& crossing) {
    const LinkClass& links = stage.links[at(crossing.link_class)];
    const auto load = std::ranges::find_if(links.loads, [&](const LinkLoad& other) {
      return other.move_class == in && other.times == crossing.times;
    });
    if (load == links.loads.end()) {
      return false;
    }
    const auto for_crosses = [&](auto visit) {
      for_members(in, [&](std::int32_t move) {
        for (std::int32_t i = first_cross_[at(move)]; i < first_cross_[at(move) + 1]; ++i) {
          const Cross& cross = crosses_[at(i)];
          if (cross.times == crossing.times && stage.link_class[at(cross.link)] == crossing.link_class) {
            visit(cross.link);
          }
        }
      });
    };
    std::int64_t crossed = 0;
    for_crosses([&](std::int32_t link) { crossed += ++tally_[at(link)] == 1 ? 1 : 0; });
    bool right = crossed == links.members;
    for_crosses([&](std::int32_t link) { right = right && tally_[at(link)] == load->flows; });
    for_crosses([&](std::int32_t link) { tally_[at(link)] = 0; });
    loads_seen_[at(crossing.link_class)] += 1;
    return right;
  }

  // --- How ranks leave a stage

  void leave(std::size_t number, const PartitionStage& stage) {
    const auto number_here = static_cast<std::int32_t>(number);
    const std::vector<std::vector<StageClass>> moves = last_moves(stage, number_here);
    // One row for those who owe nothing, one for those who do.
    const auto first_row = static_cast<std::int32_t>(entries_.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
      entries_.push_back({.ready_after = moves[i], .owes = {}});
      entries_.push_back(
          {.ready_after = moves[i], .owes = {.stage = number_here, .number = static_cast<std::int32_t>(i)}});
    }
    const bool timed = !waits_.empty() && line_ > 0;
    for (Rank rank = 0; rank < execution_.num_ranks(); ++rank) {
      const std::int32_t in = stage.rank_class[at(rank)];
      if (!moves[at(in)].empty()) {
        entry_of_rank_[at(rank)] = first_row + 2 * in + (timed && waits_[line_ - 1].owing[at(rank)] ? 1 : 0);
      }
    }
  }

  const Execution& execution_;
  const Network& network_;
  const Partition& partition_;
  std::vector<LineWaits> waits_;  ///< By line of all stages; empty where no reduction takes time.
  std::size_t line_ = 0;          ///< Lines that were checked.
  std::vector<std::string> faults_;
  std::vector<RankEntry> entries_ = {
      {}};  ///< Ways in which ranks enter a stage; the first is that of the start.
  std::vector<std::int32_t> entry_of_rank_;
  std::vector<double> capacity_;  ///< By link, bytes per second.
  std::vector<double> inverse_capacity_;
  std::vector<double> latency_;      ///< By link, seconds.
  std::vector<LinkFlows> flows_;     ///< By link, where the flows of the stage are free.
  std::vector<double> most_;         ///< By link without a class: all that could flow over it.
  std::vector<std::int32_t> tally_;  ///< By rank or link; 0 between counts.
  std::vector<std::int64_t> link_members_;
  std::vector<std::size_t> loads_seen_;
  std::vector<Move> moves_;     ///< The moves of the round.
  std::vector<Cross> crosses_;  ///< Those of all moves, one after another.
  std::vector<std::int32_t> first_cross_;
  std::vector<std::int32_t> first_member_;  ///< Moves of the round by class.
  std::vector<std::int32_t> member_;
  std::vector<std::int32_t> route_;
  std::vector<Crossing> crossed_;
  std::vector<Cross> wide_;
};

}  // namespace

std::vector<std::string> check_partition(const Execution& execution, const Network& network,
                                         const Partition& partition) {
  return PartitionCheck(execution, network, partition).run();
}

}  // namespace ringside
