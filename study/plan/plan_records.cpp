#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/comparison/point_sentences.hpp"
#include "analysis/plan/links.hpp"
#include "analysis/plan/plan_sentences.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

void add_times(const Plan& plan, const PlannedStep& step, OfferRecord& record) {
  record.communication = values_of(step.communication);
  if (!step.layout) {
    record.algorithm = step.algorithm;
  }
  if (!computes(plan.workload)) {
    record.ring = step.ring;
    record.naive = step.naive;
    return;
  }
  record.step = values_of(step.total);
  record.compute = values_of(step.compute);
  record.exposed = values_of(step.exposed);
  if (step.layout) {
    record.micro_batch = step.micro_batch;
    record.tokens_per_second = step.speed;
  } else {
    record.nics = step.nics;
    record.batch = step.batch;
    record.waiting = values_of(step.waiting);
    record.efficiency = step.efficiency;
    record.samples_per_second = step.speed;
  }
  if (step.run) {
    record.run = values_of(*step.run);
  }
  if (step.cost) {
    record.cost = step.cost->amount;
  }
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

void add(const Thresholds& found, OfferRecord& record) {
  record.bandwidth_factor_for_5_percent = found.factor_for_5_percent;
  record.bandwidth_factor_for_10_percent = found.factor_for_10_percent;
  record.gpus_stop_paying = found.gpus_stop_paying;
  record.ring = found.ring;
  record.naive = found.naive;
  record.ring_from_bytes = found.ring_from_bytes;
  record.ring_from_gpus = found.ring_from_gpus;
}

}  // namespace

OfferRecord record_of(const Ranked& ranked, std::size_t candidate) {
  const Offer& offer = ranked.offer_of(candidate);
  const PlannedStep& step = ranked.candidates[candidate].step;
  OfferRecord record{.name = offer.name, .source = offer.source, .gpus = offer.gpus};
  if (offer.per_hour) {
    record.per_hour = offer.per_hour->amount;
    record.currency = offer.per_hour->currency;
  }
  if (step.layout) {
    record.sharding = describe(*step.layout);
  }
  if (step.gpu_memory) {
    record.memory = step.memory.total();
    record.gpu_memory = step.gpu_memory;
    record.largest_batch = step.largest_batch;
  }
  record.assumptions = offer.assumptions;
  record.warnings = warnings_of(offer, step.run);
  record.pareto = ranked.pareto[candidate];
  record.recommended = ranked.recommended == candidate;
  if (step.usable()) {
    add_times(ranked.plan, step, record);
  } else {
    record.problem = step.problem;
  }
  if (step.usable() ||
      !step.layout) {  // What a layout was predicted from says nothing where there is no prediction.
    record.assumptions.insert(record.assumptions.end(), step.assumptions.begin(), step.assumptions.end());
  }
  return record;
}

std::vector<OfferRecord> offer_records(const PlanStudy& study) {
  std::vector<OfferRecord> records;
  for (const std::size_t index : study.ranked.order) {
    OfferRecord& record = records.emplace_back(record_of(study.ranked, index));
    const auto shown = std::ranges::find(study.shown, index, &ShownOffer::candidate);
    if (shown != study.shown.end()) {
      add(shown->thresholds, record);
      if (!shown->best_way.empty()) {
        record.best_way = shown->best_way;
      }
    }
  }
  return records;
}

std::vector<std::string> idle_nics(const PlannedStep& step, const Thresholds& found) {
  std::vector<AlgorithmNics> predicted;
  if (step.nics) {
    predicted.push_back({step.algorithm, *step.nics});
  }
  if (found.ring_nics) {
    predicted.push_back({"ring", *found.ring_nics});
  }
  std::vector<std::string> sentences = nic_sentences(predicted);
  for (std::string& sentence : sentences) {
    sentence += '.';
  }
  return sentences;
}

void add_curves(PlanStudy& study, Planner& planner) {
  constexpr std::size_t kMostCurves = 8;
  for (const ShownOffer& shown : study.shown) {
    if (study.ranked.offer_of(shown.candidate).gpus < 2 || study.scaling.size() == kMostCurves) {
      continue;
    }
    study.scaling.push_back(scaling_curve(study, shown.candidate, planner));
    if (auto curve = bandwidth_curve(study, shown.candidate, planner)) {
      study.bandwidth.push_back(std::move(*curve));
    }
  }
}

}  // namespace ringside::study
