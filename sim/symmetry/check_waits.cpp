#include "sim/symmetry/check_waits.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/numbers.hpp"

namespace ringside {

namespace {

/// As many times of a long line as are looked at from its start, and from its end.
constexpr std::int64_t kTimes = 4;

}  // namespace

WaitCheck::WaitCheck(const Execution& execution) : execution_(execution), ranks_(at(execution.num_ranks())) {}

void WaitCheck::check(const PartitionStage& stage, std::vector<std::string>& faults) {
  std::size_t first_round = 0;
  for (const RepeatedRounds& line : stage.lines) {
    check_line(stage, line, first_round, faults);
    first_round += static_cast<std::size_t>(line.period);
  }
}

void WaitCheck::check_line(const PartitionStage& stage, const RepeatedRounds& line, std::size_t first_round,
                           std::vector<std::string>& faults) {
  for (std::int64_t time = 0; time < line.times && faults.empty(); ++time) {
    if (line.times > 2 * kTimes && time == kTimes) {
      for (RankState& rank : ranks_) {
        if (rank.round < line.first) {
          continue;
        }
        // A reduction that is pending for longer could be so at the end of the line as well.
        if (!rank.owed.empty() && rank.turn - rank.owed.front().turn >= kTimes - 1) {
          faults.push_back(fmt::format("reductions of more than {} rounds are pending in round {}",
                                       kTimes - 1, rank.round));
          return;
        }
        rank.owed.clear();
        rank.sure_from = rank.turn + static_cast<std::int32_t>(kTimes);
      }
      time = line.times - kTimes;
    }
    for (std::int64_t i = 0; i < line.period; ++i) {
      check_round(stage, line.first + time * line.period + i,
                  stage.move_class[first_round + static_cast<std::size_t>(i)], faults);
    }
  }
}

void WaitCheck::check_round(const PartitionStage& stage, std::int64_t round,
                            const std::vector<std::int32_t>& classes, std::vector<std::string>& faults) {
  execution_.write_round(round, moves_);
  if (moves_.size() != classes.size()) {
    faults.push_back(
        fmt::format("round {} has {} moves, its image has {}", round, moves_.size(), classes.size()));
    return;
  }
  entered_.clear();
  for (const Move& move : moves_) {
    enter(move.source, round);
    RankState& target = enter(move.target, round);
    if (move.kind == MoveKind::reduce) {
      target.now.push_back({.turn = target.turn,
                            .range = written_by(move),
                            .bytes = execution_.bytes(move),
                            .local = move.local()});
    }
  }
  for (std::size_t i = 0; i < moves_.size() && faults.empty(); ++i) {
    const std::string fault = look_at(moves_[i], stage.moves[at(classes[i])]);
    if (!fault.empty()) {
      faults.push_back(
          fmt::format("round {}, move {} to {}: {}", round, moves_[i].source, moves_[i].target, fault));
    }
  }
  for (const Rank rank : entered_) {
    const std::vector<Owed>& now = ranks_[at(rank)].now;
    if (std::any_of(now.begin(), now.end(), [&](const Owed& other) {
          return !(other.range == now.front().range) || other.bytes != now.front().bytes ||
                 (now.size() > 1 && other.local);
        })) {
      faults.push_back(fmt::format("rank {} reduces in an order that is not fixed in round {}", rank, round));
      break;
    }
  }
  leave();
}

std::string WaitCheck::look_at(const Move& move, const MoveClass& row) {
  RankState& source = ranks_[at(move.source)];
  if (move.local()) {
    return compare(source, {read_by(move), written_by(move)}, row.source.behind);
  }
  const bool holds = std::any_of(source.now.begin(), source.now.end(), [&](const Owed& reduction) {
    return reduction.range.touches(read_by(move));
  });
  if (holds != row.source.holds) {
    return "what it reads is reduced into in the same round, or is not, unlike in its class";
  }
  const std::string fault = compare(source, {read_by(move)}, row.source.behind);
  return fault.empty() ? compare(ranks_[at(move.target)], {written_by(move)}, row.target.behind) : fault;
}

/// Whether reductions up to the last that touches a range are those of `behind` rounds ago and earlier.
std::string WaitCheck::compare(RankState& rank, const std::vector<ChunkRange>& ranges,
                               std::int32_t behind) const {
  std::size_t must = 0;
  for (std::size_t i = 0; i < rank.owed.size(); ++i) {
    const bool touched = std::any_of(ranges.begin(), ranges.end(), [&](const ChunkRange& range) {
      return rank.owed[i].range.touches(range);
    });
    must = touched ? i + 1 : must;
  }
  if (must > 0) {
    rank.cleared = std::max(rank.cleared, rank.owed[must - 1].turn);
  }
  if (rank.turn < rank.sure_from) {
    return {};
  }
  std::size_t does = 0;
  while (behind > 0 && does < rank.owed.size() && rank.owed[does].turn <= rank.turn - behind) {
    ++does;
  }
  return does == must ? std::string()
                      : fmt::format("it waits for {} pending reductions, its class for {}", must, does);
}

WaitCheck::RankState& WaitCheck::enter(Rank id, std::int64_t round) {
  RankState& rank = ranks_[at(id)];
  if (rank.round != round) {
    rank.round = round;
    ++rank.turn;
    rank.cleared = 0;
    rank.now.clear();
    entered_.push_back(id);
  }
  return rank;
}

void WaitCheck::leave() {
  for (const Rank id : entered_) {
    RankState& rank = ranks_[at(id)];
    std::erase_if(rank.owed, [&](const Owed& owed) { return owed.turn <= rank.cleared; });
    if (!rank.now.empty()) {
      rank.owed.push_back(rank.now.front());
    }
  }
}

}  // namespace ringside
