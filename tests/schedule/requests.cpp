#include "requests.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>

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
  return fmt::format("{} {} with {} ranks, root {}, {} per node, segments {}",
                     name(schedule.algorithm().collective), schedule.algorithm().name, request.num_ranks,
                     request.root, request.ranks_per_node, request.segments);
}

void PrintTo(const Move& move, std::ostream* out) {
  *out << fmt::format("{} {}/{} -> {}/{}: {}+{}", move.kind == MoveKind::copy ? "copy" : "reduce",
                      move.source, move.source_buffer, move.target, move.target_buffer, move.first_chunk,
                      move.num_chunks);
}

std::vector<ScheduleRequest> plain_requests() {
  std::vector<ScheduleRequest> requests;
  for (int n = 1; n <= kMaxRanks; ++n) {
    requests.push_back({.num_ranks = n});
  }
  return requests;
}

std::vector<ScheduleRequest> unusual_requests() {
  std::vector<ScheduleRequest> requests;
  for (const int n : {1, 2, 3, 5, 6, 8, 9, 12, 13}) {
    requests.push_back({.num_ranks = n, .root = n - 1, .segments = 1});
    requests.push_back({.num_ranks = n, .root = n / 2, .segments = 3});
    requests.push_back({.num_ranks = n, .root = n / 3, .segments = 2 * n});
  }
  for (const int n : {4, 6, 12, 17, 30}) {
    for (int size = 1; size <= n; ++size) {
      if (n % size == 0) {
        requests.push_back({.num_ranks = n, .ranks_per_node = size});
      }
    }
  }
  requests.push_back({.num_ranks = 6, .ranks_per_node = 8});
  return requests;
}

std::vector<ScheduleRequest> requests_of_few_ranks() {
  std::vector<ScheduleRequest> requests = unusual_requests();
  std::erase_if(requests, [](const ScheduleRequest& request) { return request.num_ranks > 9; });
  for (int n = 1; n <= 9; ++n) {
    requests.push_back({.num_ranks = n});
  }
  return requests;
}

std::vector<std::vector<Rank>> unusual_orders(int num_ranks) {
  std::vector<Rank> identity(static_cast<std::size_t>(num_ranks));
  std::iota(identity.begin(), identity.end(), 0);
  std::vector<Rank> reversed(identity.rbegin(), identity.rend());
  std::vector<Rank> rotated = identity;
  std::rotate(rotated.begin(), rotated.begin() + num_ranks / 2, rotated.end());
  std::vector<Rank> interleaved = identity;
  std::stable_partition(interleaved.begin(), interleaved.end(), [](Rank rank) { return rank % 2 == 1; });
  return {reversed, rotated, interleaved};
}

}  // namespace ringside
