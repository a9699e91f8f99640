#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

/// Symbolic proof: runs a schedule on sets of contributions instead of numbers.
namespace ringside {

struct RedundantMove {
  std::int64_t round = 0;
  Move move;
  bool operator==(const RedundantMove&) const = default;
};

struct Proof {
  /// What is wrong, one sentence each: conflicting moves, a chunk that was never defined, a contribution that
  /// is missing or counted twice. Empty = every rank ends with what the collective promises, each
  /// contribution exactly once.
  std::vector<std::string> faults;
  /// Moves that do not change the result: the target's chunks are as they were before, or nothing that is
  /// promised depends on them. They can be left out together; one alone may be what keeps another harmless.
  std::vector<RedundantMove> redundant;
  /// Rounds at the end of the schedule that consist of redundant moves alone: [first, num_rounds).
  std::int64_t first_redundant_tail_round = 0;

  bool holds() const { return faults.empty(); }
};

/// Memory grows as ranks² · chunks · buffers / 8 bytes; meant for N up to about a thousand.
Proof prove(const Schedule& schedule);

}  // namespace ringside
