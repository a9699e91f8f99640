#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

/// Which schedules the tests look at: every algorithm of the registry, for many requests.
namespace ringside {

/// The schedule, or nothing where the algorithm says that it does not support the request.
std::optional<Schedule> supported_schedule(const Algorithm& algorithm, ScheduleRequest request);

/// `all_reduce ring with 5 ranks, root 0, segments 2`, for messages of failing tests.
std::string label(const Schedule& schedule);

/// How GoogleTest shows a move.
void PrintTo(const Move& move, std::ostream* out);

/// Beyond a power of two: odd, prime, powers of two and their neighbours are there.
inline constexpr int kMaxRanks = 33;

/// 1 … kMaxRanks ranks and nothing else said.
std::vector<ScheduleRequest> plain_requests();

/// Other roots, segments and ranks per node.
std::vector<ScheduleRequest> unusual_requests();

/// Enough to be awkward, few enough to be quick.
std::vector<ScheduleRequest> requests_of_few_ranks();

/// Orders of `num_ranks` positions that are not the identity: reversed, rotated, interleaved.
std::vector<std::vector<Rank>> unusual_orders(int num_ranks);

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
