#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/execute/ready_call.hpp"
#include "real/launch/rank_task.hpp"
#include "real/measure/measure.hpp"
#include "real/measure/timing.hpp"
#include "results/codec/fields.hpp"
#include "results/measurement.hpp"
#include "results/point.hpp"
#include "results/policy.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// What ranks must know to measure or to record one point.
struct PointRequest {
  PointKey key;
  RankPlacement placement = {};
  TimingLimits limits = {};
  bool check_every_call = true;  ///< As in MeasureOptions.
  std::uint64_t seed = 1;
};

PointRequest request_of(const PointKey& key, const MeasureOptions& options);

/// "all_reduce ring, 4 ranks, 1 MiB": for messages.
std::string description(const PointKey& key);

FieldTable<PointRequest> table_of(const PointRequest* any);

/// The schedule of a point that is not `native`, which the backend supports.
Schedule schedule_of(const PointKey& key, const RankPlacement& placement);

/// A point as all ranks have timed it; the same at every rank, but for `ready`.
struct TimedPoint {
  Outcome outcome = Outcome::ok;
  std::string note = {};  ///< Why it is another one.
  CollectiveCall call = {};
  std::optional<ExecutionPolicy> policy = {};  ///< Under which the schedule runs; none for `native`.
  std::unique_ptr<ReadyCall> ready = {};
  std::vector<double> samples = {};  ///< Seconds of each call, at the slowest rank.
};

/// Makes a point ready, warms it up, times it and checks its results; called by all ranks of the point at
/// once. `run` makes a call and returns its seconds here. Too little memory at some rank is outcome `failed`.
TimedPoint time_point(const PointRequest& request, const RankBackend& backend, Coordination& coordination,
                      const std::function<double(ReadyCall&)>& run);

/// What is wrong with a result, at whichever rank, in a sentence; nothing when it is right everywhere. `own`
/// is the first wrong element at this rank. Called by all ranks at once, and the same at all of them.
std::optional<std::string> wrong_result(const CollectiveValues& values,
                                        const std::optional<WrongElement>& own, Coordination& coordination);

/// Measures one point; called by all ranks of the point at once. Returns the same at every rank. Throws
/// Error{peer_lost} when a rank is gone.
Measurement measure_point(const PointRequest& request, const RankBackend& backend,
                          Coordination& coordination);
extern const TaskKind kMeasurePoint;

/// How calls got onto the ranks' devices, from how this rank's did: the slowest host counts, and one rank
/// that launches call by call is said. Called by all ranks at once; nothing without devices.
std::optional<CallLaunch> launch_of_all(std::optional<CallLaunch> launch, Coordination& coordination);

}  // namespace ringside
