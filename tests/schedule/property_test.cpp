#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "reference_replay.hpp"
#include "requests.hpp"
#include "schedule/proof.hpp"
#include "schedule/schedule.hpp"

namespace ringside {
namespace {

std::vector<Rank> any_order(int num_ranks) {
  std::vector<Rank> order(static_cast<std::size_t>(num_ranks));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  return order;
}

ScheduleRequest any_request(const Algorithm& algorithm) {
  const int n = *rc::gen::inRange(1, 66);
  ScheduleRequest request = {.num_ranks = n,
                             .root = *rc::gen::inRange(0, n),
                             .ranks_per_node = *rc::gen::inRange(0, n + 1),
                             .segments = *rc::gen::inRange(0, 12)};
  if (!scattered(algorithm.collective)) {
    request.order = any_order(n);
  }
  return request;
}

TEST(AnyRequest, IsRefusedOrProvedAndPredictedExactly) {
  // The same cases each time, unless somebody asks for others.
  setenv("RC_PARAMS", "seed=7 max_success=8", /*overwrite=*/0);
  int num_supported = 0;
  for (const Algorithm& algorithm : all_algorithms()) {
    const bool holds = rc::check(fmt::format("{} {}", name(algorithm.collective), algorithm.name), [&] {
      const std::optional<Schedule> schedule = supported_schedule(algorithm, any_request(algorithm));
      if (!schedule) {
        return;
      }
      ++num_supported;
      RC_ASSERT(prove(*schedule).holds());
      const CriticalPath path = schedule->critical_path();
      const double replayed = reference_replay(*schedule, {.alpha = 0.1, .beta = 2, .gamma = 1});
      const double closed_form = 0.1 * path.messages + 2 * path.bytes + path.reduced_bytes;
      RC_ASSERT(std::abs(closed_form - replayed) <= 1e-9 * replayed);
    });
    EXPECT_TRUE(holds) << algorithm.name;
  }
  EXPECT_GE(num_supported, 100);
}

}  // namespace
}  // namespace ringside
