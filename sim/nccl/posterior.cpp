// 400 lines: what is known, what follows from it and its interval share the places of one covariance.
#include "sim/nccl/posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

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
/// No interval is wider, since one that is says nothing. Hosts that GPUs copy through differ by as much.
constexpr double kWidest = 12;

/// Share of a Gaussian's interval that covers 90 % once NCCL was measured, by band of sizes: near a known row
/// the covariance is too wide, but where protocols change. Chosen by coverage held out.
constexpr std::array<double, kNumSizeBands> kLearned = {0.6, 1, 0.6};

/// A ring of two over a copy between two GPUs, and its spread (log). PCIe: 5.2 of 10.3, 20.6 of 25.7, 25.3 of
/// 25.0 GB/s where one page states both. NVLink: 235 of 274 (A100), 365 of 376 (H100), 677 of 747 (B200).
struct CopyRatio {
  double ratio;
  double spread;
};
constexpr CopyRatio kPcieCopy{.ratio = 0.8, .spread = 0.35};
constexpr CopyRatio kCableCopy{.ratio = 0.91, .spread = 0.1};
/// How far the latency of a copy that somebody measured is off, as a logarithm.
constexpr double kCopyLatencyNoise = 0.1;
/// How far another collective of NCCL's is off where its all_reduce is not: 0.08 to 0.16 at large messages of
/// the all_gathers and reduce_scatters in configs/evaluation whose all_reduce is there, too.
constexpr double kOtherCollective = 0.1;
/// Likewise sends to other nodes where latency decides. Two sources have them, so that what the other one is
/// off by was not enough to set it: chosen by what intervals cover of both.
constexpr double kFarSends = 0.2;
/// How far another algorithm of ours is off where one is not. No published table holds two of them: a guess.
constexpr double kOtherAlgorithm = 0.1;
/// How far our schedules leave their trend over sizes, over how many doublings: a guess.
constexpr double kScheduleShape = 0.1;
constexpr double kScheduleDoublings = 3;

/// Between nodes nobody published copies beside all_reduces: as over PCIe.
CopyRatio copy_ratio(NcclKind kind) { return kind == NcclKind::nvlink ? kCableCopy : kPcieCopy; }

double square(double x) { return x * x; }

/// How far `collective` is off on its own.
double deviation_of(const NcclSystem& system, Collective collective, double byte_share) {
  if (collective == Collective::all_reduce) {
    return 0;
  }
  const bool far = row_of(collective).nccl_sends && system.nodes > 1;
  return far ? std::lerp(kFarSends, kOtherCollective, byte_share) : kOtherCollective;
}

/// How the model's logarithm grows with that of the size, from half the message to twice the message.
double growth_of(const NcclFit& fit, const NcclSystem& system, Collective collective, double bytes) {
  return 0.5 * std::log2(nccl_collective(fit.parameters, system, collective, 2 * bytes).seconds /
                         nccl_collective(fit.parameters, system, collective, bytes / 2).seconds);
}

}  // namespace

NcclPosterior::NcclPosterior(const NcclFit& fit, const NcclSystem& system, const NcclKnowledge& knowledge)
    : fit_(fit), spread_(fit.spread(system.kind())), has_rows_(!knowledge.observations.empty()) {
  for (const NcclObservation& observation : knowledge.observations) {
    if (observation.system.machine_class() == system.machine_class()) {
      learn(observation);
    }
  }
  if (system.machine_class() != MachineClass::multi_node) {
    if (knowledge.copy) {
      copied_ = true;
      learn(*knowledge.copy);
    }
    if (knowledge.copy_latency_ratio) {
      known_.push_back({.place = {.subject = Subject::copy_latency, .kind = system.kind()},
                        .log_ratio = std::log(*knowledge.copy_latency_ratio),
                        .noise = kCopyLatencyNoise});
    }
  }
  condition();
}

NcclPosterior::Place NcclPosterior::place_of(const NcclSystem& system, Collective collective, double bytes,
                                             const ScheduleTime* schedule) const {
  const double log2_bytes = std::log2(bytes);
  std::string series(name(collective));
  if (schedule != nullptr) {
    series += " by " + schedule->algorithm;
  }
  return {.subject = schedule != nullptr ? Subject::schedule : Subject::native,
          .series = std::move(series),
          .byte_share = schedule != nullptr ? schedule->byte_share : byte_share(log2_bytes),
          .growth = schedule != nullptr ? schedule->byte_share
                    : has_rows_         ? growth_of(fit_, system, collective, bytes)
                                        : 0,
          .log2_bytes = log2_bytes,
          .log2_ranks = std::log2(system.ranks),
          .kind = system.kind(),
          .deviation = schedule != nullptr ? 0 : deviation_of(system, collective, byte_share(log2_bytes))};
}

void NcclPosterior::learn(const NcclObservation& observation) {
  const ScheduleTime* schedule = observation.schedule ? &*observation.schedule : nullptr;
  const double model = schedule != nullptr ? schedule->seconds
                                           : nccl_collective(fit_.parameters, observation.system,
                                                             observation.collective, observation.bytes)
                                                 .seconds;
  known_.push_back(
      {.place = place_of(observation.system, observation.collective, observation.bytes, schedule),
       .log_ratio = std::log(observation.seconds / model),
       .noise = kRepeatNoise,
       .seconds = observation.seconds});
}

void NcclPosterior::learn(const NcclCopy& copy) {
  NcclSystem pair = copy.system;
  pair.ranks = 2;
  pair.nodes = 1;
  pair.algorithm = NcclAlgorithm::ring;
  pair.protocol = NcclProtocol::simple;
  constexpr double kLarge = 1e15;  // Bytes: nothing but the rate counts.
  const double typical = kLarge / nccl_all_reduce(fit_.parameters, pair, kLarge).seconds;
  const CopyRatio reached = copy_ratio(pair.kind());
  known_.push_back(
      {.place = {.subject = Subject::copy, .byte_share = 1, .log2_ranks = 1, .kind = pair.kind()},
       .log_ratio = std::log(typical / (reached.ratio * copy.rate.value)),
       .noise = reached.spread});
}

/// What times on one machine have in common: its links' and its hosts' deviation. Of schedules that are
/// predicted with the copy's bandwidth (`copied`) only what more than two ranks add to it.
double NcclPosterior::shared_part(const Place& a, const Place& b, bool copied) const {
  const double apart = std::abs(a.log2_ranks - b.log2_ranks);
  const bool rest = copied && (a.subject == Subject::schedule || b.subject == Subject::schedule);
  const double by_pair =
      rest ? std::pow(kRankCorrelation, std::abs(a.log2_ranks - 1) + std::abs(b.log2_ranks - 1)) : 0;
  const double shared =
      square(spread_.latency) * (1 - a.byte_share) * (1 - b.byte_share) * std::pow(kRankCorrelation, apart) +
      square(spread_.bytes) * a.byte_share * b.byte_share * (std::pow(kRankCorrelation, apart) - by_pair);
  return shared * (a.kind == b.kind ? 1 : kTransportCorrelation);
}

/// What times deviate on their own, or with those of their series.
double NcclPosterior::own_part(const Place& a, const Place& b, bool copied) const {
  double own = 0;
  const bool schedules = a.subject == Subject::schedule && b.subject == Subject::schedule;
  if (schedules) {
    own += square(spread_.latency) * (1 - a.byte_share) * (1 - b.byte_share);
    own += copied ? 0 : square(copy_ratio(a.kind).spread) * a.byte_share * b.byte_share;
  }
  if (a.series == b.series) {
    own += schedules ? square(kOtherAlgorithm) : a.deviation * b.deviation;
  }
  if (a.series == b.series || (a.subject == Subject::native && b.subject == Subject::native)) {
    const double apart = a.log2_ranks - b.log2_ranks;
    const double doublings =
        (a.log2_bytes - b.log2_bytes) / (schedules ? kScheduleDoublings : spread_.doublings);
    own += square(schedules ? kScheduleShape : spread_.shape) *
           std::exp(-0.5 * (square(doublings) + square(apart)));
  }
  return own;
}

double NcclPosterior::covariance(const Place& a, const Place& b, bool copied) const {
  const auto either = [&](Subject subject) { return a.subject == subject || b.subject == subject; };
  if (either(Subject::copy_latency)) {
    // What sending takes: NCCL's own kernels have nothing of it.
    const bool bears = !either(Subject::native) && !either(Subject::copy);
    return bears ? square(spread_.latency) * (1 - a.byte_share) * (1 - b.byte_share) : 0;
  }
  if (either(Subject::copy)) {
    return shared_part(a, b, copied);
  }
  return shared_part(a, b, copied) + own_part(a, b, copied);
}

void NcclPosterior::solve() {
  const auto count = static_cast<Eigen::Index>(known_.size());
  Eigen::MatrixXd matrix(count, count);
  Eigen::VectorXd ratios(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const KnownTime& known = known_[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < count; ++j) {
      matrix(i, j) = covariance(known.place, known_[static_cast<std::size_t>(j)].place, copied_);
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
  double result = covariance(place, place, copied_);
  const std::size_t count = known_.size();
  std::vector<double> shared;
  shared.reserve(count);
  for (const KnownTime& known : known_) {
    shared.push_back(covariance(place, known.place, copied_));
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      result -= shared[i] * inverse_[i * count + j] * shared[j];
    }
  }
  return std::max(result, 0.0) + square(kRepeatNoise);
}

/// The posterior, drawn to the model with errors of the nearest known rows of the series: of two
/// interpolated, over size where they are near, else over growth; of one where the model grows alike.
double NcclPosterior::by_known_rows(double model, double shift, const Place& place) const {
  const KnownTime* below = nullptr;
  const KnownTime* above = nullptr;
  for (const KnownTime& known : known_) {
    const Place& other = known.place;
    // A row that the others contradict has more noise than it began with.
    if (other.series != place.series || other.log2_ranks != place.log2_ranks || known.noise > kRepeatNoise) {
      continue;
    }
    const bool smaller = other.log2_bytes <= place.log2_bytes;
    const KnownTime*& nearest = smaller ? below : above;
    if (nearest == nullptr || (other.log2_bytes > nearest->place.log2_bytes) == smaller) {
      nearest = &known;
    }
  }
  if (below == nullptr || above == nullptr) {
    const KnownTime* row = below != nullptr ? below : above;
    const double apart = row != nullptr ? 2 * std::abs(place.growth - row->place.growth) : 1;
    return model * std::exp(apart < 1 ? std::lerp(row->log_ratio, shift, apart) : shift);
  }
  constexpr double kNear = 4;  // Doublings.
  constexpr double kFar = 10;  // Beyond it the posterior counts as well.
  const double gap = above->place.log2_bytes - below->place.log2_bytes;
  const bool over_size = gap <= kNear || above->place.growth <= below->place.growth;
  const auto at = [&](const Place& it) { return over_size ? it.log2_bytes : it.growth; };
  const double share =
      std::clamp((at(place) - at(below->place)) / (at(above->place) - at(below->place)), 0.0, 1.0);
  const double error =
      std::lerp(shift, std::lerp(below->log_ratio, above->log_ratio, share), std::min(1.0, kFar / gap));
  const auto [fast, slow] = std::minmax(below->seconds, above->seconds);
  return std::clamp(model * std::exp(error), fast, slow);
}

Interval<double> NcclPosterior::around(double seconds, const Place& place, const Unknown& unknown) const {
  double shift = 0;
  for (const KnownTime& known : known_) {
    shift += covariance(place, known.place, copied_) * known.weight;
  }
  const double left = variance(place);
  const double before = covariance(place, place, false) + square(kRepeatNoise);
  // The kind's spread for what is unknown of this machine, a Gaussian's quantiles for what was learned.
  const double share = std::min(1.0, left / before);
  const double gaussian = kGaussian90 * std::sqrt(left);
  const double kept = std::lerp(unknown.learned, 1.0, share);
  const double low = std::min(0.0, kept * (share * unknown.low - (1 - share) * gaussian));
  const double high = std::max(0.0, kept * (share * unknown.high + (1 - share) * gaussian));
  const double narrower = std::min(1.0, std::log(kWidest) / (high - low));
  const double typical = by_known_rows(seconds, shift, place);
  return {.low = typical * std::exp(narrower * low),
          .typical = typical,
          .high = typical * std::exp(narrower * high)};
}

/// With the intervals of a band, into which the size need not fall.
Interval<double> NcclPosterior::predict_in(SizeBand band, const NcclSystem& system, Collective collective,
                                           double bytes) const {
  const NcclSpread::Quantiles& quantiles = spread_.quantiles[static_cast<std::size_t>(band)];
  // The quantiles are those of all_reduce.
  const double other = kGaussian90 * deviation_of(system, collective, byte_share(std::log2(bytes)));
  Interval<double> range = around(nccl_collective(fit_.parameters, system, collective, bytes).seconds,
                                  place_of(system, collective, bytes, nullptr),
                                  {.low = -std::hypot(system.uncertainty() * quantiles.low, other),
                                   .high = std::hypot(system.uncertainty() * quantiles.high, other),
                                   .learned = kLearned[static_cast<std::size_t>(band)]});
  if (known_.empty()) {
    // A measured time may say that the description is wrong; without one it is all there is.
    const double least = nccl_least_seconds(system, collective, bytes);
    range = {.low = std::max(range.low, least),
             .typical = std::max(range.typical, least),
             .high = std::max(range.high, least)};
  }
  return range;
}

/// Answers that never fall as messages grow: between the slowest of smaller messages and the fastest of
/// larger ones.
class Rising {
 public:
  explicit Rising(const Interval<double>& here) : below_(here), above_(here) {}

  void smaller(const Interval<double>& other) {
    below_ = {.low = std::max(below_.low, other.low),
              .typical = std::max(below_.typical, other.typical),
              .high = std::max(below_.high, other.high)};
  }
  void larger(const Interval<double>& other) {
    above_ = {.low = std::min(above_.low, other.low),
              .typical = std::min(above_.typical, other.typical),
              .high = std::min(above_.high, other.high)};
  }
  Interval<double> result() const {
    return {.low = std::sqrt(below_.low * above_.low),
            .typical = std::sqrt(below_.typical * above_.typical),
            .high = std::sqrt(below_.high * above_.high)};
  }

 private:
  Interval<double> below_;
  Interval<double> above_;
};

/// Nothing falls where one band of sizes follows another.
Interval<double> NcclPosterior::predict_across_bands(const NcclSystem& system, Collective collective,
                                                     double bytes) const {
  const SizeBand own = size_band(bytes);
  Rising rising(predict_in(own, system, collective, bytes));
  for (std::size_t i = 0; i < kLargestOfBand.size(); ++i) {
    const auto below = static_cast<SizeBand>(i);
    const auto above = static_cast<SizeBand>(i + 1);
    if (own <= below) {
      rising.larger(predict_in(above, system, collective, kLargestOfBand[i]));
    } else {
      rising.smaller(predict_in(below, system, collective, kLargestOfBand[i]));
    }
  }
  return rising.result();
}

Interval<double> NcclPosterior::predict(const NcclSystem& system, Collective collective, double bytes) const {
  const Place place = place_of(system, collective, bytes, nullptr);
  Rising rising(predict_across_bands(system, collective, bytes));
  // The model never falls, but what is learned of one size wears off at others.
  constexpr double kStep = 0.25;  // Doublings.
  constexpr double kReach = 10;
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  for (const KnownTime& known : known_) {
    if (known.seconds > 0) {
      first = std::min(first, known.place.log2_bytes - kReach);
      last = std::max(last, known.place.log2_bytes + kReach);
    }
  }
  for (double size = std::floor(first); size <= last; size += kStep) {
    const Interval<double> other = predict_across_bands(system, collective, std::exp2(size));
    size < place.log2_bytes ? rising.smaller(other) : rising.larger(other);
  }
  Interval<double> range = rising.result();
  for (const KnownTime& known : known_) {
    // What was told lies in the interval at its size, unless other rows contradict it.
    const Place& other = known.place;
    if (known.seconds > 0 && other.series == place.series && other.log2_ranks == place.log2_ranks &&
        known.noise <= kRepeatNoise) {
      range.low = other.log2_bytes >= place.log2_bytes ? std::min(range.low, known.seconds) : range.low;
      range.high = other.log2_bytes <= place.log2_bytes ? std::max(range.high, known.seconds) : range.high;
    }
  }
  return range;
}

Interval<double> NcclPosterior::predict(const ScheduleQuestion& question) const {
  return around(question.time.seconds,
                place_of(question.system, question.collective, question.bytes, &question.time),
                {.low = std::log(question.low), .high = std::log(question.high)});
}

}  // namespace ringside
