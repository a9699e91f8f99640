#include "analysis/plan/plan_answers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "common/error.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kMillion = 1e6;

// --- Ranking --------------------------------------------------------------------------------------------------------

/// What offers are compared by; infinite where it is not known.
struct Merit {
  double seconds = kInfinite;  ///< Time of the run, or of a million samples.
  double cost = kInfinite;
  bool usable = false;
};

Merit merit_of(const OfferEstimate& estimate) {
  if (!estimate.step) {
    return {};
  }
  return {.seconds = estimate.run ? estimate.run->typical.value
                                  : kMillion / estimate.step->samples_per_second.typical,
          .cost = estimate.cost ? estimate.cost->amount.typical : kInfinite,
          .usable = true};
}

/// Offers that nothing else beats in both cost and time.
std::vector<bool> pareto_front(const std::vector<Merit>& merits) {
  std::vector<std::size_t> order(merits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(merits[a].seconds, merits[a].cost) < std::pair(merits[b].seconds, merits[b].cost);
  });
  std::vector<bool> front(merits.size());
  double cheapest = kInfinite;
  for (const std::size_t index : order) {
    if (merits[index].usable && merits[index].cost < cheapest) {
      front[index] = true;
      cheapest = merits[index].cost;
    }
  }
  return front;
}

std::string amount(double cost, const std::string& currency) {
  return fmt::format("{:.{}f} {}", cost, cost < 1 ? 3 : 2, currency);
}

/// Those of which no price is known, at most four by name; empty where there are none.
std::string unpriced_sentence(const std::vector<Offer>& offers, const std::vector<OfferEstimate>& estimates) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (estimates[i].step && !estimates[i].cost) {
      names.push_back(offers[i].name);
    }
  }
  if (names.empty()) {
    return {};
  }
  const std::size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  return fmt::format(" No price is known of {}{}, which may cost less.", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

/// What is said of the best offer whose speed nobody published.
std::string extrapolated_sentence(const std::vector<Offer>& offers, std::size_t index) {
  const std::string gpu = offers[index].machine.gpu ? offers[index].machine.gpu->model : "of its GPUs";
  return fmt::format(
      " {} may be better, but only by an extrapolated number: nobody published how fast {} trains such a "
      "model, and one "
      "step of one settles it (measured: {{gpu: {}, samples_per_second: N}}, or --known '{}: N samples/s').",
      offers[index].name, gpu, gpu, gpu);
}

/// `the cheapest of 3 offers that are done within 1 h`.
std::string standing(const Plan& plan, const char* merit, std::ptrdiff_t compared,
                     const std::vector<std::string>& with) {
  const bool one = compared == 1;
  std::string limits;
  if (plan.deadline) {
    limits = fmt::format(" that {} done within {}", one ? "is" : "are", long_time(plan.deadline->value));
  }
  if (plan.budget) {
    limits += fmt::format("{} {} at most {}", limits.empty() ? " that" : " and", one ? "costs" : "cost",
                          amount(plan.budget->amount, plan.budget->currency));
  }
  const std::string offers = fmt::format(
      "offer{}{}{}", one ? "" : "s", with.empty() ? "" : fmt::format(" with {}", fmt::join(with, " and ")),
      limits.empty() ? " that can be used" : limits);
  return one ? fmt::format("the only {}", offers) : fmt::format("the {} of {} {}", merit, compared, offers);
}

/// Why nothing is recommended.
std::string why_nothing(const Plan& plan, const std::vector<Offer>& offers,
                        const std::vector<OfferEstimate>& estimates, const std::vector<Merit>& merits) {
  const auto fastest = std::min_element(merits.begin(), merits.end(),
                                        [](const Merit& a, const Merit& b) { return a.seconds < b.seconds; });
  const auto cheapest = std::min_element(merits.begin(), merits.end(),
                                         [](const Merit& a, const Merit& b) { return a.cost < b.cost; });
  if (fastest == merits.end() || !fastest->usable) {
    const auto& first = estimates.front();
    return fmt::format("No offer can be used. {}: {}.", offers.front().name, first.problem);
  }
  const auto name_of = [&](std::vector<Merit>::const_iterator which) {
    return offers[static_cast<std::size_t>(which - merits.begin())].name;
  };
  if (plan.deadline && fastest->seconds > plan.deadline->value) {
    return fmt::format("No offer is done within {}: the fastest, {}, takes {}.",
                       long_time(plan.deadline->value), name_of(fastest), long_time(fastest->seconds));
  }
  if (plan.budget && cheapest->cost > plan.budget->amount) {
    return fmt::format("No offer costs at most {}: the cheapest, {}, costs {}.",
                       amount(plan.budget->amount, plan.budget->currency), name_of(cheapest),
                       cheapest->cost < kInfinite ? amount(cheapest->cost, plan.budget->currency)
                                                  : std::string("an unknown amount"));
  }
  return fmt::format("No offer is both done within {} and costs at most {}.", long_time(plan.deadline->value),
                     amount(plan.budget->amount, plan.budget->currency));
}

// --- Thresholds -----------------------------------------------------------------------------------------------------

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
std::optional<double> speed_on(Planner& planner, const Plan& plan, const Offer& offer, int gpus) {
  const auto step = planner.vary(offer, {.gpus = gpus});
  return step ? std::optional(planner.samples_per_second(*step, gpus, plan.synchronisation)) : std::nullopt;
}

std::optional<int> gpus_stop_paying(Planner& planner, const Plan& plan, const Offer& offer) {
  constexpr int kMostTried = 16;  // A node; where there are more, nodes are what is added.
  const auto one = speed_on(planner, plan, offer, 1);
  auto before = one;
  for (int gpus = 2; gpus <= std::min(offer.gpus, kMostTried) && before; ++gpus) {
    const auto now = speed_on(planner, plan, offer, gpus);
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
  constexpr int kMostTried = 16;
  for (int gpus = 2; gpus <= std::min(offer.gpus, kMostTried); ++gpus) {
    if (ring_wins(planner, offer, gpus, gradient_bytes(plan.workload))) {
      return gpus;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string long_time(double seconds) {
  return seconds >= 2 * 86400 ? fmt::format("{:.3g} days", seconds / 86400)
         : seconds >= 3600    ? fmt::format("{:.3g} h", seconds / 3600)
         : seconds >= 60      ? fmt::format("{:.3g} min", seconds / 60)
                              : format(Seconds{seconds});
}

Ranking rank_offers(const Plan& plan, const std::vector<Offer>& offers,
                    const std::vector<OfferEstimate>& estimates) {
  RINGSIDE_CHECK(offers.size() == estimates.size(), "every offer has an estimate");
  std::vector<Merit> merits;
  std::transform(estimates.begin(), estimates.end(), std::back_inserter(merits), merit_of);
  const auto meets = [&](const Merit& merit) {
    return merit.usable && (!plan.deadline || merit.seconds <= plan.deadline->value) &&
           (!plan.budget || merit.cost <= plan.budget->amount);
  };
  const bool by_time = plan.budget && !plan.deadline;
  const auto key = [&](const Merit& merit) {
    return by_time ? std::tuple(!merit.usable, !meets(merit), merit.seconds, merit.cost)
                   : std::tuple(!merit.usable, !meets(merit), merit.cost, merit.seconds);
  };
  Ranking ranking;
  ranking.order.resize(offers.size());
  std::iota(ranking.order.begin(), ranking.order.end(), 0);
  std::stable_sort(ranking.order.begin(), ranking.order.end(),
                   [&](std::size_t a, std::size_t b) { return key(merits[a]) < key(merits[b]); });
  ranking.pareto = pareto_front(merits);
  if (offers.empty() || !meets(merits[ranking.order.front()])) {
    ranking.reason = offers.empty() ? "There are no offers." : why_nothing(plan, offers, estimates, merits);
    return ranking;
  }
  const auto known = std::find_if(ranking.order.begin(), ranking.order.end(), [&](std::size_t index) {
    return meets(merits[index]) && !estimates[index].extrapolated;
  });
  if (known == ranking.order.end()) {
    ranking.reason = "Nothing is recommended." + extrapolated_sentence(offers, ranking.order.front());
    return ranking;
  }

  const std::size_t best = *known;
  ranking.recommended = best;
  const Merit& merit = merits[best];
  const OfferEstimate& estimate = estimates[best];
  const bool by_cost = !by_time && estimate.cost.has_value();
  const std::string unpriced = by_cost ? unpriced_sentence(offers, estimates) : std::string{};
  ranking.besides = unpriced;
  if (best != ranking.order.front()) {
    ranking.besides += extrapolated_sentence(offers, ranking.order.front());
  }
  const auto compared = std::count_if(merits.begin(), merits.end(), [&](const Merit& other) {
    const auto index = static_cast<std::size_t>(&other - merits.data());
    return meets(other) && !estimates[index].extrapolated && (!by_cost || other.cost < kInfinite);
  });
  std::vector<std::string> with;
  if (!unpriced.empty()) {
    with.emplace_back("a price");
  }
  if (std::any_of(merits.begin(), merits.end(), [&](const Merit& other) {
        return meets(other) && estimates[static_cast<std::size_t>(&other - merits.data())].extrapolated;
      })) {
    with.emplace_back("a known speed");
  }
  ranking.standing =
      fmt::format("{}: {} for {}{}.", standing(plan, by_cost ? "cheapest" : "fastest", compared, with),
                  long_time(merit.seconds), estimate.run ? "the run" : "a million samples",
                  estimate.cost ? fmt::format(", {}", amount(merit.cost, estimate.cost->currency)) : "");
  ranking.reason = fmt::format("Rent {}: it is {}{}", offers[best].name, ranking.standing, ranking.besides);
  return ranking;
}

Thresholds thresholds(Planner& planner, const Plan& plan, const Offer& offer) {
  Thresholds found;
  if (offer.gpus < 2) {
    return found;
  }
  found.factor_for_5_percent = factor_for(planner, offer, 0.05);
  found.factor_for_10_percent = factor_for(planner, offer, 0.10);
  found.accumulate_for_10_percent = micro_batches_for(planner, plan, offer, 0.10);
  found.gpus_stop_paying = gpus_stop_paying(planner, plan, offer);
  found.ring_from_bytes = ring_from_bytes(planner, offer);
  found.ring_from_gpus = ring_from_gpus(planner, plan, offer);
  const Bytes bytes = gradient_bytes(plan.workload);
  found.ring = planner.all_reduce(offer, "ring", offer.gpus, bytes);
  found.naive = planner.all_reduce(offer, "naive", offer.gpus, bytes);
  found.ring_nics = planner.nics(offer, "ring", offer.gpus);
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
  // NCCL's own is fitted to published measurements and ours are lower bounds: the two are not ranked. How much overlap saves is
  // not known well enough to give it up: what is better must be so with and without it.
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
