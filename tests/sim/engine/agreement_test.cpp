// On private, equal links all interpreters of a schedule must agree: each checks the others.

#include <array>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/program/execution.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/engine/closed_form.hpp"
#include "sim/engine/flow.hpp"
#include "sim/engine/replay.hpp"
#include "tests/sim/engine/networks.hpp"

namespace ringside {

namespace {

using test::Costs;

void expect_close(double expected, double found, const std::string& what) {
  EXPECT_NEAR(found, expected, 1e-9 * expected) << what;
}

/// Prices the schedule on the same network told in two ways: as uniform, and link by link.
void expect_agreement(const Schedule& schedule, const Costs& costs,
                      std::span<const std::int64_t> elements_per_chunk) {
  const int n = schedule.num_ranks();
  const Network uniform = test::uniform_network(n, costs);
  const Network wired = test::private_links(n, costs);
  for (const std::int64_t elements : elements_per_chunk) {
    const Bytes size{4 * elements * schedule.num_chunks()};
    const Execution execution(schedule, size, DataType::float32);
    const std::string what = fmt::format("{} {} on {} ranks, {} elements per chunk, γ/β = {}",
                                         name(schedule.algorithm().collective), schedule.algorithm().name, n,
                                         elements, costs.reduction / costs.inverse_bandwidth);
    const double expected = closed_form(schedule, size, *uniform.uniform).value;
    expect_close(expected, replay(execution, uniform).value, "replay: " + what);
    expect_close(expected, replay(execution, wired).value, "replay on routes: " + what);
    expect_close(expected, simulate_flow(execution, uniform).seconds.value, "flow without links: " + what);
    expect_close(expected, simulate_flow(execution, wired).seconds.value, "flow: " + what);
  }
}

TEST(Agreement, EveryAlgorithmCostsTheSameInEveryInterpreter) {
  constexpr std::array<std::int64_t, 3> kElements = {1, 37, 100'000};
  // γ up to β/2: a rank then reduces what it received during the next transfer.
  constexpr std::array kReductionCosts = {0.0, 3e-11, 5e-11};
  for (const Algorithm& algorithm : all_algorithms()) {
    for (int n = 1; n <= 33; ++n) {
      const ScheduleRequest request{.collective = algorithm.collective, .num_ranks = n};
      if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
        continue;
      }
      const Schedule schedule(algorithm, request);
      const auto turn = static_cast<std::size_t>(n);
      if (n <= 9) {
        for (const double reduction : kReductionCosts) {
          expect_agreement(schedule, {.reduction = reduction}, kElements);
        }
      } else {
        expect_agreement(schedule, {.reduction = kReductionCosts[turn % 3]}, {&kElements[turn / 3 % 3], 1});
      }
    }
  }
}

}  // namespace

}  // namespace ringside
