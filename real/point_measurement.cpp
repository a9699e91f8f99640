#include "real/point_measurement.hpp"

#include <algorithm>
#include <utility>

#include "real/prepared_call.hpp"
#include "real/statistics.hpp"
#include "real/timing.hpp"

namespace ringside {
namespace {

/// The slowest rank's host counts, and one rank that launches call by call is said.
std::optional<DeviceLaunch> launch_of_all(const ReadyCall& ready, Coordination& coordination) {
  std::optional<DeviceLaunch> launch = ready.launch();
  if (launch) {
    const std::vector<double> host = coordination.all_values(launch->host_seconds.value);
    const std::vector<double> graph = coordination.all_values(launch->graph ? 1 : 0);
    launch->host_seconds = {*std::max_element(host.begin(), host.end())};
    launch->graph = std::find(graph.begin(), graph.end(), 0.0) == graph.end();
  }
  return launch;
}

Measurement without_time(Outcome outcome, Backend backend, std::string note) {
  return {.outcome = outcome, .backend = backend, .note = std::move(note)};
}

}  // namespace

Measurement measure_point(const PointKey& key, const MeasureOptions& options, const RankBackend& backend,
                          Coordination& coordination) {
  PreparedCall prepared;
  if (const std::optional<std::string> reason =
          prepare(key, placement_of(options, key.ranks), backend, coordination, prepared)) {
    return without_time(Outcome::failed, backend.backend, *reason);
  }

  ReadyCall& ready = *prepared.ready;
  const CollectiveValues values(prepared.call, options.seed);
  const std::vector<double> samples =
      time_calls({.before = [&] { ready.write_input(values); }, .run = [&] { return ready.run(); }},
                 {.budget = options.budget_per_point,
                  .target_interval = options.target_interval,
                  .min_calls = options.min_iterations,
                  .max_calls = options.max_iterations},
                 coordination, backend.progress);
  if (const std::optional<std::string> wrong = wrong_result(values, ready, coordination)) {
    return without_time(Outcome::wrong_result, backend.backend, *wrong);
  }
  const SampleSummary summary = summarize(samples);
  const std::optional<DeviceLaunch> launch = launch_of_all(ready, coordination);
  return {.seconds = {summary.median},
          .low = {summary.low},
          .high = {summary.high},
          .min = {summary.min},
          .p95 = {summary.p95},
          .iterations = static_cast<int>(samples.size()),
          .samples = samples,
          .backend = backend.backend,
          .launch = launch,
          .oversubscribed = backend.device && backend.device->oversubscribed(),
          .note = launch ? launch->note : std::string()};
}

}  // namespace ringside
