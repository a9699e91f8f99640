#include "lab/studies/ledger.hpp"

#include <algorithm>
#include <map>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/accuracy.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "lab/evaluation/fnv1a.hpp"
#include "lab/studies/evaluate.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "scenario/yaml/csv.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/native.hpp"
#include "study/inputs/invocation.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::lab {

namespace fs = std::filesystem;
using study::Observer;
using study::points_of;
using study::read_measured;
using study::read_scenario;

namespace {

constexpr std::string_view kHeader =
    "scenario,hash,ranks,bytes,predicted_seconds,low_seconds,high_seconds,version,parameters";

/// What a prediction follows from: the question and the machine, not measurements or remarks.
std::string hash_of(const Scenario& scenario) {
  Fnv1a hash;
  hash.add(std::string(name(scenario.collective)));
  hash.add(std::string(name(scenario.dtype)));
  for (const PointKey& key : points_of(scenario)) {
    hash.add(key.algorithm);
    hash.add(static_cast<std::uint64_t>(key.ranks));
    hash.add(static_cast<std::uint64_t>(key.bytes.value));
  }
  hash.add(to_yaml(*scenario.machine));
  return hash.digits();
}

std::string csv_cell(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' ? "\"\"" : std::string(1, c);
  }
  return result + "\"";
}

/// Rows of one scenario; the text says why there are none.
std::variant<std::vector<std::string>, std::string> frozen_rows(const std::string& file,
                                                                const Scenario& scenario) {
  if (!scenario.machine) {
    return std::string("names no machine");
  }
  std::vector<std::string> rows;
  std::string reason = "native is not among its algorithms";
  for (const PointKey& key : points_of(scenario)) {
    if (key.algorithm != kNative || is_known(*scenario.machine, key)) {
      continue;
    }
    const auto outcome = predict_nccl_native(*scenario.machine, key, NativeModel::ringside);
    if (const auto* why = std::get_if<std::string>(&outcome)) {
      reason = *why;
      continue;
    }
    const auto& prediction = std::get<Prediction>(outcome);
    rows.push_back(fmt::format("{},{},{},{},{:.6g},{:.6g},{:.6g},{},{}\n", csv_cell(file), hash_of(scenario),
                               key.ranks, key.bytes.value, prediction.seconds.value, prediction.low->value,
                               prediction.high->value, RINGSIDE_VERSION, nccl_fit().data_hash));
  }
  return rows.empty() ? std::variant<std::vector<std::string>, std::string>(reason) : rows;
}

struct FrozenPoint {
  std::string scenario;
  std::string hash;
  Point point;
  std::string line;  ///< As it stands in the ledger.
};

template <typename N>
N number(const CsvRow& row, std::size_t column, const fs::path& ledger) {
  const auto value = parse_number<N>(row.cells[column]);
  if (!value || !(*value > 0)) {
    throw Error(ErrorKind::bad_input, fmt::format("{}:{}: '{}' is not a number above zero", ledger.string(),
                                                  row.line, row.cells[column]));
  }
  return *value;
}

std::vector<FrozenPoint> read_ledger(const fs::path& ledger) {
  const CsvTable table = parse_csv(read_text(ledger), ledger.string());
  if (fmt::format("{}", fmt::join(table.header, ",")) != kHeader) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: is no ledger of `ringside-lab freeze`, whose first line is `{}`",
                            ledger.string(), kHeader));
  }
  std::vector<FrozenPoint> points;
  for (const CsvRow& row : table.rows) {
    FrozenPoint frozen = {.scenario = row.cells[0], .hash = row.cells[1], .point = {}, .line = {}};
    frozen.point.key.algorithm = std::string(kNative);
    frozen.point.key.ranks = number<int>(row, 2, ledger);
    frozen.point.key.bytes = {number<std::int64_t>(row, 3, ledger)};
    frozen.point.predicted = Prediction{.seconds = {number<double>(row, 4, ledger)},
                                        .low = Seconds{number<double>(row, 5, ledger)},
                                        .high = Seconds{number<double>(row, 6, ledger)}};
    std::vector<std::string> cells = row.cells;
    cells[0] = csv_cell(cells[0]);
    frozen.line = fmt::format("{}", fmt::join(cells, ","));
    points.push_back(std::move(frozen));
  }
  return points;
}

/// The measured times of the scenario that a ledger names, which must still be the one that was predicted.
std::vector<Point> measured_of(const FrozenPoint& frozen, const LedgerRequest& request,
                               const Observer& observer) {
  const fs::path file = request.directory / frozen.scenario;
  const Scenario scenario = read_scenario(file);
  const std::string now = scenario.machine ? hash_of(scenario) : "none";
  if (now != frozen.hash) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{}: has changed since it was predicted in {} (hash {}, now {}): its ranks, sizes or "
                    "machine; put them back, or freeze it again before its times are read",
                    file.string(), request.ledger.string(), frozen.hash, now));
  }
  if (!scenario.measured) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: has no `measured:` yet, with which {} could be scored",
                                                  file.string(), request.ledger.string()));
  }
  return read_measured(scenario, observer);
}

const Measurement* time_of(const std::vector<Point>& measured, const PointKey& key) {
  const auto found = std::find_if(measured.begin(), measured.end(), [&](const Point& point) {
    return point.measured && point.measured->outcome == Outcome::ok && point.key.algorithm == kNative &&
           point.key.ranks == key.ranks && point.key.bytes == key.bytes;
  });
  return found != measured.end() ? &*found->measured : nullptr;
}

}  // namespace

Frozen freeze(const LedgerRequest& request, const Observer& observer) {
  if (fs::exists(request.ledger)) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: exists; what is frozen stays as it is, so write to another file",
                            request.ledger.string()));
  }
  observer.stage("predicting");
  Frozen frozen;
  std::string text = fmt::format("{}\n", kHeader);
  for (const fs::path& file : scenario_files_below(request.directory)) {
    for (const Scenario& scenario : load_scenarios(file, study::known_names())) {
      const std::string named = fs::relative(file, request.directory).generic_string() +
                                (scenario.is_system ? "#" + scenario.name : "");
      const auto rows = frozen_rows(named, scenario);
      if (const auto* reason = std::get_if<std::string>(&rows)) {
        frozen.skipped.push_back(fmt::format("{}: {}", named, *reason));
        continue;
      }
      ++frozen.scenarios;
      for (const std::string& row : std::get<std::vector<std::string>>(rows)) {
        ++frozen.points;
        text += row;
      }
    }
  }
  observer.finished();
  if (frozen.points == 0) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{}: no scenario below it has a prediction of native{}{}", request.directory.string(),
                    frozen.skipped.empty() ? "" : ": ", fmt::join(frozen.skipped, "; ")));
  }
  write_file(request.ledger, text);
  return frozen;
}

LedgerScores score(const LedgerRequest& request, const Observer& observer) {
  LedgerScores scores;
  scores.file = request.ledger;
  scores.file += ".scored.csv";
  if (fs::exists(scores.file)) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: was scored before, in {}; a frozen prediction is scored once",
                            request.ledger.string(), scores.file.string()));
  }
  std::vector<FrozenPoint> frozen = read_ledger(request.ledger);
  std::map<std::string, std::vector<Point>> measured;
  for (const FrozenPoint& point : frozen) {
    if (!measured.contains(point.scenario)) {
      measured[point.scenario] = measured_of(point, request, observer);
    }
  }
  std::string text = fmt::format("{},measured_seconds\n", kHeader);
  std::vector<std::string> order;
  std::map<std::string, std::vector<Point>> compared;
  std::vector<Point> all;
  for (FrozenPoint& row : frozen) {
    const Measurement* time = time_of(measured[row.scenario], row.point.key);
    text +=
        fmt::format("{},{}\n", row.line, time != nullptr ? fmt::format("{:.6g}", time->seconds.value) : "");
    if (time == nullptr) {
      ++scores.not_measured;
      continue;
    }
    row.point.measured = *time;
    if (compared[row.scenario].empty()) {
      order.push_back(row.scenario);
    }
    compared[row.scenario].push_back(row.point);
    all.push_back(row.point);
  }
  if (all.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: none of its points was measured; nothing is scored",
                                                  request.ledger.string()));
  }
  for (const std::string& scenario : order) {
    Accuracy record = accuracy(compared[scenario]).back();
    record.system = scenario;
    scores.scenarios.push_back(std::move(record));
  }
  scores.all = accuracy(all).back();
  write_file(scores.file, text);
  return scores;
}

}  // namespace ringside::lab
