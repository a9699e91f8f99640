#include "sim/symmetry/circle_replay.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/index.hpp"
#include "sim/symmetry/find.hpp"
#include "sim/symmetry/waits.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

namespace {

constexpr std::int32_t kNone = -1;

/// What the rounds of a line have in common.
struct Rounds {
  std::int64_t times = 1;
  bool reduces = false;
  double source_waits = 0;  ///< 1 = for the reductions of before at the source; 0 = for none.
  double target_waits = 0;
};

/// Ranks that send to one another in a circle, each to the next and the last to the first, round after round.
/// Arrays are by place.
class Circle {
 public:
  /// What does not change from round to round, of the move that leaves a place.
  struct Hop {
    Rank source = 0;
    double latency = 0;
    double inverse_bandwidth = 0;
    double bytes = 0;      ///< In the first round.
    double reduction = 0;  ///< At the target, seconds per byte.
  };

  void add(const Hop& hop) {
    ranks_.push_back(hop.source);
    latency_.push_back(hop.latency);
    inverse_bandwidth_.push_back(hop.inverse_bandwidth);
    bytes_.push_back(hop.bytes);
    reduction_.push_back(hop.reduction);
  }

  /// `ready`, `reduced`: by rank, seconds, as in replay().
  void run(const Rounds& rounds, std::vector<double>& ready, std::vector<double>& reduced) {
    const std::size_t size = ranks_.size();
    // Twice, so that what has moved on by any number of places is one piece.
    bytes_.reserve(2 * size);
    for (std::size_t i = 0; i < size; ++i) {
      bytes_.push_back(bytes_[i]);
    }
    for (const Rank rank : ranks_) {
      ready_.push_back(ready[at(rank)]);
      reduced_.push_back(reduced[at(rank)]);
    }
    end_.resize(size);
    for (std::int64_t time = 0; time < rounds.times; ++time) {
      const auto moved_on = static_cast<std::size_t>(time % static_cast<std::int64_t>(size));
      run_round(bytes_.data() + (size - moved_on) % size, rounds);
    }
    for (std::size_t i = 0; i < size; ++i) {
      ready[at(ranks_[i])] = ready_[i];
      reduced[at(ranks_[i])] = reduced_[i];
    }
  }

 private:
  void run_round(const double* bytes, const Rounds& rounds) {
    const double source_waits = rounds.source_waits;
    const double target_waits = rounds.target_waits;
    const auto end_of = [&](std::size_t i, std::size_t next) {
      const double both = std::max(ready_[i], ready_[next]);
      const double start =
          std::max(both, std::max(source_waits * reduced_[i], target_waits * reduced_[next]));
      return start + (latency_[i] + inverse_bandwidth_[i] * bytes[i]);
    };
    const std::size_t last = ranks_.size() - 1;
    for (std::size_t i = 0; i < last; ++i) {
      end_[i] = end_of(i, i + 1);
    }
    end_[last] = end_of(last, 0);
    ready_[0] = std::max(end_[0], end_[last]);
    for (std::size_t i = 1; i <= last; ++i) {
      ready_[i] = std::max(end_[i], end_[i - 1]);
    }
    if (rounds.reduces) {
      for (std::size_t i = 0; i < last; ++i) {
        reduced_[i + 1] = std::max(end_[i], reduced_[i + 1]) + reduction_[i] * bytes[i];
      }
      reduced_[0] = std::max(end_[last], reduced_[0]) + reduction_[last] * bytes[last];
    }
  }

  std::vector<Rank> ranks_;
  std::vector<double> latency_;
  std::vector<double> inverse_bandwidth_;
  std::vector<double> bytes_;
  std::vector<double> reduction_;
  std::vector<double> ready_;
  std::vector<double> reduced_;
  std::vector<double> end_;  ///< When the moves of this round are complete.
};

class CircleReplay {
 public:
  CircleReplay(const Execution& execution, const Network& network)
      : execution_(execution),
        network_(network),
        lines_(execution.schedule().repeats()),
        ready_(at(network.num_ranks), 0),
        reduced_(at(network.num_ranks), 0) {
    for (Rank rank = 0; rank < network.num_ranks; ++rank) {
      reductions_.push_back(slowdown(network, rank) * reduction_cost(network, rank));
    }
  }

  std::optional<Seconds> run() {
    if (!std::all_of(lines_.begin(), lines_.end(), goes_around)) {
      return std::nullopt;
    }
    std::vector<LineWaits> waits;
    if (std::any_of(reductions_.begin(), reductions_.end(), [](double cost) { return cost > 0; })) {
      std::optional<std::vector<LineWaits>> found = find_waits(execution_, lines_);
      if (!found) {
        return std::nullopt;
      }
      waits = *std::move(found);
    }
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      if (!run_line(lines_[line], waits.empty() ? nullptr : &waits[line].rounds.front())) {
        return std::nullopt;
      }
    }
    return Seconds{std::max(*std::max_element(ready_.begin(), ready_.end()),
                            *std::max_element(reduced_.begin(), reduced_.end()))};
  }

 private:
  static bool goes_around(const RepeatedRounds& line) {
    return line.period == 1 && (line.times == 1 || line.passes_on);
  }

  bool run_line(const RepeatedRounds& line, const std::vector<MoveWaits>* waits) {
    execution_.write_round(line.first, moves_);
    move_from_.assign(ready_.size(), kNone);
    std::vector<bool> receives(ready_.size(), false);
    std::size_t reductions = 0;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const Move& move = moves_[i];
      if (move.local() || move_from_[at(move.source)] != kNone || receives[at(move.target)] ||
          (waits != nullptr && !simple((*waits)[i], waits->front()))) {
        return false;
      }
      move_from_[at(move.source)] = static_cast<std::int32_t>(i);
      receives[at(move.target)] = true;
      reductions += reduction_of(move) > 0 ? 1U : 0U;
    }
    // Those who receive send as well: there are as many of them.
    const bool closed = std::all_of(moves_.begin(), moves_.end(), [this](const Move& move) {
      return move_from_[at(move.target)] != kNone;
    });
    if (!closed || (reductions > 0 && reductions < moves_.size())) {
      return false;
    }
    Rounds rounds = {.times = line.times, .reduces = reductions > 0};
    if (waits != nullptr && !waits->empty()) {
      rounds.source_waits = waits->front().source_behind;
      rounds.target_waits = waits->front().target_behind;
    }
    for (const Move& move : moves_) {
      if (move_from_[at(move.source)] != kNone) {
        circle_from(move.source).run(rounds, ready_, reduced_);
      }
    }
    return true;
  }

  static bool simple(const MoveWaits& waits, const MoveWaits& others) {
    return waits.source_behind <= 1 && waits.target_behind <= 1 && !waits.holds &&
           waits.source_behind == others.source_behind && waits.target_behind == others.target_behind;
  }

  double reduction_of(const Move& move) const {
    return move.kind == MoveKind::reduce ? reductions_[at(move.target)] : 0;
  }

  /// Takes its moves away from `move_from_`.
  Circle circle_from(Rank first) {
    Circle circle;
    for (Rank rank = first; move_from_[at(rank)] != kNone;) {
      const Move& move = moves_[at(std::exchange(move_from_[at(rank)], kNone))];
      network_.topology->route(move.source, move.target, route_);
      const RouteCost cost = route_cost(network_.topology->links(), route_);
      const double factor = transfer_slowdown(network_, move.source, move.target);
      circle.add({.source = rank,
                  .latency = factor * cost.latency,
                  .inverse_bandwidth = factor * cost.inverse_bandwidth,
                  .bytes = static_cast<double>(execution_.bytes(move)),
                  .reduction = reduction_of(move)});
      rank = move.target;
    }
    return circle;
  }

  const Execution& execution_;
  const Network& network_;
  std::vector<RepeatedRounds> lines_;
  std::vector<double> ready_;            ///< By rank: its next round begins.
  std::vector<double> reduced_;          ///< By rank: its reductions so far are complete.
  std::vector<double> reductions_;       ///< By rank, seconds per byte.
  std::vector<Move> moves_;              ///< The first round of a line.
  std::vector<std::int32_t> move_from_;  ///< By rank: its move among them.
  std::vector<std::int32_t> route_;
};

}  // namespace

std::optional<Seconds> replay_circles(const Execution& execution, const Network& network) {
  if (symmetry_obstacle(execution, network) || execution.has_empty_chunks()) {
    return std::nullopt;
  }
  return CircleReplay(execution, network).run();
}

}  // namespace ringside
