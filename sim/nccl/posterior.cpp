#include "sim/nccl/posterior.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace ringside {

namespace {

/// What is left between two runs of one all_reduce on one machine, as a logarithm: repeats in public sweeps.
constexpr double kRepeatNoise = 0.03;
/// 5 % and 95 % of a Gaussian.
constexpr double kGaussian90 = 1.645;
/// Correlation of what twice the ranks do to bytes and latency: PCIe hosts with 2, 4 and 8 GPUs in use.
constexpr double kRankCorrelation = 0.8;
/// Correlation of a machine's own deviation over one transport with that over another.
constexpr double kTransportCorrelation = 0.5;
/// No interval is wider, since one that is says nothing.
constexpr double kWidest = 9.95;

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

NcclPosterior::NcclPosterior(const NcclFit& fit, const NcclSystem& system, const NcclKnowledge& knowledge)
    : fit_(fit), spread_(fit.spread(system.kind())) {
  for (const NcclObservation& observation : knowledge.observations) {
    if (observation.system.machine_class() == system.machine_class()) {
      learn(observation);
    }
  }
  if (knowledge.copy && system.machine_class() != MachineClass::multi_node) {
    learn(*knowledge.copy);
  }
  condition();
}

NcclPosterior::Place NcclPosterior::place_of(const NcclSystem& system, double bytes) {
  const double log2_bytes = std::log2(bytes);
  return {.byte_share = byte_share(log2_bytes),
          .log2_bytes = log2_bytes,
          .log2_ranks = std::log2(system.ranks),
          .kind = system.kind(),
          .has_shape = true};
}

void NcclPosterior::learn(const NcclObservation& observation) {
  const double model = nccl_all_reduce(fit_.parameters, observation.system, observation.bytes).seconds;
  known_.push_back({.place = place_of(observation.system, observation.bytes),
                    .log_ratio = std::log(observation.seconds / model),
                    .noise = kRepeatNoise,
                    .weight = 0});
}

void NcclPosterior::learn(const NcclCopy& copy) {
  NcclSystem pair = copy.system;
  pair.ranks = 2;
  pair.nodes = 1;
  pair.algorithm = NcclAlgorithm::ring;
  pair.protocol = NcclProtocol::simple;
  constexpr double kLarge = 1e15;  // Bytes: nothing but the rate counts.
  const double typical = kLarge / nccl_all_reduce(fit_.parameters, pair, kLarge).seconds;
  const CopyRatio reached = pair.link == GpuLink::pcie ? kPcieCopy : kCableCopy;
  known_.push_back(
      {.place = {.byte_share = 1, .log2_bytes = 0, .log2_ranks = 1, .kind = pair.kind(), .has_shape = false},
       .log_ratio = std::log(typical / (reached.ratio * copy.rate.value)),
       .noise = reached.spread,
       .weight = 0});
}

double NcclPosterior::covariance(const Place& a, const Place& b) const {
  const double apart = std::abs(a.log2_ranks - b.log2_ranks);
  double constant = square(spread_.latency) * (1 - a.byte_share) * (1 - b.byte_share) +
                    square(spread_.bytes) * a.byte_share * b.byte_share;
  constant *= std::pow(kRankCorrelation, apart) * (a.kind == b.kind ? 1 : kTransportCorrelation);
  if (!a.has_shape || !b.has_shape) {
    return constant;
  }
  return constant +
         square(spread_.shape) *
             std::exp(-0.5 * square((a.log2_bytes - b.log2_bytes) / spread_.doublings) - 0.5 * square(apart));
}

void NcclPosterior::solve() {
  const auto count = static_cast<Eigen::Index>(known_.size());
  Eigen::MatrixXd matrix(count, count);
  Eigen::VectorXd ratios(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const KnownTime& known = known_[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < count; ++j) {
      matrix(i, j) = covariance(known.place, known_[static_cast<std::size_t>(j)].place);
    }
    matrix(i, i) += square(known.noise);
    ratios(i) = known.log_ratio;
  }
  const Eigen::MatrixXd inverse = matrix.llt().solve(Eigen::MatrixXd::Identity(count, count));
  const Eigen::VectorXd weights = inverse * ratios;
  for (Eigen::Index i = 0; i < count; ++i) {
    known_[static_cast<std::size_t>(i)].weight = weights(i);
  }
  inverse_.assign(inverse.data(), inverse.data() + inverse.size());
}

void NcclPosterior::condition() {
  const std::size_t count = known_.size();
  if (count == 0) {
    return;
  }
  solve();
  constexpr double kContradicted = 3;  // Standard deviations from what the others say of it.
  constexpr std::size_t kEnoughToTell = 3;
  for (std::size_t doubted = 0; count >= kEnoughToTell && doubted < count / kEnoughToTell; ++doubted) {
    // What the others say of row i misses it by weight / K⁻¹(i,i), with variance 1 / K⁻¹(i,i).
    std::size_t worst = 0;
    double most = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double missed = std::abs(known_[i].weight) / std::sqrt(inverse_[i * count + i]);
      if (missed > most) {
        most = missed;
        worst = i;
      }
    }
    if (most < kContradicted) {
      return;
    }
    known_[worst].noise = std::abs(known_[worst].weight) / inverse_[worst * count + worst];
    solve();
  }
}

double NcclPosterior::variance(const Place& place) const {
  double result = covariance(place, place);
  const std::size_t count = known_.size();
  std::vector<double> shared;
  shared.reserve(count);
  for (const KnownTime& known : known_) {
    shared.push_back(covariance(place, known.place));
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      result -= shared[i] * inverse_[i * count + j] * shared[j];
    }
  }
  return std::max(result, 0.0) + square(kRepeatNoise);
}

Interval<double> NcclPosterior::predict(const NcclSystem& system, Collective collective, double bytes) const {
  const Place place = place_of(system, bytes);
  double shift = 0;
  for (const KnownTime& known : known_) {
    shift += covariance(place, known.place) * known.weight;
  }
  const double seconds =
      nccl_collective(fit_.parameters, system, collective, bytes).seconds * std::exp(shift);

  const double left = variance(place);
  const double before = covariance(place, place) + square(kRepeatNoise);
  // The held-out machines' own quantiles for what is unknown of this one, a Gaussian's for what was learned.
  const double unknown = std::min(1.0, left / before);
  const double gaussian = kGaussian90 * std::sqrt(left);
  const NcclSpread::Quantiles& quantiles = spread_.quantiles[static_cast<std::size_t>(size_band(bytes))];
  double low = std::min(0.0, unknown * quantiles.low - (1 - unknown) * gaussian);
  double high = std::max(0.0, unknown * quantiles.high + (1 - unknown) * gaussian);
  const double narrower = std::min(1.0, std::log(kWidest) / (high - low));
  return {.low = seconds * std::exp(narrower * low),
          .typical = seconds,
          .high = seconds * std::exp(narrower * high)};
}

}  // namespace ringside
