#include "analysis/plan/achieved_share.hpp"

#include <map>
#include <set>

#include "analysis/plan/compute_time.hpp"
#include "common/error.hpp"

namespace ringside {

std::string chip_of(const GpuSheet& gpu) { return gpu.model.substr(0, gpu.model.find('-')); }

AchievedShare achieved_share(const GpuSheet& gpu) {
  static const std::map<std::string, Interval<double>> known = {
      {"ampere", {.low = 0.42, .typical = 0.58, .high = 0.76}},
      {"hopper", {.low = 0.32, .typical = 0.45, .high = 0.58}},
      {"geforce", {.low = 0.40, .typical = 0.56, .high = 0.80}},
      {"volta", {.low = 0.25, .typical = 0.37, .high = 0.54}},
  };
  static const std::set<std::string> measured = {"A100", "H100"};
  const auto found = known.find(gpu_class(gpu));
  return {.share = found != known.end() ? found->second
                                        : Interval<double>{.low = 0.18, .typical = 0.35, .high = 0.65},
          .extrapolated = !measured.contains(chip_of(gpu))};
}

FamilySpeed family_speed(ModelFamily family) {
  switch (family) {
    case ModelFamily::convolutional:
      return {.arithmetic = 1.058, .traversals = 15.63, .time = {.low = 0.75, .typical = 1, .high = 1.7}};
    case ModelFamily::detection:
      return {.arithmetic = 0.5467, .traversals = 30.25, .time = {.low = 0.6, .typical = 1, .high = 1.7}};
    case ModelFamily::transformer:
      return {.arithmetic = 0.78, .traversals = 25, .time = {.low = 0.72, .typical = 1, .high = 1.45}};
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a family of models has no speed");
}

bool is_published(ModelFamily family, const GpuSheet& gpu) {
  static const std::set<std::string> all = {
      "A10", "A100", "H100", "V100", "RTX 3090", "RTX 4090", "RTX 6000 Ada", "RTX A6000", "Quadro RTX 8000"};
  const std::string chip = chip_of(gpu);
  return all.contains(chip) || (family == ModelFamily::convolutional && chip == "P100");
}

Seconds time_of_sample(double work, double activations, Precision precision, const GpuSheet& gpu,
                       const FamilySpeed& speed) {
  const bool half = precision == Precision::float16 || precision == Precision::bfloat16;
  const double kept = (half ? 2 : 4) * activations;
  return {work / (speed.arithmetic * flop_rate(gpu, precision)) +
          speed.traversals * kept / gpu.memory_bandwidth.value};
}

}  // namespace ringside
