#pragma once

#include <optional>
#include <string>

#include "common/interval.hpp"
#include "scenario/machine/catalog.hpp"
#include "scenario/plan/workload.hpp"

/// How long one GPU computes, before anything is synchronised.
namespace ringside {

/// `geforce` for the cards of that name, else the architecture: the keys of a workload's `efficiency`.
std::string gpu_class(const GpuSheet& gpu);

/// The data sheet's dense rate for this precision, FLOP per second. A GPU without it takes the next: bfloat16
/// as float16, tf32 as float32.
double flop_rate(const GpuSheet& gpu, Precision precision);

/// Measured samples per second that the workload states of this very model, or of `any`. `gpu`: none = the
/// machine does not say what computes.
std::optional<double> stated_speed(const Workload& workload, const std::optional<GpuSheet>& gpu);

/// The range of efficiency that the workload states of this class of GPUs, or of all; null = it states none.
const Interval<double>* stated_efficiency(const Workload& workload, const GpuSheet& gpu);

struct ComputeTime {
  Interval<Seconds> per_sample;     ///< Forward and backward pass of one sample, in a batch.
  Interval<Seconds> launches = {};  ///< What launching its kernels takes: no pass is shorter.
  std::string basis;                ///< Where it comes from, a whole sentence.
  bool extrapolated = false;        ///< Nobody published how fast this GPU trains such a model.
};

/// By the stated speed; else work over rate times stated efficiency (geometric mean of the range); else from
/// published runs. Throws Error{bad_input} where nobody measured this GPU, no efficiency is stated for its
/// class, and the workload is of no known kind.
ComputeTime compute_time(const Workload& workload, const std::optional<GpuSheet>& gpu);

}  // namespace ringside
