#include "study/sweep.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/comparison/point_sentences.hpp"
#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "common/parallel.hpp"
#include "common/text.hpp"
#include "results/codec/record.hpp"
#include "results/journal.hpp"
#include "scenario/keys.hpp"
#include "scenario/machine/named_machine.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::study {
namespace {

/// One combination: what is asked of which machine.
struct Case {
  std::vector<std::string> values;
  Machine machine;
  std::vector<int> ranks;
  std::vector<Bytes> sizes;
};

Case case_of(const SweepStudy& study, const std::vector<std::string>& values) {
  Case result = {.values = values,
                 .machine = study.machine,
                 .ranks = study.scenario.ranks,
                 .sizes = study.scenario.message_sizes};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& key = study.sweeps[i].key;
    if (key == "ranks") {
      result.ranks = {whole_number(key, values[i])};
    } else if (key == "ranks_per_node") {
      const int per_node = whole_number(key, values[i]);
      if (per_node > study.machine.gpus_per_node.value_or(0)) {
        throw bad_key("sweep {}={}: a node of this machine has {} GPUs", key, values[i],
                      study.machine.gpus_per_node.value_or(0));
      }
      result.machine.ranks_per_node = per_node;
    } else if (key == "bytes") {
      result.sizes = {size_of_message(values[i], study.sweeps[i].range, study.scenario.dtype)};
    } else {
      const std::string origin = origin_of(study.sweeps[i], values[i]);
      result.machine = value_of_key(
          [&] { return with_value(result.machine, {.key = key, .value = values[i], .origin = origin}); });
    }
  }
  if (study.ranks_follow()) {
    const int gpus = *result.machine.gpus_per_node;
    result.ranks = {result.machine.nodes * result.machine.ranks_per_node.value_or(gpus)};
  }
  return result;
}

/// The fastest algorithm of ours.
std::optional<Winner> winner_of(const std::vector<Point>& points) {
  const std::vector<Cell> all = cells(points);
  if (all.empty()) {
    return std::nullopt;
  }
  const std::vector<Contender> ours = ranking(all.front(), Side::predicted);
  if (ours.empty()) {
    return std::nullopt;
  }
  Winner best{.algorithm = ours.front().algorithm, .seconds = {ours.front().timing.typical}};
  if (ours.size() > 1) {
    best.margin = ours[1].timing.typical / ours.front().timing.typical;
    if (!fastest(all.front(), Side::predicted)) {
      best.tied_with = ours[1].algorithm;
    }
  }
  return best;
}

/// One place of a case.
struct Task {
  const Case* current = nullptr;
  int ranks = 0;
  Bytes bytes;
};

SweepCell cell_of(const Task& task, const Scenario& scenario, const PredictOptions& options) {
  SweepCell cell{.values = task.current->values, .ranks = task.ranks, .bytes = task.bytes};
  for (const std::string& algorithm : scenario.algorithms) {
    const PointKey key = key_of(scenario, algorithm, task.ranks, task.bytes);
    const auto outcome = ringside::predict(task.current->machine, key, options);
    if (const auto* prediction = std::get_if<Prediction>(&outcome)) {
      cell.points.push_back({.key = key, .predicted = *prediction, .measured = {}});
    }
  }
  cell.winner = winner_of(cell.points);
  return cell;
}

std::vector<SweepCell> cells_of(const std::vector<Task>& tasks, const Scenario& scenario,
                                const PredictOptions& options) {
  std::vector<SweepCell> cells(tasks.size());
  // Those that take longest begin first, so that no core waits long for the last one.
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return tasks[a].ranks > tasks[b].ranks; });
  for_each_in_parallel(tasks.size(),
                       [&](std::size_t n) { cells[order[n]] = cell_of(tasks[order[n]], scenario, options); });
  return cells;
}

void require_use_of_known(const SweepStudy& study, const NativeChoices& choices) {
  const auto takes_it = [](const SweepCell& cell) {
    return std::ranges::any_of(cell.points, [](const Point& point) {
      return point.predicted->source == CostSource::spec_plus_known;
    });
  };
  if (!choices.known.empty() && std::ranges::none_of(study.cells, takes_it)) {
    throw bad_key("known {}: affects none of the swept predictions", choices.known.front());
  }
}

/// Whether some prediction differs where nothing but this sweep's value does.
bool has_effect(const SweepStudy& study, std::size_t sweep) {
  std::map<std::vector<std::string>, double> first;
  for (const SweepCell& cell : study.cells) {
    for (const Point& point : cell.points) {
      std::vector<std::string> others = cell.values;
      others[sweep] = fmt::format("{} {} {}", point.key.algorithm, cell.ranks, cell.bytes.value);
      const double seconds = point.predicted->seconds.value;
      if (first.try_emplace(std::move(others), seconds).first->second != seconds) {
        return true;
      }
    }
  }
  return false;
}

void require_effect(const SweepStudy& study) {
  for (std::size_t i = 0; i < study.sweeps.size() && !study.ranks_follow(); ++i) {
    const std::string& key = study.sweeps[i].key;
    if (study.sweeps[i].values.size() > 1 && key != "ranks" && key != "bytes" && !has_effect(study, i)) {
      throw bad_key("sweep {}: changes no prediction here", key);
    }
  }
}

void add_axis(std::vector<WinnerMap::Axis>& axes, const std::string& key, std::vector<std::string> values) {
  if (values.size() > 1) {
    axes.push_back({key, std::move(values)});
  }
}

/// A file for this sweep's keys; one of another scenario or machine in its place is kept.
std::filesystem::path write_records(const SweepStudy& study, const Invocation& invocation,
                                    const Observer& observer) {
  std::string name = "sweep";
  for (const Sweep& sweep : study.sweeps) {
    name += "_" + sweep.key;
  }
  std::filesystem::path file = study.directory / (name + ".jsonl");
  const RunHeader header = run_header(invocation, study.scenario, study.machine);
  if (const auto kept = keep_of_others(file, header)) {
    observer.note(fmt::format("An earlier sweep, of something else, is kept in {}.", kept->string()));
  }
  std::string text = to_line(header) + "\n";
  for (const std::string& line : records(study)) {
    text += line + "\n";
  }
  write_file(file, text);
  return file;
}

}  // namespace

bool SweepStudy::sweeps_key(std::string_view key) const {
  return std::ranges::any_of(sweeps, [&](const Sweep& sweep) { return sweep.key == key; });
}

bool SweepStudy::ranks_follow() const {
  return (sweeps_key("nodes") || sweeps_key("ranks_per_node")) && !sweeps_key("ranks") &&
         machine.gpus_per_node.has_value();
}

SweepStudy sweep(const std::vector<std::string>& sweeps, const PredictRequest& request,
                 const Invocation& invocation, const Observer& observer) {
  PreparedPrediction prepared = prepare(request, invocation, observer);
  SweepStudy study{.scenario = std::move(prepared.scenario),
                   .machine = std::move(prepared.machine),
                   .directory = prepared.directory,
                   .unwritable = prepared.unwritable,
                   .sweeps = mapped(sweeps, parse_sweep)};
  std::vector<std::string> known = {"ranks", "ranks_per_node", "bytes"};
  for (const KeyDescription& key : machine_keys()) {
    known.push_back(key.path);
  }
  require_known_keys(study.sweeps, known,
                     "a machine (docs/scenario.md), nor `ranks`, `ranks_per_node` or `bytes`");
  if (!study.sweeps_key("ranks") && !study.ranks_follow()) {
    require_use_of_nodes(study.scenario);
  }

  std::vector<AlgorithmNics> nics;
  // What one of them cannot be is said before any is predicted.
  const std::vector<Case> cases =
      mapped(combinations(study.sweeps), [&](const auto& values) { return case_of(study, values); });
  std::vector<Task> tasks;
  for (const Case& current : cases) {
    for (const int ranks : current.ranks) {
      for (const Bytes bytes : current.sizes) {
        tasks.push_back({.current = &current, .ranks = ranks, .bytes = bytes});
      }
    }
  }
  study.cells = cells_of(tasks, study.scenario, prepared.options);
  for (const SweepCell& cell : study.cells) {
    for (const Point& point : cell.points) {
      if (point.predicted->nics) {
        nics.push_back({point.key.algorithm, *point.predicted->nics});
      }
    }
  }
  study.sentences = nic_sentences(nics);
  require_use_of_known(study, request.native);
  require_effect(study);
  if (!study.unwritable) {
    try {
      study.file = write_records(study, invocation, observer);
    } catch (const Error& error) {
      study.unwritable = error;
    }
  }
  return study;
}

std::vector<const SweepCell*> shown_cells(const SweepStudy& study) {
  constexpr std::size_t kFew = 12;
  std::vector<const SweepCell*> shown;
  std::map<std::pair<int, Bytes>, std::vector<const SweepCell*>> series;
  for (const SweepCell& cell : study.cells) {
    const bool one_series = study.sweeps_key("ranks") || study.ranks_follow();
    series[{one_series ? 0 : cell.ranks, study.sweeps_key("bytes") ? Bytes{0} : cell.bytes}].push_back(&cell);
  }
  const auto winner = [](const SweepCell& cell) {
    return cell.winner ? cell.winner->algorithm : std::string();
  };
  for (const auto& [place, cells] : series) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool changes = (i > 0 && winner(*cells[i]) != winner(*cells[i - 1])) ||
                           (i + 1 < cells.size() && winner(*cells[i]) != winner(*cells[i + 1]));
      if (study.cells.size() <= kFew || i == 0 || i + 1 == cells.size() || changes) {
        shown.push_back(cells[i]);
      }
    }
  }
  std::ranges::sort(shown);  // As they stand in the study.
  return shown;
}

std::optional<SweepLines> sweep_lines(const SweepStudy& study) {
  const Sweep* over = nullptr;
  for (const Sweep& sweep : study.sweeps) {
    if (sweep.values.size() > 1) {
      if (over != nullptr) {
        return std::nullopt;
      }
      over = &sweep;
    }
  }
  const bool one_number =
      study.scenario.ranks.size() == 1 || study.sweeps_key("ranks") || study.ranks_follow();
  if (over == nullptr || !one_number) {
    return std::nullopt;
  }
  SweepLines lines;
  lines.key = over->key == "bytes" ? "message size" : over->key;
  for (const std::string& algorithm : study.scenario.algorithms) {
    lines.lines.push_back({.algorithm = algorithm, .seconds = {}});
  }
  const bool sizes = study.sweeps_key("bytes");
  const Bytes largest = std::ranges::max(study.scenario.message_sizes);
  const auto column = static_cast<std::size_t>(over - study.sweeps.data());
  for (const SweepCell& cell : study.cells) {
    std::string_view text = cell.values[column];
    const auto value = take_number<double>(text);
    if (!value || !(*value > 0)) {
      return std::nullopt;
    }
    if (!sizes && cell.bytes != largest) {
      continue;
    }
    lines.values.push_back(*value);
    lines.labels.push_back(readable(cell.values[column]));
    for (SweepLines::Line& line : lines.lines) {
      const auto point = std::ranges::find_if(
          cell.points, [&](const Point& candidate) { return candidate.key.algorithm == line.algorithm; });
      line.seconds.push_back(point == cell.points.end() ? std::nullopt
                                                        : std::optional(point->predicted->seconds.value));
    }
    lines.ranks = over->key == "ranks" || study.ranks_follow() ? 0 : cell.ranks;
    lines.bytes = sizes ? std::nullopt : std::optional(cell.bytes);
  }
  return lines;
}

std::vector<std::string> records(const SweepStudy& study) {
  std::vector<std::string> lines;
  for (const SweepCell& cell : study.cells) {
    for (const Point& point : cell.points) {
      nlohmann::ordered_json line = nlohmann::ordered_json::parse(to_line(point));
      for (std::size_t i = 0; i < study.sweeps.size(); ++i) {
        line["sweep"][study.sweeps[i].key] = cell.values[i];
      }
      lines.push_back(
          with_directions_spelt(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)));
    }
  }
  return lines;
}

std::optional<WinnerMap> winner_map(const SweepStudy& study) {
  std::vector<WinnerMap::Axis> axes;
  for (const Sweep& sweep : study.sweeps) {
    add_axis(axes, sweep.key == "bytes" ? "message size" : sweep.key, mapped(sweep.values, readable));
  }
  if (!study.sweeps_key("ranks") && !study.ranks_follow()) {
    add_axis(axes, "ranks", mapped(study.scenario.ranks, [](int ranks) { return std::to_string(ranks); }));
  }
  if (!study.sweeps_key("bytes")) {
    add_axis(axes, "message size",
             mapped(study.scenario.message_sizes, [](Bytes bytes) { return format(bytes); }));
  }
  if (axes.size() != 2) {
    return std::nullopt;
  }
  WinnerMap map{.rows = axes[0], .columns = axes[1], .winners = {}};
  auto cell = study.cells.begin();
  for (std::size_t row = 0; row < map.rows.values.size(); ++row) {
    map.winners.emplace_back();
    for (std::size_t column = 0; column < map.columns.values.size(); ++column) {
      map.winners.back().push_back((cell++)->winner);
    }
  }
  return map;
}

}  // namespace ringside::study
