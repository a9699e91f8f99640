#include "schedule/slices.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ringside {
namespace {

// What was fastest, or nearly so, from 4 to 64 MiB, of 100 KiB to 2 MiB and two to eight slices under way
// (docs/performance.md).

/// A few slices fit into a core's own cache, and still a message costs little beside its bytes.
namespace own {
constexpr std::int64_t kSliceBytes = 384 << 10;
constexpr std::int32_t kAtOnce = 4;
}  // namespace own

/// Where ranks share cores, their slices do not stay in its cache anyway: one after another, as in Gloo's ring. One is
/// reduced while one is under way.
namespace shared {
constexpr std::int64_t kSliceBytes = 700 << 10;
constexpr std::int32_t kAtOnce = 2;
}  // namespace shared

std::int32_t parts(std::int64_t bytes, std::int64_t most_bytes) {
  return static_cast<std::int32_t>((bytes + most_bytes - 1) / most_bytes);
}

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

Slicing slicing_of(const Schedule& schedule, Bytes size, Cores cores) {
  const std::int64_t chunk = (size.value + schedule.num_chunks() - 1) / schedule.num_chunks();
  Slicing slicing = {
      .count = parts(chunk, own::kSliceBytes), .stride = own::kAtOnce, .at_once = own::kAtOnce};
  if (cores == Cores::shared) {
    const std::int32_t count = parts(chunk, shared::kSliceBytes);
    slicing = {.count = count, .stride = count, .at_once = shared::kAtOnce};
  }
  return slicing.count >= slicing.at_once && keeps_links_busy(schedule) ? slicing : Slicing();
}

}  // namespace ringside
