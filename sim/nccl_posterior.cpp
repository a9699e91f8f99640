#include "sim/nccl_posterior.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace ringside {

namespace {

/// What is left between two runs of one all_reduce on one machine, as a logarithm: repeats in public sweeps.
constexpr double kRepeatNoise = 0.03;
/// Sizes within this many doublings have most of the smooth rest in common.
constexpr double kShapeDoublings = 2;
/// Newton steps from the typical machine to the one that was measured; the second already changes less than 1 %.
constexpr int kSteps = 4;
/// 5 % and 95 % of a Gaussian.
constexpr double kGaussian90 = 1.645;

/// What a ring of two reaches of what a copy between two GPUs does, and the spread (logarithm). PCIe: 5.2 of 10.3, 20.6 of 25.7,
/// 25.3 of 25.0 GB/s where one page states both. NVLink: 235 of 274 (A100), 365 of 376 (H100), 677 of 747 (B200).
struct CopyRatio {
  double ratio;
  double spread;
};
constexpr CopyRatio kPcieCopy{.ratio = 0.8, .spread = 0.35};
constexpr CopyRatio kCableCopy{.ratio = 0.91, .spread = 0.1};

double square(double x) { return x * x; }

}  // namespace

NcclPosterior::NcclPosterior(const NcclFit& fit, MachineClass machine_class, const NcclKnowledge& knowledge)
    : fit_(fit), spread_(fit.spread(machine_class)) {
  for (const NcclObservation& observation : knowledge.observations) {
    if (observation.system.machine_class() == machine_class) {
      learn(observation);
    }
  }
  if (knowledge.copy && machine_class != MachineClass::multi_node) {
    learn(*knowledge.copy, machine_class);
  }
  condition();
}

void NcclPosterior::learn(const NcclObservation& observation) {
  const double model = nccl_all_reduce(fit_.parameters, observation.system, observation.bytes).seconds;
  known_.push_back({.observation = observation,
                    .slope = {},
                    .log_ratio = std::log(observation.seconds / model),
                    .noise = kRepeatNoise,
                    .weight = 0});
}

void NcclPosterior::learn(const NcclCopy& copy, MachineClass machine_class) {
  NcclSystem pair = copy.system;
  pair.ranks = 2;
  pair.nodes = 1;
  pair.algorithm = NcclAlgorithm::ring;
  pair.protocol = NcclProtocol::simple;
  constexpr double kLarge = 1e15;  // Bytes: nothing but the rate counts.
  const double typical = kLarge / nccl_all_reduce(fit_.parameters, pair, kLarge).seconds;
  const CopyRatio reached = machine_class == MachineClass::node_pcie ? kPcieCopy : kCableCopy;
  known_.push_back({.observation = std::nullopt,
                    .slope = {.latency = 0, .wire = 1, .log2_bytes = 0, .log2_ranks = 1, .has_shape = false},
                    .log_ratio = std::log(typical / (reached.ratio * copy.rate.value)),
                    .noise = reached.spread,
                    .weight = 0});
}

NcclPosterior::Slope NcclPosterior::slope_at(const NcclSystem& system, double bytes,
                                             const NcclDeviation& deviation) const {
  constexpr double kStep = 0.02;
  const auto log_time = [&](double latency, double wire) {
    return std::log(nccl_all_reduce(fit_.parameters, system, bytes,
                                    {.latency = deviation.latency + latency, .wire = deviation.wire + wire})
                        .seconds);
  };
  return {.latency = (log_time(kStep, 0) - log_time(-kStep, 0)) / (2 * kStep),
          .wire = (log_time(0, kStep) - log_time(0, -kStep)) / (2 * kStep),
          .log2_bytes = std::log2(bytes),
          .log2_ranks = std::log2(system.ranks),
          .has_shape = true};
}

double NcclPosterior::wire_covariance(double log2_ranks_a, double log2_ranks_b) const {
  // A random walk over doublings of the ranks: what slows four GPUs slows eight as well, and more may come.
  const double doublings = std::max(0.0, std::min(log2_ranks_a, log2_ranks_b) - 1);
  return square(spread_.wire) + square(spread_.wire_per_doubling) * doublings;
}

double NcclPosterior::shape_covariance(const Slope& a, const Slope& b) const {
  if (!a.has_shape || !b.has_shape) {
    return 0;
  }
  return square(spread_.shape) * std::exp(-0.5 * square((a.log2_bytes - b.log2_bytes) / kShapeDoublings) -
                                          0.5 * square(a.log2_ranks - b.log2_ranks));
}

double NcclPosterior::covariance(const Slope& a, const Slope& b) const {
  return square(spread_.latency) * a.latency * b.latency +
         wire_covariance(a.log2_ranks, b.log2_ranks) * a.wire * b.wire + shape_covariance(a, b);
}

NcclDeviation NcclPosterior::deviation_for(int ranks) const {
  NcclDeviation deviation;
  for (const KnownTime& known : known_) {
    deviation.latency += square(spread_.latency) * known.slope.latency * known.weight;
    deviation.wire +=
        wire_covariance(std::log2(ranks), known.slope.log2_ranks) * known.slope.wire * known.weight;
  }
  return deviation;
}

void NcclPosterior::condition() {
  const auto count = static_cast<Eigen::Index>(known_.size());
  if (count == 0) {
    return;
  }
  Eigen::MatrixXd inverse;
  for (int step = 0; step < kSteps; ++step) {
    // log T is a line in the deviations only near where they are; what is known is restated there.
    Eigen::VectorXd residual(count);
    std::vector<Slope> slopes;
    for (Eigen::Index i = 0; i < count; ++i) {
      const KnownTime& known = known_[static_cast<std::size_t>(i)];
      if (!known.observation) {
        slopes.push_back(known.slope);
        residual(i) = known.log_ratio;
        continue;
      }
      const NcclObservation& seen = *known.observation;
      const NcclDeviation here = deviation_for(seen.system.ranks);
      slopes.push_back(slope_at(seen.system, seen.bytes, here));
      const double model = nccl_all_reduce(fit_.parameters, seen.system, seen.bytes, here).seconds;
      residual(i) = std::log(seen.seconds / model) + slopes.back().latency * here.latency +
                    slopes.back().wire * here.wire;
    }
    Eigen::MatrixXd matrix(count, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      for (Eigen::Index j = 0; j < count; ++j) {
        matrix(i, j) = covariance(slopes[static_cast<std::size_t>(i)], slopes[static_cast<std::size_t>(j)]);
      }
      matrix(i, i) += square(known_[static_cast<std::size_t>(i)].noise);
    }
    inverse = matrix.llt().solve(Eigen::MatrixXd::Identity(count, count));
    const Eigen::VectorXd weights = inverse * residual;
    for (Eigen::Index i = 0; i < count; ++i) {
      KnownTime& known = known_[static_cast<std::size_t>(i)];
      known.slope = slopes[static_cast<std::size_t>(i)];
      known.weight = weights(i);
    }
  }
  inverse_.assign(inverse.data(), inverse.data() + inverse.size());
}

double NcclPosterior::variance(const Slope& slope) const {
  double result = covariance(slope, slope);
  const std::size_t count = known_.size();
  std::vector<double> shared;
  shared.reserve(count);
  for (const KnownTime& known : known_) {
    shared.push_back(covariance(slope, known.slope));
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      result -= shared[i] * inverse_[i * count + j] * shared[j];
    }
  }
  return std::max(result, 0.0) + square(kRepeatNoise);
}

double NcclPosterior::deviation(const NcclSystem& system, double bytes) const {
  return std::sqrt(variance(slope_at(system, bytes, deviation_for(system.ranks))));
}

NcclEstimate NcclPosterior::estimate(const NcclSystem& system, double bytes) const {
  return nccl_all_reduce(fit_.parameters, system, bytes, deviation_for(system.ranks));
}

NcclRange NcclPosterior::predict(const NcclSystem& system, double bytes) const {
  const NcclDeviation here = deviation_for(system.ranks);
  const Slope slope = slope_at(system, bytes, here);
  double shift = 0;
  for (const KnownTime& known : known_) {
    shift += shape_covariance(slope, known.slope) * known.weight;
  }
  const double seconds = nccl_all_reduce(fit_.parameters, system, bytes, here).seconds * std::exp(shift);

  const double left = variance(slope);
  const double before = covariance(slope, slope) + square(kRepeatNoise);
  // The class's own quantiles for what is unknown of it, a Gaussian's for what was learned.
  const double unknown = std::min(1.0, left / before);
  const NcclSpread::Quantiles& quantiles = spread_.quantiles[static_cast<std::size_t>(size_band(bytes))];
  const double low = unknown * quantiles.low - (1 - unknown) * kGaussian90;
  const double high = unknown * quantiles.high + (1 - unknown) * kGaussian90;
  const double deviation = std::sqrt(left);
  return {.seconds = seconds,
          .low = seconds * std::exp(std::min(0.0, low * deviation)),
          .high = seconds * std::exp(std::max(0.0, high * deviation))};
}

}  // namespace ringside
