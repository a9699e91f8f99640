#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

/// Which schedules the tests look at: every algorithm of the registry, for many requests.
namespace ringside {

/// The schedule, or nothing where the algorithm says that it does not support the request.
std::optional<Schedule> supported_schedule(const Algorithm& algorithm, ScheduleRequest request);

/// `all_reduce ring with 5 ranks, root 0, slices 2`, for messages of failing tests.
std::string label(const Schedule& schedule);

/// 1, 2, … and beyond the next powers of two.
inline constexpr int kMaxRanks = 33;

/// With 1 … kMaxRanks ranks: the plain request, all node sizes, some slices and the last rank as root.
std::vector<ScheduleRequest> typical_requests();

/// Calls `look` with every schedule that the registry has for these requests.
template <typename Look>
void for_each_schedule(const std::vector<ScheduleRequest>& requests, Look look) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const ScheduleRequest& request : requests) {
      if (const std::optional<Schedule> schedule = supported_schedule(algorithm, request)) {
        look(*schedule);
      }
    }
  }
}

}  // namespace ringside
