#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "results/codec/fields.hpp"
#include "results/policy.hpp"

namespace ringside {

enum class LaunchMode {
  cuda_graph,  ///< The whole call is one launch of a CUDA graph.
  stream,      ///< Its parts are launched one by one.
};

/// How calls get onto a device, and what that costs the host.
struct DeviceLaunch {
  LaunchMode mode = LaunchMode::stream;
  Seconds host_seconds;  ///< Median of the host's time to put one call onto its stream, at the slowest rank.
};

/// What measuring did to the machine, so that the network counts and not the scheduler. A part
/// is false where the system refused it, where it was of no use, and everywhere with `--no-machine-tuning`.
struct MachineTuning {
  bool bound_to_cores = false;         ///< Each rank kept to cores of its own (affinity).
  bool idle_states_prevented = false;  ///< Threads of the lowest priority kept these cores from idle states.
  bool thread_priority =
      false;  ///< The thread that reduces went before the others of its rank (nice values).
  bool batch_scheduling = false;  ///< Ranks that share cores did not interrupt each other (SCHED_BATCH).

  bool operator==(const MachineTuning&) const = default;
};

/// A measurement ends when its median's 95 % interval is this narrow (relative), or its budget is spent.
inline constexpr double kMeasuredInterval = 0.05;

/// What was measured of one point. `seconds` is the median over iterations of the slowest rank's time; low
/// and high are the 95 % confidence interval of that median (order statistics), and reach over the medians of
/// all repetitions. Only `outcome == ok` has times.
struct Measurement {
  Outcome outcome = Outcome::ok;
  Seconds seconds = {};
  Seconds low = {};
  Seconds high = {};
  Seconds min = {};
  Seconds p95 = {};
  int iterations = 0;
  /// Per iteration, the slowest rank's seconds.
  std::vector<double> samples = {};
  /// The median of each repetition of the whole list of points, seconds; empty when there was one.
  std::vector<double> repetitions = {};
  Backend backend = Backend::gloo;
  /// How the schedule ran; none for a library's own collective and in results of older versions.
  std::optional<ExecutionPolicy> policy = {};
  std::optional<DeviceLaunch> launch = {};           ///< How the call was launched, for GPU ranks.
  std::optional<MachineTuning> machine_tuning = {};  ///< At any rank; none: nobody knows.
  std::vector<int> sockets = {};  ///< By rank, that of its node; empty: one each, not bound, or nobody knows.
  /// Several ranks shared a GPU: a trial of the path, not a measurement of any link.
  bool shared_gpu = false;
  /// Why there is no time, or what a reader must know about it.
  std::string note = {};
};

FieldTable<DeviceLaunch> table_of(const DeviceLaunch* any);
FieldTable<MachineTuning> table_of(const MachineTuning* any);
FieldTable<Measurement> table_of(const Measurement* any);

/// What `earlier` and one more repetition of it measured: their samples together. Where one of them is not
/// ok, nothing is left but its outcome.
Measurement with_repetition(const Measurement& earlier, const Measurement& repetition);

}  // namespace ringside
