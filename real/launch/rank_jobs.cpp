#include "real/launch/rank_jobs.hpp"

#include <exception>
#include <map>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "real/measure/point_measurement.hpp"
#include "real/measure/point_recording.hpp"
#include "real/probe/probe_run.hpp"
#include "results/codec/field_table.hpp"

namespace ringside {

// ---- what travels -------------------------------------------------------------------------------------------------

/// Each as `[name, value]`.
template <>
struct Codec<std::pair<std::string, std::string>> : PlainCodec {
  static void write(Json& to, const std::pair<std::string, std::string>& setting) {
    Codec<std::vector<std::string>>::write(to, {setting.first, setting.second});
  }
  static std::pair<std::string, std::string> read(const JsonPlace& from, Minimum /*minimum*/) {
    const auto parts = Codec<std::vector<std::string>>::read(from, {});
    if (parts.size() != 2) {
      from.reject("must hold a name and a value");
    }
    return {parts[0], parts[1]};
  }
};

/// Events are many, so they come without keys.
template <>
struct Codec<std::vector<TraceEvent>> : PlainCodec {
  static void write(Json& to, const std::vector<TraceEvent>& events) {
    make_list(to);
    for (const TraceEvent& event : events) {
      ListCodec<TraceEvent>::write(add_element(to), event);
    }
  }
  static std::vector<TraceEvent> read(const JsonPlace& from, Minimum /*minimum*/) {
    std::vector<TraceEvent> events;
    for (const JsonPlace& element : from.elements()) {
      events.push_back(ListCodec<TraceEvent>::read(element));
    }
    return events;
  }
};

namespace {

/// RankPlacement with the number of ranks that it is for.
struct NumberedPlacement {
  int ranks = 1;
  int ranks_per_node = 0;
  std::vector<Rank> order = {};
};

}  // namespace

template <>
const FieldTable<NumberedPlacement>& field_table() {
  static const FieldTable<NumberedPlacement> table = {
      .fields = fields<NumberedPlacement>(required("ranks", &NumberedPlacement::ranks),
                                          required("ranks_per_node", &NumberedPlacement::ranks_per_node),
                                          required("order", &NumberedPlacement::order))};
  return table;
}

template <>
struct Codec<std::map<int, RankPlacement>> : PlainCodec {
  static void write(Json& to, const std::map<int, RankPlacement>& placements) {
    make_list(to);
    for (const auto& [ranks, placement] : placements) {
      Codec<NumberedPlacement>::write(
          add_element(to),
          {.ranks = ranks, .ranks_per_node = placement.ranks_per_node, .order = placement.order});
    }
  }
  static std::map<int, RankPlacement> read(const JsonPlace& from, Minimum /*minimum*/) {
    std::map<int, RankPlacement> placements;
    for (const JsonPlace& element : from.elements()) {
      const auto read = Codec<NumberedPlacement>::read(element, {});
      placements[read.ranks] = {.ranks_per_node = read.ranks_per_node, .order = read.order};
    }
    return placements;
  }
};

template <>
const FieldTable<GpuOptions>& field_table() {
  static const FieldTable<GpuOptions> table = {
      .fields = fields<GpuOptions>(required("ranks_per_gpu", &GpuOptions::ranks_per_gpu),
                                   required("settings", &GpuOptions::settings))};
  return table;
}

template <>
const FieldTable<JoinJob>& field_table() {
  static const FieldTable<JoinJob> table = {
      .record = "join",
      .fields =
          fields<JoinJob>(required("ranks", &JoinJob::num_ranks), required("backend", &JoinJob::backend),
                          inlined(&JoinJob::gpu), required("timeout", &JoinJob::timeout, "ms"),
                          required("rendezvous", &JoinJob::rendezvous), required("group", &JoinJob::group),
                          required("tune_machine", &JoinJob::tune_machine),
                          required("share_out_cores", &JoinJob::share_out_cores),
                          optional("interface", &JoinJob::interface))};
  return table;
}

template <>
const FieldTable<MeasureOptions>& field_table() {
  static const FieldTable<MeasureOptions> table = {
      .fields = fields<MeasureOptions>(required("budget_per_point", &MeasureOptions::budget_per_point, "s"),
                                       required("target_interval", &MeasureOptions::target_interval),
                                       required("min_iterations", &MeasureOptions::min_iterations),
                                       required("max_iterations", &MeasureOptions::max_iterations),
                                       required("check_every_call", &MeasureOptions::check_every_call),
                                       required("seed", &MeasureOptions::seed),
                                       always("placements", &MeasureOptions::placements))};
  return table;
}

template <>
const FieldTable<PointJob>& field_table() {
  static const FieldTable<PointJob> table = {
      .record = "point", .fields = fields<PointJob>(inlined(&PointJob::key), inlined(&PointJob::options))};
  return table;
}

template <>
const FieldTable<RecordJob>& field_table() {
  static const FieldTable<RecordJob> table = {
      .record = "record",
      .fields = fields<RecordJob>(inlined(&RecordJob::key), inlined(&RecordJob::options))};
  return table;
}

template <>
const FieldTable<ProbeJob>& field_table() {
  static const FieldTable<ProbeJob> table = {
      .record = "probe",
      .fields = fields<ProbeJob>(inlined(&ProbeJob::key), required("budget", &ProbeJob::budget, "s"))};
  return table;
}

template <>
const FieldTable<Recording>& field_table() {
  static const FieldTable<Recording> table = {
      .fields = fields<Recording>(
          required("outcome", &Recording::outcome), required("seconds", &Recording::seconds, "s"),
          required("iterations", &Recording::iterations), required("backend", &Recording::backend),
          optional("policy", &Recording::policy), optional("barrier_skew", &Recording::barrier_skew, "s"),
          required("events", &Recording::events), optional("note", &Recording::note))};
  return table;
}

template <>
const FieldTable<Answer>& field_table() {
  static const FieldTable<Answer> table = {
      .fields =
          fields<Answer>(required("answer", &Answer::kind), optional("measurement", &Answer::measurement),
                         optional("probed", &Answer::probed), optional("recording", &Answer::recording),
                         optional("text", &Answer::text), optional("error", &Answer::error),
                         optional("lost_peer", &Answer::lost_peer), optional("late", &Answer::late),
                         optional("paused", &Answer::paused, "ms"))};
  return table;
}

namespace {

constexpr const char* kTag = "job";

/// A line is whole JSON or it is none of ours: something else wrote to the rank's standard output.
template <typename Parse>
auto parse_line(std::string_view line, const Parse& parse) {
  const auto refuse = [&](std::string_view why) {
    throw Error(ErrorKind::bad_input,
                fmt::format("this is no message between ringside and its ranks ({}): '{}'", why,
                            line.substr(0, 200)));
  };
  try {
    const Json json = Json::parse(line);
    return parse(JsonPlace(json));
  } catch (const Json::exception&) {
    refuse("it is not JSON");
  } catch (const Error& error) {
    refuse(error.what());
  }
  throw_bug("a thrown error", __FILE__, __LINE__, "a message was neither read nor refused");
}

/// What a library says may be no UTF-8; it must not be lost for that.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
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
  return {.probed = ProbeSample{.key = probe->key,
                                .seconds = run_probe(probe->key, probe->budget, backend, coordination)}};
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
  } catch (const std::system_error& error) {
    answer.text = error.what();
    if (error.code() == std::errc::resource_unavailable_try_again) {
      answer.text = "the system grants no more threads or processes";
      answer.error = ErrorKind::environment;
    }
  } catch (const std::exception& exception) {
    answer.text = exception.what();
  } catch (...) {
    answer.text = "what it threw is no std::exception";
  }
  return answer;
}

std::string to_line(const Job& job) {
  Json json;
  std::visit([&](const auto& value) { write_tagged(json, kTag, value); }, job);
  return line_of(json);
}

std::string to_line(const Answer& answer) {
  Json json;
  Codec<Answer>::write(json, answer);
  return line_of(json);
}

Job job_from_line(std::string_view line) {
  return parse_line(line, [](const JsonPlace& place) {
    const JsonPlace tag = place.required_member(kTag);
    std::optional<Job> job = Tagged<Job>::read(place, Codec<std::string>::read(tag, {}));
    if (!job) {
      tag.reject_value("must be a job");
    }
    return *job;
  });
}

Answer answer_from_line(std::string_view line) {
  return parse_line(line, [](const JsonPlace& place) { return Codec<Answer>::read(place, {}); });
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
