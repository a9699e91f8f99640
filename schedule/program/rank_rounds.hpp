#pragma once

#include <cstdint>
#include <vector>

#include "schedule/program/execution.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

bool overlap(const Region& a, const Region& b);

/// One rank's moves of one round that carry bytes.
struct RankRound {
  struct Receive {
    Rank peer = 0;
    Region target;
    MoveKind kind = MoveKind::copy;
    StepOrigin origin;
  };

  std::vector<Step> sends;
  std::vector<Receive> receives;
  std::vector<Step> locals;
  std::vector<Move> moves;     ///< All of them, as the schedule has them.
  std::int64_t to_reduce = 0;  ///< Bytes that are received to be reduced.

  bool empty() const { return sends.empty() && receives.empty() && locals.empty(); }
  bool touches(const Region& region) const;
  bool sends_touch(const Region& region) const;
};

/// An execution as one rank sees it: rounds without the rank are skipped. The execution must outlive it.
class RankRounds {
 public:
  RankRounds(const Execution& execution, Rank rank) : execution_(execution), rank_(rank) {}

  /// Replaces `round` by the next one; empty at the end.
  void next(RankRound& round);

 private:
  void add(const Move& move, RankRound& round) const;
  Region region(std::uint8_t buffer, const Move& move) const;

  const Execution& execution_;
  Rank rank_;
  std::int64_t next_round_ = 0;
  std::vector<Move> moves_;
};

}  // namespace ringside
