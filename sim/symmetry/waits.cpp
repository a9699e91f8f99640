#include "sim/symmetry/waits.hpp"

#include <algorithm>
#include <optional>

#include "common/numbers.hpp"
#include "schedule/chunk_layout.hpp"

namespace ringside {

namespace {

/// Times at either end of a long line that are looked at; those between are their images.
constexpr std::int64_t kLooked = 4;
/// Reductions of so many rounds may be pending at a rank.
constexpr std::size_t kMostPending = 64;
/// So many rounds may wait otherwise than their images.
constexpr int kMostSplits = 8;

/// Reductions of one round of a rank.
struct Pending {
  ChunkRange range;
  std::int64_t bytes = 0;
  std::int32_t turn = 0;  ///< Which of the rank's rounds.
};

struct RankWalk {
  std::int32_t turn = 0;
  std::int32_t known_from = 0;  ///< The turn from which on `pending` is all there is.
  std::int64_t round = -1;      ///< The round that `turn` is.
  std::vector<Pending> pending;
  std::size_t flushed = 0;  ///< How many of these the moves of this round wait for.
  bool reduces = false;     ///< In this round.
  bool local = false;       ///< One of these reductions is local.
  Pending reduced;
};

/// What was seen of one end of a move and its images.
struct EndSeen {
  std::int32_t behind = 0;
  std::int32_t oldest =
      0;  ///< The most rounds for which something had been pending while it waited for nothing.
};

struct MoveSeen {
  EndSeen source;
  EndSeen target;
  std::optional<bool> holds;  ///< None before a move between two ranks was seen.
};

class Walk {
 public:
  Walk(const Execution& execution, std::vector<RepeatedRounds>& lines)
      : execution_(execution), lines_(lines), ranks_(at(execution.num_ranks())) {}

  std::optional<std::vector<LineWaits>> run() {
    std::vector<LineWaits> waits;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      const std::vector<RankWalk> before = lines_[line].times > 1 ? ranks_ : std::vector<RankWalk>{};
      waits.emplace_back();
      while (!walk_line(lines_[line]) || !write(waits.back())) {
        if (lines_[line].times == 1 || ++num_splits_ > kMostSplits) {
          return std::nullopt;
        }
        split(line);
        ranks_ = before;
        waits.back() = {};
      }
      for (const RankWalk& rank : ranks_) {
        waits.back().owing.push_back(!rank.pending.empty());
      }
    }
    return waits;
  }

 private:
  bool walk_line(const RepeatedRounds& line) {
    seen_.assign(static_cast<std::size_t>(line.period), {});
    for (std::int64_t time = 0; time < line.times; ++time) {
      if (time == kLooked && line.times > 2 * kLooked) {
        if (!leap(line)) {
          return false;
        }
        time = line.times - kLooked;
      }
      for (std::int64_t round = 0; round < line.period; ++round) {
        if (!walk_round(line.first + time * line.period + round, seen_[static_cast<std::size_t>(round)])) {
          return false;
        }
      }
    }
    return true;
  }

  /// The first time of the line becomes a line of its own.
  void split(std::size_t line) {
    RepeatedRounds rest = lines_[line];
    lines_[line].times = 1;
    rest.first += rest.period;
    --rest.times;
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(line) + 1, rest);
  }

  /// To the last rounds of the line. What is pending there came up just before, as here, or not at all.
  bool leap(const RepeatedRounds& line) {
    for (RankWalk& rank : ranks_) {
      if (rank.round < line.first) {
        continue;  // It has no part in the line.
      }
      const std::int32_t oldest = rank.pending.empty() ? 0 : rank.turn - rank.pending.front().turn + 1;
      if (oldest >= kLooked) {
        return false;
      }
      rank.pending.clear();
      rank.known_from = rank.turn + kLooked;
    }
    return true;
  }

  bool walk_round(std::int64_t round, std::vector<MoveSeen>& seen) {
    execution_.write_round(round, moves_);
    if (!seen.empty() && seen.size() != moves_.size()) {
      return false;  // It is no image.
    }
    seen.resize(moves_.size());
    taking_part_.clear();
    for (const Move& move : moves_) {
      take_part(move.source, round);
      take_part(move.target, round);
      if (move.kind == MoveKind::reduce && !note_reduction(move)) {
        return false;
      }
    }
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      if (!look_at(moves_[i], seen[i])) {
        return false;
      }
    }
    return std::ranges::all_of(taking_part_, [this](Rank rank) { return end_round(ranks_[at(rank)]); });
  }

  void take_part(Rank id, std::int64_t round) {
    RankWalk& rank = ranks_[at(id)];
    if (rank.round != round) {
      rank.round = round;
      ++rank.turn;
      rank.flushed = 0;
      rank.reduces = false;
      taking_part_.push_back(id);
    }
  }

  bool note_reduction(const Move& move) {
    RankWalk& rank = ranks_[at(move.target)];
    const Pending reduction = {.range = written_by(move), .bytes = execution_.bytes(move), .turn = rank.turn};
    // A local reduction completes its round, so that its place among others matters.
    const bool alike =
        !rank.reduces || (!move.local() && !rank.local && rank.reduced.range == reduction.range &&
                          rank.reduced.bytes == reduction.bytes);
    rank.local = move.local() || (rank.reduces && rank.local);
    rank.reduces = true;
    rank.reduced = reduction;
    return alike;
  }

  bool look_at(const Move& move, MoveSeen& seen) {
    RankWalk& source = ranks_[at(move.source)];
    RankWalk& target = ranks_[at(move.target)];
    const std::size_t at_source = num_touched(source, read_by(move));
    const std::size_t at_target = num_touched(target, written_by(move));
    if (move.local()) {
      return see(source, std::max(at_source, at_target), seen.source);
    }
    const bool holds = source.reduces && read_by(move).touches(source.reduced.range);
    const bool same = seen.holds.value_or(holds) == holds;
    seen.holds = holds;
    return see(source, at_source, seen.source) && see(target, at_target, seen.target) && same;
  }

  /// Up to and with which of the pending reductions a move that touches `range` waits.
  static std::size_t num_touched(const RankWalk& rank, const ChunkRange& range) {
    std::size_t last = rank.pending.size();
    while (last > 0 && !rank.pending[last - 1].range.touches(range)) {
      --last;
    }
    return last;
  }

  static bool see(RankWalk& rank, std::size_t waits_for, EndSeen& seen) {
    rank.flushed = std::max(rank.flushed, waits_for);
    if (rank.turn < rank.known_from || rank.pending.empty()) {
      return true;
    }
    if (waits_for == 0) {
      seen.oldest = std::max(seen.oldest, rank.turn - rank.pending.front().turn);
      return true;
    }
    const std::int32_t behind = rank.turn - rank.pending[waits_for - 1].turn;
    if (seen.behind == 0) {
      seen.behind = behind;
    }
    const auto also = static_cast<std::size_t>(std::ranges::count_if(
        rank.pending, [&](const Pending& pending) { return rank.turn - pending.turn >= seen.behind; }));
    return also == waits_for;
  }

  static bool end_round(RankWalk& rank) {
    rank.pending.erase(rank.pending.begin(),
                       rank.pending.begin() + static_cast<std::ptrdiff_t>(rank.flushed));
    if (rank.reduces) {
      rank.pending.push_back(rank.reduced);
    }
    return rank.pending.size() <= kMostPending;
  }

  bool write(LineWaits& waits) const {
    for (const std::vector<MoveSeen>& round : seen_) {
      std::vector<MoveWaits>& written = waits.rounds.emplace_back();
      for (const MoveSeen& seen : round) {
        if (!consistent(seen.source) || !consistent(seen.target)) {
          return false;
        }
        written.push_back({.source_behind = seen.source.behind,
                           .target_behind = seen.target.behind,
                           .holds = seen.holds.value_or(false)});
      }
    }
    return true;
  }

  static bool consistent(const EndSeen& seen) { return seen.behind == 0 || seen.behind > seen.oldest; }

  const Execution& execution_;
  std::vector<RepeatedRounds>& lines_;
  int num_splits_ = 0;
  std::vector<RankWalk> ranks_;
  std::vector<std::vector<MoveSeen>> seen_;  ///< In the line, by round and move.
  std::vector<Move> moves_;
  std::vector<Rank> taking_part_;
};

}  // namespace

std::optional<std::vector<LineWaits>> find_waits(const Execution& execution,
                                                 std::vector<RepeatedRounds>& lines) {
  return Walk(execution, lines).run();
}

}  // namespace ringside
