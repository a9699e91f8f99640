#pragma once

#include <string>

#include "common/interval.hpp"
#include "scenario/machine/catalog.hpp"
#include "scenario/plan/workload.hpp"

/// What published trainings reach of a data sheet, by the kind of model.
namespace ringside {

/// What published trainings of language models reach on a kind of GPU.
struct AchievedShare {
  /// Share of the data sheet's dense rate in 16 bits; operations include those that checkpointing repeats, and attention of every
  /// token to every other.
  Interval<double> share;
  /// Nobody published such a run on this kind: the interval is from other models or other GPUs, and wide.
  bool extrapolated = false;
};

/// Ends are the 5th and 95th percentile, typical is the median, of 16-bit runs with fused attention, counted by source:
/// mosaicml/llm-foundry@8c8dd48f scripts/train/benchmarking/README.md (A100: 39 to 79 %, H100: 32 to 59 %) and
/// karpathy/llm.c@f1e2ace6 scripts (A100: 60 to 64 %, H100: 49 %). Measured are A100 and H100; others of their generation are extrapolated.
/// GeForce and other kinds: BERT-large without fused attention reaches 42 to 54 % on GeForce, 30 to 34 % on Volta
/// (lambdal/deeplearning-benchmark@aa5addb6); from there to what fused attention gains on an A100, 1.6 times.
AchievedShare achieved_share(const GpuSheet& gpu);

/// How fast GPUs train a family of models: work at a share of the data sheet's dense rate, and after it what the backward pass needs, which
/// crosses GPU memory again and again at the data sheet's bandwidth. Two numbers explain GPUs of five generations, because both
/// rates come from the data sheet of each.
struct FamilySpeed {
  double arithmetic =
      1;  ///< Share of the dense rate. Above 1 where libraries need fewer multiplications than the layers say (Winograd).
  double traversals = 1;  ///< Times that the kept activations cross memory, forward and backward.
  /// Time of a sample over what these two say: 90 % of published speeds whose source had no part in them.
  Interval<double> time = {};
};

/// Fitted to configs/scaling/speeds.csv, which `ringside-lab validate` checks with every source held out.
FamilySpeed family_speed(ModelFamily family);

/// Whether that table has this GPU, on any board: `A100-PCIE-40GB` for all A100.
bool is_published(ModelFamily family, const GpuSheet& gpu);

/// The name without form and memory: `A100-SXM4-80GB` is an A100.
std::string chip_of(const GpuSheet& gpu);

/// What one sample takes, forward and backward: `work` operations, `activations` elements that are kept.
Seconds time_of_sample(double work, double activations, Precision precision, const GpuSheet& gpu,
                       const FamilySpeed& speed);

}  // namespace ringside
