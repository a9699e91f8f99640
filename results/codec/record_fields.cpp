// The fields of every record but `point`.
#include "results/codec/field_table.hpp"
#include "results/codec/record.hpp"

namespace ringside {

FieldTable<ScenarioRecord> table_of(const ScenarioRecord* /*any*/) {
  return {.fields = fields<ScenarioRecord>(required("name", &ScenarioRecord::name),
                                           always("file", &ScenarioRecord::file),
                                           always("text", &ScenarioRecord::text))};
}

FieldTable<MachineRecord> table_of(const MachineRecord* /*any*/) {
  return {.fields = fields<MachineRecord>(required("name", &MachineRecord::name),
                                          optional("this_machine", &MachineRecord::this_machine),
                                          required("yaml", &MachineRecord::yaml))};
}

FieldTable<RunHeader> table_of(const RunHeader* /*any*/) {
  return {.record = "run",
          .fields = fields<RunHeader>(
              required("schema", &RunHeader::schema), required("version", &RunHeader::version),
              required("command", &RunHeader::command), required("scenario", &RunHeader::scenario),
              optional("machine", &RunHeader::machine), always("host", &RunHeader::host),
              required("started", &RunHeader::started), always("seed", &RunHeader::seed))};
}

FieldTable<RepetitionRecord> table_of(const RepetitionRecord* /*any*/) {
  return {.record = "repetition",
          .fields = fields<RepetitionRecord>(inlined(&RepetitionRecord::key),
                                             required("measured", &RepetitionRecord::measured))};
}

FieldTable<Verdict> table_of(const Verdict* /*any*/) {
  return {.record = "verdict",
          .fields = fields<Verdict>(
              required("ranks", &Verdict::ranks).from(1), required("bytes", &Verdict::bytes),
              required("baseline", &Verdict::baseline), required("candidate", &Verdict::candidate),
              optional("predicted_speedup", &Verdict::predicted_speedup),
              optional("measured_speedup", &Verdict::measured_speedup),
              optional("predicted_winner", &Verdict::predicted_winner),
              optional("measured_winner", &Verdict::measured_winner))};
}

FieldTable<Crossover> table_of(const Crossover* /*any*/) {
  return {.record = "crossover",
          .fields = fields<Crossover>(required("ranks", &Crossover::ranks).from(1),
                                      required("baseline", &Crossover::baseline),
                                      required("candidate", &Crossover::candidate),
                                      optional("predicted_bytes", &Crossover::predicted_bytes),
                                      optional("measured_bytes", &Crossover::measured_bytes),
                                      optional("predicted_crossings", &Crossover::predicted_crossings),
                                      optional("measured_crossings", &Crossover::measured_crossings),
                                      optional("predicted_winner", &Crossover::predicted_winner),
                                      optional("measured_winner", &Crossover::measured_winner))};
}

FieldTable<Accuracy> table_of(const Accuracy* /*any*/) {
  return {
      .record = "accuracy",
      .fields = fields<Accuracy>(
          optional("algorithm", &Accuracy::algorithm), optional("system", &Accuracy::system),
          optional("statistic", &Accuracy::statistic), optional("systems", &Accuracy::systems),
          optional("class", &Accuracy::machine_class), optional("band", &Accuracy::band),
          optional("model", &Accuracy::model), optional("fold", &Accuracy::fold),
          required("points", &Accuracy::points), required("mape", &Accuracy::mape),
          optional("factor", &Accuracy::factor), required("median_abs_error", &Accuracy::median_abs_error),
          required("bias", &Accuracy::bias), optional("coverage", &Accuracy::coverage),
          optional("width", &Accuracy::width), optional("winner_agreement", &Accuracy::winner_agreement))};
}

FieldTable<Interval<double>> table_of(const Interval<double>* /*any*/) {
  return {.fields = fields<Interval<double>>(required("typical", &Interval<double>::typical),
                                             required("low", &Interval<double>::low),
                                             required("high", &Interval<double>::high))};
}

FieldTable<OfferRecord> table_of(const OfferRecord* /*any*/) {
  return {
      .record = "offer",
      .fields = fields<OfferRecord>(
          required("name", &OfferRecord::name), required("source", &OfferRecord::source),
          required("gpus", &OfferRecord::gpus), optional("per_hour", &OfferRecord::per_hour),
          optional("currency", &OfferRecord::currency), optional("problem", &OfferRecord::problem),
          optional("algorithm", &OfferRecord::algorithm), optional("nics", &OfferRecord::nics),
          optional("batch", &OfferRecord::batch), optional("step", &OfferRecord::step),
          optional("compute", &OfferRecord::compute), optional("communication", &OfferRecord::communication),
          optional("ring", &OfferRecord::ring), optional("naive", &OfferRecord::naive),
          optional("exposed", &OfferRecord::exposed), optional("waiting", &OfferRecord::waiting),
          optional("efficiency", &OfferRecord::efficiency),
          optional("samples_per_second", &OfferRecord::samples_per_second),
          optional("run", &OfferRecord::run), optional("cost", &OfferRecord::cost),
          optional("memory", &OfferRecord::memory), optional("gpu_memory", &OfferRecord::gpu_memory),
          optional("sharding", &OfferRecord::sharding),
          optional("micro_batch", &OfferRecord::micro_batch).from(1),
          optional("largest_batch", &OfferRecord::largest_batch).from(1),
          optional("tokens_per_second", &OfferRecord::tokens_per_second),
          always("pareto", &OfferRecord::pareto), always("recommended", &OfferRecord::recommended),
          optional("bandwidth_factor_for_5_percent", &OfferRecord::bandwidth_factor_for_5_percent),
          optional("bandwidth_factor_for_10_percent", &OfferRecord::bandwidth_factor_for_10_percent),
          optional("gpus_stop_paying", &OfferRecord::gpus_stop_paying).from(1),
          optional("ring_from_bytes", &OfferRecord::ring_from_bytes),
          optional("ring_from_gpus", &OfferRecord::ring_from_gpus).from(1),
          optional("best_way", &OfferRecord::best_way), optional("assumptions", &OfferRecord::assumptions),
          optional("warnings", &OfferRecord::warnings))};
}

}  // namespace ringside
