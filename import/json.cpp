// What nccl-tests writes with `-J FILE` (src/util.cu of NVIDIA/nccl-tests): its start and `results`:
//   {"size":…,"count":…,"type":"float","redop":"sum","root":"-1","out_of_place":{"time":…,"alg_bw":…,"bus_bw":…,"nwrong":…},
//    "in_place":{…}}

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "import/nccl_tests.hpp"

namespace ringside {
namespace {

using nlohmann::json;

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<double> number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// What `find` finds first in a value or anywhere below it: an optional or a pointer.
template <typename Find>
auto anywhere(const json& value, Find find) -> decltype(find(value)) {
  if (auto found = find(value)) {
    return found;
  }
  for (const json& below : value) {
    if (auto found = value.is_structured() ? anywhere(below, find) : decltype(find(value)){}) {
      return found;
    }
  }
  return {};
}

/// `devices` of a run, one object or name for each rank; null where there is none.
const json* devices_in(const json& preamble) {
  return anywhere(preamble, [](const json& value) -> const json* {
    const bool lists = value.is_object() && value.contains("devices") && value["devices"].is_array();
    return lists && !value["devices"].empty() ? &value["devices"] : nullptr;
  });
}

/// What the first device is called.
std::optional<std::string> gpu_called(const json& device) {
  if (device.is_string()) {
    return device.get<std::string>();
  }
  for (const char* key : {"device_name", "name", "model", "gpu"}) {
    if (const std::string name = device.is_object() ? text_at(device, key) : std::string(); !name.empty()) {
      return name;
    }
  }
  return std::nullopt;
}

/// `2.28.3`, also where it is written as a number (22803) or below `config`.
std::optional<std::string> nccl_version_in(const json& preamble) {
  return anywhere(preamble, [](const json& value) -> std::optional<std::string> {
    if (!value.is_object() || !value.contains("nccl_version")) {
      return std::nullopt;
    }
    const json& version = value["nccl_version"];
    const std::string text = version.is_string() ? version.get<std::string>() : version.dump();
    return contains(text, ".") ? text : nccl_version_of_code(text);
  });
}

/// The first object that lists one entry with a `rank` per rank; how many different ones.
std::optional<int> ranks_listed(const json& preamble) {
  return anywhere(preamble, [](const json& value) -> std::optional<int> {
    std::set<std::int64_t> ranks;
    for (const json& entry : value) {
      if (value.is_array() && entry.is_object() && entry.contains("rank") &&
          entry["rank"].is_number_integer()) {
        ranks.insert(entry["rank"].get<std::int64_t>());
      }
    }
    return ranks.empty() ? std::nullopt : std::optional(static_cast<int>(ranks.size()));
  });
}

/// The program among the texts of the preamble: `all_reduce_perf`.
std::optional<std::string> program_in(const json& preamble) {
  return anywhere(preamble, [](const json& value) -> std::optional<std::string> {
    const std::string text = value.is_string() ? value.get<std::string>() : std::string();
    const std::size_t end = text.find("_perf");
    const std::size_t start = text.find_last_of(" /", end) + 1;  // 0 where there is none.
    return end == std::string::npos ? std::nullopt : std::optional(text.substr(start, end - start));
  });
}

/// What a run's results are read with.
struct JsonRun {
  std::optional<std::string> program;
  std::optional<Collective> collective;  ///< That the program says.
  const char* half;
};

/// One entry of the list; throws the reason why it is left out.
ImportedRow row_of(const json& entry, const JsonRun& run) {
  const json timing = entry.is_object() && entry.contains(run.half) ? entry[run.half] : json();
  const double bytes = entry.is_object() ? number_at(entry, "size").value_or(0) : 0;
  const double microseconds = timing.is_object() ? number_at(timing, "time").value_or(0) : 0;
  if (!(bytes >= 1) || !(bytes < 1e18) || !(microseconds > 0)) {
    throw bad_input("it has no size or no time");
  }
  const std::string type = text_at(entry, "type");
  const auto dtype = nccl_dtype(type);
  if (!dtype) {
    throw bad_input("elements of type {} are none of ringside's", type);
  }
  const auto op = parse_name<ReduceOp>(text_at(entry, "redop"));
  if (!run.collective && run.program) {
    throw bad_input("the collective of {}_perf is none of ringside's", *run.program);
  }
  // The one whose rows have an operation and no root is all_reduce.
  if (!run.collective && (!op || text_at(entry, "root") != "-1")) {
    throw bad_input("its collective is not stated");
  }
  ImportedRow row{.collective = run.collective.value_or(Collective::all_reduce),
                  .dtype = dtype,
                  .op = op,
                  .bytes = static_cast<std::int64_t>(bytes),
                  .measurement = {.seconds = {microseconds * 1e-6}, .backend = Backend::nccl},
                  .bandwidths = {.algbw = number_at(timing, "alg_bw").value_or(0),
                                 .busbw = number_at(timing, "bus_bw").value_or(0)}};
  if (const auto wrong = number_at(timing, "nwrong"); wrong && *wrong > 0) {
    row.measurement = {.outcome = Outcome::wrong_result,
                       .backend = Backend::nccl,
                       .note = fmt::format("{:.0f} elements were wrong", *wrong)};
  }
  return row;
}

}  // namespace

std::optional<ImportedTable> read_nccl_tests_json(std::string_view text, std::string_view name,
                                                  const ImportDefaults& defaults, Import& import) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    throw bad_input("{}: starts like JSON, but is none from some byte on; was it cut?", name);
  }
  if (!root.is_object() || !root.contains("results") || !root["results"].is_array()) {
    return std::nullopt;
  }
  json preamble = root;
  preamble.erase("results");
  JsonRun run{.program = program_in(preamble),
              .collective = {},
              .half = defaults.placement == Placement::out_of_place ? "out_of_place" : "in_place"};
  run.collective = run.program ? collective_of_program(*run.program) : std::nullopt;

  SkippedRows skipped;
  ImportedTable table;
  std::size_t number = 0;
  for (const json& entry : root["results"]) {
    ++number;
    try {
      table.push_back(row_of(entry, run));
      table.back().line = number;
    } catch (const Error& error) {
      skipped.add(number, error.what());
    }
  }
  const json* devices = devices_in(preamble);
  const auto by_rank = ranks_listed(preamble);
  const auto listed =
      by_rank || devices == nullptr ? by_rank : std::optional(static_cast<int>(devices->size()));
  import.gpu = devices == nullptr ? std::nullopt : gpu_called(devices->front());
  for (ImportedRow& row : table) {
    row.ranks = listed;
  }
  const Collective collective = run.collective.value_or(Collective::all_reduce);
  if (ringside::row_of(collective).bus_factor > 0 && !has_root(collective)) {
    add_ranks_of_bandwidths(collective, table);
  }
  import.format = "nccl-tests JSON";
  import.nccl = nccl_version_in(preamble);
  for (const std::string& sentence : skipped.sentences()) {
    import.notes.push_back("of the list of results, " + sentence);
  }
  return table;
}

// NCCL Inspector (NVIDIA/nccl, plugins/profiler/inspector): one object per line and finished call of a rank,
//
//   {"header":{"id":"0xaa498e","rank":1,"n_ranks":4,"nnodes":1},"metadata":{…},"coll_perf":{"coll":"AllGather","coll_sn":42,
//    "coll_msg_size_bytes":16384,"coll_exec_time_us":17,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":3.8,…}}
//
// The size is one rank's argument: of AllGather and ReduceScatter the message is all ranks'. A rank's time
// includes its wait for later ranks, so that of the ranks of one call the fastest counts.
namespace {

/// `AllGather` as `all_gather`.
std::optional<Collective> collective_called(std::string_view name) {
  std::string spelt;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    spelt += std::isupper(letter) != 0 && !spelt.empty() ? "_" : "";
    spelt += static_cast<char>(std::tolower(letter));
  }
  return parse_name<Collective>(spelt);
}

class InspectorReader final : public LogReader {
 public:
  InspectorReader() : LogReader("NCCL Inspector") {}
  void read(const LogLine& line) override {
    if (!contains(line.text, "\"coll_perf\"")) {
      return;
    }
    found_ = true;
    const json record = json::parse(line.text, nullptr, /*allow_exceptions=*/false);
    try {
      read_call(line.number, record.at("header"), record.at("coll_perf"));
    } catch (const json::exception&) {
      skipped_.add(line.number, "the record is cut");
    }
  }

  std::vector<TableRows> finish(Import& import) override {
    tables_.emplace_back();
    for (const auto& [kind, calls] : kinds_) {
      const std::vector<double> times = mapped(calls.seconds, [](const auto& call) { return call.second; });
      const SampleSummary summary = summarize(times);
      tables_.back().push_back({.line = calls.line,
                                .collective = kind.collective,
                                .ranks = kind.ranks,
                                .bytes = kind.bytes,
                                .measurement = {.seconds = {summary.median},
                                                .low = {summary.low},
                                                .high = {summary.high},
                                                .min = {summary.min},
                                                .p95 = {summary.p95},
                                                .iterations = static_cast<int>(times.size()),
                                                .backend = Backend::nccl}});
    }
    if (!kinds_.empty()) {
      notes_.emplace_back(
          "A time is the median over the recorded calls of a size; a rank's wait for later ranks is part of "
          "it.");
    }
    return LogReader::finish(import);
  }

 private:
  struct Kind {
    Collective collective;
    int ranks;
    std::int64_t bytes;
    auto operator<=>(const Kind&) const = default;
  };
  /// A communicator and the number of a call on it.
  using Call = std::pair<std::string, std::int64_t>;
  struct Calls {
    std::size_t line = 0;
    std::map<Call, double> seconds = {};  ///< The fastest rank's.
  };
  void read_call(std::size_t line_number, const json& header, const json& call) {
    const std::string called = call.at("coll").get<std::string>();
    const auto collective = collective_called(called);
    const int ranks = header.at("n_ranks").get<int>();
    const double microseconds = call.at("coll_exec_time_us").get<double>();
    std::int64_t bytes = call.at("coll_msg_size_bytes").get<std::int64_t>();
    if (!collective) {
      skipped_.add(line_number, fmt::format("{} is none of ringside's collectives", called.substr(0, 40)));
    } else if (bytes < 1 || ranks < 1 || !(microseconds > 0) || bytes > (std::int64_t{1} << 45)) {
      skipped_.add(line_number, "it has no size or no time");
    } else {
      const bool of_one_rank =
          *collective == Collective::all_gather || *collective == Collective::reduce_scatter;
      bytes *= of_one_rank ? ranks : 1;
      Calls& calls =
          kinds_.try_emplace({*collective, ranks, bytes}, Calls{.line = line_number}).first->second;
      const Call key{header.value("id", std::string()), call.value("coll_sn", std::int64_t{0})};
      const double seconds = microseconds * 1e-6;
      const auto [found, fresh] = calls.seconds.try_emplace(key, seconds);
      found->second = std::min(found->second, seconds);
    }
  }

  std::map<Kind, Calls> kinds_;
};

}  // namespace

std::unique_ptr<LogReader> inspector_reader() { return std::make_unique<InspectorReader>(); }

}  // namespace ringside
