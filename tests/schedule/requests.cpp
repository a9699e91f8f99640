#include "requests.hpp"

#include <fmt/format.h>

namespace ringside {

std::optional<Schedule> supported_schedule(const Algorithm& algorithm, ScheduleRequest request) {
  request.collective = algorithm.collective;
  if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
    return std::nullopt;
  }
  return Schedule(algorithm, request);
}

std::string label(const Schedule& schedule) {
  const ScheduleRequest& request = schedule.request();
  return fmt::format("{} {} with {} ranks, root {}, {} per node, slices {}",
                     name(schedule.algorithm().collective), schedule.algorithm().name, request.num_ranks,
                     request.root, request.ranks_per_node, request.slices);
}

std::vector<ScheduleRequest> typical_requests() {
  std::vector<ScheduleRequest> requests;
  for (int n = 1; n <= kMaxRanks; ++n) {
    requests.push_back({.num_ranks = n});
    requests.push_back({.num_ranks = n, .root = n - 1, .slices = 1});
    requests.push_back({.num_ranks = n, .root = n / 2, .slices = 3});
    for (int size = 1; size < n; ++size) {
      if (n % size == 0) {
        requests.push_back({.num_ranks = n, .ranks_per_node = size});
      }
    }
  }
  return requests;
}

}  // namespace ringside
