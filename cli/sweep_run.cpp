#include "cli/sweep_run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/nic_sentences.hpp"
#include "cli/job.hpp"
#include "cli/report.hpp"
#include "common/error.hpp"
#include "plots/charts.hpp"
#include "results/record.hpp"
#include "scenario/keys.hpp"
#include "scenario/override.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

/// One combination: what is asked of which machine.
struct Case {
  std::vector<std::string> values;
  Machine machine;
  std::vector<int> ranks;
  std::vector<Bytes> sizes;
};

struct Winner {
  std::string algorithm;
  double seconds = 0;
  double margin = 1;  ///< The second's time over the winner's.
};

int whole_number(const std::string& key, const std::string& text) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value < 1) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--sweep {}={}: '{}' is not a whole number above zero", key, text, text));
  }
  return value;
}

std::int64_t size_of_message(const std::string& text) {
  try {
    return parse_bytes(text).value;
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_input, fmt::format("--sweep bytes={}: {}", text, error.what()));
  }
}

Case case_of(const SweepRequest& request, const std::vector<std::string>& values) {
  Case result = {.values = values,
                 .machine = request.machine,
                 .ranks = request.scenario.ranks,
                 .sizes = request.scenario.message_sizes};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& key = request.sweeps[i].key;
    if (key == "ranks") {
      result.ranks = {whole_number(key, values[i])};
    } else if (key == "bytes") {
      const auto element = static_cast<std::int64_t>(size_of(request.scenario.dtype));
      result.sizes = {{size_of_message(values[i]) / element * element}};
    } else {
      const std::string origin = origin_of(request.sweeps[i], values[i]);
      result.machine = with_value(result.machine, {.key = key, .value = values[i], .origin = origin});
    }
  }
  return result;
}

/// The values of a combination as people read them: `5 GB/s` instead of `5000000000 B/s`.
std::string readable(const std::string& value) {
  if (value.ends_with(" B/s")) {
    return format(parse_bandwidth(value));
  }
  if (value.ends_with(" B")) {
    return format(parse_bytes(value));
  }
  return value.ends_with(" s") ? format(parse_seconds(value)) : value;
}

class SweepRun {
 public:
  SweepRun(const SweepRequest& request, const CommonOptions& common) : request_(request), common_(common) {
    for (const Sweep& sweep : request.sweeps) {
      header_.push_back(sweep.key);
    }
  }

  void run(const Case& current) {
    for (const int ranks : current.ranks) {
      for (const Bytes bytes : current.sizes) {
        add(current, ranks, bytes, winner_of(current, ranks, bytes));
      }
    }
  }

  void print_table() const {
    std::vector<std::string> header;
    for (const std::string& key : header_) {
      header.push_back(">" + key);
    }
    if (!sweeps("ranks")) {
      header.emplace_back(">ranks");
    }
    if (!sweeps("bytes")) {
      header.emplace_back(">size");
    }
    header.insert(header.end(), {"fastest", ">time", ">second takes"});
    print(table(header, rows_));
    const std::vector<std::string> notes = nic_sentences(nics_);
    if (!notes.empty()) {
      print_line();
    }
    for (const std::string& note : notes) {
      print_line(note);
    }
  }

  const std::vector<std::optional<Winner>>& winners() const { return winners_; }

 private:
  std::optional<Winner> winner_of(const Case& current, int ranks, Bytes bytes) {
    std::optional<Winner> best;
    double second = std::numeric_limits<double>::infinity();
    for (const std::string& algorithm : request_.scenario.algorithms) {
      const PointKey key = {.collective = request_.scenario.collective,
                            .algorithm = algorithm,
                            .ranks = ranks,
                            .bytes = bytes,
                            .dtype = request_.scenario.dtype,
                            .op = request_.scenario.op};
      const auto outcome = predict(current.machine, key, request_.options);
      const auto* prediction = std::get_if<Prediction>(&outcome);
      if (prediction == nullptr) {
        continue;
      }
      print_json(current, {.key = key, .predicted = *prediction});
      if (prediction->nics) {
        nics_.push_back({algorithm, *prediction->nics});
      }
      const double seconds = prediction->seconds.value;
      if (algorithm == kNative) {
        continue;
      }
      if (!best || seconds < best->seconds) {
        second = best ? best->seconds : second;
        best = Winner{.algorithm = algorithm, .seconds = seconds};
      } else {
        second = std::min(second, seconds);
      }
    }
    if (best) {
      best->margin = best->seconds > 0 ? second / best->seconds : 1;
    }
    return best;
  }

  void print_json(const Case& current, const Point& point) const {
    if (common_.format != OutputFormat::json) {
      return;
    }
    nlohmann::ordered_json line = nlohmann::ordered_json::parse(to_line(point));
    for (std::size_t i = 0; i < header_.size(); ++i) {
      line["sweep"][header_[i]] = current.values[i];
    }
    print_line(line.dump());
  }

  bool sweeps(std::string_view key) const {
    return std::find(header_.begin(), header_.end(), key) != header_.end();
  }

  void add(const Case& current, int ranks, Bytes bytes, const std::optional<Winner>& winner) {
    std::vector<std::string> row;
    for (const std::string& value : current.values) {
      row.push_back(readable(value));
    }
    if (!sweeps("ranks")) {
      row.push_back(std::to_string(ranks));
    }
    if (!sweeps("bytes")) {
      row.push_back(format(bytes));
    }
    if (winner) {
      row.insert(row.end(), {winner->algorithm, format(Seconds{winner->seconds}),
                             std::isfinite(winner->margin) ? fmt::format("{:.2f}×", winner->margin) : "–"});
    } else {
      row.insert(row.end(), {"–", "–", "–"});
    }
    rows_.push_back(std::move(row));
    winners_.push_back(winner);
  }

  const SweepRequest& request_;
  const CommonOptions& common_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::optional<Winner>> winners_;
  std::vector<AlgorithmNics> nics_;
};

/// A map needs two axes: the last two sweeps, or the only one and the scenario's sizes, with one value of everything else.
void draw_map(const SweepRequest& request, const SweepRun& run, const CommonOptions& common,
              Progress& progress) {
  const bool sweeps_ranks = std::any_of(request.sweeps.begin(), request.sweeps.end(),
                                        [](const Sweep& sweep) { return sweep.key == "ranks"; });
  const bool sweeps_sizes = std::any_of(request.sweeps.begin(), request.sweeps.end(),
                                        [](const Sweep& sweep) { return sweep.key == "bytes"; });
  struct Axis {
    std::string key;
    std::vector<std::string> values;
  };
  std::vector<Axis> axes;
  const auto add_axis = [&](const std::string& key, std::vector<std::string> values) {
    if (values.size() > 1) {
      axes.push_back({key, std::move(values)});
    }
  };
  for (const Sweep& sweep : request.sweeps) {
    std::vector<std::string> values;
    std::transform(sweep.values.begin(), sweep.values.end(), std::back_inserter(values), readable);
    add_axis(sweep.key == "bytes" ? "message size" : sweep.key, std::move(values));
  }
  if (!sweeps_ranks) {
    std::vector<std::string> values;
    for (const int ranks : request.scenario.ranks) {
      values.push_back(std::to_string(ranks));
    }
    add_axis("ranks", std::move(values));
  }
  if (!sweeps_sizes) {
    std::vector<std::string> values;
    for (const Bytes bytes : request.scenario.message_sizes) {
      values.push_back(format(bytes));
    }
    add_axis("message size", std::move(values));
  }
  if (axes.size() != 2) {
    progress.note(
        "A winner map is drawn where exactly two keys take several values; this run has another number.");
    return;
  }
  const std::vector<std::string>& algorithms = request.scenario.algorithms;
  plots::LabelledMatrix matrix = {.name = "winner_map",
                                  .subtitle = "fastest algorithm, predicted",
                                  .row_title = axes[0].key,
                                  .column_title = axes[1].key,
                                  .rows = axes[0].values,
                                  .columns = axes[1].values,
                                  .values = {},
                                  .value_title = {},
                                  .label = {},
                                  .categories = algorithms};
  const std::size_t columns = axes[1].values.size();
  for (std::size_t r = 0; r < axes[0].values.size(); ++r) {
    std::vector<double> row;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::optional<Winner>& winner = run.winners().at(r * columns + c);
      const auto found =
          winner ? std::find(algorithms.begin(), algorithms.end(), winner->algorithm) : algorithms.end();
      row.push_back(found == algorithms.end() ? std::numeric_limits<double>::quiet_NaN()
                                              : static_cast<double>(found - algorithms.begin()));
    }
    matrix.values.push_back(std::move(row));
  }
  const plots::ChartContext context = {.title = request.scenario.name,
                                       .machine = request.machine.name,
                                       .source = common.command_line,
                                       .output_directory = request.directory};
  draw_charts(plots::heat_map(matrix, context), context, common, progress);
}

}  // namespace

void run_sweeps(const SweepRequest& request, const CommonOptions& common, Progress& progress) {
  std::vector<std::string> known = {"ranks", "bytes"};
  for (const KeyDescription& key : machine_keys()) {
    known.push_back(key.path);
  }
  require_known_keys(request.sweeps, known, "a machine (docs/scenario.md), nor `ranks` or `bytes`");
  SweepRun run(request, common);
  for (const std::vector<std::string>& values : combinations(request.sweeps)) {
    run.run(case_of(request, values));
  }
  if (common.format == OutputFormat::table) {
    run.print_table();
  }
  if (request.charts) {
    draw_map(request, run, common, progress);
  }
}

}  // namespace ringside::cli
