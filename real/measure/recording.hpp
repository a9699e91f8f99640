#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "real/measure/measure_options.hpp"
#include "results/codec/fields.hpp"
#include "results/point_key.hpp"
#include "results/policy.hpp"
#include "results/trace_event.hpp"

/// Real runs as timelines, in the record that simulations fill too.
namespace ringside {

/// What happened when in one run of a point: of the timed runs, the one whose slowest rank took the median
/// time (of an even number, the lower of the two in the middle).
struct Recording {
  Outcome outcome = Outcome::ok;  ///< Only `ok` has what follows.
  Seconds seconds = {};           ///< The slowest rank's, as in a measurement.
  int iterations = 0;             ///< Timed runs.
  Backend backend = Backend::gloo;
  std::optional<ExecutionPolicy> policy = {};  ///< How the schedule ran.
  /// Ranks of one machine share a clock; zero is then the moment at which the first of them left the barrier,
  /// and the last one left it this much later. None: ranks of several machines, each of which counts from its
  /// own leaving of the barrier, so that times of different ranks are apart by what the barrier lets them be.
  std::optional<Seconds> barrier_skew = {};
  /// By start. A transfer lasts from when both sides have started it until its receiver notices its end:
  /// later than the last byte where the receiver reduced or waited for another.
  std::vector<TraceEvent> events = {};
  std::string note = {};  ///< Why there are no events.
};

template <>
const FieldTable<Recording>& field_table();

/// Called in the parent as soon as a point has been recorded.
using PointRecorded = std::function<void(const PointKey&, const Recording&)>;

/// Like measure(), with the executor recording: the same checks, launchers, errors and results that are
/// verified. `native` has no schedule and is `unsupported`.
void record(std::span<const PointKey> points, const MeasureOptions& options, const PointRecorded& report);

}  // namespace ringside
