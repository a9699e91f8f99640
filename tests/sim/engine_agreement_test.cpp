// On private, equal links the interpreters of a schedule that give seconds must agree: each is a check of the others.

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine_networks.hpp"
#include "schedule/promise.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/chunk_sizes.hpp"
#include "sim/closed_form.hpp"
#include "sim/replay.hpp"

namespace ringside {

namespace {

using test::Costs;

struct AgreementCase {
  const Algorithm* algorithm = nullptr;
  ScheduleRequest request;
  std::int64_t elements_per_chunk = 1;
  Costs costs;
};

void expect_close(double expected, double found, const std::string& what) {
  EXPECT_NEAR(found, expected, 1e-9 * expected) << what;
}

void expect_agreement(const AgreementCase& test_case) {
  const Schedule schedule(*test_case.algorithm, test_case.request);
  const Bytes size{4 * test_case.elements_per_chunk * schedule.num_chunks()};
  const ChunkSizes sizes(size, DataType::float32, schedule.num_chunks());
  const int n = schedule.num_ranks();
  const std::string what =
      fmt::format("{} {} on {} ranks, {} elements per chunk, γ/β = {}", name(test_case.algorithm->collective),
                  test_case.algorithm->name, n, test_case.elements_per_chunk,
                  test_case.costs.reduction / test_case.costs.inverse_bandwidth);
  const Network uniform = test::uniform_network(n, test_case.costs);
  const double expected = closed_form(schedule, size, *uniform.uniform).value;
  expect_close(expected, replay(schedule, sizes, uniform).value, "replay: " + what);
  const Network wired = test::private_links(n, test_case.costs);
  expect_close(expected, replay(schedule, sizes, wired).value, "replay on routes: " + what);
}

TEST(Agreement, EveryAlgorithmCostsTheSameInEveryInterpreter) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (int n = 1; n <= 33; ++n) {
      const ScheduleRequest request{.collective = algorithm.collective, .num_ranks = n};
      if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
        continue;
      }
      for (const double reduction : {0.0, 3e-11, 1e-10}) {
        for (const std::int64_t elements : {1, 37, 100'000}) {
          expect_agreement({.algorithm = &algorithm,
                            .request = request,
                            .elements_per_chunk = elements,
                            .costs = {.reduction = reduction}});
        }
      }
    }
  }
}

}  // namespace

}  // namespace ringside
