// The fields of every record, and of what stands inside them.
#include "results/codec/field_table.hpp"
#include "results/codec/record.hpp"
#include "results/point.hpp"
#include "results/probe_sample.hpp"
#include "results/trace_event.hpp"

namespace ringside {

FieldTable<PointKey> table_of(const PointKey* /*any*/) {
  return fields(required<&PointKey::collective, &PointKey::algorithm>(), required<&PointKey::ranks>().from(1),
                required<&PointKey::bytes, &PointKey::dtype, &PointKey::op>());
}

FieldTable<NicUse> table_of(const NicUse* /*any*/) {
  return fields(required<&NicUse::used>(), required<&NicUse::of>().from(1));
}

FieldTable<ExecutionPolicy> table_of(const ExecutionPolicy* /*any*/) {
  return fields(always<&ExecutionPolicy::receives_ahead>(), required<&ExecutionPolicy::segments>().from(1),
                optional<&ExecutionPolicy::stride>().from(1), optional<&ExecutionPolicy::in_flight>().from(1),
                optional<&ExecutionPolicy::order>());
}

FieldTable<Limit> table_of(const Limit* /*any*/) {
  return fields(required<&Limit::kind>(),
                optional<&Limit::link_kind, &Limit::link, &Limit::node, &Limit::flows, &Limit::crossings,
                         &Limit::others, &Limit::ranks, &Limit::cores, &Limit::factor, &Limit::text>());
}

FieldTable<Prediction> table_of(const Prediction* /*any*/) {
  return fields(required<&Prediction::seconds>(), optional<&Prediction::low, &Prediction::high>(),
                required<&Prediction::fidelity, &Prediction::source>(),
                optional<&Prediction::policy, &Prediction::limits, &Prediction::known, &Prediction::nics,
                         &Prediction::rank_classes, &Prediction::no_classes>());
}

FieldTable<DeviceLaunch> table_of(const DeviceLaunch* /*any*/) {
  return fields(required("launch", &DeviceLaunch::mode), required<&DeviceLaunch::host_seconds>());
}

FieldTable<MachineTuning> table_of(const MachineTuning* /*any*/) {
  return fields(always<&MachineTuning::bound_to_cores, &MachineTuning::idle_states_prevented,
                       &MachineTuning::thread_priority, &MachineTuning::batch_scheduling>());
}

FieldTable<Measurement> table_of(const Measurement* /*any*/) {
  const auto has_times = [](const Measurement& measurement) { return measurement.outcome == Outcome::ok; };
  return fields(  // A time of 0 is one that nobody knows: a log may have only a mean.
      only_if(has_times,
              fields(required<&Measurement::seconds>(),
                     optional<&Measurement::low, &Measurement::high, &Measurement::min, &Measurement::p95,
                              &Measurement::iterations>(),
                     optional<&Measurement::samples>().from(0), optional<&Measurement::repetitions>().from(0),
                     inlined(&Measurement::launch), optional<&Measurement::shared_gpu>(),
                     optional<&Measurement::sockets>().from(0), optional<&Measurement::machine_tuning>())),
      required<&Measurement::backend>(), optional<&Measurement::policy>(), required<&Measurement::outcome>(),
      optional<&Measurement::note>());
}

FieldTable<Point> table_of(const Point* /*any*/) {
  return tagged("point", inlined(&Point::key), optional<&Point::predicted, &Point::measured>(),
                optional<&Point::series>().from(1));
}

FieldTable<ProbeKey> table_of(const ProbeKey* /*any*/) {
  return fields(required<&ProbeKey::kind>(), required<&ProbeKey::ranks>().from(1),
                required<&ProbeKey::bytes, &ProbeKey::messages, &ProbeKey::first, &ProbeKey::second>());
}

FieldTable<ProbeSample> table_of(const ProbeSample* /*any*/) {
  return fields(inlined(&ProbeSample::key), required<&ProbeSample::seconds>());
}

FieldTable<TraceEvent> table_of(const TraceEvent* /*any*/) {
  return fields(required<&TraceEvent::rank, &TraceEvent::source, &TraceEvent::target, &TraceEvent::round,
                         &TraceEvent::start, &TraceEvent::end, &TraceEvent::kind, &TraceEvent::first_chunk,
                         &TraceEvent::num_chunks, &TraceEvent::bytes>());
}

FieldTable<ScenarioRecord> table_of(const ScenarioRecord* /*any*/) {
  return fields(required<&ScenarioRecord::name>(), always<&ScenarioRecord::file, &ScenarioRecord::text>());
}

FieldTable<MachineRecord> table_of(const MachineRecord* /*any*/) {
  return fields(required<&MachineRecord::name>(), optional<&MachineRecord::this_machine>(),
                required<&MachineRecord::yaml>());
}

FieldTable<RunHeader> table_of(const RunHeader* /*any*/) {
  return tagged(
      "run", required<&RunHeader::schema, &RunHeader::version, &RunHeader::command, &RunHeader::scenario>(),
      optional<&RunHeader::machine>(), always<&RunHeader::host>(), required<&RunHeader::started>(),
      always<&RunHeader::seed>());
}

FieldTable<RepetitionRecord> table_of(const RepetitionRecord* /*any*/) {
  return tagged("repetition", inlined(&RepetitionRecord::key), required<&RepetitionRecord::measured>());
}

FieldTable<Verdict> table_of(const Verdict* /*any*/) {
  return tagged("verdict", required<&Verdict::ranks>().from(1),
                required<&Verdict::bytes, &Verdict::baseline, &Verdict::candidate>(),
                optional<&Verdict::predicted_speedup, &Verdict::measured_speedup, &Verdict::predicted_winner,
                         &Verdict::measured_winner>());
}

FieldTable<Crossover> table_of(const Crossover* /*any*/) {
  return tagged(
      "crossover", required<&Crossover::ranks>().from(1),
      required<&Crossover::baseline, &Crossover::candidate>(),
      optional<&Crossover::predicted_bytes, &Crossover::measured_bytes, &Crossover::predicted_crossings,
               &Crossover::measured_crossings, &Crossover::predicted_winner, &Crossover::measured_winner>());
}

FieldTable<Accuracy> table_of(const Accuracy* /*any*/) {
  return tagged("accuracy",
                optional<&Accuracy::algorithm, &Accuracy::system, &Accuracy::statistic, &Accuracy::systems>(),
                optional("class", &Accuracy::machine_class),
                optional<&Accuracy::band, &Accuracy::model, &Accuracy::fold>(),
                required<&Accuracy::points, &Accuracy::mape>(), optional<&Accuracy::factor>(),
                required<&Accuracy::median_abs_error, &Accuracy::bias>(),
                optional<&Accuracy::coverage, &Accuracy::width, &Accuracy::winner_agreement>());
}

FieldTable<Interval<double>> table_of(const Interval<double>* /*any*/) {
  return fields(required<&Interval<double>::typical, &Interval<double>::low, &Interval<double>::high>());
}

FieldTable<OfferRecord> table_of(const OfferRecord* /*any*/) {
  return tagged(
      "offer", required<&OfferRecord::name, &OfferRecord::source, &OfferRecord::gpus>(),
      optional<&OfferRecord::per_hour, &OfferRecord::currency, &OfferRecord::problem, &OfferRecord::algorithm,
               &OfferRecord::nics, &OfferRecord::batch, &OfferRecord::step, &OfferRecord::compute,
               &OfferRecord::communication, &OfferRecord::ring, &OfferRecord::naive, &OfferRecord::exposed,
               &OfferRecord::waiting, &OfferRecord::efficiency, &OfferRecord::samples_per_second,
               &OfferRecord::run, &OfferRecord::cost, &OfferRecord::memory, &OfferRecord::gpu_memory,
               &OfferRecord::sharding>(),
      optional<&OfferRecord::micro_batch>().from(1), optional<&OfferRecord::largest_batch>().from(1),
      optional<&OfferRecord::tokens_per_second>(), always<&OfferRecord::pareto, &OfferRecord::recommended>(),
      optional<&OfferRecord::bandwidth_factor_for_5_percent, &OfferRecord::bandwidth_factor_for_10_percent>(),
      optional<&OfferRecord::gpus_stop_paying>().from(1), optional<&OfferRecord::ring_from_bytes>(),
      optional<&OfferRecord::ring_from_gpus>().from(1),
      optional<&OfferRecord::best_way, &OfferRecord::assumptions, &OfferRecord::warnings>());
}

}  // namespace ringside
