#pragma once

#include <cstdint>
#include <vector>

#include "common/units.hpp"
#include "results/codec/fields.hpp"

namespace ringside {

/// How ranks run a schedule: which of a rank's work overlaps, and in which pieces it travels. By default
/// whole chunks, one round after another (schedule/program/).
struct ExecutionPolicy {
  /// A rank posts receives of later rounds before it reaches them, where messages still arrive in order and
  /// what they overwrite is not in use.
  bool receives_ahead = false;
  std::int32_t segments = 1;   ///< Into which every chunk is cut; 1 = chunks travel whole.
  std::int32_t stride = 1;     ///< From a round of a segment to its next one; at most `segments`.
  std::int32_t in_flight = 1;  ///< Rounds that a rank has under way at once; in segments that many segments.
  std::vector<Rank> order =
      {};  ///< Position p of the algorithm runs on rank order[p]; empty = position p on rank p.

  bool operator==(const ExecutionPolicy&) const = default;
};

FieldTable<ExecutionPolicy> table_of(const ExecutionPolicy* any);

}  // namespace ringside
