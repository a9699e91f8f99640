#include "sim/engine/replay.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "schedule/chunk_layout.hpp"
#include "sim/engine/shared_processor.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

namespace {

constexpr std::int32_t kNone = -1;

/// What moves take when every pair of ranks has the same link.
class UniformCosts {
 public:
  explicit UniformCosts(const Network::Uniform& network)
      : latency_(network.latency.value),
        inverse_bandwidth_(network.inverse_bandwidth.value),
        reduction_(network.reduction.value) {}

  double transfer(Rank, Rank, double bytes) { return latency_ + inverse_bandwidth_ * bytes; }
  double reduction(Rank, double bytes) const { return reduction_ * bytes; }
  double local_copy(Rank, double) const { return 0; }
  bool only_transfers() const { return reduction_ == 0; }

 private:
  double latency_;
  double inverse_bandwidth_;
  double reduction_;
};

/// What moves take when each pair of ranks has its own route, and ranks may be stragglers.
class RoutedCosts {
 public:
  explicit RoutedCosts(const Network& network)
      : network_(network), routes_(at(network.num_ranks)), reductions_(at(network.num_ranks)) {
    for (Rank rank = 0; rank < network.num_ranks; ++rank) {
      reductions_[at(rank)] = slowdown(network, rank) * reduction_cost(network, rank);
    }
  }

  double transfer(Rank source, Rank target, double bytes) {
    LastRoute& last = routes_[at(source)];
    if (last.target != target) {
      last = {.target = target, .cost = cost(source, target)};
    }
    return last.cost.latency + last.cost.inverse_bandwidth * bytes;
  }
  double reduction(Rank rank, double bytes) const { return reductions_[at(rank)] * bytes; }
  double local_copy(Rank, double) const { return 0; }
  bool only_transfers() const {
    return std::ranges::all_of(reductions_, [](double cost) { return cost == 0; });
  }

 private:
  /// Most algorithms send to the same neighbour many times in sequence.
  struct LastRoute {
    Rank target = kNone;
    RouteCost cost;
  };

  RouteCost cost(Rank source, Rank target) {
    RouteCost cost;
    if (network_.uniform) {
      cost = {.latency = network_.uniform->latency.value,
              .inverse_bandwidth = network_.uniform->inverse_bandwidth.value};
    } else {
      network_.topology->route(source, target, route_);
      cost = route_cost(network_.topology->links(), route_);
    }
    const double factor = transfer_slowdown(network_, source, target);
    return {.latency = factor * cost.latency, .inverse_bandwidth = factor * cost.inverse_bandwidth};
  }

  const Network& network_;
  std::vector<LastRoute> routes_;
  std::vector<double> reductions_;
  std::vector<std::int32_t> route_;
};

/// What moves take on a shared processor as long as each of them is alone.
class ProcessorCosts {
 public:
  explicit ProcessorCosts(const Network& network)
      : network_(network), curves_(*network.processor, {reduction_cost(network, 0)}) {}

  double transfer(Rank source, Rank target, double bytes) const {
    return transfer_slowdown(network_, source, target) * curves_.transfer(bytes);
  }
  double reduction(Rank rank, double bytes) const {
    return slowdown(network_, rank) * curves_.reduction(bytes);
  }
  double local_copy(Rank rank, double bytes) const { return reduction(rank, bytes); }
  bool only_transfers() const { return false; }

 private:
  const Network& network_;
  ProcessorCurves curves_;
};

/// A reduction that goes on while its rank has reached later rounds.
struct PendingReduction {
  double end = 0;
  ChunkRange range;
};

template <typename Costs>
class Replay {
 public:
  Replay(const Execution& execution, Costs costs, const SimulationOptions& options)
      : execution_(execution),
        costs_(std::move(costs)),
        options_(options),
        ready_(at(execution.num_ranks())),
        reducer_free_(at(execution.num_ranks())) {}

  Seconds run() {
    const bool simple = costs_.only_transfers() && options_.trace == nullptr;
    if (!simple) {
      pending_.resize(ready_.size());
      reductions_of_.assign(ready_.size(), kNone);
      reads_of_.assign(ready_.size(), kNone);
    }
    for (std::int64_t round = 0; round < execution_.num_rounds(); ++round) {
      execution_.write_round(round, moves_);
      end_.resize(moves_.size());
      if (simple) {
        run_transfers();
      } else {
        run_round(round);
      }
    }
    double last = 0;
    for (std::size_t rank = 0; rank < ready_.size(); ++rank) {
      last = std::max({last, ready_[rank], reducer_free_[rank]});
    }
    return {last};
  }

 private:
  double bytes(const Move& move) const { return static_cast<double>(execution_.bytes(move)); }

  /// A round in which nothing but transfers takes time.
  void run_transfers() {
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const Move& move = moves_[i];
      const double start = std::max(ready_[at(move.source)], ready_[at(move.target)]);
      end_[i] = move.local() ? start : start + costs_.transfer(move.source, move.target, bytes(move));
    }
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      reach_no_earlier(moves_[i].source, end_[i]);
      reach_no_earlier(moves_[i].target, end_[i]);
    }
  }

  void run_round(std::int64_t round) {
    start_.resize(moves_.size());
    next_reduction_.resize(moves_.size());
    next_read_.resize(moves_.size());
    reducing_.clear();
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      time_move(i);
      register_move(i);
    }
    for (const Rank rank : reducing_) {
      run_reductions(round, rank);
    }
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const Move& move = moves_[i];
      reads_of_[at(move.source)] = kNone;
      reach_no_earlier(move.source, end_[i]);
      reach_no_earlier(move.target, end_[i]);
      if (!move.local()) {
        record(round, move, TraceKind::transfer, start_[i], end_[i]);
      } else if (move.kind == MoveKind::copy) {
        record(round, move, TraceKind::local, start_[i], end_[i]);
      }
    }
  }

  /// When move `i` starts and ends, apart from a local reduction's end, set by its rank's other reductions.
  void time_move(std::size_t i) {
    const Move& move = moves_[i];
    start_[i] =
        std::max(after_pending(move.source, read_by(move)), after_pending(move.target, written_by(move)));
    end_[i] = start_[i];
    if (!move.local()) {
      end_[i] += costs_.transfer(move.source, move.target, bytes(move));
    } else if (move.kind == MoveKind::copy) {
      end_[i] += costs_.local_copy(move.source, bytes(move));
    }
  }

  /// Puts move `i` on the lists that decide when this round's reductions run.
  void register_move(std::size_t i) {
    const Move& move = moves_[i];
    const auto index = static_cast<std::int32_t>(i);
    if (move.kind == MoveKind::reduce) {
      std::int32_t& head = reductions_of_[at(move.target)];
      if (head == kNone) {
        reducing_.push_back(move.target);
      }
      next_reduction_[i] = std::exchange(head, index);
    }
    if (!move.local()) {
      next_read_[i] = std::exchange(reads_of_[at(move.source)], index);
    }
  }

  /// Runs the reductions that reach `rank` in this round: one at a time, in order of arrival, and none before
  /// the transfers that send the chunks as they were.
  void run_reductions(std::int64_t round, Rank rank) {
    arrived_.clear();
    for (std::int32_t i = std::exchange(reductions_of_[at(rank)], kNone); i != kNone;
         i = next_reduction_[static_cast<std::size_t>(i)]) {
      arrived_.emplace_back(end_[static_cast<std::size_t>(i)], i);
    }
    if (arrived_.size() > 1) {
      std::ranges::sort(arrived_);
    }
    forget_finished(rank);
    double& reducer_free = reducer_free_[at(rank)];
    ChunkRange checked;  // Reductions of one round often have one target: its readers are looked up once.
    double sent = 0;
    for (const auto& [arrival, index] : arrived_) {
      const auto i = static_cast<std::size_t>(index);
      const Move& move = moves_[i];
      const ChunkRange range = written_by(move);
      if (!(range == checked)) {
        checked = range;
        sent = end_of_reads(rank, range);
      }
      const double duration = costs_.reduction(rank, bytes(move));
      if (duration == 0) {
        continue;
      }
      const double start = std::max({arrival, sent, reducer_free});
      const double end = start + duration;
      reducer_free = end;
      if (move.local()) {
        end_[i] = end;
      } else {
        pending_[at(rank)].push_back({.end = end, .range = range});
      }
      record(round, move, move.local() ? TraceKind::local : TraceKind::reduction, start, end);
    }
  }

  /// When the last transfer of this round that reads `range` of `rank` is complete.
  double end_of_reads(Rank rank, const ChunkRange& range) const {
    double last = 0;
    for (std::int32_t i = reads_of_[at(rank)]; i != kNone; i = next_read_[static_cast<std::size_t>(i)]) {
      if (read_by(moves_[static_cast<std::size_t>(i)]).touches(range)) {
        last = std::max(last, end_[static_cast<std::size_t>(i)]);
      }
    }
    return last;
  }

  /// When `rank` has reached this round and earlier reductions have left `range` alone.
  double after_pending(Rank rank, const ChunkRange& range) const {
    double time = ready_[at(rank)];
    for (const PendingReduction& reduction : pending_[at(rank)]) {
      if (reduction.end > time && reduction.range.touches(range)) {
        time = reduction.end;
      }
    }
    return time;
  }

  void forget_finished(Rank rank) {
    std::erase_if(pending_[at(rank)], [now = ready_[at(rank)]](const PendingReduction& reduction) {
      return reduction.end <= now;
    });
  }

  void reach_no_earlier(Rank rank, double time) {
    double& ready = ready_[at(rank)];
    ready = std::max(ready, time);
  }

  void record(std::int64_t round, const Move& move, TraceKind kind, double start, double end) {
    if (options_.trace != nullptr && end > start) {
      options_.trace->push_back(trace_event(execution_, move, round, kind, {.start = start, .end = end}));
    }
  }

  const Execution& execution_;
  Costs costs_;
  const SimulationOptions& options_;

  // Per rank.
  std::vector<double> ready_;         ///< When its transfers and local moves so far are complete.
  std::vector<double> reducer_free_;  ///< When its reductions so far are complete.
  std::vector<std::vector<PendingReduction>> pending_;
  std::vector<std::int32_t> reductions_of_;  ///< First of the list of this round's reductions at the rank.
  std::vector<std::int32_t> reads_of_;       ///< First of the list of this round's transfers from the rank.

  // The round being run, per move.
  std::vector<Move> moves_;
  std::vector<double> start_;
  std::vector<double> end_;
  std::vector<std::int32_t> next_reduction_;
  std::vector<std::int32_t> next_read_;
  std::vector<Rank> reducing_;  ///< Ranks with reductions in this round.
  std::vector<std::pair<double, std::int32_t>> arrived_;
};

}  // namespace

Seconds replay(const Execution& execution, const Network& network, const SimulationOptions& options) {
  RINGSIDE_CHECK(execution.num_ranks() == network.num_ranks, "a schedule and its network differ in ranks");
  if (network.processor) {
    return Replay(execution, ProcessorCosts(network), options).run();
  }
  if (network.uniform && !has_stragglers(network)) {
    return Replay(execution, UniformCosts(*network.uniform), options).run();
  }
  return Replay(execution, RoutedCosts(network), options).run();
}

}  // namespace ringside
