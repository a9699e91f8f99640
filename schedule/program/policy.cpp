#include "schedule/program/policy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ringside {
namespace {

std::int64_t parts(std::int64_t bytes, std::int64_t most_bytes) {
  return (bytes + most_bytes - 1) / most_bytes;
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
    if (std::ranges::find(sends, false) != sends.end()) {
      return false;
    }
  }
  return true;
}

}  // namespace

ExecutionPolicy policy_for(const Schedule& schedule, Bytes size, const ExecutionRules& rules) {
  ExecutionPolicy policy = {.receives_ahead = rules.receives_ahead, .order = schedule.request().order};
  if (!rules.segments) {
    return policy;
  }
  const SegmentRule& rule = *rules.segments;
  const auto segments =
      static_cast<std::int32_t>(parts(parts(size.value, schedule.num_chunks()), rule.longest.value));
  if (segments > 1 && segments >= rule.in_flight && keeps_links_busy(schedule)) {
    policy.segments = segments;
    policy.stride = rule.interleaved ? rule.in_flight : segments;
    policy.in_flight = rule.in_flight;
  }
  return policy;
}

std::string describe(const ExecutionPolicy& policy) {
  std::string text = policy.receives_ahead ? "receives posted ahead" : "receives posted with their round";
  text += policy.segments == 1
              ? ", whole chunks"
              : fmt::format(", each chunk in {} segments, {} in flight", policy.segments, policy.in_flight);
  if (!policy.order.empty()) {
    text += fmt::format(", ranks in the order {}", fmt::join(policy.order, " "));
  }
  return text;
}

}  // namespace ringside
