#include "real/point_measurement.hpp"

#include <utility>

#include "real/prepared_call.hpp"
#include "real/statistics.hpp"
#include "real/timing.hpp"

namespace ringside {
namespace {

Measurement without_time(Outcome outcome, Backend backend, std::string note) {
  return {.outcome = outcome, .backend = backend, .note = std::move(note)};
}

}  // namespace

Measurement measure_point(const PointKey& key, const MeasureOptions& options, const RankBackend& backend,
                          Coordination& coordination) {
  PreparedCall prepared;
  if (const std::optional<std::string> reason = prepare(key, backend, coordination, prepared)) {
    return without_time(Outcome::failed, backend.backend, *reason);
  }

  const Rank rank = backend.transport->rank();
  const CollectiveValues values(prepared.call, options.seed);
  const std::vector<double> samples =
      time_calls({.before = [&] { values.write_input(rank, prepared.message); }, .run = prepared.run},
                 {.budget = options.budget_per_point,
                  .target_interval = options.target_interval,
                  .min_calls = options.min_iterations,
                  .max_calls = options.max_iterations},
                 coordination, backend.progress);
  if (const std::optional<std::string> wrong = wrong_result(values, prepared, rank, coordination)) {
    return without_time(Outcome::wrong_result, backend.backend, *wrong);
  }
  const SampleSummary summary = summarize(samples);
  return {.seconds = {summary.median},
          .low = {summary.low},
          .high = {summary.high},
          .min = {summary.min},
          .p95 = {summary.p95},
          .iterations = static_cast<int>(samples.size()),
          .samples = samples,
          .backend = backend.backend};
}

}  // namespace ringside
