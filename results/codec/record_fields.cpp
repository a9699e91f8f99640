// The fields of every record but `point`.
#include "results/codec/field_table.hpp"
#include "results/codec/record.hpp"

namespace ringside {

FieldTable<ScenarioRecord> table_of(const ScenarioRecord* /*any*/) {
  return {.fields = fields<ScenarioRecord>(required<&ScenarioRecord::name>(),
                                           always<&ScenarioRecord::file, &ScenarioRecord::text>())};
}

FieldTable<MachineRecord> table_of(const MachineRecord* /*any*/) {
  return {.fields = fields<MachineRecord>(required<&MachineRecord::name>(),
                                          optional<&MachineRecord::this_machine>(),
                                          required<&MachineRecord::yaml>())};
}

FieldTable<RunHeader> table_of(const RunHeader* /*any*/) {
  return {.record = "run",
          .fields = fields<RunHeader>(
              required<&RunHeader::schema, &RunHeader::version, &RunHeader::command, &RunHeader::scenario>(),
              optional<&RunHeader::machine>(), always<&RunHeader::host>(), required<&RunHeader::started>(),
              always<&RunHeader::seed>())};
}

FieldTable<RepetitionRecord> table_of(const RepetitionRecord* /*any*/) {
  return {.record = "repetition",
          .fields = fields<RepetitionRecord>(inlined(&RepetitionRecord::key),
                                             required<&RepetitionRecord::measured>())};
}

FieldTable<Verdict> table_of(const Verdict* /*any*/) {
  return {.record = "verdict",
          .fields = fields<Verdict>(required<&Verdict::ranks>().from(1),
                                    required<&Verdict::bytes, &Verdict::baseline, &Verdict::candidate>(),
                                    optional<&Verdict::predicted_speedup, &Verdict::measured_speedup,
                                             &Verdict::predicted_winner, &Verdict::measured_winner>())};
}

FieldTable<Crossover> table_of(const Crossover* /*any*/) {
  return {.record = "crossover",
          .fields = fields<Crossover>(
              required<&Crossover::ranks>().from(1), required<&Crossover::baseline, &Crossover::candidate>(),
              optional<&Crossover::predicted_bytes, &Crossover::measured_bytes,
                       &Crossover::predicted_crossings, &Crossover::measured_crossings,
                       &Crossover::predicted_winner, &Crossover::measured_winner>())};
}

FieldTable<Accuracy> table_of(const Accuracy* /*any*/) {
  return {.record = "accuracy",
          .fields = fields<Accuracy>(
              optional<&Accuracy::algorithm, &Accuracy::system, &Accuracy::statistic, &Accuracy::systems>(),
              optional("class", &Accuracy::machine_class),
              optional<&Accuracy::band, &Accuracy::model, &Accuracy::fold>(),
              required<&Accuracy::points, &Accuracy::mape>(), optional<&Accuracy::factor>(),
              required<&Accuracy::median_abs_error, &Accuracy::bias>(),
              optional<&Accuracy::coverage, &Accuracy::width, &Accuracy::winner_agreement>())};
}

FieldTable<Interval<double>> table_of(const Interval<double>* /*any*/) {
  return {.fields = fields<Interval<double>>(
              required<&Interval<double>::typical, &Interval<double>::low, &Interval<double>::high>())};
}

FieldTable<OfferRecord> table_of(const OfferRecord* /*any*/) {
  return {.record = "offer",
          .fields = fields<OfferRecord>(
              required<&OfferRecord::name, &OfferRecord::source, &OfferRecord::gpus>(),
              optional<&OfferRecord::per_hour, &OfferRecord::currency, &OfferRecord::problem,
                       &OfferRecord::algorithm, &OfferRecord::nics, &OfferRecord::batch, &OfferRecord::step,
                       &OfferRecord::compute, &OfferRecord::communication, &OfferRecord::ring,
                       &OfferRecord::naive, &OfferRecord::exposed, &OfferRecord::waiting,
                       &OfferRecord::efficiency, &OfferRecord::samples_per_second, &OfferRecord::run,
                       &OfferRecord::cost, &OfferRecord::memory, &OfferRecord::gpu_memory,
                       &OfferRecord::sharding>(),
              optional<&OfferRecord::micro_batch>().from(1), optional<&OfferRecord::largest_batch>().from(1),
              optional<&OfferRecord::tokens_per_second>(),
              always<&OfferRecord::pareto, &OfferRecord::recommended>(),
              optional<&OfferRecord::bandwidth_factor_for_5_percent,
                       &OfferRecord::bandwidth_factor_for_10_percent>(),
              optional<&OfferRecord::gpus_stop_paying>().from(1), optional<&OfferRecord::ring_from_bytes>(),
              optional<&OfferRecord::ring_from_gpus>().from(1),
              optional<&OfferRecord::best_way, &OfferRecord::assumptions, &OfferRecord::warnings>())};
}

}  // namespace ringside
