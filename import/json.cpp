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
  if (value.is_object() || value.is_array()) {
    for (const json& below : value) {
      if (const auto found = ranks_listed(below)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

/// The program among the texts of the preamble: `all_reduce_perf`.
std::optional<std::string> program_in(const json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    const std::size_t end = text.find("_perf");
    if (end != std::string::npos) {
      const std::size_t start = text.find_last_of(" /", end);
      return text.substr(start == std::string::npos ? 0 : start + 1,
                         end - (start == std::string::npos ? 0 : start + 1));
    }
    return std::nullopt;
  }
  if (value.is_object() || value.is_array()) {
    for (const json& below : value) {
      if (const auto found = program_in(below)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<ImportedTable>> read_nccl_tests_json(std::string_view text, std::string_view name,
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
  const std::optional<int> listed = ranks_listed(preamble);
  const std::optional<std::string> program = program_in(preamble);
  std::optional<Collective> collective = program ? parse_name<Collective>(*program) : std::nullopt;
  const std::string half = placement == Placement::out_of_place ? "out_of_place" : "in_place";

  SkippedRows skipped;
  ImportedTable table{.line = 1};
  std::vector<Bandwidths> bandwidths;
  std::size_t number = 0;
  for (const json& entry : root["results"]) {
    ++number;
    const json timing = entry.is_object() && entry.contains(half) ? entry[half] : json();
    const double bytes = entry.is_object() ? number_at(entry, "size").value_or(0) : 0;
    const double microseconds = timing.is_object() ? number_at(timing, "time").value_or(0) : 0;
    if (!(bytes >= 1) || !(bytes < 1e18) || !(microseconds > 0)) {
      skipped.add(number, "it has no size or no time");
      continue;
    }
    const std::string type = text_at(entry, "type");
    const auto dtype = nccl_dtype(type);
    if (!dtype) {
      skipped.add(number, fmt::format("elements of type {} are none of ringside's", type));
      continue;
    }
    const std::string redop = text_at(entry, "redop");
    const bool all_reduce_like = parse_name<ReduceOp>(redop) && text_at(entry, "root") == "-1";
    if (!collective && (program || !all_reduce_like)) {
      skipped.add(number, program ? fmt::format("the collective of {}_perf is none of ringside's", *program)
                                  : std::string("nothing says which collective it is"));
      continue;
    }
    ImportedRow row{.line = number,
                    .collective = collective,
                    .dtype = dtype,
                    .op = parse_name<ReduceOp>(redop),
                    .bytes = static_cast<std::int64_t>(bytes),
                    .measurement = {.seconds = {microseconds * 1e-6}, .backend = Backend::nccl}};
    if (const auto wrong = number_at(timing, "nwrong"); wrong && *wrong > 0) {
      row.measurement = {.outcome = Outcome::wrong_result,
                         .backend = Backend::nccl,
                         .note = fmt::format("{:.0f} elements were wrong", *wrong)};
    }
    bandwidths.push_back(
        {.algbw = number_at(timing, "alg_bw").value_or(0), .busbw = number_at(timing, "bus_bw").value_or(0)});
    table.rows.push_back(std::move(row));
  }
  if (!collective) {
    collective = Collective::all_reduce;  // The one whose rows have an operation and no root.
  }
  const auto by_bandwidth = ranks_of_bandwidths(*collective, bandwidths);
  for (ImportedRow& row : table.rows) {
    row.collective = collective;
    row.ranks = listed ? listed : by_bandwidth;
  }
  import.format = "nccl-tests JSON";
  if (const std::string version = text_at(root, "nccl_version"); !version.empty()) {
    import.nccl = version;
  }
  for (const std::string& sentence : skipped.sentences()) {
    import.notes.push_back("of the list of results, " + sentence);
  }
  std::vector<ImportedTable> tables;
  if (!table.rows.empty()) {
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace ringside
