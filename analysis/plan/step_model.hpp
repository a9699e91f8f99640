#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "common/units.hpp"
#include "scenario/plan/plan.hpp"
#include "scenario/plan/workload.hpp"

/// One step of data-parallel training on every GPU at once: forward pass, backward pass, and the all_reduces
/// of the gradients, as PyTorch's DistributedDataParallel fills and launches its buckets (docs/planning.md
/// has the rules and their sources). Pure arithmetic; what an all_reduce costs is asked of the caller.
namespace ringside {

/// Consecutive gradients, in order of arrival, that one all_reduce synchronises.
struct Bucket {
  std::size_t first = 0;  ///< Index of its first gradient among the gradients in order of arrival.
  std::size_t count = 0;
  Bytes bytes;
};

/// A gradient as the backward pass makes it.
struct Gradient {
  Bytes bytes;
  double share = 0;  ///< Share of the backward pass, spent on it; all shares add up to 1.
};

/// The gradients of a workload in order of arrival: the reverse of parameters(). Each takes the share of the
/// backward pass that its tensor has of the forward FLOPs, or of the elements where no FLOPs are known; a
/// total without tensors is cut into pieces of 1 MiB that arrive evenly.
std::vector<Gradient> arriving_gradients(const Workload& workload);

/// How `synchronisation` cuts the gradients. DDP's rule for buckets: add a gradient first, then close the
/// bucket when it has reached its cap (pytorch reducer.cpp, compute_bucket_assignment_by_size), so that
/// buckets overshoot their cap by up to one gradient; the first cap is smaller.
std::vector<Bucket> make_buckets(const std::vector<Gradient>& gradients,
                                 const SynchronisationSettings& settings);

/// What one all_reduce of this size costs.
using AllReduceCost = std::function<Seconds(Bytes)>;

struct StepRequest {
  const std::vector<Gradient>& gradients;
  const std::vector<Bucket>& buckets;
  Seconds forward;       ///< Time of one forward pass.
  Seconds backward;      ///< Time of one backward pass.
  int accumulate = 1;    ///< Forward and backward passes per step; only the last one synchronises.
  bool overlap = true;   ///< All_reduces run beside the backward pass; false = after it.
  double slowdown = 0;   ///< Seconds that computing takes longer per second of all_reduces beside it.
  Seconds waiting = {};  ///< For the slowest of all GPUs, before gradients can be complete.
};

struct BucketTimes {
  Bucket bucket;
  Seconds ready;  ///< Its last gradient has arrived.
  Seconds start;
  Seconds end;
};

/// Seconds since the start of the step.
struct TrainingStep {
  Seconds compute;        ///< Forward and backward passes, without what slows them down.
  Seconds communication;  ///< All all_reduces together.
  Seconds slowed;         ///< The last backward pass takes longer by this, for all_reduces run beside it.
  Seconds exposed;  ///< What all_reduces add to the step: slowed, and what is left of them after that pass.
  Seconds waiting;  ///< For the slowest GPU.
  Seconds total;
  std::vector<BucketTimes> buckets = {};

  /// Communication that costs no time; none where computing is slowed down by more than it could hide.
  Seconds hidden() const { return std::max(Seconds{}, communication - exposed); }
};

/// The expected largest of `count` independent standard normal numbers: 0.56 of 2, 1.42 of 8.
double expected_largest(int count);

/// Buckets are launched in order, each when it and all before it are ready, on one stream; the last one
/// cannot be hidden. The others slow the backward pass down as StepRequest::slowdown says.
TrainingStep simulate_step(const StepRequest& request, const AllReduceCost& all_reduce);

}  // namespace ringside
