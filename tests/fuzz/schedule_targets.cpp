// Schedules, made from bytes: proved, simulated by every engine, run on threads, and all compared.

#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "random_schedule.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/execute/collective_values.hpp"
#include "real/execute/executor.hpp"
#include "scenario/machine/execution_rules.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/program/program_proof.hpp"
#include "schedule/proof.hpp"
#include "sim/engine/closed_form.hpp"
#include "sim/engine/flow.hpp"
#include "sim/engine/replay.hpp"
#include "target.hpp"
#include "tests/sim/engine/networks.hpp"

namespace ringside::fuzz {
namespace {

constexpr double kTolerance = 1e-9;

std::string label(const Schedule& schedule) {
  return fmt::format("{} {} on {} ranks", name(schedule.algorithm().collective), schedule.algorithm().name,
                     schedule.num_ranks());
}

void expect_close(double a, double b, const std::string& what) {
  require(std::abs(a - b) <= kTolerance * std::max(a, b), fmt::format("{}: {} and {}", what, a, b));
}

void prove_it(const Schedule& schedule, const Vector& vector, const ExecutionPolicy& policy) {
  const Proof proof = prove(schedule);
  require(proof.holds(), proof.holds() ? "" : label(schedule) + ": " + proof.faults.front());
  const std::vector<std::string> faults = faults_under(schedule, vector, policy);
  require(faults.empty(),
          faults.empty() ? "" : fmt::format("{}, {}: {}", label(schedule), describe(policy), faults.front()));
}

/// Without contention both ways to run a schedule agree; on a shared medium nothing beats its bytes.
void simulate_it(Choices& choices, const Schedule& schedule, Bytes bytes) {
  // What arrives at once at one rank is reduced in an order that is each engine's own: where the registry's
  // algorithms do not send like that, random trees do, and are compared without what reducing takes.
  const bool random = schedule.algorithm().name == "random";
  const test::Costs costs = {.latency = 1e-7 * (1 + choices.below(500)),
                             .inverse_bandwidth = 1e-11 * (1 + choices.below(1000)),
                             .reduction = random ? 0 : 1e-11 * choices.below(2000)};
  const Execution execution(schedule, bytes, DataType::float32);
  Network network = test::private_links(schedule.num_ranks(), costs);
  for (double& slowdown : network.slowdown) {
    slowdown = choices.below(4) == 0 ? 1.5 : 1;
  }
  expect_close(simulate_flow(execution, network).seconds.value, replay(execution, network).value,
               label(schedule) + ": flow and replay");
  double total = 0;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < execution.num_rounds(); ++round) {
    execution.write_round(round, moves);
    for (const Move& move : moves) {
      total += move.local() ? 0 : static_cast<double>(execution.bytes(move));
    }
  }
  const double shared = simulate_flow(execution, test::one_medium(schedule.num_ranks(), costs)).seconds.value;
  require(shared >= costs.inverse_bandwidth * total * (1 - kTolerance),
          label(schedule) + ": a shared medium is faster than its bytes");
}

std::string run_rank(const Schedule& schedule, const CollectiveValues& values, const Vector& vector,
                     const ExecutionPolicy& policy, Transport& transport) {
  Executor executor(compile(schedule, vector, transport.rank(), policy), transport);
  values.write_input(transport.rank(), executor.message());
  executor.run();
  const std::optional<std::int64_t> wrong = values.first_wrong(transport.rank(), executor.message());
  return wrong ? fmt::format("{}: rank {}, element {}: found {}, due {}", label(schedule), transport.rank(),
                             *wrong, values.value_at(executor.message(), *wrong),
                             values.value_due(transport.rank(), *wrong))
               : std::string{};
}

void run_it(const Schedule& schedule, const Vector& vector, const ExecutionPolicy& policy) {
  constexpr std::chrono::seconds kLongest{60};
  const CollectiveValues values({.collective = schedule.algorithm().collective,
                                 .num_ranks = schedule.num_ranks(),
                                 .root = schedule.request().root,
                                 .dtype = vector.dtype,
                                 .op = vector.op,
                                 .num_elements = vector.num_elements,
                                 .parts = parts_of(schedule, vector.num_elements)},
                                /*seed=*/3);
  std::vector<std::string> wrong(static_cast<std::size_t>(schedule.num_ranks()));
  run_as_threads(schedule.num_ranks(), kLongest, [&](std::unique_ptr<Transport> transport) {
    wrong[static_cast<std::size_t>(transport->rank())] =
        run_rank(schedule, values, vector, policy, *transport);
  });
  for (const std::string& text : wrong) {
    require(text.empty(), text);
  }
}

void follow_a_schedule(std::string_view text) {
  Choices choices(text);
  const int num_ranks = 1 + static_cast<int>(choices.below(7));
  const Schedule schedule =
      choices.coin() ? random_algorithm(choices, num_ranks) : random_all_reduce(choices, num_ranks);
  const Vector vector = {.num_elements = choices.coin() ? choices.below(400) : choices.below(65536),
                         .dtype = choices.coin() ? DataType::float32 : DataType::int64,
                         .op = choices.coin() ? ReduceOp::sum : ReduceOp::max};
  // As on hardware that there is, with shorter pieces: still many whole cache lines.
  ExecutionRules rules = kRankSites[choices.below(kRankSites.size())].rules;
  if (rules.segments) {
    rules.segments->longest = {4096 + 64 * static_cast<std::int64_t>(choices.below(64))};
  }
  const Bytes bytes{vector.num_elements * static_cast<std::int64_t>(size_of(vector.dtype))};
  const ExecutionPolicy policy = policy_for(schedule, bytes, rules);
  prove_it(schedule, vector, policy);
  simulate_it(choices, schedule, {4 * vector.num_elements});
  run_it(schedule, vector, policy);
}

constexpr std::array kTargets = {Target{"schedule", follow_a_schedule}};

}  // namespace

std::span<const Target> schedule_targets() { return kTargets; }

}  // namespace ringside::fuzz
