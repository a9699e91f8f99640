#include "results/point.hpp"

#include "results/codec/field_table.hpp"
#include "results/probe_sample.hpp"
#include "results/trace_event.hpp"

namespace ringside {

FieldTable<PointKey> table_of(const PointKey* /*any*/) {
  return {.fields = fields<PointKey>(required<&PointKey::collective, &PointKey::algorithm>(),
                                     required<&PointKey::ranks>().from(1),
                                     required<&PointKey::bytes, &PointKey::dtype, &PointKey::op>())};
}

FieldTable<NicUse> table_of(const NicUse* /*any*/) {
  return {.fields = fields<NicUse>(required<&NicUse::used>(), required<&NicUse::of>().from(1))};
}

FieldTable<ExecutionPolicy> table_of(const ExecutionPolicy* /*any*/) {
  return {.fields = fields<ExecutionPolicy>(
              always<&ExecutionPolicy::receives_ahead>(), required<&ExecutionPolicy::segments>().from(1),
              optional<&ExecutionPolicy::stride>().from(1), optional<&ExecutionPolicy::in_flight>().from(1),
              optional<&ExecutionPolicy::order>())};
}

FieldTable<Limit> table_of(const Limit* /*any*/) {
  return {.fields = fields<Limit>(
              required<&Limit::kind>(),
              optional<&Limit::link_kind, &Limit::link, &Limit::node, &Limit::flows, &Limit::crossings,
                       &Limit::others, &Limit::ranks, &Limit::cores, &Limit::factor, &Limit::text>())};
}

FieldTable<Prediction> table_of(const Prediction* /*any*/) {
  return {.fields = fields<Prediction>(
              required<&Prediction::seconds>(), optional<&Prediction::low, &Prediction::high>(),
              required<&Prediction::fidelity, &Prediction::source>(),
              optional<&Prediction::policy, &Prediction::limits, &Prediction::known, &Prediction::nics,
                       &Prediction::rank_classes, &Prediction::no_classes>())};
}

FieldTable<DeviceLaunch> table_of(const DeviceLaunch* /*any*/) {
  return {.fields = fields<DeviceLaunch>(required("launch", &DeviceLaunch::mode),
                                         required<&DeviceLaunch::host_seconds>())};
}

FieldTable<MachineTuning> table_of(const MachineTuning* /*any*/) {
  return {.fields = fields<MachineTuning>(
              always<&MachineTuning::bound_to_cores, &MachineTuning::idle_states_prevented,
                     &MachineTuning::thread_priority, &MachineTuning::batch_scheduling>())};
}

FieldTable<Measurement> table_of(const Measurement* /*any*/) {
  const auto has_times = [](const Measurement& measurement) { return measurement.outcome == Outcome::ok; };
  return {
      .fields = fields<Measurement>(  // A time of 0 is one that nobody knows: a log may have only a mean.
          only_if<Measurement>(
              has_times,
              fields<Measurement>(
                  required<&Measurement::seconds>(),
                  optional<&Measurement::low, &Measurement::high, &Measurement::min, &Measurement::p95,
                           &Measurement::iterations>(),
                  optional<&Measurement::samples>().from(0), optional<&Measurement::repetitions>().from(0),
                  inlined(&Measurement::launch), optional<&Measurement::shared_gpu>(),
                  optional<&Measurement::sockets>().from(0), optional<&Measurement::machine_tuning>())),
          required<&Measurement::backend>(), optional<&Measurement::policy>(),
          required<&Measurement::outcome>(), optional<&Measurement::note>())};
}

FieldTable<Point> table_of(const Point* /*any*/) {
  return {.record = "point",
          .fields = fields<Point>(inlined(&Point::key), optional<&Point::predicted, &Point::measured>(),
                                  optional<&Point::series>().from(1))};
}

FieldTable<ProbeKey> table_of(const ProbeKey* /*any*/) {
  return {.fields = fields<ProbeKey>(
              required<&ProbeKey::kind>(), required<&ProbeKey::ranks>().from(1),
              required<&ProbeKey::bytes, &ProbeKey::messages, &ProbeKey::first, &ProbeKey::second>())};
}

FieldTable<ProbeSample> table_of(const ProbeSample* /*any*/) {
  return {.fields = fields<ProbeSample>(inlined(&ProbeSample::key), required<&ProbeSample::seconds>())};
}

FieldTable<TraceEvent> table_of(const TraceEvent* /*any*/) {
  return {.fields = fields<TraceEvent>(
              required<&TraceEvent::rank, &TraceEvent::source, &TraceEvent::target, &TraceEvent::round,
                       &TraceEvent::start, &TraceEvent::end, &TraceEvent::kind, &TraceEvent::first_chunk,
                       &TraceEvent::num_chunks, &TraceEvent::bytes>())};
}

}  // namespace ringside
