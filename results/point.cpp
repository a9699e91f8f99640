#include "results/point.hpp"

#include "results/codec/field_table.hpp"
#include "results/probe_sample.hpp"
#include "results/trace_event.hpp"

namespace ringside {

FieldTable<PointKey> table_of(const PointKey* /*any*/) {
  return {.fields = fields<PointKey>(
              required("collective", &PointKey::collective, "",
                       "`all_reduce`, or another that `ringside list algorithms` knows"),
              required("algorithm", &PointKey::algorithm, "",
                       "a name that `ringside list algorithms` knows; `native` is the backend's own "
                       "implementation"),
              required("ranks", &PointKey::ranks, "", "N").from(1),
              required("bytes", &PointKey::bytes, "B",
                       "S, the message size; of the whole vector for reduce_scatter and all_gather"),
              required("dtype", &PointKey::dtype, "",
                       "`float32`, `float64`, `float16`, `bfloat16`, `int32` or `int64`"),
              required("op", &PointKey::op, "", "`sum`, `prod`, `min`, `max` or `avg`"))};
}

FieldTable<NicUse> table_of(const NicUse* /*any*/) {
  return {.fields = fields<NicUse>(required("used", &NicUse::used, "", "of the node that uses most"),
                                   required("of", &NicUse::of, "", "that a node has").from(1))};
}

FieldTable<ExecutionPolicy> table_of(const ExecutionPolicy* /*any*/) {
  return {
      .fields = fields<ExecutionPolicy>(
          always("receives_ahead", &ExecutionPolicy::receives_ahead, "",
                 "whether ranks post receives of later rounds before they reach them"),
          required("segments", &ExecutionPolicy::segments, "",
                   "into how many segments each chunk is cut; 1: chunks travel whole")
              .from(1),
          optional("stride", &ExecutionPolicy::stride, "",
                   "rounds from a round of a segment to its next one; omitted when 1")
              .from(1),
          optional("in_flight", &ExecutionPolicy::in_flight, "",
                   "rounds that a rank has under way at once, in segments that many segments; omitted when 1")
              .from(1),
          optional(
              "order", &ExecutionPolicy::order, "",
              "the rank that runs each position of the algorithm; omitted when position p runs on rank p"))};
}

FieldTable<Limit> table_of(const Limit* /*any*/) {
  return {
      .fields = fields<Limit>(
          required("kind", &Limit::kind, "",
                   "`shared_link`, `shared_cores`, `contention` or `model`; the other fields follow from it"),
          optional("link_kind", &Limit::link_kind, "", "what flows share, such as `staging` or `nic_out`"),
          optional("link", &Limit::link, "", "the name of the first such link"),
          optional("node", &Limit::node, "", "that it is in, where there are several"),
          optional("flows", &Limit::flows, "", "that share it at once"),
          optional("crossings", &Limit::crossings, "", "of it by these flows"),
          optional("others", &Limit::others, "",
                   "`true` when other links of this kind are shared alike; omitted otherwise"),
          optional("ranks", &Limit::ranks, "", "that share CPU cores"),
          optional("cores", &Limit::cores, "", "that they share"),
          optional("factor", &Limit::factor, "ratio",
                   "how many times as long messages take together as one alone, as probes found"),
          optional("text", &Limit::text, "", "what a model says that simulates no links"))};
}

FieldTable<Prediction> table_of(const Prediction* /*any*/) {
  return {
      .fields = fields<Prediction>(
          required("seconds", &Prediction::seconds, "s", "the most likely time"),
          optional("low", &Prediction::low, "s", "lower end of the 90 % interval, where one can be stated"),
          optional("high", &Prediction::high, "s", "upper end"),
          required("fidelity", &Prediction::fidelity, "",
                   "`closed_form`, `replay`, `flow` or `nccl`: how it was predicted"),
          required("source", &Prediction::source, "",
                   "`spec`, `calibrated`, `given` or `spec+known`: where α, β and γ came from"),
          optional("policy", &Prediction::policy, "",
                   "how the schedule is assumed to run ([architecture.md](architecture.md), \"How a schedule "
                   "runs\"); omitted for `native`"),
          optional("limits", &Prediction::limits, "",
                   "what holds the time back, most important first: a list"),
          optional("known", &Prediction::known, "",
                   "`true` when the time of this very point was given as `known`: comparing the two proves "
                   "nothing; omitted otherwise"),
          optional("nics", &Prediction::nics, "",
                   "where ranks are on several nodes: the NICs of a node that carry something; omitted "
                   "where the prediction does not say"),
          optional(
              "rank_classes", &Prediction::rank_classes, "",
              "`flow` of many messages: the classes of ranks that do the same at the same time, of which "
              "one each was simulated ([scaling.md](scaling.md))"),
          optional("no_classes", &Prediction::no_classes, "", "why all ranks were simulated instead"))};
}

FieldTable<DeviceLaunch> table_of(const DeviceLaunch* /*any*/) {
  return {
      .fields = fields<DeviceLaunch>(
          required("launch", &DeviceLaunch::mode, "",
                   "`nccl` only: `cuda_graph` when a call is one launch, `stream` when its parts are "
                   "launched one by one"),
          required("host_seconds", &DeviceLaunch::host_seconds, "s",
                   "`nccl` only: median of the host's time to launch a call, at the slowest rank; not part "
                   "of `seconds`"))};
}

FieldTable<MachineTuning> table_of(const MachineTuning* /*any*/) {
  return {
      .fields = fields<MachineTuning>(
          always("bound_to_cores", &MachineTuning::bound_to_cores, "", "each rank kept to cores of its own"),
          always("idle_states_prevented", &MachineTuning::idle_states_prevented, "",
                 "threads of the lowest priority kept these cores from idle states"),
          always("thread_priority", &MachineTuning::thread_priority, "",
                 "the thread that reduces went before the others of its rank"),
          always("batch_scheduling", &MachineTuning::batch_scheduling, "",
                 "ranks that share cores did not interrupt each other"))};
}

FieldTable<Measurement> table_of(const Measurement* /*any*/) {
  const auto has_times = [](const Measurement& measurement) { return measurement.outcome == Outcome::ok; };
  return {
      .fields = fields<Measurement>(
          // A time of 0 is one that nobody knows: a log may have only a mean.
          only_if<Measurement>(
              has_times,
              fields<Measurement>(
                  required("seconds", &Measurement::seconds, "s",
                           "median over the iterations of the slowest rank's time"),
                  optional("low", &Measurement::low, "s",
                           "lower end of the 95 % confidence interval of that median (order statistics); of "
                           "several repetitions, not above the median of any"),
                  optional("high", &Measurement::high, "s", "upper end"),
                  optional("min", &Measurement::min, "s", "fastest iteration"),
                  optional("p95", &Measurement::p95, "s", "95th percentile of the iterations"),
                  optional("iterations", &Measurement::iterations, "", "timed iterations, without warm-up"),
                  optional("samples", &Measurement::samples, "s",
                           "the slowest rank's time of every iteration, in order")
                      .from(0),
                  optional(
                      "repetitions", &Measurement::repetitions, "s",
                      "median of each repetition of the whole list of points; omitted when there was one")
                      .from(0),
                  inlined(&Measurement::launch),
                  optional("shared_gpu", &Measurement::shared_gpu, "",
                           "`true` when several ranks shared a GPU: a trial of the path that says nothing "
                           "about a link; omitted otherwise"),
                  optional("sockets", &Measurement::sockets, "",
                           "of each rank, in order: the socket of its node on which its cores lie; omitted "
                           "where no node has several or a rank is not bound to one")
                      .from(0),
                  optional("machine_tuning", &Measurement::machine_tuning, "",
                           "what measuring did to the machine "
                           "([measuring.md](measuring.md#what-measuring-does-to-the-machine)); omitted "
                           "where nobody knows"))),
          required("backend", &Measurement::backend, "", "`gloo`, `nccl`, `shm`, `mpi` or `threads`"),
          optional("policy", &Measurement::policy, "", "how the schedule ran; omitted for `native`"),
          required("outcome", &Measurement::outcome, "",
                   "`ok`, `wrong_result`, `failed` or `unsupported`; only `ok` has times"),
          optional("note", &Measurement::note, "",
                   "why there is no time, or what a reader must know about it"))};
}

FieldTable<Point> table_of(const Point* /*any*/) {
  return {.record = "point",
          .fields = fields<Point>(inlined(&Point::key),
                                  optional("predicted", &Point::predicted, "",
                                           "the prediction; it has never seen what it is compared with"),
                                  optional("measured", &Point::measured, "", "what happened"),
                                  optional("series", &Point::series, "",
                                           "`import` of a log with several tables or runs: which, from 1")
                                      .from(1))};
}

FieldTable<ProbeKey> table_of(const ProbeKey* /*any*/) {
  return {.fields = fields<ProbeKey>(
              required("kind", &ProbeKey::kind, "", "what the ranks do"),
              required("ranks", &ProbeKey::ranks, "", "how many take part at once").from(1),
              required("bytes", &ProbeKey::bytes, "B", "of one message"),
              required("messages", &ProbeKey::messages, "", "that each rank sends at once"),
              required("first", &ProbeKey::first, "", "rank of the pair; `stream` goes from it"),
              required("second", &ProbeKey::second, "", "the other rank of the pair"))};
}

FieldTable<ProbeSample> table_of(const ProbeSample* /*any*/) {
  return {.fields = fields<ProbeSample>(
              inlined(&ProbeSample::key),
              required("seconds", &ProbeSample::seconds, "s", "of each call, slowest rank"))};
}

FieldTable<TraceEvent> table_of(const TraceEvent* /*any*/) {
  return {.fields = fields<TraceEvent>(
              required("rank", &TraceEvent::rank, "", "whose time this is"),
              required("source", &TraceEvent::source, "", "rank"),
              required("target", &TraceEvent::target, "", "rank"),
              required("round", &TraceEvent::round, "", "of the schedule"),
              required("start", &TraceEvent::start, "s", "since the ranks started"),
              required("end", &TraceEvent::end, "s", "since the ranks started"),
              required("kind", &TraceEvent::kind, "", "`transfer`, `reduction` or `local`"),
              required("first_chunk", &TraceEvent::first_chunk, "", "index"),
              required("num_chunks", &TraceEvent::num_chunks, "", "how many"),
              required("bytes", &TraceEvent::bytes, "B", "of these chunks"))};
}

}  // namespace ringside
