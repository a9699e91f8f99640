#include "sim/symmetry/circle_replay.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/index.hpp"
#include "common/parallel.hpp"
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

/// Arrays are by place in a circle.
struct Hops {
  std::vector<double> latency;            ///< The leaving move's, in seconds.
  std::vector<double> inverse_bandwidth;  ///< Likewise, in seconds per byte.
  std::vector<double> reduction_in;       ///< The arriving move's, in seconds per byte.
};

/// In seconds, by place in a circle, and once more that of place 0.
struct Clocks {
  std::vector<double> ready;
  std::vector<double> reduced;
};

/// Places whose moves end at times that are kept until their ranks have seen them.
constexpr std::size_t kTile = 256;

/// One round, in which place i sends `bytes[i]`; `bytes[-1]` is what arrives at place 0.
RINGSIDE_EACH_INSTRUCTION_SET
void run_round(const Hops& hops, const double* bytes, const Rounds& rounds, Clocks& clocks) {
  const std::size_t size = hops.latency.size();
  const double* __restrict latency = hops.latency.data();
  const double* __restrict inverse_bandwidth = hops.inverse_bandwidth.data();
  const double* __restrict reduction_in = hops.reduction_in.data();
  double* __restrict ready = clocks.ready.data();
  double* __restrict reduced = clocks.reduced.data();
  const double source_waits = rounds.source_waits;
  const double target_waits = rounds.target_waits;
  ready[size] = ready[0];
  reduced[size] = reduced[0];
  const auto end_of = [&](std::size_t i) __attribute__((always_inline)) {
    const double both = std::max(ready[i], ready[i + 1]);
    const double start = std::max(both, std::max(source_waits * reduced[i], target_waits * reduced[i + 1]));
    return start + (latency[i] + inverse_bandwidth[i] * bytes[i]);
  };
  const bool waits = source_waits > 0 || target_waits > 0;
  // The move that arrives at the first place of the tile comes first, then those that leave its places.
  std::array<double, kTile + 1> ends;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  ends[0] = end_of(size - 1);
  for (std::size_t first = 0; first < size; first += kTile) {
    const std::size_t count = std::min(kTile, size - first);
    for (std::size_t k = 0; waits && k < count; ++k) {
      ends[k + 1] = end_of(first + k);
    }
    for (std::size_t k = 0; !waits && k < count; ++k) {  // The same, of fewer arrays.
      ends[k + 1] = std::max(ready[first + k], ready[first + k + 1]) +
                    (latency[first + k] + inverse_bandwidth[first + k] * bytes[first + k]);
    }
    for (std::size_t k = 0; k < count; ++k) {
      ready[first + k] = std::max(ends[k], ends[k + 1]);
    }
    if (rounds.reduces) {
      const double* __restrict arrived = bytes + first - 1;
      for (std::size_t k = 0; k < count; ++k) {
        const double begins = std::max(ends[k], reduced[first + k]);
        reduced[first + k] = begins + reduction_in[first + k] * arrived[k];
      }
    }
    ends[0] = ends[count];
  }
}

/// Ranks that send to one another in a circle, each to the next and the last to the first, round after round.
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
    hops_.latency.push_back(hop.latency);
    hops_.inverse_bandwidth.push_back(hop.inverse_bandwidth);
    hops_.reduction_in.push_back(hop.reduction);
    bytes_.push_back(hop.bytes);
  }

  /// `ready`, `reduced`: by rank, seconds, as in replay().
  void run(const Rounds& rounds, std::vector<double>& ready, std::vector<double>& reduced) {
    const std::size_t size = ranks_.size();
    // They were those of the moves that leave.
    std::rotate(hops_.reduction_in.begin(), hops_.reduction_in.end() - 1, hops_.reduction_in.end());
    // Twice, so that what has moved on by any number of places is one piece, with a place before it.
    bytes_.reserve(2 * size);
    for (std::size_t i = 0; i < size; ++i) {
      bytes_.push_back(bytes_[i]);
    }
    Clocks clocks;
    for (const Rank rank : ranks_) {
      clocks.ready.push_back(ready[at(rank)]);
      clocks.reduced.push_back(reduced[at(rank)]);
    }
    clocks.ready.push_back(0);
    clocks.reduced.push_back(0);
    for (std::int64_t time = 0; time < rounds.times; ++time) {
      const auto moved_on = static_cast<std::size_t>(time % static_cast<std::int64_t>(size));
      run_round(hops_, bytes_.data() + (size - moved_on), rounds, clocks);
    }
    for (std::size_t i = 0; i < size; ++i) {
      ready[at(ranks_[i])] = clocks.ready[i];
      reduced[at(ranks_[i])] = clocks.reduced[i];
    }
  }

 private:
  std::vector<Rank> ranks_;
  Hops hops_;
  std::vector<double> bytes_;
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
