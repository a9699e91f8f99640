#include <algorithm>

#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/inputs/invocation.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

void add(const Thresholds& found, OfferRecord& record) {
  record.bandwidth_factor_for_5_percent = found.factor_for_5_percent;
  record.bandwidth_factor_for_10_percent = found.factor_for_10_percent;
  record.gpus_stop_paying = found.gpus_stop_paying;
  if (found.ring) {
    record.ring = found.ring->value;
  }
  if (found.naive) {
    record.naive = found.naive->value;
  }
  record.ring_from_bytes = found.ring_from_bytes;
  record.ring_from_gpus = found.ring_from_gpus;
}

std::filesystem::path write_records(const PlanStudy& study, const Invocation& invocation) {
  const Plan& plan = study.ranked.plan;
  Journal journal = Journal::create(
      study.directory / "plan.jsonl",
      plain_header(invocation,
                   {.name = plan.name, .file = plan.file.string(), .text = read_text(plan.file)}));
  for (const std::size_t index : study.ranked.order) {
    OfferRecord record = record_of(study.ranked, index);
    const auto shown = std::find_if(study.shown.begin(), study.shown.end(),
                                    [&](const ShownOffer& one) { return one.candidate == index; });
    if (shown != study.shown.end()) {
      add(shown->thresholds, record);
      if (!shown->best_way.empty()) {
        record.best_way = shown->best_way;
      }
    }
    journal.append(record);
  }
  return journal.file();
}

}  // namespace

PlanStudy plan(const PlanRequest& request, const Invocation& invocation, const Observer& observer) {
  PlanStudy study = planned(request, observer);
  study.directory = output_directory(invocation, study.ranked.plan.name);
  study.file = write_records(study, invocation);
  return study;
}

}  // namespace ringside::study
