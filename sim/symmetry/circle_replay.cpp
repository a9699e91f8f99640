#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/numbers.hpp"
#include "common/parallel.hpp"
#include "sim/symmetry/find.hpp"
#include "sim/symmetry/free_flow.hpp"
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

/// A stretch of the circle goes through so many rounds while it lies in the nearest cache. A round reads the
/// places beside it, so that many places on each side are computed by the neighbouring stretch, too.
constexpr std::size_t kTogether = 16;
constexpr std::size_t kStretch = 512;

/// What places beside each other have, in seconds and seconds per byte.
struct Places {
  const double* latency;            ///< The leaving move's.
  const double* inverse_bandwidth;  ///< Likewise.
  const double* reduction_in;       ///< The arriving move's.
  double* ready;
  double* reduced;
  double* ends;  ///< Written: when the leaving move ends.
};

/// One round of places first … last−1, of which the outermost two are not known any more afterwards. Place i
/// sends `bytes[i]`; `bytes[-1]` is what arrives at place 0.
RINGSIDE_EACH_INSTRUCTION_SET
void run_round(const Places& places, const double* bytes, const Rounds& rounds, std::size_t first,
               std::size_t last) {
  const double* __restrict latency = places.latency;
  const double* __restrict inverse_bandwidth = places.inverse_bandwidth;
  const double* __restrict reduction_in = places.reduction_in;
  double* __restrict ready = places.ready;
  double* __restrict reduced = places.reduced;
  double* __restrict ends = places.ends;
  const double source_waits = rounds.source_waits;
  const double target_waits = rounds.target_waits;
  const std::size_t end = last - 1;
  if (source_waits > 0 || target_waits > 0) {
    for (std::size_t i = first; i < end; ++i) {
      const double both = std::max(ready[i], ready[i + 1]);
      const double start = std::max(both, std::max(source_waits * reduced[i], target_waits * reduced[i + 1]));
      ends[i] = start + (latency[i] + inverse_bandwidth[i] * bytes[i]);
    }
  } else {
    for (std::size_t i = first; i < end; ++i) {  // The same, of fewer arrays.
      ends[i] = std::max(ready[i], ready[i + 1]) + (latency[i] + inverse_bandwidth[i] * bytes[i]);
    }
  }
  if (rounds.reduces) {
    const double* __restrict arrived = bytes - 1;
    for (std::size_t i = first + 1; i < end; ++i) {
      ready[i] = std::max(ends[i - 1], ends[i]);
      reduced[i] = std::max(ends[i - 1], reduced[i]) + reduction_in[i] * arrived[i];
    }
  } else {
    for (std::size_t i = first + 1; i < end; ++i) {
      ready[i] = std::max(ends[i - 1], ends[i]);
    }
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
    latency_.push_back(hop.latency);
    inverse_bandwidth_.push_back(hop.inverse_bandwidth);
    reduction_in_.push_back(hop.reduction);
    bytes_.push_back(hop.bytes);
  }

  /// `ready`, `reduced`: by rank, seconds, as in replay().
  void run(const Rounds& rounds, std::vector<double>& ready, std::vector<double>& reduced) {
    const std::size_t size = ranks_.size();
    // They were those of the moves that leave.
    std::rotate(reduction_in_.begin(), reduction_in_.end() - 1, reduction_in_.end());
    std::vector<double> own_ready;
    std::vector<double> own_reduced;
    for (const Rank rank : ranks_) {
      own_ready.push_back(ready[at(rank)]);
      own_reduced.push_back(reduced[at(rank)]);
    }
    around(latency_, 0);
    around(inverse_bandwidth_, 0);
    around(reduction_in_, 0);
    around(bytes_, size + kTogether);  // What has moved on by any number of places is one piece.
    std::int64_t left = rounds.times;
    for (std::size_t moved_on = 0; left > 0; moved_on = (moved_on + kTogether) % size) {
      const auto together = static_cast<std::size_t>(std::min<std::int64_t>(left, kTogether));
      go_on(rounds, together, moved_on, own_ready, own_reduced);
      left -= static_cast<std::int64_t>(together);
    }
    for (std::size_t i = 0; i < size; ++i) {
      ready[at(ranks_[i])] = own_ready[i];
      reduced[at(ranks_[i])] = own_reduced[i];
    }
  }

 private:
  /// Puts the places that come before the first one, and `more` before them, and those after the last.
  void around(std::vector<double>& values, std::size_t more) const {
    const std::size_t size = values.size();
    const std::size_t before = kTogether + more;
    std::vector<double> all(before + size + kTogether);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = values[(i + before * (size - 1)) % size];
    }
    values = std::move(all);
  }

  /// Some rounds, one stretch after another. The messages have moved on by so many places before.
  void go_on(const Rounds& rounds, std::size_t together, std::size_t moved_on, std::vector<double>& ready,
             std::vector<double>& reduced) {
    constexpr std::size_t kMost = kStretch + 2 * kTogether;
    std::array<double, kMost> ready_here;    // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<double, kMost> reduced_here;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<double, kMost> ends;          // NOLINT(cppcoreguidelines-pro-type-member-init)
    const std::size_t size = ranks_.size();
    next_ready_.resize(size);
    next_reduced_.resize(size);
    for (std::size_t first = 0; first < size; first += kStretch) {
      const std::size_t count = std::min(kStretch, size - first);
      const std::size_t all = count + 2 * kTogether;
      for (std::size_t i = 0, place = (first + kTogether * (size - 1)) % size; i < all; ++i) {
        ready_here[i] = ready[place];
        reduced_here[i] = reduced[place];
        place = place + 1 < size ? place + 1 : 0;
      }
      const Places places = {.latency = latency_.data() + first,
                             .inverse_bandwidth = inverse_bandwidth_.data() + first,
                             .reduction_in = reduction_in_.data() + first,
                             .ready = ready_here.data(),
                             .reduced = reduced_here.data(),
                             .ends = ends.data()};
      const double* bytes = bytes_.data() + size + kTogether + first - moved_on;
      for (std::size_t round = 0; round < together; ++round) {
        run_round(places, bytes - round, rounds, round, all - round);
      }
      std::copy_n(ready_here.begin() + kTogether, count,
                  next_ready_.begin() + static_cast<std::ptrdiff_t>(first));
      std::copy_n(reduced_here.begin() + kTogether, count,
                  next_reduced_.begin() + static_cast<std::ptrdiff_t>(first));
    }
    std::swap(ready, next_ready_);
    std::swap(reduced, next_reduced_);
  }

  std::vector<Rank> ranks_;
  // By place; from run() on with places before and after them, as `around` says.
  std::vector<double> latency_;
  std::vector<double> inverse_bandwidth_;
  std::vector<double> reduction_in_;
  std::vector<double> bytes_;
  std::vector<double> next_ready_;
  std::vector<double> next_reduced_;
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
    if (!std::ranges::all_of(lines_, goes_around)) {
      return std::nullopt;
    }
    std::vector<LineWaits> waits;
    if (std::ranges::any_of(reductions_, [](double cost) { return cost > 0; })) {
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
    return Seconds{std::max(*std::ranges::max_element(ready_), *std::ranges::max_element(reduced_))};
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
    const bool closed = std::ranges::all_of(
        moves_, [this](const Move& move) { return move_from_[at(move.target)] != kNone; });
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
