#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "sim/symmetry/quotient.hpp"

namespace ringside {

namespace {

/// Times that differ by less, relative to the clock, are one.
constexpr double kSameTime = 1e-12;
/// Two states are one when no time in them (since the first class's) differs by more, relative to the clock.
constexpr double kSameState = 1e-13;
/// Reductions from more rounds ago are complete: find_waits() has no others.
constexpr std::int32_t kMostPending = 64;
/// A line that comes only so often is not searched for repeated states.
constexpr std::int64_t kFewTimes = 3;
/// Longer periods of the state are not looked for.
constexpr std::int64_t kMostPeriod = 4;

/// Reductions of one class of moves at a rank; times are seconds from the start of the execution.
struct Reduced {
  std::int32_t turn = 0;  ///< Which of the rank's rounds.
  double done = 0;
};

struct RankState {
  double ready = 0;    ///< Its next round begins.
  double next = 0;     ///< When this round is complete, as far as is known.
  double held = 0;     ///< Until when sends of this round hold its reductions.
  double reduced = 0;  ///< The last of its reductions is complete.
  std::int32_t turn = 0;
  bool moves = false;           ///< In this round.
  std::deque<Reduced> pending;  ///< In order, and some that are complete.
};

/// What arrives at a rank to be reduced.
struct Arrival {
  std::int32_t rank_class = 0;
  double time = 0;
  double work = 0;                         ///< Seconds.
  std::optional<std::int32_t> local = {};  ///< The move, where the next one waits for its reduction.
};

class FreeRun {
 public:
  FreeRun(const PartitionStage& stage, const std::vector<StageOutcome>& before, std::int64_t most_events)
      : stage_(stage),
        before_(before),
        most_events_(most_events),
        ranks_(stage.ranks.size()),
        moves_of_(stage.move_class.size()) {
    outcome_.start = before.empty() ? 0 : before.back().end;
    outcome_.done.assign(stage.moves.size(), 0);
    for (std::size_t i = 0; i < stage.moves.size(); ++i) {
      const MoveClass& move = stage.moves[i];
      moves_of_[at(move.round)].push_back(static_cast<std::int32_t>(i));
      const double flow = static_cast<double>(move.bytes) / move.alone;
      duration_.push_back(move.local ? 0 : move.slowdown * (move.latency + flow));
      const RankClass& target = stage.ranks[at(move.target.rank_class)];
      work_.push_back(move.kind == MoveKind::copy
                          ? 0
                          : move.target.moves *
                                (target.slowdown * (target.reduction * static_cast<double>(move.bytes))));
    }
  }

  StageOutcome run() {
    for (const std::vector<std::int32_t>& moves : moves_of_) {
      std::vector<std::int32_t> targets =
          mapped(moves, [&](std::int32_t move) { return stage_.moves[at(move)].target.rank_class; });
      std::ranges::sort(targets);
      several_.push_back(std::adjacent_find(targets.begin(), targets.end()) != targets.end());
    }
    enter();
    std::size_t first_round = 0;
    for (const RepeatedRounds& line : stage_.lines) {
      run_line(line, first_round);
      if (outcome_.given_up) {
        return std::move(outcome_);
      }
      first_round += static_cast<std::size_t>(line.period);
    }
    leave();
    return std::move(outcome_);
  }

 private:
  RankState& rank(std::int32_t number) { return ranks_[at(number)]; }

  void enter() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const RankEntry& entry = stage_.ranks[i].entry;
      for (const StageClass& move : entry.ready_after) {
        ranks_[i].ready = std::max(ranks_[i].ready, before_[at(move.stage)].done[at(move.number)]);
      }
      if (entry.owes.stage >= 0) {
        for (const OwedReduction& owed : before_[at(entry.owes.stage)].owed[at(entry.owes.number)]) {
          ranks_[i].pending.push_back({.turn = -owed.rounds_ago, .done = owed.done});
          ranks_[i].reduced = owed.done;
        }
      }
    }
  }

  void leave() {
    outcome_.end = outcome_.start;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      outcome_.end = std::max(outcome_.end, ranks_[i].turn > 0 ? ranks_[i].ready : 0);
    }
    outcome_.settled = outcome_.end;
    outcome_.owed.resize(ranks_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      for (const Reduced& reduced : ranks_[i].pending) {
        outcome_.owed[i].push_back({.rounds_ago = ranks_[i].turn - reduced.turn, .done = reduced.done});
        outcome_.settled = std::max(outcome_.settled, reduced.done);
      }
    }
  }

  void run_line(const RepeatedRounds& line, std::size_t first_round) {
    saved_.clear();
    find_active(first_round, static_cast<std::size_t>(line.period));
    std::int64_t saved_at = 0;
    std::int64_t next_saved = 1;
    bool leapt = line.times <= kFewTimes || active_.empty();
    for (std::int64_t time = 0; time < line.times && !outcome_.given_up; ++time) {
      for (std::int64_t round = 0; round < line.period; ++round) {
        run_round(static_cast<std::int32_t>(first_round) + static_cast<std::int32_t>(round));
      }
      outcome_.given_up = outcome_.overlaps || outcome_.events > most_events_;
      // States come again after few times as a rule, or not before another line.
      const bool looks = time <= saved_at + kMostPeriod || time + 1 >= next_saved;
      if (leapt || !looks) {
        continue;
      }
      take_state();
      if (time > 0 && comes_again()) {
        time += leap(line.times - 1 - time, time - saved_at);
        leapt = true;
      } else if (time + 1 >= next_saved) {
        // Compared with one earlier state, replaced after twice as many times each (R. Brent, 1980).
        std::swap(saved_, state_);
        saved_clock_ = rank(active_.front()).ready;
        saved_at = time;
        next_saved = 2 * (time + 1);
      }
    }
  }

  // --- One round

  void run_round(std::int32_t round) {
    const std::vector<std::int32_t>& moves = moves_of_[at(round)];
    arrivals_.clear();
    for (const std::int32_t move : moves) {
      begin_round(stage_.moves[at(move)].source.rank_class);
      begin_round(stage_.moves[at(move)].target.rank_class);
    }
    for (const std::int32_t move : moves) {
      run_move(move);
    }
    reduce(several_[at(round)]);
    for (const std::int32_t number : taking_part_) {
      RankState& here = rank(number);
      here.ready = here.next;
      here.moves = false;
      while (!here.pending.empty() && here.pending.front().turn < here.turn - kMostPending) {
        here.pending.pop_front();
      }
    }
    taking_part_.clear();
    outcome_.events += static_cast<std::int64_t>(moves.size());
  }

  void begin_round(std::int32_t number) {
    RankState& here = rank(number);
    if (!here.moves) {
      here.moves = true;
      here.next = here.ready;
      here.held = 0;
      ++here.turn;
      taking_part_.push_back(number);
    }
  }

  /// When an end of a move lets it start.
  double ready_at(const MoveEnd& end) const {
    const RankState& here = ranks_[at(end.rank_class)];
    double ready = here.ready;
    for (auto last = here.pending.rbegin(); end.behind > 0 && last != here.pending.rend(); ++last) {
      if (last->turn <= here.turn - end.behind) {
        return std::max(ready, last->done);  // The earlier ones are complete before.
      }
    }
    return ready;
  }

  void run_move(std::int32_t number) {
    const MoveClass& move = stage_.moves[at(number)];
    const double start = std::max(ready_at(move.source), ready_at(move.target));
    if (start < outcome_.start * (1 - kSameTime)) {
      outcome_.overlaps = true;
    }
    const double end = start + duration_[at(number)];
    outcome_.done[at(number)] = end;
    RankState& source = rank(move.source.rank_class);
    RankState& target = rank(move.target.rank_class);
    source.next = std::max(source.next, end);
    target.next = std::max(target.next, end);
    if (move.source.holds) {
      source.held = std::max(source.held, end);
    }
    if (work_[at(number)] > 0) {
      arrivals_.push_back({.rank_class = move.target.rank_class,
                           .time = end,
                           .work = work_[at(number)],
                           .local = move.local ? std::optional(number) : std::nullopt});
    }
  }

  /// Reductions of a rank come one after another, in order of arrival.
  void reduce(bool several) {
    if (several) {
      std::ranges::stable_sort(arrivals_, {}, &Arrival::time);
    }
    for (const Arrival& arrival : arrivals_) {
      RankState& here = rank(arrival.rank_class);
      here.reduced = std::max({arrival.time, here.reduced, here.held}) + arrival.work;
      here.pending.push_back({.turn = here.turn, .done = here.reduced});
      if (arrival.local) {
        outcome_.done[at(*arrival.local)] = here.reduced;
        here.next = std::max(here.next, here.reduced);
      }
    }
  }

  // --- Repetition

  /// The classes that have moves in a line.
  void find_active(std::size_t first_round, std::size_t num_rounds) {
    std::vector<bool> active(ranks_.size(), false);
    active_moves_.clear();
    for (std::size_t round = first_round; round < first_round + num_rounds; ++round) {
      for (const std::int32_t move : moves_of_[round]) {
        active[at(stage_.moves[at(move)].source.rank_class)] = true;
        active[at(stage_.moves[at(move)].target.rank_class)] = true;
        active_moves_.push_back(move);
      }
    }
    active_.clear();
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (active[i]) {
        active_.push_back(static_cast<std::int32_t>(i));
      }
    }
  }

  /// All that what follows depends on, counted from when the first class is ready.
  void take_state() {
    state_.clear();
    const double clock = rank(active_.front()).ready;
    for (const std::int32_t number : active_) {
      const RankState& here = rank(number);
      state_.push_back(here.ready - clock);
      // What is complete by now holds nobody up, however long ago.
      for (const Reduced& reduced : here.pending) {
        if (reduced.done > here.ready) {
          state_.push_back(static_cast<double>(here.turn - reduced.turn));
          state_.push_back(reduced.done - clock);
        }
      }
    }
  }

  bool comes_again() const {
    const double same = kSameState * ranks_[at(active_.front())].ready;
    return state_.size() == saved_.size() &&
           std::equal(state_.begin(), state_.end(), saved_.begin(),
                      [same](double a, double b) { return std::abs(a - b) <= same; });
  }

  /// Moves the clock on by whole periods of the state, at most `left` times; returns how many.
  std::int64_t leap(std::int64_t left, std::int64_t period) {
    const std::int64_t repetitions = left / period;
    const double later = static_cast<double>(repetitions) * (rank(active_.front()).ready - saved_clock_);
    for (const std::int32_t number : active_) {
      RankState& here = rank(number);
      here.ready += later;
      here.reduced += later;
      for (Reduced& reduced : here.pending) {
        reduced.done += later;
      }
    }
    for (const std::int32_t move : active_moves_) {
      outcome_.done[at(move)] += later;
    }
    return repetitions * period;
  }

  const PartitionStage& stage_;
  const std::vector<StageOutcome>& before_;
  std::int64_t most_events_;
  StageOutcome outcome_;
  std::vector<RankState> ranks_;
  std::vector<std::vector<std::int32_t>> moves_of_;  ///< By round.
  std::vector<bool> several_;              ///< By round: whether a rank is the target of several classes.
  std::vector<double> duration_;           ///< By class of moves, seconds.
  std::vector<double> work_;               ///< Reductions of a rank, by class of moves, seconds.
  std::vector<std::int32_t> taking_part_;  ///< Classes of ranks, in this round.
  std::vector<Arrival> arrivals_;
  std::vector<std::int32_t> active_;        ///< Classes of ranks that have moves in the line, ascending.
  std::vector<std::int32_t> active_moves_;  ///< These.
  std::vector<double> state_;
  std::vector<double> saved_;
  double saved_clock_ = 0;
};

}  // namespace

StageOutcome run_freely(const PartitionStage& stage, const std::vector<StageOutcome>& before,
                        std::int64_t most_events) {
  return FreeRun(stage, before, most_events).run();
}

}  // namespace ringside
