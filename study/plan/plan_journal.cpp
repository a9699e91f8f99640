#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/inputs/invocation.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

std::filesystem::path write_records(const PlanStudy& study, const Invocation& invocation) {
  const Plan& plan = study.ranked.plan;
  Journal journal = Journal::create(
      study.directory / "plan.jsonl",
      plain_header(invocation,
                   {.name = plan.name, .file = plan.file.string(), .text = read_text(plan.file)}));
  for (const OfferRecord& record : offer_records(study)) {
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
