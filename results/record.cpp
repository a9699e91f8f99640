#include "results/record.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/error.hpp"

namespace ringside {
namespace {

// How calls get onto a GPU.
constexpr const char* kGraphLaunch = "cuda_graph";
constexpr const char* kStreamLaunch = "stream";

// Fields are written in the order in which people read them.
using Json = nlohmann::ordered_json;

// ---- writing ------------------------------------------------------------------------------------------------------

double finite(double value) {
  RINGSIDE_CHECK(std::isfinite(value), "a result holds a number that is not finite");
  return value;
}

void put(Json& object, const char* key, double value) { object[key] = finite(value); }
void put(Json& object, const char* key, Seconds value) { object[key] = finite(value.value); }
void put(Json& object, const char* key, Bytes value) { object[key] = value.value; }
void put(Json& object, const char* key, int value) { object[key] = value; }
void put(Json& object, const char* key, const std::string& value) { object[key] = value; }
void put(Json& object, const char* key, const NicUse& nics) {
  object[key] = {{"used", nics.used}, {"of", nics.of}};
}
template <typename T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (value) {
    put(object, key, *value);
  }
}
void put_list(Json& object, const char* key, const std::vector<double>& values) {
  if (values.empty()) {
    return;
  }
  Json& list = object[key] = Json::array();
  for (const double value : values) {
    list.push_back(finite(value));
  }
}
/// In a measurement 0 means that nobody knows (a log that has only a mean, say).
void put_known(Json& object, const char* key, Seconds value) {
  if (value.value != 0) {
    put(object, key, value);
  }
}

Json to_json(const RunHeader& header) {
  Json json = {
      {"record", "run"},
      {"schema", header.schema},
      {"version", header.version},
      {"command", header.command},
      {"scenario",
       {{"name", header.scenario.name}, {"file", header.scenario.file}, {"text", header.scenario.text}}}};
  if (header.machine) {
    Json& machine = json["machine"] = {{"name", header.machine->name}};
    if (header.machine->this_machine) {
      machine["this_machine"] = true;
    }
    machine["yaml"] = header.machine->yaml;
  }
  json["host"] = header.host;
  json["started"] = header.started;
  json["seed"] = header.seed;
  return json;
}

Json to_json(const Prediction& prediction) {
  Json json = Json::object();
  put(json, "seconds", prediction.seconds);
  put(json, "low", prediction.low);
  put(json, "high", prediction.high);
  json["fidelity"] = name(prediction.fidelity);
  json["source"] = name(prediction.source);
  if (!prediction.limits.empty()) {
    json["limits"] = prediction.limits;
  }
  put(json, "nics", prediction.nics);
  return json;
}

Json to_json(const Measurement& measurement) {
  Json json = Json::object();
  if (measurement.outcome == Outcome::ok) {
    put(json, "seconds", measurement.seconds);
    put_known(json, "low", measurement.low);
    put_known(json, "high", measurement.high);
    put_known(json, "min", measurement.min);
    put_known(json, "p95", measurement.p95);
    if (measurement.iterations != 0) {
      json["iterations"] = measurement.iterations;
    }
    put_list(json, "samples", measurement.samples);
    put_list(json, "passes", measurement.passes);
    if (measurement.launch) {
      json["launch"] = measurement.launch->graph ? kGraphLaunch : kStreamLaunch;
      put(json, "host_seconds", measurement.launch->host_seconds);
    }
    if (measurement.oversubscribed) {
      json["oversubscribed"] = true;
    }
  }
  json["backend"] = name(measurement.backend);
  json["outcome"] = name(measurement.outcome);
  if (!measurement.note.empty()) {
    json["note"] = measurement.note;
  }
  return json;
}

Json to_json(const Point& point) {
  Json json = {{"record", "point"},
               {"collective", name(point.key.collective)},
               {"algorithm", point.key.algorithm},
               {"ranks", point.key.ranks},
               {"bytes", point.key.bytes.value},
               {"dtype", name(point.key.dtype)},
               {"op", name(point.key.op)}};
  if (point.predicted) {
    json["predicted"] = to_json(*point.predicted);
  }
  if (point.measured) {
    json["measured"] = to_json(*point.measured);
  }
  return json;
}

Json to_json(const Verdict& verdict) {
  Json json = {{"record", "verdict"},
               {"ranks", verdict.ranks},
               {"bytes", verdict.bytes.value},
               {"baseline", verdict.baseline},
               {"candidate", verdict.candidate}};
  put(json, "predicted_speedup", verdict.predicted_speedup);
  put(json, "measured_speedup", verdict.measured_speedup);
  put(json, "predicted_winner", verdict.predicted_winner);
  put(json, "measured_winner", verdict.measured_winner);
  return json;
}

Json to_json(const Crossover& crossover) {
  Json json = {{"record", "crossover"},
               {"ranks", crossover.ranks},
               {"baseline", crossover.baseline},
               {"candidate", crossover.candidate}};
  put(json, "predicted_bytes", crossover.predicted_bytes);
  put(json, "measured_bytes", crossover.measured_bytes);
  put(json, "predicted_crossings", crossover.predicted_crossings);
  put(json, "measured_crossings", crossover.measured_crossings);
  put(json, "predicted_winner", crossover.predicted_winner);
  put(json, "measured_winner", crossover.measured_winner);
  return json;
}

Json to_json(const Accuracy& accuracy) {
  Json json = {{"record", "accuracy"}};
  put(json, "algorithm", accuracy.algorithm);
  put(json, "system", accuracy.system);
  put(json, "statistic", accuracy.statistic);
  put(json, "systems", accuracy.systems);
  put(json, "class", accuracy.machine_class);
  put(json, "band", accuracy.band);
  put(json, "model", accuracy.model);
  put(json, "fold", accuracy.fold);
  put(json, "points", accuracy.points);
  put(json, "mape", accuracy.mape);
  put(json, "factor", accuracy.factor);
  put(json, "median_abs_error", accuracy.median_abs_error);
  put(json, "bias", accuracy.bias);
  put(json, "coverage", accuracy.coverage);
  put(json, "width", accuracy.width);
  put(json, "winner_agreement", accuracy.winner_agreement);
  return json;
}

void put(Json& object, const char* key, const RangeRecord& range) {
  object[key] = {
      {"typical", finite(range.typical)}, {"low", finite(range.low)}, {"high", finite(range.high)}};
}

void put_some(Json& object, const char* key, const std::vector<std::string>& texts) {
  if (!texts.empty()) {
    object[key] = texts;
  }
}

Json to_json(const OfferRecord& offer) {
  Json json = {{"record", "offer"}, {"name", offer.name}, {"source", offer.source}, {"gpus", offer.gpus}};
  const auto range = [&](const char* key, const std::optional<RangeRecord>& value) {
    if (value) {
      put(json, key, *value);
    }
  };
  put(json, "per_hour", offer.per_hour);
  put(json, "currency", offer.currency);
  put(json, "problem", offer.problem);
  put(json, "algorithm", offer.algorithm);
  put(json, "nics", offer.nics);
  put(json, "batch", offer.batch);
  range("step", offer.step);
  range("compute", offer.compute);
  range("communication", offer.communication);
  range("exposed", offer.exposed);
  range("waiting", offer.waiting);
  range("efficiency", offer.efficiency);
  range("samples_per_second", offer.samples_per_second);
  range("run", offer.run);
  range("cost", offer.cost);
  put(json, "memory", offer.memory);
  put(json, "gpu_memory", offer.gpu_memory);
  json["pareto"] = offer.pareto;
  json["recommended"] = offer.recommended;
  put(json, "bandwidth_factor_for_5_percent", offer.bandwidth_factor_for_5_percent);
  put(json, "bandwidth_factor_for_10_percent", offer.bandwidth_factor_for_10_percent);
  put(json, "gpus_stop_paying", offer.gpus_stop_paying);
  put(json, "ring_from_bytes", offer.ring_from_bytes);
  put(json, "ring_from_gpus", offer.ring_from_gpus);
  put(json, "best_way", offer.best_way);
  put_some(json, "assumptions", offer.assumptions);
  put_some(json, "warnings", offer.warnings);
  return json;
}

// ---- reading ------------------------------------------------------------------------------------------------------

/// A JSON object whose fields are asked for by name and type. Complaints name the field from the top of the line.
class Fields {
 public:
  Fields(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} is not a JSON object", place_.empty() ? "it" : place_));
    }
  }

  bool has(const char* key) const { return find(key) != nullptr; }

  Fields object(const char* key) const { return {required(key), path(key)}; }

  std::string text(const char* key) const { return text(key, required(key)); }
  std::optional<std::string> optional_text(const char* key) const {
    const Json* value = find(key);
    return value ? std::optional(text(key, *value)) : std::nullopt;
  }

  double number(const char* key) const { return number(key, required(key)); }
  std::optional<double> optional_number(const char* key) const {
    const Json* value = find(key);
    return value ? std::optional(number(key, *value)) : std::nullopt;
  }

  Seconds seconds(const char* key) const { return {non_negative(key, number(key))}; }
  std::optional<Seconds> optional_seconds(const char* key) const {
    const std::optional<double> value = optional_number(key);
    return value ? std::optional(Seconds{non_negative(key, *value)}) : std::nullopt;
  }

  template <typename Integer>
  Integer whole(const char* key, Integer min) const {
    return whole<Integer>(key, min, required(key));
  }
  template <typename Integer>
  std::optional<Integer> optional_whole(const char* key, Integer min) const {
    const Json* value = find(key);
    return value ? std::optional(whole<Integer>(key, min, *value)) : std::nullopt;
  }

  template <typename E>
  E named(const char* key) const {
    const std::string value = text(key);
    const std::optional<E> known = parse_name<E>(value);
    if (!known) {
      throw Error(ErrorKind::bad_input, unknown_name(path(key), value, names_of<E>()));
    }
    return *known;
  }

  bool flag(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && !value->is_boolean()) {
      reject(key, "must be true or false");
    }
    return value != nullptr && value->get<bool>();
  }

  std::vector<double> numbers(const char* key) const {
    std::vector<double> result;
    for (const Json& element : list(key)) {
      result.push_back(non_negative(key, number(key, element)));
    }
    return result;
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> result;
    for (const Json& element : list(key)) {
      result.push_back(text(key, element));
    }
    return result;
  }

  std::map<std::string, std::string> text_map(const char* key) const {
    std::map<std::string, std::string> result;
    if (has(key)) {
      const Fields inner = object(key);
      for (const auto& [inner_key, value] : inner.object_.items()) {
        result[inner_key] = inner.text(inner_key.c_str(), value);
      }
    }
    return result;
  }

  [[noreturn]] void reject(const char* key, std::string_view problem) const {
    throw Error(ErrorKind::bad_input, fmt::format("{} {}", path(key), problem));
  }

 private:
  std::string path(const char* key) const { return place_.empty() ? key : fmt::format("{}.{}", place_, key); }

  /// Null is absent.
  const Json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& required(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) {
      reject(key, "is missing");
    }
    return *value;
  }
  /// The elements of an array; absent is empty.
  Json list(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && !value->is_array()) {
      reject(key, "must be a list");
    }
    return value ? *value : Json::array();
  }
  std::string text(const char* key, const Json& value) const {
    if (!value.is_string()) {
      reject(key, fmt::format("is {}, it must be a text", value.dump()));
    }
    return value.get<std::string>();
  }
  double number(const char* key, const Json& value) const {
    if (!value.is_number()) {
      reject(key, fmt::format("is {}, it must be a number", value.dump()));
    }
    return value.get<double>();
  }
  double non_negative(const char* key, double value) const {
    if (value < 0) {
      reject(key, fmt::format("is {}, a time cannot be negative", value));
    }
    return value;
  }
  /// Tools that keep every number as a double write 4 as 4.0; that is still a whole number.
  template <typename Integer>
  Integer whole(const char* key, Integer min, const Json& value) const {
    const double approximate = number(key, value);
    const bool exact = value.is_number_integer() || (std::trunc(approximate) == approximate);
    if (!exact || approximate < static_cast<double>(min) ||
        approximate > static_cast<double>(std::numeric_limits<Integer>::max())) {
      reject(key, fmt::format("is {}, it must be a whole number from {} on", value.dump(), min));
    }
    return value.is_number_integer() ? value.get<Integer>() : static_cast<Integer>(approximate);
  }

  const Json& object_;
  std::string place_;
};

CostSource cost_source(const Fields& fields) {
  constexpr std::array kAll = {CostSource::spec, CostSource::calibrated, CostSource::given,
                               CostSource::spec_plus_known};
  const std::string text = fields.text("source");
  std::vector<std::string> known;
  for (const CostSource source : kAll) {
    if (name(source) == text) {
      return source;
    }
    known.emplace_back(name(source));
  }
  throw Error(ErrorKind::bad_input, unknown_name("predicted.source", text, known));
}

RunHeader run_header(const Fields& fields) {
  RunHeader header;
  header.schema = fields.text("schema");
  if (header.schema != kSchema) {
    // Nothing else of another schema can be trusted to mean what it says.
    fields.reject("schema", fmt::format("is '{}', this version reads '{}'", header.schema, kSchema));
  }
  header.version = fields.text("version");
  header.command = fields.text("command");
  const Fields scenario = fields.object("scenario");
  header.scenario = {.name = scenario.text("name"),
                     .file = scenario.optional_text("file").value_or(""),
                     .text = scenario.optional_text("text").value_or("")};
  if (fields.has("machine")) {
    const Fields machine = fields.object("machine");
    header.machine = {.name = machine.text("name"),
                      .yaml = machine.text("yaml"),
                      .this_machine = machine.flag("this_machine")};
  }
  header.host = fields.text_map("host");
  header.started = fields.text("started");
  header.seed = fields.optional_whole<std::uint64_t>("seed", 0).value_or(1);
  return header;
}

std::optional<NicUse> nic_use(const Fields& fields) {
  if (!fields.has("nics")) {
    return std::nullopt;
  }
  const Fields nics = fields.object("nics");
  return NicUse{.used = nics.whole<int>("used", 0), .of = nics.whole<int>("of", 1)};
}

Prediction prediction(const Fields& fields) {
  return {.seconds = fields.seconds("seconds"),
          .low = fields.optional_seconds("low"),
          .high = fields.optional_seconds("high"),
          .fidelity = fields.named<Fidelity>("fidelity"),
          .source = cost_source(fields),
          .limits = fields.texts("limits"),
          .nics = nic_use(fields)};
}

DeviceLaunch device_launch(const Fields& fields) {
  const std::string launch = fields.text("launch");
  if (launch != kGraphLaunch && launch != kStreamLaunch) {
    const std::array<std::string, 2> known = {kGraphLaunch, kStreamLaunch};
    throw Error(ErrorKind::bad_input, unknown_name("measured.launch", launch, known));
  }
  return {.graph = launch == kGraphLaunch, .host_seconds = fields.seconds("host_seconds")};
}

Measurement measurement(const Fields& fields) {
  Measurement result;
  result.outcome = fields.named<Outcome>("outcome");
  result.backend = fields.named<Backend>("backend");
  result.note = fields.optional_text("note").value_or("");
  if (result.outcome == Outcome::ok) {
    result.seconds = fields.seconds("seconds");
    result.low = fields.optional_seconds("low").value_or(Seconds{});
    result.high = fields.optional_seconds("high").value_or(Seconds{});
    result.min = fields.optional_seconds("min").value_or(Seconds{});
    result.p95 = fields.optional_seconds("p95").value_or(Seconds{});
    result.iterations = fields.optional_whole("iterations", 0).value_or(0);
    result.samples = fields.numbers("samples");
    if (fields.has("launch")) {
      result.launch = device_launch(fields);
    }
    result.oversubscribed = fields.flag("oversubscribed");
    result.passes = fields.numbers("passes");
  }
  return result;
}

Point point(const Fields& fields) {
  Point result;
  result.key = {.collective = fields.named<Collective>("collective"),
                .algorithm = fields.text("algorithm"),
                .ranks = fields.whole("ranks", 1),
                .bytes = {fields.whole<std::int64_t>("bytes", 0)},
                .dtype = fields.named<DataType>("dtype"),
                .op = fields.named<ReduceOp>("op")};
  if (fields.has("predicted")) {
    result.predicted = prediction(fields.object("predicted"));
  }
  if (fields.has("measured")) {
    result.measured = measurement(fields.object("measured"));
  }
  return result;
}

Verdict verdict(const Fields& fields) {
  return {.ranks = fields.whole("ranks", 1),
          .bytes = {fields.whole<std::int64_t>("bytes", 0)},
          .baseline = fields.text("baseline"),
          .candidate = fields.text("candidate"),
          .predicted_speedup = fields.optional_number("predicted_speedup"),
          .measured_speedup = fields.optional_number("measured_speedup"),
          .predicted_winner = fields.optional_text("predicted_winner"),
          .measured_winner = fields.optional_text("measured_winner")};
}

std::optional<Bytes> optional_bytes(const Fields& fields, const char* key) {
  const std::optional<std::int64_t> value = fields.optional_whole<std::int64_t>(key, 0);
  return value ? std::optional(Bytes{*value}) : std::nullopt;
}

Crossover crossover(const Fields& fields) {
  return {.ranks = fields.whole("ranks", 1),
          .baseline = fields.text("baseline"),
          .candidate = fields.text("candidate"),
          .predicted_bytes = optional_bytes(fields, "predicted_bytes"),
          .measured_bytes = optional_bytes(fields, "measured_bytes"),
          .predicted_crossings = fields.optional_whole("predicted_crossings", 0),
          .measured_crossings = fields.optional_whole("measured_crossings", 0),
          .predicted_winner = fields.optional_text("predicted_winner"),
          .measured_winner = fields.optional_text("measured_winner")};
}

Accuracy accuracy(const Fields& fields) {
  return {.algorithm = fields.optional_text("algorithm"),
          .system = fields.optional_text("system"),
          .statistic = fields.optional_text("statistic"),
          .systems = fields.optional_whole<int>("systems", 0),
          .machine_class = fields.optional_text("class"),
          .band = fields.optional_text("band"),
          .model = fields.optional_text("model"),
          .fold = fields.optional_text("fold"),
          .points = fields.whole("points", 0),
          .mape = fields.number("mape"),
          .factor = fields.optional_number("factor"),
          .median_abs_error = fields.number("median_abs_error"),
          .bias = fields.number("bias"),
          .coverage = fields.optional_number("coverage"),
          .width = fields.optional_number("width"),
          .winner_agreement = fields.optional_number("winner_agreement")};
}

std::optional<RangeRecord> optional_range(const Fields& fields, const char* key) {
  if (!fields.has(key)) {
    return std::nullopt;
  }
  const Fields range = fields.object(key);
  return RangeRecord{
      .typical = range.number("typical"), .low = range.number("low"), .high = range.number("high")};
}

OfferRecord offer(const Fields& fields) {
  return {.name = fields.text("name"),
          .source = fields.text("source"),
          .gpus = fields.whole("gpus", 0),
          .per_hour = fields.optional_number("per_hour"),
          .currency = fields.optional_text("currency"),
          .problem = fields.optional_text("problem"),
          .algorithm = fields.optional_text("algorithm"),
          .nics = nic_use(fields),
          .batch = fields.optional_number("batch"),
          .step = optional_range(fields, "step"),
          .compute = optional_range(fields, "compute"),
          .communication = optional_range(fields, "communication"),
          .exposed = optional_range(fields, "exposed"),
          .waiting = optional_range(fields, "waiting"),
          .efficiency = optional_range(fields, "efficiency"),
          .samples_per_second = optional_range(fields, "samples_per_second"),
          .run = optional_range(fields, "run"),
          .cost = optional_range(fields, "cost"),
          .memory = optional_bytes(fields, "memory"),
          .gpu_memory = optional_bytes(fields, "gpu_memory"),
          .pareto = fields.flag("pareto"),
          .recommended = fields.flag("recommended"),
          .bandwidth_factor_for_5_percent = fields.optional_number("bandwidth_factor_for_5_percent"),
          .bandwidth_factor_for_10_percent = fields.optional_number("bandwidth_factor_for_10_percent"),
          .gpus_stop_paying = fields.optional_whole("gpus_stop_paying", 1),
          .ring_from_bytes = optional_bytes(fields, "ring_from_bytes"),
          .ring_from_gpus = fields.optional_whole("ring_from_gpus", 1),
          .best_way = fields.optional_text("best_way"),
          .assumptions = fields.texts("assumptions"),
          .warnings = fields.texts("warnings")};
}

Json parse_json(std::string_view line) {
  try {
    return Json::parse(line);
  } catch (const Json::parse_error& error) {
    throw Error(ErrorKind::bad_input, fmt::format("is not JSON (at byte {})", error.byte));
  } catch (const Json::exception&) {
    throw Error(ErrorKind::bad_input, "holds a number that no double can hold");
  }
}

}  // namespace

std::string to_line(const Record& record) {
  const Json json = std::visit([](const auto& value) { return to_json(value); }, record);
  // Notes may quote foreign programs; a byte that is not UTF-8 must not cost the result.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Record> parse_record(std::string_view line) {
  const Json json = parse_json(line);
  const Fields fields(json, "");
  const std::string kind = fields.text("record");
  if (kind == "run") {
    return run_header(fields);
  }
  if (kind == "point") {
    return point(fields);
  }
  if (kind == "verdict") {
    return verdict(fields);
  }
  if (kind == "crossover") {
    return crossover(fields);
  }
  if (kind == "accuracy") {
    return accuracy(fields);
  }
  if (kind == "offer") {
    return offer(fields);
  }
  return std::nullopt;
}

bool is_json(std::string_view line) { return Json::accept(line); }

std::string timestamp(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace ringside
