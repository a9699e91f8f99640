#include "results/point.hpp"

#include "results/codec/field_table.hpp"
#include "results/probe_sample.hpp"
#include "results/trace_event.hpp"

namespace ringside {

FieldTable<PointKey> table_of(const PointKey* /*any*/) {
  return {.fields = fields<PointKey>(
              required("collective", &PointKey::collective), required("algorithm", &PointKey::algorithm),
              required("ranks", &PointKey::ranks).from(1), required("bytes", &PointKey::bytes),
              required("dtype", &PointKey::dtype), required("op", &PointKey::op))};
}

FieldTable<NicUse> table_of(const NicUse* /*any*/) {
  return {.fields = fields<NicUse>(required("used", &NicUse::used), required("of", &NicUse::of).from(1))};
}

FieldTable<ExecutionPolicy> table_of(const ExecutionPolicy* /*any*/) {
  return {.fields = fields<ExecutionPolicy>(always("receives_ahead", &ExecutionPolicy::receives_ahead),
                                            required("segments", &ExecutionPolicy::segments).from(1),
                                            optional("stride", &ExecutionPolicy::stride).from(1),
                                            optional("in_flight", &ExecutionPolicy::in_flight).from(1),
                                            optional("order", &ExecutionPolicy::order))};
}

FieldTable<Limit> table_of(const Limit* /*any*/) {
  return {.fields = fields<Limit>(required("kind", &Limit::kind), optional("link_kind", &Limit::link_kind),
                                  optional("link", &Limit::link), optional("node", &Limit::node),
                                  optional("flows", &Limit::flows), optional("crossings", &Limit::crossings),
                                  optional("others", &Limit::others), optional("ranks", &Limit::ranks),
                                  optional("cores", &Limit::cores), optional("factor", &Limit::factor),
                                  optional("text", &Limit::text))};
}

FieldTable<Prediction> table_of(const Prediction* /*any*/) {
  return {.fields = fields<Prediction>(
              required("seconds", &Prediction::seconds), optional("low", &Prediction::low),
              optional("high", &Prediction::high), required("fidelity", &Prediction::fidelity),
              required("source", &Prediction::source), optional("policy", &Prediction::policy),
              optional("limits", &Prediction::limits), optional("known", &Prediction::known),
              optional("nics", &Prediction::nics), optional("rank_classes", &Prediction::rank_classes),
              optional("no_classes", &Prediction::no_classes))};
}

FieldTable<DeviceLaunch> table_of(const DeviceLaunch* /*any*/) {
  return {.fields = fields<DeviceLaunch>(required("launch", &DeviceLaunch::mode),
                                         required("host_seconds", &DeviceLaunch::host_seconds))};
}

FieldTable<MachineTuning> table_of(const MachineTuning* /*any*/) {
  return {.fields =
              fields<MachineTuning>(always("bound_to_cores", &MachineTuning::bound_to_cores),
                                    always("idle_states_prevented", &MachineTuning::idle_states_prevented),
                                    always("thread_priority", &MachineTuning::thread_priority),
                                    always("batch_scheduling", &MachineTuning::batch_scheduling))};
}

FieldTable<Measurement> table_of(const Measurement* /*any*/) {
  const auto has_times = [](const Measurement& measurement) { return measurement.outcome == Outcome::ok; };
  return {.fields = fields<Measurement>(
              // A time of 0 is one that nobody knows: a log may have only a mean.
              only_if<Measurement>(
                  has_times,
                  fields<Measurement>(
                      required("seconds", &Measurement::seconds), optional("low", &Measurement::low),
                      optional("high", &Measurement::high), optional("min", &Measurement::min),
                      optional("p95", &Measurement::p95), optional("iterations", &Measurement::iterations),
                      optional("samples", &Measurement::samples).from(0),
                      optional("repetitions", &Measurement::repetitions).from(0),
                      inlined(&Measurement::launch), optional("shared_gpu", &Measurement::shared_gpu),
                      optional("sockets", &Measurement::sockets).from(0),
                      optional("machine_tuning", &Measurement::machine_tuning))),
              required("backend", &Measurement::backend), optional("policy", &Measurement::policy),
              required("outcome", &Measurement::outcome), optional("note", &Measurement::note))};
}

FieldTable<Point> table_of(const Point* /*any*/) {
  return {.record = "point",
          .fields = fields<Point>(inlined(&Point::key), optional("predicted", &Point::predicted),
                                  optional("measured", &Point::measured),
                                  optional("series", &Point::series).from(1))};
}

FieldTable<ProbeKey> table_of(const ProbeKey* /*any*/) {
  return {.fields =
              fields<ProbeKey>(required("kind", &ProbeKey::kind), required("ranks", &ProbeKey::ranks).from(1),
                               required("bytes", &ProbeKey::bytes), required("messages", &ProbeKey::messages),
                               required("first", &ProbeKey::first), required("second", &ProbeKey::second))};
}

FieldTable<ProbeSample> table_of(const ProbeSample* /*any*/) {
  return {.fields =
              fields<ProbeSample>(inlined(&ProbeSample::key), required("seconds", &ProbeSample::seconds))};
}

FieldTable<TraceEvent> table_of(const TraceEvent* /*any*/) {
  return {.fields = fields<TraceEvent>(
              required("rank", &TraceEvent::rank), required("source", &TraceEvent::source),
              required("target", &TraceEvent::target), required("round", &TraceEvent::round),
              required("start", &TraceEvent::start), required("end", &TraceEvent::end),
              required("kind", &TraceEvent::kind), required("first_chunk", &TraceEvent::first_chunk),
              required("num_chunks", &TraceEvent::num_chunks), required("bytes", &TraceEvent::bytes))};
}

}  // namespace ringside
