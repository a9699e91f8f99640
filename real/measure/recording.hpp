#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "real/execute/coordination.hpp"
#include "real/execute/executor.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/launch/rank_task.hpp"
#include "real/measure/measure.hpp"
#include "real/measure/point_measurement.hpp"
#include "results/codec/fields.hpp"
#include "results/point.hpp"
#include "results/policy.hpp"
#include "results/trace_event.hpp"
#include "schedule/program/program.hpp"

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

FieldTable<Recording> table_of(const Recording* any);

/// Called in the parent as soon as a point has been recorded.
using PointRecorded = std::function<void(const PointKey&, const Recording&)>;

/// Like measure(), with the executor recording: the same checks, launchers, errors and results that are
/// verified. `native` has no schedule and is `unsupported`.
void record(std::span<const PointKey> points, const MeasureOptions& options, const PointRecorded& report);

/// Records one point; called by all ranks of the point at once. Rank 0 returns all events, others none.
Recording record_point(const PointRequest& request, const RankBackend& backend, Coordination& coordination);
extern const TaskKind kRecordPoint;

/// What the programs of ranks 0 … N−1 did, when their steps took these times. The k-th send from one rank to
/// another belongs to the k-th receive there. Clocks that disagree never make an event end before it starts.
std::vector<TraceEvent> trace_events(std::span<const Program> programs,
                                     std::span<const std::vector<StepTime>> times);

/// The call that is shown of those that took `samples` (not empty): the lower median.
std::size_t index_of_median(const std::vector<double>& samples);

/// From when the times of each rank count, where its call began at `starts[rank]`: the first start of all
/// where ranks share one clock (`clocks` are equal), else its own.
std::vector<Seconds> zeros_of(std::span<const double> starts, std::span<const double> clocks);

}  // namespace ringside
