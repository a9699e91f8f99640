#include "analysis/plan/achieved_share.hpp"

#include <cmath>
#include <map>
#include <set>

#include "analysis/plan/compute_time.hpp"
#include "analysis/plan/gpu_memory.hpp"
#include "common/error.hpp"

namespace ringside {

std::string chip_of(const GpuSheet& gpu) { return gpu.model.substr(0, gpu.model.find('-')); }

namespace {

/// Share of the dense rate in 16 bits of a GPU whose generation has no parameter, relative to Ampere's.
double share_of_other(const std::string& kind) {
  constexpr double kOld = 0.6;
  return kind == "ampere" || kind == "geforce" || kind == "ada" ? 1.0 : kOld;
}

}  // namespace

PlanningParameter factor_of(const Workload& workload, bool adapters) {
  using enum PlanningParameter;
  const bool in_8_bits = workload.compute.precision == Precision::float8;
  return workload.transformer->experts > 1 ? sparse_factor
         : adapters                        ? adapters_factor
         : in_8_bits                       ? float8_factor
                                           : dense_factor;
}

LanguageSpeed language_speed(const GpuSheet& gpu, const Workload& workload, bool adapters,
                             const PlanningParameters& parameters) {
  using enum PlanningParameter;
  static const std::map<std::string, PlanningParameter> shares = {{"hopper", share_hopper},
                                                                  {"blackwell", share_blackwell}};
  static const std::set<std::string> measured = {"A100", "H100", "H200", "B200", "B300", "GB200", "GB300"};
  const std::string kind = gpu_class(gpu);
  const auto known = shares.find(kind);
  const bool sparse = workload.transformer->experts > 1;
  // FlashAttention-2 does without what makes Hopper fast; what Blackwell runs was written for it.
  // Adapters double a layer's kernels: two small products, a scaling and a sum beside each product. Float8
  // comes with Transformer Engine, whose layers fuse norms, casts and activations.
  constexpr double kHalf = 0.5;
  const double factor = parameters[factor_of(workload, adapters)];
  LanguageSpeed speed{.share = parameters[share_ampere] *
                               (known != shares.end() ? parameters[known->second] : share_of_other(kind)),
                      .attention = parameters[kind == "hopper" ? attention_hopper : attention_ampere],
                      .traversals = parameters[traversals],
                      .layer_time = 1e-6 * parameters[layer_time] * (adapters ? 1 : kHalf),
                      .dequantised = parameters[dequantised],
                      .time = {.low = 1 / factor, .typical = 1, .high = factor},
                      // A share that no run bore on is still the guess.
                      .extrapolated = !measured.contains(chip_of(gpu)) ||
                                      (known != shares.end() &&
                                       parameters[known->second] == planning_guesses()[known->second])};
  if (workload.compute.precision == Precision::float8) {
    speed.share *= parameters[share_float8];
    speed.attention *= parameters[share_float8];  // It stays at the rate of 16 bits.
    speed.layer_time *= kHalf;
  }
  if (sparse) {
    speed.share /= parameters[experts];
  }
  if (speed.extrapolated) {
    speed.time.low /= kExtrapolatedWider;
    speed.time.high *= kExtrapolatedWider;
  }
  return speed;
}

double seconds_of(const Work& work, const GpuSheet& gpu, Precision precision, const LanguageSpeed& speed) {
  const Precision half = precision == Precision::float8 ? Precision::bfloat16 : precision;
  const double arithmetic = work.matrices / flop_rate(gpu, precision) +
                            (work.vocabulary + speed.attention * work.attention) / flop_rate(gpu, half);
  const double memory =
      (speed.traversals * work.traversed + speed.dequantised * work.dequantised) / gpu.memory_bandwidth.value;
  return std::hypot(arithmetic / speed.share + memory, speed.layer_time * work.layers);
}

FamilySpeed family_speed(ModelFamily family) {
  switch (family) {
    case ModelFamily::convolutional:
      return {.arithmetic = 1.058, .traversals = 15.63, .time = {.low = 0.79, .typical = 1, .high = 1.7}};
    case ModelFamily::detection:
      return {.arithmetic = 0.5467, .traversals = 30.25, .time = {.low = 0.6, .typical = 1, .high = 1.7}};
    case ModelFamily::transformer:
      return {.arithmetic = 0.78, .traversals = 25, .time = {.low = 0.72, .typical = 1, .high = 1.25}};
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a family of models has no speed");
}

bool is_published(ModelFamily family, const GpuSheet& gpu) {
  static const std::set<std::string> all = {
      "A10", "A100", "H100", "V100", "RTX 3090", "RTX 4090", "RTX 6000 Ada", "RTX A6000", "Quadro RTX 8000"};
  const std::string chip = chip_of(gpu);
  // H200: by lab/planning/training-lab, lab/docs/measurements/h200-training.md.
  return all.contains(chip) || (family == ModelFamily::convolutional && chip == "P100") ||
         (family != ModelFamily::detection && chip == "H200");
}

Seconds time_of_sample(double work, double activations, Precision precision, const GpuSheet& gpu,
                       const FamilySpeed& speed) {
  const double kept = bytes_per_number(precision) * activations;
  return {work / (speed.arithmetic * flop_rate(gpu, precision)) +
          speed.traversals * kept / gpu.memory_bandwidth.value};
}

}  // namespace ringside
