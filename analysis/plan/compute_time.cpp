#include "analysis/plan/compute_time.hpp"

#include <cctype>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "analysis/plan/achieved_share.hpp"
#include "common/numbers.hpp"
#include "sim/nccl/gpu_models.hpp"

namespace ringside {
namespace {

constexpr double kTera = 1e12;

/// The number of measured samples per second on this very model.
std::optional<double> measured_speed(const Workload& workload, const std::optional<GpuSheet>& gpu) {
  for (const MeasuredSpeed& speed : workload.compute.measured) {
    const auto sheet = find_gpu_sheet(speed.gpu);
    if (speed.gpu == kAnyGpu || (sheet && gpu && sheet->model == gpu->model)) {
      return speed.samples_per_second;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string gpu_class(const GpuSheet& gpu) {
  // RTX 2080 Ti, RTX 3090, RTX 4090, RTX 5090, but not RTX 6000 Ada, RTX A6000 or RTX PRO 6000.
  const std::string& model = gpu.model;
  const bool geforce =
      model.starts_with("GTX ") ||
      (model.size() >= 8 && model.starts_with("RTX ") && model[4] >= '2' && model[4] <= '5' &&
       std::isdigit(static_cast<unsigned char>(model[5])) != 0 && model.find("Ada") == std::string::npos);
  return geforce ? "geforce" : std::string(name(gpu.architecture));
}

/// What a GPU computes in that has no units of its own for `asked`: a V100 multiplies in float32 what others do in tf32.
Precision computed_in(const GpuSheet& gpu, Precision asked) {
  if (asked == Precision::bfloat16 && !gpu.bf16) {
    asked = Precision::float16;
  }
  const bool has = (asked == Precision::tf32 && gpu.tf32) || (asked == Precision::float16 && gpu.fp16) ||
                   asked == Precision::bfloat16;
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
  }
  return 0;
}

std::variant<ComputeTime, UnknownSpeed> compute_time(const Workload& workload,
                                                     const std::optional<GpuSheet>& sheet) {
  if (const auto speed = measured_speed(workload, sheet)) {
    return ComputeTime{.per_sample = Interval<Seconds>::exactly({1 / *speed}),
                       .basis = fmt::format("One {} trains {:.4g} samples/s alone, as the workload states.",
                                            sheet ? sheet->model : "rank", *speed)};
  }
  if (!sheet) {
    return UnknownSpeed{"the machine names no `gpu`, and the workload states no measured speed of `any`"};
  }
  const GpuSheet& gpu = *sheet;
  const std::string known_class = gpu_class(gpu);
  const auto& ranges = workload.compute.efficiency;
  auto range = ranges.find(known_class);
  range = range == ranges.end() ? ranges.find("default") : range;
  const bool published = range == ranges.end() && workload.transformer.has_value();
  const double rate = flop_rate(gpu, workload.compute.precision);
  if (range == ranges.end() && !published) {
    return UnknownSpeed{fmt::format("the workload states no speed of a {}, nor an efficiency of class {}",
                                    gpu.model, known_class)};
  }
  if (!(rate > 0)) {
    return UnknownSpeed{
        fmt::format("the catalogue has no {} rate of a {}", name(workload.compute.precision), gpu.model)};
  }
  const double work = workload.forward_flops * (1 + workload.backward_over_forward);
  const auto time_at = [&](double efficiency) { return Seconds{work / (rate * efficiency)}; };
  const AchievedShare achieved =
      published ? achieved_share(known_class) : AchievedShare{.share = range->second};
  const Interval<double>& efficiency = achieved.share;
  return ComputeTime{
      .per_sample = {.low = time_at(efficiency.high),
                     .typical = time_at(efficiency.typical),
                     .high = time_at(efficiency.low)},
      .basis = fmt::format(
          "One {} computes at {} to {} of its {:.4g} TFLOP/s in {}{}.", gpu.model, percent(efficiency.low),
          percent(efficiency.high), rate / kTera, name(computed_in(gpu, workload.compute.precision)),
          achieved.extrapolated ? ", which nobody published of a language model on it" : "")};
}

}  // namespace ringside
