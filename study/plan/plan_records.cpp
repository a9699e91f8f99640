#include <string>
#include <vector>

#include "analysis/comparison/nic_sentences.hpp"
#include "analysis/plan/plan_sentences.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

Interval<double> record_of(const Interval<Seconds>& range) {
  return {.low = range.low.value, .typical = range.typical.value, .high = range.high.value};
}

}  // namespace

OfferRecord record_of(const PlanEstimate& plan, std::size_t index) {
  const Offer& offer = plan.offers[index];
  const OfferEstimate& estimate = plan.estimates[index];
  OfferRecord record{.name = offer.name, .source = offer.source, .gpus = offer.gpus};
  if (offer.per_hour) {
    record.per_hour = offer.per_hour->amount;
    record.currency = offer.per_hour->currency;
  }
  if (!estimate.problem.empty()) {
    record.problem = estimate.problem;
  }
  if (estimate.gpu_memory) {
    record.memory = estimate.memory.total();
    record.gpu_memory = estimate.gpu_memory;
  }
  if (const auto& step = estimate.step) {
    record.algorithm = step->algorithm;
    record.nics = step->nics;
    record.batch = step->batch;
    record.step = record_of(step->total);
    record.compute = record_of(step->compute);
    record.communication = record_of(step->communication);
    record.exposed = record_of(step->exposed);
    record.waiting = record_of(step->waiting);
    record.efficiency = step->efficiency;
    record.samples_per_second = step->samples_per_second;
  }
  if (estimate.run) {
    record.run = record_of(*estimate.run);
  }
  if (estimate.cost) {
    record.cost = estimate.cost->amount;
  }
  record.pareto = plan.ranking.pareto[index];
  record.recommended = plan.ranking.recommended == index;
  record.assumptions = offer.assumptions;
  record.assumptions.insert(record.assumptions.end(), estimate.assumptions.begin(),
                            estimate.assumptions.end());
  record.warnings = warnings_of(offer, estimate.run);
  return record;
}

std::vector<std::string> idle_nics(const OfferEstimate& estimate, const Thresholds& found) {
  std::vector<AlgorithmNics> predicted;
  if (estimate.step && estimate.step->nics) {
    predicted.push_back({estimate.step->algorithm, *estimate.step->nics});
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

}  // namespace ringside::study
