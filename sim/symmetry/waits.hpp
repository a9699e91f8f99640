#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/program/execution.hpp"

/// Which moves of an execution wait for which reductions of the ranks at their ends (docs/architecture.md,
/// "How a schedule runs"), told without chunks. Reductions cost time only where γ is not 0.
namespace ringside {

/// As in MoveEnd.
struct MoveWaits {
  std::int32_t source_behind = 0;
  std::int32_t target_behind = 0;
  bool holds = false;
};

struct LineWaits {
  std::vector<std::vector<MoveWaits>> rounds;  ///< The first `period` rounds of the line, by move.
  std::vector<bool> owing;  ///< By rank: whether reductions may be pending when the line is over.
};

/// By line. None where waiting cannot be told so: a rank reduces different chunks or bytes in one round, or
/// reductions of many rounds pile up. Where the first rounds of a line wait
/// otherwise than their images, as a rule for reductions of the line before, they become a line of their own.
std::optional<std::vector<LineWaits>> find_waits(const Execution& execution,
                                                 std::vector<RepeatedRounds>& lines);

}  // namespace ringside
