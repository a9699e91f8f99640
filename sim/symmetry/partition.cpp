#include "sim/symmetry/partition.hpp"

#include <algorithm>
#include <cstddef>

#include "common/numbers.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {
namespace {

/// Visits the first member of each class.
template <typename Visit>
void for_first_members(const std::vector<std::int32_t>& classes, std::size_t num_classes, Visit visit) {
  std::vector<bool> seen(num_classes, false);
  for (std::size_t member = 0; member < classes.size(); ++member) {
    const std::int32_t in = classes[member];
    if (in != kNoClass && !seen[at(in)]) {
      seen[at(in)] = true;
      visit(at(in), member);
    }
  }
}

void set_numbers(PartitionStage& stage, const Network& network) {
  for_first_members(stage.rank_class, stage.ranks.size(), [&](std::size_t in, std::size_t member) {
    const auto rank = static_cast<Rank>(member);
    stage.ranks[in].reduction = reduction_cost(network, rank);
    stage.ranks[in].slowdown = slowdown(network, rank);
  });
  for_first_members(stage.link_class, stage.links.size(), [&](std::size_t in, std::size_t link) {
    stage.links[in].capacity = rate_of(inverse(network.topology->links()[link].capacity).value);
  });
}

void set_numbers(MoveClass& row, const Move& move, std::int64_t bytes, const Network& network,
                 std::vector<std::int32_t>& route) {
  row.bytes = bytes;
  row.slowdown = transfer_slowdown(network, move.source, move.target);
  if (!move.local()) {
    network.topology->route(move.source, move.target, route);
    const RouteCost cost = route_cost(network.topology->links(), route);
    row.latency = cost.latency;
    row.alone = rate_of(cost.inverse_bandwidth);
  }
}

}  // namespace

void add_crossing(std::vector<Crossing>& crossings, std::int32_t link_class, std::int32_t times) {
  const auto same = std::ranges::find_if(crossings, [&](const Crossing& other) {
    return other.link_class == link_class && other.times == times;
  });
  if (same != crossings.end()) {
    ++same->links;
  } else {
    crossings.push_back({.link_class = link_class, .times = times});
  }
}

std::vector<std::vector<StageClass>> last_moves(const PartitionStage& stage, std::int32_t number) {
  std::vector<std::vector<StageClass>> last(stage.ranks.size());
  std::vector<std::int32_t> last_round(stage.ranks.size(), -1);
  for (std::size_t i = 0; i < stage.moves.size(); ++i) {
    const MoveClass& move = stage.moves[i];
    const StageClass own = {.stage = number, .number = static_cast<std::int32_t>(i)};
    for (const std::int32_t end : {move.source.rank_class, move.target.rank_class}) {
      std::vector<StageClass>& moves = last[at(end)];
      if (move.round > last_round[at(end)]) {
        last_round[at(end)] = move.round;
        moves.clear();
      }
      if (move.round == last_round[at(end)] && (moves.empty() || !(moves.back() == own))) {
        moves.push_back(own);
      }
    }
  }
  return last;
}

std::optional<Partition> with_numbers_of(const Partition& known, const Execution& execution,
                                         const Network& network) {
  Partition partition = known;
  std::vector<Move> moves;
  std::vector<std::int32_t> route;
  for (PartitionStage& stage : partition.stages) {
    if (stage.rank_class.size() != at(execution.num_ranks()) ||
        stage.link_class.size() != network.topology->links().size()) {
      return std::nullopt;
    }
    set_numbers(stage, network);
    std::size_t place = 0;
    for (const RepeatedRounds& line : stage.lines) {
      if (line.end() > execution.num_rounds()) {
        return std::nullopt;
      }
      for (std::int64_t round = 0; round < line.period; ++round, ++place) {
        execution.write_round(line.first + round, moves);
        const std::vector<std::int32_t>& classes = stage.move_class[place];
        if (classes.size() != moves.size()) {
          return std::nullopt;
        }
        for_first_members(classes, stage.moves.size(), [&](std::size_t in, std::size_t member) {
          set_numbers(stage.moves[in], moves[member], execution.bytes(moves[member]), network, route);
        });
      }
    }
  }
  return partition;
}

}  // namespace ringside
