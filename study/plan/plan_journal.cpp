#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/inputs/invocation.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
PlanStudy plan(const PlanRequest& request, const Invocation& invocation, const Observer& observer) {
  PlanStudy study = planned(request, observer);
  const Plan& asked = study.ranked.plan;
  study.directory = output_directory(invocation, asked.name);
  Journal journal = Journal::create(
      study.directory / "plan.jsonl",
      plain_header(invocation,
                   {.name = asked.name, .file = asked.file.string(), .text = read_text(asked.file)}));
  for (const OfferRecord& record : offer_records(study)) {
    journal.append(record);
  }
  study.file = journal.file();
  return study;
}

}  // namespace ringside::study
