#include "schedule/slices.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ringside {
namespace {

/// A few slices fit into a core's own cache, and still a message costs little beside its bytes. Of 256 KiB to 1 MiB and
/// two to six slices under way this was fastest, or nearly so, from 4 to 64 MiB on two ranks (docs/performance.md).
constexpr std::int64_t kSliceBytes = 384 << 10;

bool keeps_links_busy(const Schedule& schedule) {
  constexpr Rank kNobody = -1;
  std::vector<Rank> targets(static_cast<std::size_t>(schedule.num_ranks()), kNobody);
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    std::vector<bool> sends(targets.size(), false);
    for (const Move& move : moves) {
      const auto source = static_cast<std::size_t>(move.source);
      const bool same_target = targets[source] == kNobody || targets[source] == move.target;
      if (move.local() || move.num_chunks != 1 || sends[source] || !same_target) {
        return false;
      }
      sends[source] = true;
      targets[source] = move.target;
    }
    if (std::find(sends.begin(), sends.end(), false) != sends.end()) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::int32_t num_slices(const Schedule& schedule, Bytes size) {
  const std::int64_t chunk = (size.value + schedule.num_chunks() - 1) / schedule.num_chunks();
  const std::int64_t slices = (chunk + kSliceBytes - 1) / kSliceBytes;
  return slices >= Schedule::kSliceDepth && keeps_links_busy(schedule) ? static_cast<std::int32_t>(slices)
                                                                       : 1;
}

}  // namespace ringside
