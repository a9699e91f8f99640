#include "analysis/plan/thresholds.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

/// The GPUs of a node; where there are more, nodes are what is added.
constexpr int kMostTried = 16;

double exposed_share(const TrainingStep& step) { return step.exposed.value / step.total.value; }

/// The smallest factor in [2^-14, 2^14] at which less than `most` of a step is exposed.
std::optional<double> factor_for(Planner& planner, const Offer& offer, double most) {
  const auto exposed_at = [&](double exponent) {
    const auto step = planner.vary(offer, {.bandwidth_factor = std::exp2(exponent)});
    return step ? exposed_share(*step) : 1.0;
  };
  double low = -14;
  double high = 14;
  if (exposed_at(high) > most) {
    return std::nullopt;
  }
  while (high - low > 0.01) {
    const double middle = (low + high) / 2;
    (exposed_at(middle) > most ? low : high) = middle;
  }
  return std::exp2(high);
}

std::optional<int> micro_batches_for(Planner& planner, const Plan& plan, const Offer& offer, double most) {
  SynchronisationSettings settings = plan.synchronisation;
  for (; settings.accumulate <= kMostMicroBatches; settings.accumulate *= 2) {
    const auto step = planner.vary(offer, {.synchronisation = settings});
    if (step && exposed_share(*step) <= most) {
      return settings.accumulate;
    }
  }
  return std::nullopt;
}

/// Samples per second on `gpus` GPUs.
std::optional<double> speed_on(Planner& planner, const Offer& offer, int gpus) {
  const auto step = planner.vary(offer, {.gpus = gpus});
  return step ? std::optional(planner.samples_per_second(*step, gpus)) : std::nullopt;
}

std::optional<int> gpus_stop_paying(Planner& planner, const Offer& offer) {
  const auto one = speed_on(planner, offer, 1);
  auto before = one;
  for (int gpus = 2; gpus <= std::min(offer.gpus, kMostTried) && before; ++gpus) {
    const auto now = speed_on(planner, offer, gpus);
    if (now && *now - *before < 0.5 * *one) {
      return gpus - 1;
    }
    before = now;
  }
  return std::nullopt;
}

bool ring_wins(Planner& planner, const Offer& offer, int ranks, Bytes bytes) {
  const auto ring = planner.all_reduce(offer, "ring", ranks, bytes);
  const auto naive = planner.all_reduce(offer, "naive", ranks, bytes);
  return ring && naive && *ring < *naive;
}

/// Ring has more messages and fewer bytes, so that there is one size from which on it is faster.
std::optional<Bytes> ring_from_bytes(Planner& planner, const Offer& offer) {
  int low = 10;   // 1 KiB
  int high = 30;  // 1 GiB
  const auto wins = [&](int exponent) {
    return ring_wins(planner, offer, offer.gpus, {std::int64_t{1} << exponent});
  };
  if (offer.gpus < 2 || !wins(high)) {
    return std::nullopt;
  }
  if (wins(low)) {
    return Bytes{std::int64_t{1} << low};
  }
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (wins(middle) ? high : low) = middle;
  }
  return Bytes{std::int64_t{1} << high};
}

std::optional<int> ring_from_gpus(Planner& planner, const Plan& plan, const Offer& offer) {
  for (int gpus = 2; gpus <= std::min(offer.gpus, kMostTried); ++gpus) {
    if (ring_wins(planner, offer, gpus, gradient_bytes(plan.workload))) {
      return gpus;
    }
  }
  return std::nullopt;
}

}  // namespace

Thresholds thresholds(Planner& planner, const Plan& plan, const Offer& offer) {
  Thresholds found;
  if (offer.gpus < 2) {
    return found;
  }
  found.factor_for_5_percent = factor_for(planner, offer, 0.05);
  found.factor_for_10_percent = factor_for(planner, offer, 0.10);
  found.accumulate_for_10_percent = micro_batches_for(planner, plan, offer, 0.10);
  found.gpus_stop_paying = gpus_stop_paying(planner, offer);
  found.ring_from_bytes = ring_from_bytes(planner, offer);
  found.ring_from_gpus = ring_from_gpus(planner, plan, offer);
  const Bytes bytes = gradient_bytes(plan.workload);
  found.ring = planner.all_reduce(offer, "ring", offer.gpus, bytes);
  found.naive = planner.all_reduce(offer, "naive", offer.gpus, bytes);
  found.ring_nics = planner.nics(offer, "ring", offer.gpus, bytes);
  return found;
}

std::vector<Alternative> alternatives(Planner& planner, const Plan& plan, const Offer& offer) {
  std::vector<Alternative> tried;
  const auto attempt = [&](const std::string& algorithm, const SynchronisationSettings& settings) {
    auto step = planner.vary(offer, {.algorithm = algorithm, .synchronisation = settings});
    const auto hidden =
        planner.vary(offer, {.algorithm = algorithm, .synchronisation = settings, .hides_all = true});
    if (step && hidden) {
      tried.push_back({.algorithm = algorithm,
                       .synchronisation = settings,
                       .step = std::move(*step),
                       .at_best = hidden->total});
    }
  };
  attempt(plan.algorithm, plan.synchronisation);
  for (const std::string& algorithm : plan.alternatives) {
    if (algorithm != plan.algorithm) {
      attempt(algorithm, plan.synchronisation);
    }
  }
  for (const Synchronisation style : {Synchronisation::ddp, Synchronisation::ddp_without_overlap,
                                      Synchronisation::one_bucket, Synchronisation::per_tensor}) {
    if (style != plan.synchronisation.style) {
      SynchronisationSettings settings = plan.synchronisation;
      settings.style = style;
      attempt(plan.algorithm, settings);
    }
  }
  // From many small messages to few large ones around DDP's 25 MiB.
  constexpr std::array kBuckets = {Bytes{1 << 20}, Bytes{5 << 20}, Bytes{10 << 20}, Bytes{50 << 20},
                                   Bytes{100 << 20}};
  for (const Bytes bucket : kBuckets) {
    SynchronisationSettings settings = plan.synchronisation;
    settings.style = Synchronisation::ddp;
    settings.bucket = bucket;
    settings.first_bucket = std::min(settings.first_bucket, bucket);
    attempt(plan.algorithm, settings);
  }
  return tried;
}

const Alternative& best_of(const std::vector<Alternative>& tried) {
  constexpr double kWorthIt = 0.99;
  RINGSIDE_CHECK(!tried.empty(), "the plan as it is was tried");
  const Alternative& planned = tried.front();
  // NCCL's own is fitted to published measurements and ours are lower bounds: the two are not ranked. How
  // much overlap saves is not known well enough to give it up: what is better must be so with and without it.
  const auto better = [&](const Alternative& other) {
    return (other.algorithm == kNative) == (planned.algorithm == kNative) &&
           other.step.total.value < kWorthIt * planned.step.total.value &&
           other.at_best.value < kWorthIt * planned.at_best.value;
  };
  const Alternative* best = &planned;
  for (const Alternative& other : tried) {
    if (better(other) && (best == &planned || other.step.total < best->step.total)) {
      best = &other;
    }
  }
  return *best;
}

}  // namespace ringside
