#pragma once

#include <string>

#include "analysis/parameters/planning_parameters.hpp"
#include "common/interval.hpp"
#include "scenario/machine/catalog.hpp"
#include "scenario/plan/workload.hpp"

/// What published trainings reach of a data sheet, by the kind of model.
namespace ringside {

/// How fast a kind of GPU trains language models: shares of the dense rate for matrices and attention, then
/// GPU memory. Operations include those that checkpointing repeats, and attention to all tokens.
struct LanguageSpeed {
  double share = 1;        ///< Share of the data sheet's dense rate.
  double attention = 1;    ///< Time of an operation of attention, of one of matrices in 16 bits.
  double traversals = 0;   ///< Times that the kept activations cross memory in a forward pass.
  double layer_time = 0;   ///< Seconds that launching the kernels of one layer takes in one direction.
  double dequantised = 0;  ///< Bytes of GPU memory that turning a four-bit weight back moves, per pass.
  Interval<double> time = {
      .low = 1, .typical = 1, .high = 1};  ///< Time of a step over what these say: 90 % of runs.
  /// Nobody published such a run on this kind of GPU: the numbers are others', the interval wide.
  bool extrapolated = false;
};

/// By how much that widens both ends.
inline constexpr double kExtrapolatedWider = 1.25;

/// Which factor says how far such runs are off; `workload` has a transformer.
PlanningParameter factor_of(const Workload& workload, bool adapters);

/// From configs/planning/parameters.yaml, whose sources are those of configs/scaling/language_models.csv.
/// Measured: data-centre A100, H100, Blackwell, and H200 by lab/planning/training-lab; others of their
/// generation are extrapolated. GeForce and Ada: Ampere's numbers; Volta, without bfloat16 and fused
/// attention of its own, 0.6 of them: BERT-large reaches 42 to 54 % on GeForce and 30 to 34 % on Volta
/// (lambdal/deeplearning-benchmark@aa5addb6); all others likewise. `workload` has a transformer.
LanguageSpeed language_speed(const GpuSheet& gpu, const Workload& workload, bool adapters,
                             const PlanningParameters& parameters);

/// What every speed of a language model takes for granted; measured by lab/planning/training-lab
/// (lab/docs/measurements/h200-training.md and h100-training.md).
inline constexpr const char* kFusedKernels =
    "Kernels are fused, as by torch.compile. Without it, models of Hugging Face took 1.05 to 2.4 times as "
    "long on an H100 and an H200, and up to 1.9 times the memory.";

/// What one pass of one replica computes, on the GPU of one stage.
struct Work {
  double matrices = 0;     ///< Operations, with what checkpointing repeats.
  double vocabulary = 0;   ///< Likewise outside layers, which stays in 16 bits.
  double attention = 0;    ///< Likewise, of every token with every other.
  double traversed = 0;    ///< Bytes of activations that are made or read back, each once.
  double dequantised = 0;  ///< Weights that are turned back from four bits.
  double layers = 0;       ///< Those of the stage, each direction counted.
  double last = 0;         ///< Share of the backward pass in all of this.

  double operations() const { return matrices + vocabulary + attention; }
};

/// Seconds of it. The operations of matrices are in `precision`; attention stays in 16 bits.
double seconds_of(const Work& work, const GpuSheet& gpu, Precision precision, const LanguageSpeed& speed);

/// How fast GPUs train a family of models: work at a share of the data sheet's dense rate, and after it what
/// the backward pass needs, which crosses GPU memory again and again at the data sheet's bandwidth. Two
/// numbers explain GPUs of five generations, because both rates come from the data sheet of each.
struct FamilySpeed {
  double arithmetic = 1;  ///< Share of the dense rate; above 1 where libraries multiply less (Winograd).
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
