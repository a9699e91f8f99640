#include "real/measure/point_measurement.hpp"

#include <utility>

#include "common/numbers.hpp"
#include "real/execute/prepared_call.hpp"
#include "real/launch/message.hpp"

namespace ringside {
namespace {

Measurement without_time(Outcome outcome, Backend backend, std::string note) {
  return {.outcome = outcome, .backend = backend, .note = std::move(note)};
}

}  // namespace

const TaskKind kMeasurePoint = {"point", run_task<PointRequest, Measurement, measure_point>};

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
  PreparedCall prepared;
  if (const std::optional<std::string> reason =
          prepare(request.key, request.placement, backend, coordination, prepared)) {
    return without_time(Outcome::failed, backend.backend, *reason);
  }

  ReadyCall& ready = *prepared.ready;
  const CollectiveValues values(prepared.call, request.seed);
  std::optional<WrongElement> wrong_element;
  const std::vector<double> samples = time_calls({.before = [&] { ready.write_input(values); },
                                                  .run = [&] { return ready.run(); },
                                                  .after =
                                                      [&] {
                                                        if (request.check_every_call && !wrong_element) {
                                                          wrong_element = ready.first_wrong(values);
                                                        }
                                                      }},
                                                 request.limits, coordination, backend.progress);
  if (!request.check_every_call) {
    wrong_element = ready.first_wrong(values);
  }
  if (const std::optional<std::string> wrong = wrong_result(values, wrong_element, coordination)) {
    Measurement measurement = without_time(Outcome::wrong_result, backend.backend, *wrong);
    measurement.policy = prepared.policy;
    return measurement;
  }
  const SampleSummary summary = summarize(samples);
  const std::optional<CallLaunch> launch = launch_of_all(ready.launch(), coordination);
  return {.seconds = {summary.median},
          .low = {summary.low},
          .high = {summary.high},
          .min = {summary.min},
          .p95 = {summary.p95},
          .iterations = static_cast<int>(samples.size()),
          .samples = samples,
          .backend = backend.backend,
          .policy = prepared.policy,
          .launch = launch ? std::optional(launch->device) : std::nullopt,
          .machine_tuning = backend.tuning,
          .sockets = backend.sockets,
          .shared_gpu = backend.device && backend.device->shares_gpu(),
          .note = launch ? launch->note : std::string()};
}

}  // namespace ringside
