#include "real/measure/point_measurement.hpp"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "real/launch/message.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/program/program_proof.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

void make_ready_here(const PointRequest& request, const RankBackend& backend, TimedPoint& timed) {
  const PointKey& key = request.key;
  CollectiveCall& call = timed.call;
  call = {.collective = key.collective,
          .num_ranks = key.ranks,
          .dtype = key.dtype,
          .op = key.op,
          .num_elements = buffer_of(key).value / static_cast<std::int64_t>(size_of(key.dtype))};
  if (key.algorithm == kNative) {
    const ChunkLayout layout(call.num_elements, key.ranks);
    for (Rank rank = 0; rank < key.ranks; ++rank) {
      call.parts.push_back(layout.elements(rank));
    }
    timed.ready = make_ready(call, backend);
    return;
  }
  const Schedule schedule = schedule_of(key, request.placement);
  call.parts = parts_of(schedule, call.num_elements);
  const Vector vector = {.num_elements = call.num_elements, .dtype = key.dtype, .op = key.op};
  const ExecutionPolicy policy = policy_for(schedule, buffer_of(key), backend.rules());
  const Rank rank = backend.transport->rank();
  if (rank == 0) {  // The others would prove the same.
    require_proof(schedule, vector, policy);
  }
  const Program program = compile(schedule, vector, rank, policy);
  timed.policy = program.policy;
  timed.ready = make_ready(program, backend);
}

/// The first rank that has not the memory for it, where there is one.
std::optional<Rank> without_memory(const PointRequest& request, const RankBackend& backend,
                                   Coordination& coordination, TimedPoint& timed) {
  bool done = false;
  try {
    make_ready_here(request, backend, timed);
    done = true;
  } catch (const std::bad_alloc&) {
    // The other ranks must hear of it before anybody starts.
  }
  const std::vector<double> ready = coordination.all_values(done ? 1 : 0);
  const auto failed = std::ranges::find(ready, 0.0);
  return failed == ready.end() ? std::nullopt : std::optional(static_cast<Rank>(failed - ready.begin()));
}

}  // namespace

FieldTable<RankPlacement> table_of(const RankPlacement* /*any*/) {
  return fields(required<&RankPlacement::ranks_per_node, &RankPlacement::order>());
}

FieldTable<TimingLimits> table_of(const TimingLimits* /*any*/) {
  return fields(required<&TimingLimits::budget, &TimingLimits::target_interval, &TimingLimits::min_calls,
                         &TimingLimits::max_calls>());
}

FieldTable<PointRequest> table_of(const PointRequest* /*any*/) {
  return fields(inlined(&PointRequest::key), inlined(&PointRequest::placement),
                inlined(&PointRequest::limits),
                required<&PointRequest::check_every_call, &PointRequest::seed>());
}

const TaskKind kMeasurePoint = {"point", run_task<PointRequest, Measurement, measure_point>};

PointRequest request_of(const PointKey& key, const MeasureOptions& options) {
  return {.key = key,
          .placement = options.placement_of(key.ranks),
          .limits = {.budget = options.budget_per_point,
                     .target_interval = options.target_interval,
                     .min_calls = options.min_iterations,
                     .max_calls = options.max_iterations},
          .check_every_call = options.check_every_call,
          .seed = options.seed};
}

std::string description(const PointKey& key) {
  return fmt::format("{} {}, {} ranks, {}", name(key.collective), key.algorithm, key.ranks,
                     format(key.bytes));
}

Schedule schedule_of(const PointKey& key, const RankPlacement& placement) {
  const Algorithm* algorithm = find_algorithm(key.collective, key.algorithm);
  RINGSIDE_CHECK(algorithm != nullptr, "points are checked before they are measured");
  return {*algorithm, request_for(key.collective, key.ranks, placement)};
}

TimedPoint time_point(const PointRequest& request, const RankBackend& backend, Coordination& coordination,
                      const std::function<double(ReadyCall&)>& run) {
  TimedPoint timed;
  if (const std::optional<Rank> rank = without_memory(request, backend, coordination, timed)) {
    return {.outcome = Outcome::failed,
            .note = fmt::format("rank {} could not allocate its memory for {}", *rank,
                                format(request.key.bytes))};
  }
  ReadyCall& ready = *timed.ready;
  ready.warm_up();
  const CollectiveValues values(timed.call, request.seed);
  std::optional<WrongElement> wrong_element;
  const auto look = [&] {
    if (!wrong_element) {
      wrong_element = ready.first_wrong(values);
    }
  };
  TimedCall call = {.before = [&] { ready.write_input(values); }, .run = [&] { return run(ready); }};
  if (request.check_every_call) {
    call.after = look;
  }
  timed.samples = time_calls(call, request.limits, coordination, backend.progress);
  if (!request.check_every_call) {
    look();
  }
  if (const std::optional<std::string> wrong = wrong_result(values, wrong_element, coordination)) {
    timed.outcome = Outcome::wrong_result;
    timed.note = *wrong;
  }
  return timed;
}

std::optional<std::string> wrong_result(const CollectiveValues& values,
                                        const std::optional<WrongElement>& own, Coordination& coordination) {
  const std::vector<double> elements = coordination.all_values(own ? static_cast<double>(own->element) : -1);
  const std::vector<double> found = coordination.all_values(own ? own->found : 0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] >= 0) {
      const auto element = static_cast<std::int64_t>(elements[i]);
      return fmt::format("rank {}, element {} of {}: found {}, due {}", i, element,
                         values.call().num_elements, found[i],
                         values.value_due(static_cast<Rank>(i), element));
    }
  }
  return std::nullopt;
}

std::optional<CallLaunch> launch_of_all(std::optional<CallLaunch> launch, Coordination& coordination) {
  if (launch) {
    DeviceLaunch& device = launch->device;
    device.host_seconds = {coordination.maximum(std::span(&device.host_seconds.value, 1)).front()};
    device.mode = coordination.anywhere(device.mode != LaunchMode::cuda_graph) ? LaunchMode::stream
                                                                               : LaunchMode::cuda_graph;
  }
  return launch;
}

Measurement measure_point(const PointRequest& request, const RankBackend& backend,
                          Coordination& coordination) {
  const TimedPoint timed =
      time_point(request, backend, coordination, [](ReadyCall& ready) { return ready.run(); });
  if (timed.outcome != Outcome::ok) {
    return {.outcome = timed.outcome, .backend = backend.backend, .policy = timed.policy, .note = timed.note};
  }
  const SampleSummary summary = summarize(timed.samples);
  const std::optional<CallLaunch> launch = launch_of_all(timed.ready->launch(), coordination);
  return {.seconds = {summary.median},
          .low = {summary.low},
          .high = {summary.high},
          .min = {summary.min},
          .p95 = {summary.p95},
          .iterations = static_cast<int>(timed.samples.size()),
          .samples = timed.samples,
          .backend = backend.backend,
          .policy = timed.policy,
          .launch = launch ? std::optional(launch->device) : std::nullopt,
          .machine_tuning = backend.tuning,
          .sockets = backend.sockets,
          .shared_gpu = backend.device && backend.device->shares_gpu(),
          .note = launch ? launch->note : std::string()};
}

}  // namespace ringside
