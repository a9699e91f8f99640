#include <cmath>

#include "analysis/plan/links.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

/// The best offers with several GPUs.
std::vector<std::size_t> offers_with_curves(const PlanStudy& study) {
  constexpr std::size_t kMostCurves = 8;
  std::vector<std::size_t> indices;
  for (const ShownOffer& shown : study.shown) {
    if (study.ranked.offer_of(shown.candidate).gpus > 1 && indices.size() < kMostCurves) {
      indices.push_back(shown.candidate);
    }
  }
  return indices;
}

OfferCurve scaling_curve(const PlanStudy& study, std::size_t index, Planner& planner) {
  constexpr int kEachUpTo = 8;
  const Offer& offer = study.ranked.offer_of(index);
  OfferCurve curve{.candidate = index};
  std::vector<int> counts;
  for (int gpus = 1; gpus < offer.gpus; gpus += gpus < kEachUpTo ? 1 : gpus) {
    counts.push_back(gpus);
  }
  counts.push_back(offer.gpus);
  for (const int gpus : counts) {
    if (const auto step = planner.vary(offer, {.gpus = gpus})) {
      curve.points.emplace_back(static_cast<double>(gpus), step->compute.value / step->total.value);
    }
  }
  return curve;
}

/// None for a machine that does not say the rate of its links in one number.
std::optional<OfferCurve> bandwidth_curve(const PlanStudy& study, std::size_t index, Planner& planner) {
  constexpr int kPoints = 49;
  constexpr double kSlowest = 1e9;
  constexpr double kFastest = 1e12;
  const Offer& offer = study.ranked.offer_of(index);
  const auto rate = link_bandwidth(offer.machine);
  if (!rate) {
    return std::nullopt;
  }
  OfferCurve curve{.candidate = index};
  for (int point = 0; point < kPoints; ++point) {
    const double bandwidth = kSlowest * std::pow(kFastest / kSlowest, point / (kPoints - 1.0));
    if (const auto step = planner.vary(offer, {.bandwidth_factor = bandwidth / rate->value})) {
      curve.points.emplace_back(bandwidth, step->exposed.value / step->total.value);
    }
  }
  if (rate->value >= kSlowest && rate->value <= kFastest) {
    curve.mark = {rate->value, study.ranked.candidates[index].step.exposed_share.typical};
  }
  return curve;
}

}  // namespace

void add_curves(PlanStudy& study, Planner& planner) {
  for (const std::size_t index : offers_with_curves(study)) {
    study.scaling.push_back(scaling_curve(study, index, planner));
    if (auto curve = bandwidth_curve(study, index, planner)) {
      study.bandwidth.push_back(std::move(*curve));
    }
  }
}

}  // namespace ringside::study
