// 400 lines: one simulation, whose events all change the same state of ranks, transfers and reductions.
#include "sim/engine/flow.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/program/receive_ahead.hpp"
#include "sim/engine/link_sharing.hpp"
#include "sim/engine/medium.hpp"
#include "sim/engine/shared_processor.hpp"
#include "sim/sharing/activities.hpp"

namespace ringside {

namespace {

constexpr std::int32_t kNone = -1;

// What is refused without force, and what it is estimated from: messages per second as docs/performance.md
// has them, and how many rounds ranks drift apart.
constexpr double kMostMessages = 1e7;
constexpr double kMostBytes = 1 << 30;
constexpr double kMessagesPerSecond = 2e6;
constexpr double kPlannedPerRank = 4;

/// A move that has been written and is not complete. It waits in the queues of both its ranks.
struct PlannedMove {
  Move move;
  std::int64_t round = 0;
  std::int64_t bytes = 0;
  double start = 0;
  std::int32_t next_at_source = kNone;    ///< In the queue of the source.
  std::int32_t next_at_target = kNone;    ///< In the queue of the target.
  std::int32_t sending_position = kNone;  ///< Among the transfers that the source has in flight.
  bool source_reached = false;
  bool target_reached = false;
  Receiver receiver = Receiver::fresh;
  bool on_arrival = false;  ///< What it brings is reduced while it arrives.
  bool waiting = false;     ///< For a reduction of an earlier round.
  bool started = false;
  bool released = false;  ///< The source has gone on.
  bool sent = false;
};

/// Data that arrived, or a local reduction, and waits for its turn or is being reduced.
struct Reduction {
  Move move;
  std::int64_t round = 0;
  std::int64_t bytes = 0;
  double start = 0;
  std::vector<std::int32_t> waiting = {};  ///< Planned moves that can only go on after it.
};

struct RankState {
  std::int32_t first_planned = kNone;  ///< The queue of its moves of later rounds.
  std::int32_t last_planned = kNone;
  struct OpenRound {
    std::int64_t round = 0;
    std::int32_t num_open = 0;  ///< Moves that are not complete here.
  };
  std::vector<OpenRound> open;        ///< The rounds that it has reached, up to the first that is complete.
  std::vector<std::int32_t> sending;  ///< Its transfers of these rounds that are not sent.
  std::vector<Reduction> reductions;  ///< In order of arrival; those before `next_reduction` are complete.
  std::size_t next_reduction = 0;
  bool reducing = false;
};

class FlowRun {
 public:
  FlowRun(const Execution& execution, const Network& network, const SimulationOptions& options)
      : execution_(execution), options_(options), ranks_(at(network.num_ranks)) {
    if (network.processor) {
      medium_ = std::make_unique<ProcessorSharing>(network, activities_);
      receivers_.emplace(execution);
    } else {
      medium_ = std::make_unique<LinkSharing>(network, activities_);
    }
  }

  FlowResult run() {
    for (Rank rank = 0; rank < execution_.num_ranks(); ++rank) {
      idle_.push_back(rank);
    }
    std::vector<Activities::Id> completed;
    do {
      for (const Activities::Id id : completed) {
        complete(id);
      }
      std::size_t next = 0;  // More ranks may become idle meanwhile.
      while (next < idle_.size()) {
        reach_next_round(idle_[next++]);
      }
      idle_.clear();
      medium_->share();
    } while (activities_.advance(completed));
    RINGSIDE_CHECK(unused_.size() == planned_.size(),
                   "a schedule comes to a standstill: its ranks wait for each other");
    return {.seconds = {activities_.now()},
            .limits = medium_->limits(),
            .nics = medium_->nics(),
            .num_messages = num_messages_};
  }

 private:
  RankState& state(Rank rank) { return ranks_[at(rank)]; }
  PlannedMove& planned(std::int32_t id) { return planned_[at(id)]; }

  // --- Planning: moves are written as far ahead as some rank needs to know what it does next.

  void plan_round(std::int64_t round) {
    execution_.write_round(round, moves_);
    if (receivers_) {
      receivers_->reach(moves_);
    }
    for (const Move& move : moves_) {
      const std::int32_t id = new_planned();
      planned(id) = {.move = move,
                     .round = round,
                     .bytes = execution_.bytes(move),
                     .receiver = receivers_ ? receivers_->of(move) : Receiver::fresh,
                     .on_arrival = reduced_on_arrival(move)};
      append(move.source, id);
      if (!move.local()) {
        append(move.target, id);
        ++num_messages_;
      }
    }
  }

  /// Whether the target may reduce what arrives at once: where it does not send that very chunk in the same
  /// round, or that has left its memory by then.
  bool reduced_on_arrival(const Move& move) const {
    return options_.reduces_on_arrival && move.kind == MoveKind::reduce && !move.local() &&
           (execution_.bytes(move) <= options_.buffered.value ||
            std::ranges::none_of(moves_, [&](const Move& other) {
              return other.source == move.target && read_by(other).touches(written_by(move));
            }));
  }

  std::int32_t new_planned() {
    if (unused_.empty()) {
      planned_.emplace_back();
      return static_cast<std::int32_t>(planned_.size()) - 1;
    }
    const std::int32_t id = unused_.back();
    unused_.pop_back();
    return id;
  }

  std::int32_t& next_at(Rank rank, std::int32_t id) {
    PlannedMove& move = planned(id);
    return move.move.source == rank ? move.next_at_source : move.next_at_target;
  }

  void append(Rank rank, std::int32_t id) {
    RankState& queue = state(rank);
    if (queue.first_planned == kNone) {
      queue.first_planned = id;
    } else {
      next_at(rank, queue.last_planned) = id;
    }
    queue.last_planned = id;
  }

  // --- Rounds

  void reach_next_round(Rank rank) {
    while (state(rank).first_planned == kNone && next_round_ < execution_.num_rounds()) {
      plan_round(next_round_++);
    }
    RankState& here = state(rank);
    if (here.first_planned == kNone) {
      return;
    }
    const std::int64_t round = planned(here.first_planned).round;
    reached_.clear();
    while (here.first_planned != kNone && planned(here.first_planned).round == round) {
      const std::int32_t id = here.first_planned;
      here.first_planned = next_at(rank, id);
      reached_.push_back(id);
      PlannedMove& move = planned(id);
      if (move.move.source == rank) {
        move.source_reached = true;
        if (!move.move.local()) {
          move.sending_position = static_cast<std::int32_t>(here.sending.size());
          here.sending.push_back(id);
        }
      }
      if (move.move.target == rank) {
        move.target_reached = true;
      }
    }
    here.open.push_back({.round = round, .num_open = static_cast<std::int32_t>(reached_.size())});
    if (may_reach_another(here)) {
      idle_.push_back(rank);
    }
    // A move may complete at once and make other ranks idle, but none of them reaches a round in here.
    for (const std::int32_t id : reached_) {
      go_on(id);
    }
  }

  bool may_reach_another(const RankState& here) const {
    return static_cast<int>(here.open.size()) < execution_.policy().in_flight;
  }

  void close_move(Rank rank, std::int64_t round) {
    RankState& here = state(rank);
    const auto closed = std::ranges::find(here.open, round, &RankState::OpenRound::round);
    if (--closed->num_open > 0 || closed != here.open.begin()) {
      return;
    }
    const auto first_open =
        std::ranges::find_if(here.open, [](const RankState::OpenRound& open) { return open.num_open > 0; });
    const bool waited = !may_reach_another(here);
    here.open.erase(here.open.begin(), first_open);
    if (waited) {
      idle_.push_back(rank);
    }
  }

  // --- Moves

  /// Starts or delivers the move if nothing stands in its way any more; otherwise it is left where it will be
  /// found again.
  void go_on(std::int32_t id) {
    PlannedMove& move = planned(id);
    const bool under_way = move.started && !move.sent;
    if (under_way || move.waiting || !move.source_reached || !move.target_reached ||
        (!move.started && wait_for_reduction(move.move.source, read_by(move.move), id)) ||
        wait_for_reduction(move.move.target, written_by(move.move), id)) {
      return;
    }
    if (move.sent) {
      deliver(id);
    } else if (move.move.local()) {
      start_local(id);
    } else {
      start_transfer(id);
    }
  }

  /// Puts the move behind the last reduction of an earlier round that touches `range`, if there is one.
  bool wait_for_reduction(Rank rank, const ChunkRange& range, std::int32_t id) {
    RankState& here = state(rank);
    for (std::size_t i = here.reductions.size(); i > here.next_reduction; --i) {
      Reduction& reduction = here.reductions[i - 1];
      if (reduction.round < planned(id).round && written_by(reduction.move).touches(range)) {
        reduction.waiting.push_back(id);
        planned(id).waiting = true;
        return true;
      }
    }
    return false;
  }

  void start_transfer(std::int32_t id) {
    PlannedMove& move = planned(id);
    move.started = true;
    move.start = activities_.now();
    begin({.kind = WorkKind::transfer,
           .source = move.move.source,
           .target = move.move.target,
           .bytes = move.bytes,
           .receiver = move.receiver,
           .reduces = move.on_arrival},
          {.kind = TraceKind::transfer, .id = id});
  }

  /// The source may go on.
  void release_source(std::int32_t id) {
    PlannedMove& move = planned(id);
    move.released = true;
    RankState& source = state(move.move.source);
    const std::int32_t last = source.sending.back();
    source.sending[at(move.sending_position)] = last;
    planned(last).sending_position = move.sending_position;
    source.sending.pop_back();
    close_move(move.move.source, move.round);
    reduce_next(move.move.source);
  }

  void complete_transfer(std::int32_t id) {
    if (!planned(id).released) {
      release_source(id);
    }
    PlannedMove& move = planned(id);
    move.sent = true;
    record(TraceKind::transfer, move.move, move.round, move.start);
    go_on(id);
  }

  /// The target has what was sent to it.
  void deliver(std::int32_t id) {
    const PlannedMove& move = planned(id);
    const Rank target = move.move.target;
    if (move.move.kind == MoveKind::reduce && !move.on_arrival) {
      enqueue_reduction(move);
    }
    const std::int64_t round = move.round;
    unused_.push_back(id);
    close_move(target, round);
  }

  void start_local(std::int32_t id) {
    PlannedMove& move = planned(id);
    move.started = true;
    move.start = activities_.now();
    const Work work = local_work(move.move, move.bytes);
    if (medium_->free(work)) {
      complete_local_copy(id);
    } else if (move.move.kind == MoveKind::copy) {
      begin(work, {.kind = TraceKind::local, .id = id});
    } else {
      enqueue_reduction(move);
      unused_.push_back(id);
    }
  }

  void complete_local_copy(std::int32_t id) {
    const PlannedMove& move = planned(id);
    record(TraceKind::local, move.move, move.round, move.start);
    unused_.push_back(id);
    close_move(move.move.source, move.round);
  }

  // --- Reductions: one at a time per rank, in order of arrival, local ones among them.

  static Work local_work(const Move& move, std::int64_t bytes) {
    return {.kind = move.kind == MoveKind::reduce ? WorkKind::reduction : WorkKind::local_copy,
            .source = move.target,
            .target = move.target,
            .bytes = bytes};
  }

  /// One that takes no time is complete where it stands: later moves wait for this round's transfers anyway.
  void enqueue_reduction(const PlannedMove& move) {
    if (medium_->free(local_work(move.move, move.bytes))) {
      return;
    }
    state(move.move.target)
        .reductions.push_back({.move = move.move, .round = move.round, .bytes = move.bytes});
    reduce_next(move.move.target);
  }

  void reduce_next(Rank rank) {
    RankState& here = state(rank);
    if (here.reducing || here.next_reduction == here.reductions.size()) {
      return;
    }
    Reduction& next = here.reductions[here.next_reduction];
    if (still_sent(here, next)) {
      return;
    }
    here.reducing = true;
    next.start = activities_.now();
    begin(local_work(next.move, next.bytes), {.kind = TraceKind::reduction, .id = rank});
  }

  /// Whether a transfer of the reduction's round that reads what it writes is not sent: it must send what was
  /// there before.
  bool still_sent(const RankState& here, const Reduction& reduction) {
    const ChunkRange range = written_by(reduction.move);
    return std::ranges::any_of(here.sending, [&](std::int32_t id) {
      return planned(id).round == reduction.round && read_by(planned(id).move).touches(range);
    });
  }

  void complete_reduction(Rank rank) {
    RankState& here = state(rank);
    const Reduction done = std::move(here.reductions[here.next_reduction]);
    if (++here.next_reduction == here.reductions.size()) {
      here.reductions.clear();
      here.next_reduction = 0;
    }
    here.reducing = false;
    record(done.move.local() ? TraceKind::local : TraceKind::reduction, done.move, done.round, done.start);
    reduce_next(rank);
    if (done.move.local()) {
      close_move(rank, done.round);
    }
    for (const std::int32_t id : done.waiting) {
      planned(id).waiting = false;
      go_on(id);
    }
  }

  // --- Time

  /// What an activity is doing for the schedule.
  struct Task {
    TraceKind kind = TraceKind::transfer;
    std::int32_t id = 0;  ///< A planned move; for a reduction, its rank.
  };

  void begin(const Work& work, const Task& task) {
    const Activities::Id id = medium_->begin(work);
    tasks_.resize(std::max(tasks_.size(), at(id) + 1));
    tasks_[at(id)] = task;
  }

  void complete(Activities::Id activity) {
    const Stage stage = medium_->finish(activity);
    const Task task = tasks_[at(activity)];
    if (stage == Stage::sent) {
      release_source(task.id);
    }
    if (stage != Stage::done) {
      return;
    }
    switch (task.kind) {
      case TraceKind::transfer:
        return complete_transfer(task.id);
      case TraceKind::reduction:
        return complete_reduction(task.id);
      case TraceKind::local:
        return complete_local_copy(task.id);
    }
  }

  void record(TraceKind kind, const Move& move, std::int64_t round, double start) {
    const double end = activities_.now();
    if (options_.trace != nullptr && end > start) {
      options_.trace->push_back(trace_event(execution_, move, round, kind, {.start = start, .end = end}));
    }
  }

  const Execution& execution_;
  const SimulationOptions& options_;
  Activities activities_;
  std::unique_ptr<Medium> medium_;
  std::vector<Task> tasks_;  ///< By activity.
  std::vector<RankState> ranks_;
  std::vector<Rank> idle_;             ///< Ranks that reach their next round.
  std::vector<std::int32_t> reached_;  ///< The moves of that round.
  std::vector<PlannedMove> planned_;
  std::vector<std::int32_t> unused_;  ///< In `planned_`.
  std::vector<Move> moves_;
  std::optional<Receivers> receivers_;  ///< Only where it matters.
  std::int64_t next_round_ = 0;         ///< The first that is not planned.
  std::int64_t num_messages_ = 0;
};

}  // namespace

FlowResult simulate_flow(const Execution& execution, const Network& network,
                         const SimulationOptions& options) {
  RINGSIDE_CHECK(execution.num_ranks() == network.num_ranks, "a schedule and its network differ in ranks");
  return FlowRun(execution, network, options).run();
}

FlowEstimate estimate_flow(const Execution& execution, const Network& network) {
  constexpr std::int64_t kMostSamples = 64;
  const std::int64_t rounds = execution.num_rounds();
  const std::int64_t samples = std::min(rounds, kMostSamples);
  std::vector<Move> moves;
  double sampled = 0;
  double largest = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    execution.write_round(i * rounds / samples, moves);
    sampled += static_cast<double>(moves.size());
    largest = std::max(largest, static_cast<double>(moves.size()));
  }
  const double ranks = execution.num_ranks();
  const double links =
      network.topology != nullptr ? static_cast<double>(network.topology->links().size()) : 2 * ranks;
  const double under_way = std::max(ranks, largest);
  FlowEstimate estimate;
  estimate.messages = samples > 0 ? sampled / static_cast<double>(samples) * static_cast<double>(rounds) : 0;
  estimate.seconds = {estimate.messages / kMessagesPerSecond};
  estimate.bytes = ranks * sizeof(RankState) + kPlannedPerRank * under_way * sizeof(PlannedMove) +
                   LinkSharing::memory(links, under_way);
  return estimate;
}

std::string too_large(const FlowEstimate& estimate) {
  if (estimate.messages <= kMostMessages && estimate.bytes <= kMostBytes) {
    return {};
  }
  return fmt::format(
      "simulating about {:.2g} messages would take about {} and {:.2g} GiB of memory; use fidelity replay, "
      "which knows "
      "no contention, fewer ranks, or force it",
      estimate.messages, format(estimate.seconds), estimate.bytes / (1 << 30));
}

}  // namespace ringside
