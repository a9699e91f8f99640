#include "real/rank_jobs.hpp"

#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "real/point_measurement.hpp"
#include "real/point_recording.hpp"
#include "real/probe_run.hpp"

namespace ringside {

using nlohmann::json;

NLOHMANN_JSON_SERIALIZE_ENUM(AnswerKind, {{AnswerKind::alive, "alive"},
                                          {AnswerKind::done, "done"},
                                          {AnswerKind::failed, "failed"}})
NLOHMANN_JSON_SERIALIZE_ENUM(ErrorKind, {{ErrorKind::bad_input, "bad_input"},
                                         {ErrorKind::environment, "environment"},
                                         {ErrorKind::peer_lost, "peer_lost"},
                                         {ErrorKind::failed, "failed"}})
NLOHMANN_JSON_SERIALIZE_ENUM(TraceKind, {{TraceKind::transfer, "transfer"},
                                         {TraceKind::reduction, "reduction"},
                                         {TraceKind::local, "local"}})
NLOHMANN_JSON_SERIALIZE_ENUM(ProbeKind, {{ProbeKind::ping_pong, "ping_pong"},
                                         {ProbeKind::stream, "stream"},
                                         {ProbeKind::both_ways, "both_ways"},
                                         {ProbeKind::shift, "shift"},
                                         {ProbeKind::relay, "relay"},
                                         {ProbeKind::ready_relay, "ready_relay"},
                                         {ProbeKind::reduction, "reduction"},
                                         {ProbeKind::send, "send"},
                                         {ProbeKind::fan_out, "fan_out"}})

namespace {

template <typename E>
E named(const json& object, const char* key) {
  const std::string text = object.at(key);
  const std::optional<E> value = parse_name<E>(text);
  RINGSIDE_CHECK(value.has_value(), fmt::format("'{}' is no value of {}", text, key));
  return *value;
}

template <typename T>
void set_if(json& object, const char* key, const std::optional<T>& value) {
  if (value) {
    object[key] = *value;
  }
}

template <typename T>
std::optional<T> get_if(const json& object, const char* key) {
  return object.contains(key) ? std::optional<T>(object.at(key).get<T>()) : std::nullopt;
}

json to_json(const JoinJob& job) {
  json object = {{"job", "join"},
                 {"ranks", job.num_ranks},
                 {"backend", name(job.backend)},
                 {"ranks_per_gpu", job.gpu.ranks_per_gpu},
                 {"settings", job.gpu.settings},
                 {"timeout_ms", job.timeout.count()},
                 {"rendezvous", job.rendezvous},
                 {"group", job.group},
                 {"share_out_cores", job.share_out_cores}};
  set_if(object, "interface", job.interface);
  return object;
}

json point_to_json(const char* job, const PointKey& key, const MeasureOptions& options) {
  const RankPlacement placement = placement_of(options, key.ranks);
  return {{"job", job},
          {"collective", name(key.collective)},
          {"algorithm", key.algorithm},
          {"ranks", key.ranks},
          {"bytes", key.bytes.value},
          {"dtype", name(key.dtype)},
          {"op", name(key.op)},
          {"budget_per_point", options.budget_per_point.value},
          {"target_interval", options.target_interval},
          {"min_iterations", options.min_iterations},
          {"max_iterations", options.max_iterations},
          {"seed", options.seed},
          {"ranks_per_node", placement.ranks_per_node},
          {"order", placement.order}};
}

json to_json(const PointJob& job) { return point_to_json("point", job.key, job.options); }
json to_json(const RecordJob& job) { return point_to_json("record", job.key, job.options); }

json to_json(const ProbeJob& job) {
  return {{"job", "probe"},
          {"kind", job.key.kind},
          {"pair", {job.key.first, job.key.second}},
          {"ranks", job.key.ranks},
          {"bytes", job.key.bytes.value},
          {"messages", job.key.messages},
          {"budget", job.budget.value}};
}

PointKey key_from(const json& object) {
  return {.collective = named<Collective>(object, "collective"),
          .algorithm = object.at("algorithm"),
          .ranks = object.at("ranks"),
          .bytes = {object.at("bytes")},
          .dtype = named<DataType>(object, "dtype"),
          .op = named<ReduceOp>(object, "op")};
}

MeasureOptions options_from(const json& object) {
  return {.budget_per_point = {object.at("budget_per_point")},
          .target_interval = object.at("target_interval"),
          .min_iterations = object.at("min_iterations"),
          .max_iterations = object.at("max_iterations"),
          .seed = object.at("seed"),
          .placements = {{object.at("ranks").get<int>(),
                          {.ranks_per_node = object.at("ranks_per_node"),
                           .order = object.at("order").get<std::vector<Rank>>()}}}};
}

Job job_from(const json& object) {
  const std::string kind = object.at("job");
  if (kind == "join") {
    return JoinJob{
        .num_ranks = object.at("ranks"),
        .backend = named<Backend>(object, "backend"),
        .gpu = {.ranks_per_gpu = object.at("ranks_per_gpu"),
                .settings = object.at("settings").get<std::vector<std::pair<std::string, std::string>>>()},
        .timeout = std::chrono::milliseconds(object.at("timeout_ms").get<std::int64_t>()),
        .interface = get_if<std::string>(object, "interface"),
        .rendezvous = object.at("rendezvous"),
        .group = object.at("group"),
        .share_out_cores = object.at("share_out_cores")};
  }
  if (kind == "point") {
    return PointJob{.key = key_from(object), .options = options_from(object)};
  }
  if (kind == "record") {
    return RecordJob{.key = key_from(object), .options = options_from(object)};
  }
  RINGSIDE_CHECK(kind == "probe", fmt::format("'{}' is no job", kind));
  return ProbeJob{.key = {.kind = object.at("kind"),
                          .ranks = object.at("ranks"),
                          .bytes = {object.at("bytes")},
                          .messages = object.at("messages"),
                          .first = object.at("pair").at(0),
                          .second = object.at("pair").at(1)},
                  .budget = {object.at("budget")}};
}

json to_json(const Measurement& measurement) {
  json object = {{"outcome", name(measurement.outcome)},
                 {"seconds", measurement.seconds.value},
                 {"low", measurement.low.value},
                 {"high", measurement.high.value},
                 {"min", measurement.min.value},
                 {"p95", measurement.p95.value},
                 {"iterations", measurement.iterations},
                 {"samples", measurement.samples},
                 {"backend", name(measurement.backend)},
                 {"oversubscribed", measurement.oversubscribed},
                 {"note", measurement.note}};
  if (measurement.launch) {
    object["launch"] = {{"graph", measurement.launch->graph},
                        {"host_seconds", measurement.launch->host_seconds.value},
                        {"note", measurement.launch->note}};
  }
  return object;
}

Measurement measurement_from(const json& object) {
  Measurement measurement = {.outcome = named<Outcome>(object, "outcome"),
                             .seconds = {object.at("seconds")},
                             .low = {object.at("low")},
                             .high = {object.at("high")},
                             .min = {object.at("min")},
                             .p95 = {object.at("p95")},
                             .iterations = object.at("iterations"),
                             .samples = object.at("samples"),
                             .backend = named<Backend>(object, "backend"),
                             .oversubscribed = object.at("oversubscribed"),
                             .note = object.at("note")};
  if (object.contains("launch")) {
    const json& launch = object.at("launch");
    measurement.launch = {
        .graph = launch.at("graph"), .host_seconds = {launch.at("host_seconds")}, .note = launch.at("note")};
  }
  return measurement;
}

/// Events are many, so they come without keys.
json to_json(const TraceEvent& event) {
  return json::array({event.rank, event.source, event.target, event.round, event.start.value, event.end.value,
                      event.kind, event.first_chunk, event.num_chunks, event.bytes.value});
}

TraceEvent event_from(const json& array) {
  return {.rank = array.at(0),
          .source = array.at(1),
          .target = array.at(2),
          .round = array.at(3),
          .start = {array.at(4)},
          .end = {array.at(5)},
          .kind = array.at(6),
          .first_chunk = array.at(7),
          .num_chunks = array.at(8),
          .bytes = {array.at(9)}};
}

json to_json(const Recording& recording) {
  json events = json::array();
  for (const TraceEvent& event : recording.events) {
    events.push_back(to_json(event));
  }
  json object = {{"outcome", name(recording.outcome)}, {"seconds", recording.seconds.value},
                 {"iterations", recording.iterations}, {"backend", name(recording.backend)},
                 {"events", std::move(events)},        {"note", recording.note}};
  if (recording.barrier_skew) {
    object["barrier_skew"] = recording.barrier_skew->value;
  }
  return object;
}

Recording recording_from(const json& object) {
  Recording recording = {.outcome = named<Outcome>(object, "outcome"),
                         .seconds = {object.at("seconds")},
                         .iterations = object.at("iterations"),
                         .backend = named<Backend>(object, "backend"),
                         .note = object.at("note")};
  if (object.contains("barrier_skew")) {
    recording.barrier_skew = Seconds{object.at("barrier_skew")};
  }
  for (const json& event : object.at("events")) {
    recording.events.push_back(event_from(event));
  }
  return recording;
}

/// A line is whole JSON or it is none of ours: something else wrote to the rank's standard output.
template <typename Parse>
auto parse_line(std::string_view line, const Parse& parse) {
  try {
    return parse(json::parse(line));
  } catch (const json::exception&) {
    throw Error(ErrorKind::bad_input,
                fmt::format("this is no message between ringside and its ranks: '{}'", line.substr(0, 200)));
  }
}

}  // namespace

Answer run_job(const Job& job, const RankBackend& backend, Coordination& coordination) {
  if (const auto* point = std::get_if<PointJob>(&job)) {
    return {.measurement = measure_point(point->key, point->options, backend, coordination)};
  }
  if (const auto* record = std::get_if<RecordJob>(&job)) {
    return {.recording = record_point(record->key, record->options, backend, coordination)};
  }
  const auto* probe = std::get_if<ProbeJob>(&job);
  RINGSIDE_CHECK(probe != nullptr, "a rank joins its group once");
  return {.seconds = run_probe(probe->key, probe->budget, backend, coordination)};
}

Answer answer_of_current_exception() {
  Answer answer = {.kind = AnswerKind::failed};
  try {
    throw;
  } catch (const PeerLost& error) {
    answer.text = error.what();
    answer.error = error.kind();
    answer.lost_peer = error.peer();
    answer.late = error.how() == PeerLost::How::late;
  } catch (const Error& error) {
    answer.text = error.what();
    answer.error = error.kind();
  } catch (const std::bad_alloc&) {
    answer.text = "not enough memory";
    answer.error = ErrorKind::failed;
  } catch (const std::exception& exception) {
    answer.text = exception.what();
  } catch (...) {
    answer.text = "what it threw is no std::exception";
  }
  return answer;
}

std::string to_line(const Job& job) {
  return std::visit([](const auto& value) { return to_json(value).dump() + '\n'; }, job);
}

std::string to_line(const Answer& answer) {
  json object = {{"answer", answer.kind}};
  if (answer.measurement) {
    object["measurement"] = to_json(*answer.measurement);
  }
  if (!answer.seconds.empty()) {
    object["seconds"] = answer.seconds;
  }
  if (answer.recording) {
    object["recording"] = to_json(*answer.recording);
  }
  if (answer.kind == AnswerKind::failed) {
    object["text"] = answer.text;
    set_if(object, "error", answer.error);
    set_if(object, "lost_peer", answer.lost_peer);
    object["late"] = answer.late;
  }
  // What a library says may be no UTF-8; it must not be lost for that.
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

Job job_from_line(std::string_view line) { return parse_line(line, job_from); }

Answer answer_from_line(std::string_view line) {
  return parse_line(line, [](const json& object) {
    Answer answer = {.kind = object.at("answer")};
    if (object.contains("measurement")) {
      answer.measurement = measurement_from(object.at("measurement"));
    }
    if (object.contains("seconds")) {
      answer.seconds = object.at("seconds").get<std::vector<double>>();
    }
    if (object.contains("recording")) {
      answer.recording = recording_from(object.at("recording"));
    }
    if (answer.kind == AnswerKind::failed) {
      answer.text = object.at("text");
      answer.error = get_if<ErrorKind>(object, "error");
      answer.lost_peer = get_if<Rank>(object, "lost_peer");
      answer.late = object.at("late").get<bool>();
    }
    return answer;
  });
}

std::string description(const PointKey& key) {
  return fmt::format("{} {}, {} ranks, {}", name(key.collective), key.algorithm, key.ranks,
                     format(key.bytes));
}

std::string description(const Job& job) {
  if (const auto* point = std::get_if<PointJob>(&job)) {
    return "running " + description(point->key);
  }
  if (const auto* record = std::get_if<RecordJob>(&job)) {
    return "recording " + description(record->key);
  }
  if (const auto* probe = std::get_if<ProbeJob>(&job)) {
    return fmt::format("probing {}, {} ranks, {}", name(probe->key.kind), probe->key.ranks,
                       format(probe->key.bytes));
  }
  return fmt::format("connecting {} ranks", std::get<JoinJob>(job).num_ranks);
}

}  // namespace ringside
