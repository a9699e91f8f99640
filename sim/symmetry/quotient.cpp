// 400 lines: one simulation, whose events all change the same state of ranks, transfers and reductions.
#include "sim/symmetry/quotient.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "sim/sharing/activities.hpp"
#include "sim/sharing/max_min_solver.hpp"

namespace ringside {

namespace {

constexpr std::int32_t kNone = -1;
constexpr std::int64_t kFewTimes = 3;
/// Times that differ by less, relative to the clock, are one.
constexpr double kSameTime = 1e-12;
/// Two states are one when no work that is left differs by more than this part of it.
constexpr double kSameWork = 1e-12;

/// The end of a move at a rank, in one round.
struct RoundEnd {
  std::int32_t move = 0;
  bool source = false;
  bool target = false;  ///< Both: it is local, or goes from the class to itself.
};

/// A round of a line in which a class of ranks has moves.
struct ClassRound {
  std::int32_t line = 0;
  std::vector<RoundEnd> ends = {};
};

/// Reductions of one class of moves at a rank.
struct Reduction {
  std::int32_t turn = 0;
  double work = 0;             ///< Seconds of all of them.
  std::int32_t local = kNone;  ///< The class of local moves that they complete.
};

struct RankState {
  std::vector<ClassRound> rounds;       ///< One time of each line.
  std::size_t next = 0;                 ///< Among `rounds`.
  std::int64_t time = 0;                ///< How many times its line was done.
  std::int32_t turn = 0;                ///< Rounds that it has reached.
  const ClassRound* current = nullptr;  ///< None before the first and after the last.
  std::int32_t num_open = 0;            ///< Ends of moves of the current round that are not complete.
  std::int32_t num_holding = 0;         ///< Among these, sends that reductions of the round wait for.
  std::deque<Reduction> reductions;     ///< In order of arrival; the first is under way or held.
  Activities::Id reducing = kNone;
  double ready = 0;  ///< When it may enter the stage, relative to its start.
};

struct MoveState {
  enum class Phase : std::uint8_t { waiting, latency, flowing };
  bool source_reached = false;
  bool target_reached = false;
  Phase phase = Phase::waiting;
  Activities::Id activity = kNone;
};

struct LinkState {
  bool limiting = false;
  double since = 0;
  std::int32_t flows = 0;  ///< Under way on one link.
  ClassUse use;
};

/// What an activity is doing.
struct Task {
  enum class Kind : std::uint8_t { move, reduction, arrival };
  Kind kind = Kind::move;
  std::int32_t number = 0;  ///< The class of moves, or of ranks.
};

/// The state of all classes, relative to the round of the first rank of a line.
struct Snapshot {
  std::int64_t time = 0;  ///< How often the leader has done its line.
  double clock = 0;
  std::vector<std::int64_t> discrete;
  std::vector<double> work_left;
  std::vector<double> limiting_time;
};

class StageRun {
 public:
  StageRun(const PartitionStage& stage, const std::vector<StageOutcome>& before, std::int64_t most_events)
      : stage_(stage),
        before_(before),
        most_events_(most_events),
        ranks_(stage.ranks.size()),
        moves_(stage.moves.size()),
        links_(stage.links.size()) {
    outcome_.start = before.empty() ? 0 : before.back().end;
    outcome_.done.assign(stage.moves.size(), 0);
    for (const LinkClass& link : stage.links) {
      solver_.add_constraint(link.capacity);
    }
    std::vector<MaxMinSolver::Weight> weights;
    for (std::size_t i = 0; i < stage.moves.size(); ++i) {
      weights.clear();
      const MoveClass& move = stage.moves[i];
      for (const Crossing& crossing : move.crossings) {
        const auto link = crossing.link_class;
        if (std::ranges::none_of(weights, [link](const auto& weight) { return weight.constraint == link; })) {
          weights.push_back({.constraint = link, .weight = weight_on(link, static_cast<std::int32_t>(i))});
        }
      }
      solver_.define_many(static_cast<std::int32_t>(i), move.alone, weights);
    }
    plan_rounds();
    repeats_ =
        std::ranges::any_of(stage.lines, [](const RepeatedRounds& line) { return line.times > kFewTimes; });
  }

  StageOutcome run() {
    enter();
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
      share();
      look_for_repetition();
      outcome_.events += static_cast<std::int64_t>(completed.size());
      outcome_.given_up = outcome_.overlaps || outcome_.events > most_events_;
      if (outcome_.given_up) {
        return std::move(outcome_);
      }
    } while (num_ahead_ > 0 && activities_.advance(completed));
    RINGSIDE_CHECK(num_ahead_ == 0, "a schedule comes to a standstill: its ranks wait for each other");
    leave();
    return std::move(outcome_);
  }

 private:
  double now() const { return activities_.now() + skipped_; }
  RankState& rank(std::int32_t number) { return ranks_[at(number)]; }
  const MoveClass& row(std::int32_t move) const { return stage_.moves[at(move)]; }

  /// What the flows of a class take up together of one link, in crossings.
  std::int32_t weight_on(std::int32_t link, std::int32_t move) const {
    std::int32_t weight = 0;
    for (const LinkLoad& load : stage_.links[at(link)].loads) {
      weight += load.move_class == move ? load.flows * load.times : 0;
    }
    return weight;
  }

  void plan_rounds() {
    std::vector<std::int32_t> line_of_round;
    for (std::size_t line = 0; line < stage_.lines.size(); ++line) {
      line_of_round.insert(line_of_round.end(), static_cast<std::size_t>(stage_.lines[line].period),
                           static_cast<std::int32_t>(line));
    }
    std::vector<std::int32_t> order(stage_.moves.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<std::int32_t>(i);
    }
    std::ranges::stable_sort(order,
                             [this](std::int32_t a, std::int32_t b) { return row(a).round < row(b).round; });
    std::vector<std::int32_t> last_round(ranks_.size(), kNone);
    for (const std::int32_t move : order) {
      const MoveClass& planned = row(move);
      const auto add = [&](std::int32_t number, bool source, bool target) {
        RankState& here = rank(number);
        if (last_round[at(number)] != planned.round) {
          last_round[at(number)] = planned.round;
          here.rounds.push_back({.line = line_of_round[at(planned.round)]});
        }
        here.rounds.back().ends.push_back({.move = move, .source = source, .target = target});
      };
      const bool one_class = planned.source.rank_class == planned.target.rank_class;
      add(planned.source.rank_class, true, planned.local || one_class);
      if (!planned.local && !one_class) {
        add(planned.target.rank_class, false, true);
      }
    }
  }

  // --- Into the stage, and out of it

  /// Ranks may be ready before the stage starts: then none of them may start alone.
  void enter() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      RankState& here = ranks_[i];
      const RankEntry& entry = stage_.ranks[i].entry;
      double ready = 0;
      for (const StageClass& move : entry.ready_after) {
        ready = std::max(ready, before_[at(move.stage)].done[at(move.number)]);
      }
      here.ready = ready - outcome_.start;
      double done = outcome_.start;
      if (entry.owes.stage >= 0) {
        for (const OwedReduction& owed : before_[at(entry.owes.stage)].owed[at(entry.owes.number)]) {
          if (owed.done > outcome_.start) {
            here.reductions.push_back({.turn = -owed.rounds_ago, .work = owed.done - done});
            done = owed.done;
          }
        }
      }
      reduce_next(static_cast<std::int32_t>(i));
      if (here.rounds.empty()) {
        continue;
      }
      ++num_ahead_;
      if (here.ready > 0) {
        begin(here.ready, {.kind = Task::Kind::arrival, .number = static_cast<std::int32_t>(i)});
      } else {
        idle_.push_back(static_cast<std::int32_t>(i));
      }
    }
  }

  void leave() {
    outcome_.end = outcome_.start + now();
    outcome_.settled = outcome_.end;
    outcome_.owed.resize(ranks_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      RankState& here = ranks_[i];
      double done = outcome_.end;
      for (std::size_t next = 0; next < here.reductions.size(); ++next) {
        const Reduction& reduction = here.reductions[next];
        done += next == 0 && here.reducing != kNone ? activities_.work_left(here.reducing) : reduction.work;
        outcome_.owed[i].push_back({.rounds_ago = here.turn - reduction.turn, .done = done});
      }
      outcome_.settled = std::max(outcome_.settled, done);
    }
    for (LinkState& link : links_) {
      account(link);
      outcome_.links.push_back(link.use);
    }
  }

  // --- Rounds

  void reach_next_round(std::int32_t number) {
    RankState& here = rank(number);
    if (here.current != nullptr && !advance(here)) {
      here.current = nullptr;
      --num_ahead_;
      return;
    }
    here.current = &here.rounds[here.next];
    ++here.turn;
    for (const RoundEnd& end : here.current->ends) {
      MoveState& move = moves_[at(end.move)];
      move.source_reached = move.source_reached || end.source;
      move.target_reached = move.target_reached || end.target;
      here.num_open += !row(end.move).local && end.source && end.target ? 2 : 1;
      here.num_holding += end.source && row(end.move).source.holds ? 1 : 0;
    }
    for (const RoundEnd& end : here.current->ends) {
      go_on(end.move);
    }
  }

  /// To the next round of the class; false after the last.
  bool advance(RankState& here) const {
    const std::int32_t line = here.rounds[here.next].line;
    const bool line_goes_on = here.next + 1 < here.rounds.size() && here.rounds[here.next + 1].line == line;
    if (line_goes_on) {
      ++here.next;
      return true;
    }
    if (++here.time < stage_.lines[at(line)].times) {
      while (here.next > 0 && here.rounds[here.next - 1].line == line) {
        --here.next;
      }
      return true;
    }
    here.time = 0;
    return ++here.next < here.rounds.size();
  }

  void close_end(std::int32_t number) {
    if (--rank(number).num_open == 0) {
      idle_.push_back(number);
    }
  }

  // --- Moves

  void go_on(std::int32_t number) {
    MoveState& move = moves_[at(number)];
    const MoveClass& what = row(number);
    if (move.phase != MoveState::Phase::waiting || !move.source_reached || !move.target_reached ||
        waits(what.source) || waits(what.target)) {
      return;
    }
    move.source_reached = false;
    move.target_reached = false;
    if (what.local) {
      return start_local(number);
    }
    check_start(what);
    move.phase = MoveState::Phase::latency;
    move.activity = begin(what.slowdown * what.latency, {.kind = Task::Kind::move, .number = number});
  }

  /// A move that starts with the stage must not have been ready before.
  void check_start(const MoveClass& move) {
    if (now() > 0) {
      return;
    }
    const double ready = std::max(rank(move.source.rank_class).ready, rank(move.target.rank_class).ready);
    if (ready < -kSameTime * outcome_.start) {
      outcome_.overlaps = true;
    }
  }

  bool waits(const MoveEnd& end) const {
    const RankState& here = ranks_[at(end.rank_class)];
    return end.behind > 0 && !here.reductions.empty() &&
           here.reductions.front().turn <= here.turn - end.behind;
  }

  void start_local(std::int32_t number) {
    const MoveClass& what = row(number);
    const std::int32_t here = what.source.rank_class;
    if (now() <= 0 && rank(here).ready < -kSameTime * outcome_.start) {
      outcome_.overlaps = true;
    }
    if (what.kind == MoveKind::copy || !enqueue_reduction(number, what.source, number)) {
      complete_local(number);
    }
  }

  void complete_local(std::int32_t number) {
    outcome_.done[at(number)] = outcome_.start + now();
    close_end(row(number).source.rank_class);
  }

  void complete_transfer(std::int32_t number) {
    const MoveClass& what = row(number);
    moves_[at(number)].phase = MoveState::Phase::waiting;
    moves_[at(number)].activity = kNone;
    outcome_.done[at(number)] = outcome_.start + now();
    RankState& source = rank(what.source.rank_class);
    source.num_holding -= what.source.holds ? 1 : 0;
    close_end(what.source.rank_class);
    reduce_next(what.source.rank_class);
    if (what.kind == MoveKind::reduce) {
      enqueue_reduction(number, what.target, kNone);
    }
    close_end(what.target.rank_class);
  }

  // --- Reductions: one at a time per rank, in order of arrival.

  /// False where they take no time.
  bool enqueue_reduction(std::int32_t number, const MoveEnd& end, std::int32_t local) {
    const RankClass& ranks = stage_.ranks[at(end.rank_class)];
    const double work =
        end.moves * (ranks.slowdown * (ranks.reduction * static_cast<double>(row(number).bytes)));
    if (work == 0) {
      return false;
    }
    RankState& here = rank(end.rank_class);
    here.reductions.push_back({.turn = here.turn, .work = work, .local = local});
    reduce_next(end.rank_class);
    return true;
  }

  void reduce_next(std::int32_t number) {
    RankState& here = rank(number);
    if (here.reducing != kNone || here.reductions.empty() ||
        (here.num_holding > 0 && here.reductions.front().turn == here.turn)) {
      return;
    }
    here.reducing = begin(here.reductions.front().work, {.kind = Task::Kind::reduction, .number = number});
  }

  void complete_reduction(std::int32_t number) {
    RankState& here = rank(number);
    const Reduction done = here.reductions.front();
    here.reductions.pop_front();
    here.reducing = kNone;
    reduce_next(number);
    if (done.local != kNone) {
      complete_local(done.local);
    }
    if (here.current != nullptr) {
      for (const RoundEnd& end : here.current->ends) {
        go_on(end.move);
      }
    }
  }

  // --- Time

  Activities::Id begin(double work, const Task& task) {
    const Activities::Id id = activities_.begin(work);
    tasks_.resize(std::max(tasks_.size(), at(id) + 1));
    tasks_[at(id)] = task;
    activities_.set_rate(id, 1);
    return id;
  }

  void complete(Activities::Id id) {
    const Task task = tasks_[at(id)];
    if (task.kind != Task::Kind::move) {
      activities_.end(id);
      if (task.kind == Task::Kind::reduction) {
        return complete_reduction(task.number);
      }
      idle_.push_back(task.number);
      return;
    }
    MoveState& move = moves_[at(task.number)];
    const double work = row(task.number).slowdown * static_cast<double>(row(task.number).bytes);
    if (move.phase == MoveState::Phase::latency && work > 0) {
      move.phase = MoveState::Phase::flowing;
      activities_.renew(id, work);
      solver_.enter(task.number);
      count_flows(task.number, 1);
      return;
    }
    if (move.phase == MoveState::Phase::flowing) {
      solver_.leave(task.number);
      count_flows(task.number, -1);
    }
    activities_.end(id);
    complete_transfer(task.number);
  }

  void count_flows(std::int32_t move, std::int32_t sign) {
    for (const Crossing& crossing : row(move).crossings) {
      for (const LinkLoad& load : stage_.links[at(crossing.link_class)].loads) {
        if (load.move_class == move && load.times == crossing.times) {
          links_[at(crossing.link_class)].flows += sign * load.flows;
        }
      }
    }
  }

  void share() {
    solver_.solve();
    for (const std::int32_t move : solver_.decided()) {
      activities_.set_rate(moves_[at(move)].activity, solver_.value(move));
    }
    for (const std::int32_t id : solver_.examined()) {
      LinkState& link = links_[at(id)];
      account(link);
      link.limiting = solver_.binding(id);
      if (link.limiting && link.flows > link.use.flows) {
        link.use.flows = link.flows;
        link.use.crossings = solver_.total_weight(id);
      }
    }
  }

  void account(LinkState& link) const {
    if (link.limiting) {
      link.use.limiting_time += activities_.now() - link.since;
    }
    link.since = activities_.now();
  }

  // --- Repetition

  /// When a line's first class of ranks is at its start again: looks whether all is as some times ago.
  void look_for_repetition() {
    if (!repeats_) {
      return;
    }
    if (leader_ == kNone || rank(leader_).current == nullptr ||
        rank(leader_).rounds[rank(leader_).next].line != line_) {
      choose_leader();
    }
    if (leader_ == kNone) {
      return;
    }
    const RankState& leader = rank(leader_);
    const bool at_start = leader.next == 0 || leader.rounds[leader.next - 1].line != line_;
    if (!at_start || leader.time == looked_at_ || leader.time == 0) {
      return;
    }
    looked_at_ = leader.time;
    Snapshot snapshot;
    if (!take(snapshot)) {
      return;
    }
    if (!saved_.discrete.empty() && same(saved_, snapshot)) {
      leap(snapshot);
      return;
    }
    // Compared with one state of before, which is replaced after twice as many times each (R. Brent, 1980).
    if (saved_.discrete.empty() || leader.time >= next_saved_) {
      next_saved_ = leader.time + std::max<std::int64_t>(2, leader.time - first_saved_);
      first_saved_ = saved_.discrete.empty() ? leader.time : first_saved_;
      saved_ = std::move(snapshot);
    }
  }

  /// The first class in the first line that somebody is in, of those with more than a few times.
  void choose_leader() {
    leader_ = kNone;
    for (std::size_t i = 0; i < ranks_.size() && leader_ == kNone; ++i) {
      if (ranks_[i].current != nullptr && stage_.lines[at(ranks_[i].current->line)].times > kFewTimes) {
        leader_ = static_cast<std::int32_t>(i);
        line_ = ranks_[i].current->line;
      }
    }
    saved_ = {};
    next_saved_ = 0;
    first_saved_ = 0;
    looked_at_ = 0;
  }

  bool in_line(const RankState& here) const { return here.current != nullptr && here.current->line == line_; }
  bool has_line(const RankState& here) const {
    return std::ranges::any_of(here.rounds, [this](const ClassRound& round) { return round.line == line_; });
  }

  /// False when some class that has rounds of the line is not in it.
  bool take(Snapshot& taken) {
    taken.time = rank(leader_).time;
    taken.clock = activities_.now();
    for (RankState& here : ranks_) {
      const bool inside = in_line(here);
      if (!inside && has_line(here)) {
        return false;
      }
      taken.discrete.push_back(inside ? here.time - taken.time : here.time);
      taken.discrete.push_back(static_cast<std::int64_t>(here.next));
      taken.discrete.push_back(here.num_open);
      taken.discrete.push_back(here.num_holding);
      taken.discrete.push_back(here.reducing != kNone ? 1 : 0);
      taken.discrete.push_back(static_cast<std::int64_t>(here.reductions.size()));
      for (const Reduction& reduction : here.reductions) {
        taken.discrete.push_back(reduction.turn - here.turn);
        taken.discrete.push_back(reduction.local);
        taken.discrete.push_back(std::bit_cast<std::int64_t>(reduction.work));
      }
      if (here.reducing != kNone) {
        taken.work_left.push_back(activities_.work_left(here.reducing) / here.reductions.front().work);
      }
    }
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const MoveState& move = moves_[i];
      taken.discrete.push_back((move.source_reached ? 1 : 0) + (move.target_reached ? 2 : 0) +
                               4 * static_cast<std::int64_t>(move.phase));
      if (move.activity != kNone) {
        const MoveClass& what = stage_.moves[i];
        const double all =
            what.slowdown *
            (move.phase == MoveState::Phase::latency ? what.latency : static_cast<double>(what.bytes));
        taken.work_left.push_back(all > 0 ? activities_.work_left(move.activity) / all : 0);
      }
    }
    for (const LinkState& link : links_) {  // Up to the last change, which is repeated as well.
      taken.limiting_time.push_back(link.use.limiting_time);
    }
    return true;
  }

  static bool same(const Snapshot& a, const Snapshot& b) {
    return a.discrete == b.discrete &&
           std::equal(a.work_left.begin(), a.work_left.end(), b.work_left.begin(), b.work_left.end(),
                      [](double x, double y) { return std::abs(x - y) <= kSameWork; });
  }

  /// Moves the clock on by as many repetitions as leave every class in the line.
  void leap(const Snapshot& found) {
    const std::int64_t period = found.time - saved_.time;
    std::int64_t furthest = 0;
    for (const RankState& here : ranks_) {
      furthest = std::max(furthest, in_line(here) ? here.time : 0);
    }
    const std::int64_t repetitions = (stage_.lines[at(line_)].times - 1 - furthest) / period;
    if (repetitions <= 0) {
      return;
    }
    skipped_ += static_cast<double>(repetitions) * (found.clock - saved_.clock);
    for (RankState& here : ranks_) {
      here.time += in_line(here) ? repetitions * period : 0;
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      links_[i].use.limiting_time +=
          static_cast<double>(repetitions) * (found.limiting_time[i] - saved_.limiting_time[i]);
    }
  }

  const PartitionStage& stage_;
  const std::vector<StageOutcome>& before_;
  std::int64_t most_events_;
  StageOutcome outcome_;
  Activities activities_;  ///< Its clock starts with the stage.
  MaxMinSolver solver_;    ///< Classes of links are its constraints, classes of moves its variables.
  std::vector<Task> tasks_;
  std::vector<RankState> ranks_;
  std::vector<MoveState> moves_;
  std::vector<LinkState> links_;
  std::vector<std::int32_t> idle_;  ///< Classes of ranks that reach their next round.
  std::int32_t num_ahead_ = 0;      ///< Classes of ranks that have rounds before them.
  double skipped_ = 0;              ///< Seconds by which the clock was moved on.

  bool repeats_ = false;  ///< Some line comes more than a few times.
  std::int32_t leader_ = kNone;
  std::int32_t line_ = kNone;
  std::int64_t looked_at_ = 0;
  std::int64_t first_saved_ = 0;
  std::int64_t next_saved_ = 0;
  Snapshot saved_;
};

}  // namespace

StageOutcome simulate_stage(const PartitionStage& stage, const std::vector<StageOutcome>& before,
                            std::int64_t most_events) {
  return StageRun(stage, before, most_events).run();
}

}  // namespace ringside
