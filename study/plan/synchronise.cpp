#include <algorithm>
#include <limits>
#include <numeric>

#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

OfferRecord record_of(const Offer& offer, const SynchronisationTimes& times) {
  OfferRecord record{.name = offer.name, .source = offer.source, .gpus = offer.gpus};
  if (offer.per_hour) {
    record.per_hour = offer.per_hour->amount;
    record.currency = offer.per_hour->currency;
  }
  record.assumptions = offer.assumptions;
  record.warnings = offer.warnings;
  if (!times.problem.empty()) {
    record.problem = times.problem;
    return record;
  }
  record.algorithm = times.algorithm;
  record.communication = Interval<double>{
      .low = times.time.low.value, .typical = times.time.typical.value, .high = times.time.high.value};
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? std::optional(time->value) : std::nullopt;
  };
  record.ring = seconds(times.ring);
  record.naive = seconds(times.naive);
  return record;
}

}  // namespace

SynchronisationStudy synchronise(const PlanRequest& request, const Invocation& invocation,
                                 const Observer& observer) {
  SynchronisationStudy study;
  study.plan = loaded_plan(request, observer);
  study.offers = study.plan.offers;
  for (const Offer& offer : study.offers) {
    study.times.push_back(synchronisation_times(study.plan, offer));
  }
  study.order.resize(study.offers.size());
  std::iota(study.order.begin(), study.order.end(), 0);
  const auto key = [&](std::size_t index) {
    const SynchronisationTimes& times = study.times[index];
    return times.problem.empty() ? times.time.typical.value : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(study.order.begin(), study.order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  study.directory = output_directory(invocation, study.plan.name);
  Journal journal = Journal::create(study.directory / "plan.jsonl",
                                    plain_header(invocation, {.name = study.plan.name,
                                                              .file = study.plan.file.string(),
                                                              .text = read_text(study.plan.file)}));
  for (const std::size_t index : study.order) {
    journal.append(record_of(study.offers[index], study.times[index]));
  }
  study.file = journal.file();
  return study;
}

}  // namespace ringside::study
