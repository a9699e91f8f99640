#include "analysis/plan/compute_time.hpp"

#include <cctype>
#include <set>

#include <fmt/format.h>

#include "analysis/plan/achieved_share.hpp"
#include "analysis/plan/gpu_memory.hpp"
#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {

constexpr double kTera = 1e12;

std::optional<double> stated_speed(const Workload& workload, const std::optional<GpuSheet>& gpu) {
  for (const MeasuredSpeed& speed : workload.compute.measured) {
    const auto sheet = find_gpu_sheet(speed.gpu);
    if (speed.gpu == kAnyGpu || (sheet && gpu && sheet->model == gpu->model)) {
      return speed.samples_per_second;
    }
  }
  return std::nullopt;
}

const Interval<double>* stated_efficiency(const Workload& workload, const GpuSheet& gpu) {
  const auto& ranges = workload.compute.efficiency;
  auto stated = ranges.find(gpu_class(gpu));
  stated = stated == ranges.end() ? ranges.find("default") : stated;
  return stated == ranges.end() ? nullptr : &stated->second;
}

std::string gpu_class(const GpuSheet& gpu) {
  // RTX 2080 Ti, RTX 3090, RTX 4090, RTX 5090, but not RTX 6000 Ada, RTX A6000 or RTX PRO 6000.
  const std::string& model = gpu.model;
  const bool geforce =
      model.starts_with("GTX ") ||
      (model.size() >= 8 && model.starts_with("RTX ") && model[4] >= '2' && model[4] <= '5' &&
       std::isdigit(static_cast<unsigned char>(model[5])) != 0 && model.find("Ada") == std::string::npos);
  return geforce ? "geforce" : std::string(name(gpu.architecture));
}

/// Data sheets of these give twice the dense rate of 16 bits.
bool has_float8(const GpuSheet& gpu) {
  static const std::set<Architecture> able = {Architecture::ada, Architecture::hopper,
                                              Architecture::blackwell};
  return gpu.bf16 && (able.contains(gpu.architecture) || gpu.model.starts_with("MI3"));
}

/// The number that a GPU without units for `asked` computes in: a V100 takes float32 for tf32.
Precision computed_in(const GpuSheet& gpu, Precision asked) {
  if (asked == Precision::float8 && !has_float8(gpu)) {
    asked = Precision::bfloat16;
  }
  if (asked == Precision::bfloat16 && !gpu.bf16) {
    asked = Precision::float16;
  }
  const bool has = (asked == Precision::tf32 && gpu.tf32) || (asked == Precision::float16 && gpu.fp16) ||
                   asked == Precision::bfloat16 || asked == Precision::float8;
  return has ? asked : Precision::float32;
}

double flop_rate(const GpuSheet& gpu, Precision precision) {
  switch (computed_in(gpu, precision)) {
    case Precision::float32:
      return kTera * gpu.fp32.value_or(0);
    case Precision::tf32:
      return kTera * gpu.tf32.value();
    case Precision::float16:
      return kTera * gpu.fp16.value();
    case Precision::bfloat16:
      return kTera * gpu.bf16.value();
    case Precision::float8:
      return 2 * kTera * gpu.bf16.value();
  }
  return 0;
}

namespace {

std::string at_shares(const GpuSheet& gpu, const Interval<double>& share, Precision precision) {
  return fmt::format("One {} computes at {} to {} of its {:.4g} TFLOP/s in {}", gpu.model, percent(share.low),
                     percent(share.high), flop_rate(gpu, precision) / kTera,
                     name(computed_in(gpu, precision)));
}

/// Work at a share of the data sheet's rate.
ComputeTime at_share(const Workload& workload, const GpuSheet& gpu, const Interval<double>& share) {
  const double rate = flop_rate(gpu, workload.compute.precision);
  const double work = workload.forward_flops * (1 + workload.backward_over_forward);
  const auto time_at = [&](double of_rate) { return Seconds{work / (rate * of_rate)}; };
  return {.per_sample = {.low = time_at(share.high),
                         .typical = time_at(share.typical),
                         .high = time_at(share.low)},
          .basis = at_shares(gpu, share, workload.compute.precision) + "."};
}

/// A language model that every GPU has whole, without checkpointing.
ComputeTime of_language_model(const Workload& workload, const GpuSheet& gpu) {
  const Transformer& model = *workload.transformer;
  const Precision precision = workload.compute.precision;
  const double matrices = 2.0 * static_cast<double>(model.sequence * active_elements_of_layer(model));
  const double in_layers = model.layers * forward_flops_of_layer(model);
  Work work{.matrices = 3 * model.layers * matrices,
            .vocabulary = 3 * (forward_flops_of(model) - in_layers),
            .attention = 3 * (in_layers - model.layers * matrices),
            .traversed =
                3 * (model.layers * kept_bytes_of_layer(model, precision) + logit_bytes(model, precision))};
  const LanguageSpeed speed = language_speed(gpu, workload, false, planning_parameters());
  const Seconds typical{seconds_of(work, gpu, precision, speed)};
  const double share = work.operations() / flop_rate(gpu, precision) / typical.value;
  return {
      .per_sample = speed.time * typical,
      .basis =
          at_shares(gpu, {.low = share / speed.time.high, .typical = share, .high = share / speed.time.low},
                    precision) +
          (speed.extrapolated ? ", but no published training of a language model ran on it." : "."),
      .extrapolated = speed.extrapolated};
}

/// Kept elements of one sample; where nothing says it, as many as the family has in published tensor lists.
double activations_of(const Workload& workload, ModelFamily family) {
  double elements = 0;
  for (const Tensor& tensor : workload.tensors) {
    elements += static_cast<double>(tensor.activations);
  }
  constexpr double kWorkOfConvolutional = 480;  // ResNet-50 to 152: 370 to 510
  constexpr double kWorkOfTransformer = 1400;   // BERT-base and BERT-large: 1,200 and 1,560
  const double work_of_one = family == ModelFamily::transformer ? kWorkOfTransformer : kWorkOfConvolutional;
  return elements > 0 ? elements : workload.forward_flops / work_of_one;
}

/// PyTorch launches the kernels of a parameter tensor one by one, both ways and in the optimizer. Small
/// batches of five models took 98 to 222 us for each tensor on two machines with an H200, 157 in the median
/// (lab/docs/measurements/h200-training.md). CUDA graphs launch all at once. No published speed is below it.
Interval<Seconds> launches_of(const Workload& workload) {
  constexpr Seconds kOfTensor{157e-6};
  const Seconds typical = static_cast<double>(workload.tensors.size()) * kOfTensor;
  return {.low = 0.5 * typical, .typical = typical, .high = 2.0 * typical};
}

ComputeTime as_published(const Workload& workload, ModelFamily family, const GpuSheet& gpu) {
  const FamilySpeed speed = family_speed(family);
  const Precision precision = workload.compute.precision;
  const Seconds typical = time_of_sample(workload.forward_flops * (1 + workload.backward_over_forward),
                                         activations_of(workload, family), precision, gpu, speed);
  const bool extrapolated = !is_published(family, gpu);
  return {.per_sample = speed.time * typical,
          .launches = launches_of(workload),
          .basis = fmt::format(
              "One {} trains as fast as published runs of {} models in {}, by its arithmetic rate and memory "
              "bandwidth{}.",
              gpu.model, name(family), name(computed_in(gpu, precision)),
              extrapolated ? "; none of them ran on it" : ""),
          .extrapolated = extrapolated};
}

}  // namespace

ComputeTime compute_time(const Workload& workload, const std::optional<GpuSheet>& gpu) {
  if (const auto speed = stated_speed(workload, gpu)) {
    return {.per_sample = Interval<Seconds>::exactly({1 / *speed}),
            .basis = fmt::format("One {} trains {:.4g} samples/s alone, as the workload states.",
                                 gpu ? gpu->model : "rank", *speed)};
  }
  if (!gpu) {
    throw bad_input("the machine names no `gpu`, and the workload states no measured speed of `any`");
  }
  const ComputeSpeed& compute = workload.compute;
  const Interval<double>* const stated = stated_efficiency(workload, *gpu);
  if (stated == nullptr && !compute.family && !workload.transformer) {
    throw bad_input("the workload states no speed of a {}, nor an efficiency of class {}", gpu->model,
                    gpu_class(*gpu));
  }
  if (!(flop_rate(*gpu, compute.precision) > 0)) {
    throw bad_input("the catalogue has no {} rate of a {}", name(compute.precision), gpu->model);
  }
  return stated != nullptr ? at_share(workload, *gpu, *stated)
         : compute.family  ? as_published(workload, *compute.family, *gpu)
                           : of_language_model(workload, *gpu);
}

}  // namespace ringside
