#include "schedule/slices.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ringside {
namespace {

struct SliceShape {
  std::int64_t bytes;  ///< At most.
  std::int32_t depth;
};

/// What was fastest, or nearly so, from 4 to 64 MiB, of 100 KiB to 2 MiB and two to six slices under way (docs/performance.md).
/// A few slices fit into a core's own cache, and still a message costs little beside its bytes.
constexpr SliceShape kOnOwnCores = {.bytes = 384 << 10, .depth = 4};
/// Every message may cost a turn of another rank on the core; one slice is reduced while one is under way.
constexpr SliceShape kOnSharedCores = {.bytes = 1000 << 10, .depth = 2};

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
  const SliceShape& shape = cores == Cores::own ? kOnOwnCores : kOnSharedCores;
  const std::int64_t chunk = (size.value + schedule.num_chunks() - 1) / schedule.num_chunks();
  const std::int64_t slices = (chunk + shape.bytes - 1) / shape.bytes;
  if (slices < shape.depth || !keeps_links_busy(schedule)) {
    return {};
  }
  return {.count = static_cast<std::int32_t>(slices), .depth = shape.depth};
}

}  // namespace ringside
