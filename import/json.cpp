// What nccl-tests writes with `-J FILE` (src/util.cu of NVIDIA/nccl-tests): one object with `results`, a list of
// {"size":…,"count":…,"type":"float","redop":"sum","root":"-1","out_of_place":{"time":…,"alg_bw":…,"bus_bw":…,"nwrong":…},
// "in_place":{…}}, and beside it what was started where.

#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "import/parts.hpp"

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

/// The first object, anywhere below, that lists one entry with a `rank` per rank; how many different ones.
std::optional<int> ranks_listed(const json& value) {
  std::set<std::int64_t> ranks;
  if (value.is_array()) {
    for (const json& entry : value) {
      if (entry.is_object() && entry.contains("rank") && entry["rank"].is_number_integer()) {
        ranks.insert(entry["rank"].get<std::int64_t>());
      }
    }
  }
  if (!ranks.empty()) {
    return static_cast<int>(ranks.size());
  }
  for (const json& below : value) {
    if (const auto found = value.is_structured() ? ranks_listed(below) : std::nullopt) {
      return found;
    }
  }
  return std::nullopt;
}

/// The program among the texts of the preamble: `all_reduce_perf`.
std::optional<std::string> program_in(const json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    const std::size_t end = text.find("_perf");
    const std::size_t start = text.find_last_of(" /", end) + 1;  // 0 where there is none.
    return end == std::string::npos ? std::nullopt : std::optional(text.substr(start, end - start));
  }
  for (const json& below : value) {
    if (const auto found = value.is_structured() ? program_in(below) : std::nullopt) {
      return found;
    }
  }
  return std::nullopt;
}

/// What a run's results are read with.
struct JsonRun {
  std::optional<std::string> program;
  std::optional<Collective> collective;  ///< That the program says.
  const char* half;
};

/// One entry of the list; throws the reason why it is left out.
ImportedRow row_of(const json& entry, const JsonRun& run, Bandwidths& bandwidths) {
  const auto leave_out = [](const std::string& why) { throw Error(ErrorKind::bad_input, why); };
  const json timing = entry.is_object() && entry.contains(run.half) ? entry[run.half] : json();
  const double bytes = entry.is_object() ? number_at(entry, "size").value_or(0) : 0;
  const double microseconds = timing.is_object() ? number_at(timing, "time").value_or(0) : 0;
  if (!(bytes >= 1) || !(bytes < 1e18) || !(microseconds > 0)) {
    leave_out("it has no size or no time");
  }
  const std::string type = text_at(entry, "type");
  const auto dtype = nccl_dtype(type);
  if (!dtype) {
    leave_out(fmt::format("elements of type {} are none of ringside's", type));
  }
  const auto op = parse_name<ReduceOp>(text_at(entry, "redop"));
  if (!run.collective && run.program) {
    leave_out(fmt::format("the collective of {}_perf is none of ringside's", *run.program));
  }
  // The one whose rows have an operation and no root is all_reduce.
  if (!run.collective && (!op || text_at(entry, "root") != "-1")) {
    leave_out("nothing says which collective it is");
  }
  ImportedRow row{.collective = run.collective.value_or(Collective::all_reduce),
                  .dtype = dtype,
                  .op = op,
                  .bytes = static_cast<std::int64_t>(bytes),
                  .measurement = {.seconds = {microseconds * 1e-6}, .backend = Backend::nccl}};
  if (const auto wrong = number_at(timing, "nwrong"); wrong && *wrong > 0) {
    row.measurement = {.outcome = Outcome::wrong_result,
                       .backend = Backend::nccl,
                       .note = fmt::format("{:.0f} elements were wrong", *wrong)};
  }
  bandwidths = {.algbw = number_at(timing, "alg_bw").value_or(0),
                .busbw = number_at(timing, "bus_bw").value_or(0)};
  return row;
}

}  // namespace

std::optional<ImportedTable> read_nccl_tests_json(std::string_view text, std::string_view name,
                                                  Placement placement, Import& import) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: starts like JSON, but is none from some byte on; was it cut?", name));
  }
  if (!root.is_object() || !root.contains("results") || !root["results"].is_array()) {
    return std::nullopt;
  }
  json preamble = root;
  preamble.erase("results");
  JsonRun run{.program = program_in(preamble),
              .collective = {},
              .half = placement == Placement::out_of_place ? "out_of_place" : "in_place"};
  run.collective = run.program ? parse_name<Collective>(*run.program) : std::nullopt;

  SkippedRows skipped;
  ImportedTable table;
  std::vector<Bandwidths> bandwidths;
  std::size_t number = 0;
  for (const json& entry : root["results"]) {
    ++number;
    try {
      Bandwidths printed;
      table.push_back(row_of(entry, run, printed));
      table.back().line = number;
      bandwidths.push_back(printed);
    } catch (const Error& error) {
      skipped.add(number, error.what());
    }
  }
  const auto listed = ranks_listed(preamble);
  for (ImportedRow& row : table) {
    row.ranks = listed;
  }
  add_ranks_of_bandwidths(run.collective.value_or(Collective::all_reduce), bandwidths, table);
  import.format = "nccl-tests JSON";
  if (const std::string version = text_at(root, "nccl_version"); !version.empty()) {
    import.nccl = version;
  }
  for (const std::string& sentence : skipped.sentences()) {
    import.notes.push_back("of the list of results, " + sentence);
  }
  return table;
}

}  // namespace ringside
