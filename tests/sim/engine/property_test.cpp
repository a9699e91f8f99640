// Random schedules on random machines: properties that hold for all of them.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "schedule/program/execution.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/engine/closed_form.hpp"
#include "sim/engine/flow.hpp"
#include "sim/engine/replay.hpp"
#include "tests/sim/engine/networks.hpp"

namespace ringside {

namespace {

constexpr double kTolerance = 1e-9;

bool close(double a, double b) { return std::abs(a - b) <= kTolerance * std::max(a, b); }

Schedule any_schedule() {
  while (true) {
    const std::span<const Algorithm> algorithms = all_algorithms();
    const auto& algorithm = algorithms[*rc::gen::inRange<std::size_t>(0, algorithms.size())];
    const int n = *rc::gen::inRange(2, 24);
    ScheduleRequest request{.collective = algorithm.collective, .num_ranks = n};
    if (!scattered(algorithm.collective)) {
      std::vector<Rank> ranks(static_cast<std::size_t>(n));
      std::iota(ranks.begin(), ranks.end(), 0);
      std::shuffle(ranks.begin(), ranks.end(), std::mt19937(*rc::gen::arbitrary<unsigned>()));
      request.order = ranks;
      request.root = *rc::gen::inRange(0, n);
    }
    if (algorithm.unsupported == nullptr || !algorithm.unsupported(request)) {
      return Schedule(algorithm, request);
    }
  }
}

Execution any_execution(const Schedule& schedule) {
  const std::int64_t elements = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  return Execution(schedule, {4 * elements}, DataType::float32);
}

test::Costs any_costs() {
  return {.latency = 1e-7 * *rc::gen::inRange(1, 500),
          .inverse_bandwidth = 1e-11 * *rc::gen::inRange(1, 1'000),
          .reduction = 1e-11 * *rc::gen::inRange(0, 2'000)};
}

std::vector<double> any_slowdown(int num_ranks) {
  return *rc::gen::container<std::vector<double>>(
      static_cast<std::size_t>(num_ranks),
      rc::gen::map(rc::gen::inRange(0, 8), [](int slow) { return slow < 6 ? 1.0 : 0.5 * slow; }));
}

RC_GTEST_PROP(AnySchedule, FlowEqualsReplayOnPrivateLinks, ()) {
  // Uneven chunks, reductions slower than links, stragglers: whatever happens, without contention the two
  // ways of running a schedule must agree.
  const Schedule schedule = any_schedule();
  const Execution execution = any_execution(schedule);
  Network network = test::private_links(schedule.num_ranks(), any_costs());
  network.slowdown = any_slowdown(schedule.num_ranks());
  RC_LOG() << name(schedule.algorithm().collective) << " " << schedule.algorithm().name << " "
           << schedule.num_ranks();
  RC_ASSERT(close(simulate_flow(execution, network).seconds.value, replay(execution, network).value));
}

RC_GTEST_PROP(AnySchedule, AMediumSharedByAllIsNoFasterThanItsBytesAndNoSlowerThanOneAfterAnother, ()) {
  const Schedule schedule = any_schedule();
  const Execution execution = any_execution(schedule);
  test::Costs costs = any_costs();
  costs.reduction = 0;
  double bytes = 0;
  double messages = 0;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    for (const Move& move : moves) {
      if (!move.local()) {
        bytes += static_cast<double>(execution.bytes(move));
        messages += 1;
      }
    }
  }
  const double seconds =
      simulate_flow(execution, test::one_medium(schedule.num_ranks(), costs)).seconds.value;
  RC_ASSERT(seconds >= costs.inverse_bandwidth * bytes * (1 - kTolerance));
  RC_ASSERT(seconds <= (costs.latency * messages + costs.inverse_bandwidth * bytes) * (1 + kTolerance));
}

}  // namespace

}  // namespace ringside
