#include "analysis/evaluation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/statistics.hpp"
#include "scenario/csv.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl_native.hpp"

namespace ringside {

namespace {

constexpr std::array<std::string_view, 4> kModelNames = {"ringside", "ringside+known", "nccl_tuner",
                                                         "alpha_beta"};
constexpr std::array<std::string_view, 2> kFoldNames = {"left_out", "in_sample"};
constexpr std::string_view kAllBands = "all";

bool is_native_all_reduce(const Point& point) {
  return point.measured && point.measured->outcome == Outcome::ok && point.measured->seconds.value > 0 &&
         point.key.algorithm == kNative && point.key.collective == Collective::all_reduce &&
         point.key.ranks > 1 && point.key.bytes.value > 0;
}

std::vector<Point> native_points(const EvaluationSystem& system) {
  std::vector<Point> points;
  std::copy_if(system.points.begin(), system.points.end(), std::back_inserter(points), is_native_all_reduce);
  return points;
}

/// The system of a machine's points; the text says why there is none.
std::variant<NcclSystem, std::string> system_of(const EvaluationSystem& system,
                                                const std::vector<Point>& points) {
  if (points.empty()) {
    return std::string("holds no measurement of NCCL's own all_reduce");
  }
  return nccl_system(system.machine, points.front().key.ranks);
}

EvaluatedPoint evaluated(const Point& point, EvaluatedModel model, Fold fold, const Prediction& prediction) {
  EvaluatedPoint result = {.model = model,
                           .fold = fold,
                           .band = size_band(static_cast<double>(point.key.bytes.value)),
                           .ranks = point.key.ranks,
                           .bytes = point.key.bytes,
                           .measured = point.measured->seconds.value,
                           .predicted = prediction.seconds.value,
                           .interval = {},
                           .limits = prediction.limits};
  if (prediction.low && prediction.high) {
    result.interval = Interval{.low = prediction.low->value, .high = prediction.high->value};
  }
  return result;
}

/// Predictions of all points by one model.
void add_points(std::vector<EvaluatedPoint>& result, const Machine& machine, const std::vector<Point>& points,
                EvaluatedModel model, Fold fold, const NcclFit& fit) {
  const NativeModel native = model == EvaluatedModel::nccl_tuner   ? NativeModel::nccl_tuner
                             : model == EvaluatedModel::alpha_beta ? NativeModel::alpha_beta
                                                                   : NativeModel::ringside;
  for (const Point& point : points) {
    if (is_known(machine, point.key)) {
      continue;
    }
    const auto outcome = predict_nccl_native(machine, point.key, native, fit);
    if (const auto* prediction = std::get_if<Prediction>(&outcome)) {
      result.push_back(evaluated(point, model, fold, *prediction));
    }
  }
}

/// The machine as its owner would state it after one large all_reduce; none when the table has no large message to
/// give away.
std::optional<Machine> told_one_large(const Machine& machine, const std::vector<Point>& points) {
  const auto largest = std::max_element(
      points.begin(), points.end(), [](const Point& a, const Point& b) { return a.key.bytes < b.key.bytes; });
  if (points.size() < 3 || size_band(static_cast<double>(largest->key.bytes.value)) != SizeBand::large) {
    return std::nullopt;
  }
  Machine told = machine;
  told.known.push_back({.algorithm = largest->key.algorithm,
                        .ranks = largest->key.ranks,
                        .bytes = largest->key.bytes,
                        .seconds = largest->measured->seconds,
                        .bandwidth = {},
                        .latency = {}});
  return told;
}

std::vector<EvaluatedPoint> points_of(const EvaluationSystem& system, const std::vector<Point>& points,
                                      const NcclFit& all, const NcclFit& left_out, bool had_a_part) {
  std::vector<EvaluatedPoint> result;
  add_points(result, system.machine, points, EvaluatedModel::ringside, Fold::left_out, left_out);
  if (had_a_part) {
    add_points(result, system.machine, points, EvaluatedModel::ringside, Fold::in_sample, all);
  }
  if (const std::optional<Machine> told = told_one_large(system.machine, points)) {
    add_points(result, *told, points, EvaluatedModel::ringside_known, Fold::left_out, left_out);
  }
  add_points(result, system.machine, points, EvaluatedModel::nccl_tuner, Fold::left_out, all);
  add_points(result, system.machine, points, EvaluatedModel::alpha_beta, Fold::left_out, all);
  return result;
}

double median_of(std::vector<double> values) { return summarize(std::move(values)).median; }

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

/// Of points of one system, model, fold and band; at least one.
Accuracy accuracy_of(const std::vector<const EvaluatedPoint*>& points) {
  std::vector<double> errors;
  std::vector<double> logarithms;
  std::vector<double> widths;
  int covered = 0;
  double sum = 0;
  for (const EvaluatedPoint* point : points) {
    const double ratio = point->predicted / point->measured;
    errors.push_back(std::abs(ratio - 1));
    logarithms.push_back(std::abs(std::log(ratio)));
    sum += std::log(ratio);
    if (const auto& interval = point->interval) {
      widths.push_back(interval->high / interval->low);
      covered += point->in_interval() ? 1 : 0;
    }
  }
  const auto count = static_cast<double>(points.size());
  Accuracy record = {.points = static_cast<int>(points.size()),
                     .mape = mean_of(errors),
                     .factor = std::exp(mean_of(logarithms)),
                     .median_abs_error = median_of(errors),
                     .bias = std::expm1(sum / count)};
  if (!widths.empty()) {
    record.coverage = static_cast<double>(covered) / static_cast<double>(widths.size());
    record.width = median_of(widths);
  }
  return record;
}

std::vector<std::optional<SizeBand>> bands() {
  return {std::nullopt, SizeBand::small, SizeBand::middle, SizeBand::large};
}
std::string band_name(std::optional<SizeBand> band) { return std::string(band ? name(*band) : kAllBands); }

/// What is reported of: a model, and whether it had seen the system.
struct Contestant {
  EvaluatedModel model;
  Fold fold;
};
constexpr std::array<Contestant, 5> kContestants = {{{EvaluatedModel::ringside, Fold::left_out},
                                                     {EvaluatedModel::ringside, Fold::in_sample},
                                                     {EvaluatedModel::ringside_known, Fold::left_out},
                                                     {EvaluatedModel::nccl_tuner, Fold::left_out},
                                                     {EvaluatedModel::alpha_beta, Fold::left_out}}};

std::vector<Accuracy> records_of(const EvaluatedSystem& system) {
  std::vector<Accuracy> records;
  for (const Contestant& contestant : kContestants) {
    for (const std::optional<SizeBand> band : bands()) {
      std::vector<const EvaluatedPoint*> points;
      for (const EvaluatedPoint& point : system.points) {
        if (point.model == contestant.model && point.fold == contestant.fold &&
            (!band || point.band == *band)) {
          points.push_back(&point);
        }
      }
      if (points.empty()) {
        continue;
      }
      Accuracy record = accuracy_of(points);
      record.system = system.name;
      record.machine_class = std::string(name(system.machine_class));
      record.band = band_name(band);
      record.model = std::string(name(contestant.model));
      record.fold = std::string(name(contestant.fold));
      records.push_back(std::move(record));
    }
  }
  return records;
}

/// A set of systems that is reported together.
struct Part {
  std::string_view name;
  bool (*holds)(const EvaluatedSystem&);
};

constexpr std::array<Part, 5> kParts = {{
    {"node_nvlink", [](const EvaluatedSystem& s) { return s.machine_class == MachineClass::node_nvlink; }},
    {"node_pcie", [](const EvaluatedSystem& s) { return s.machine_class == MachineClass::node_pcie; }},
    {"multi_node", [](const EvaluatedSystem& s) { return s.machine_class == MachineClass::multi_node; }},
    {"multi_node_rdma", [](const EvaluatedSystem& s) { return s.rdma; }},
    {"multi_node_other",
     [](const EvaluatedSystem& s) { return s.machine_class == MachineClass::multi_node && !s.rdma; }},
}};

/// Medians or means over systems. Coverage is a mean in both: a median of shares says little.
Accuracy summary_of(const std::vector<const Accuracy*>& records, bool median) {
  const auto over = [&](auto member) {
    std::vector<double> values;
    for (const Accuracy* record : records) {
      values.push_back(member(*record));
    }
    return median ? median_of(values) : mean_of(values);
  };
  Accuracy summary = {.statistic = median ? "median" : "mean", .systems = static_cast<int>(records.size())};
  std::vector<double> coverages;
  std::vector<double> widths;
  for (const Accuracy* record : records) {
    summary.points += record->points;
    if (record->coverage && record->width) {
      coverages.push_back(*record->coverage);
      widths.push_back(*record->width);
    }
  }
  summary.mape = over([](const Accuracy& record) { return record.mape; });
  summary.factor = over([](const Accuracy& record) { return *record.factor; });
  summary.median_abs_error = over([](const Accuracy& record) { return record.median_abs_error; });
  summary.bias = over([](const Accuracy& record) { return record.bias; });
  if (!coverages.empty()) {
    summary.coverage = mean_of(coverages);
    summary.width = median ? median_of(widths) : mean_of(widths);
  }
  return summary;
}

std::vector<Accuracy> summaries_of(const std::vector<EvaluatedSystem>& systems) {
  std::vector<Accuracy> summaries;
  for (const Part& part : kParts) {
    for (const Contestant& contestant : kContestants) {
      for (const std::optional<SizeBand> band : bands()) {
        const AccuracyQuestion question = {.machine_class = {},
                                           .band = band ? name(*band) : kAllBands,
                                           .model = contestant.model,
                                           .fold = contestant.fold};
        std::vector<const Accuracy*> records;
        for (const EvaluatedSystem& system : systems) {
          const Accuracy* record =
              !system.odd && part.holds(system) ? find(system.records, question) : nullptr;
          if (record != nullptr) {
            records.push_back(record);
          }
        }
        if (records.empty()) {
          continue;
        }
        for (const bool median : {true, false}) {
          Accuracy summary = summary_of(records, median);
          summary.machine_class = std::string(part.name);
          summary.band = band_name(band);
          summary.model = std::string(name(contestant.model));
          summary.fold = std::string(name(contestant.fold));
          summaries.push_back(std::move(summary));
        }
      }
    }
  }
  return summaries;
}

void compare_with_tuner(AccuracyReport& evaluation) {
  for (const EvaluatedSystem& system : evaluation.systems) {
    const Accuracy* ours = find(system.records, {.model = EvaluatedModel::ringside});
    const Accuracy* tuner = find(system.records, {.model = EvaluatedModel::nccl_tuner});
    if (!system.odd && ours != nullptr && tuner != nullptr) {
      ++evaluation.compared_with_tuner;
      evaluation.better_than_tuner += ours->mape < tuner->mape ? 1 : 0;
    }
  }
}

}  // namespace

std::string_view name(EvaluatedModel model) { return kModelNames[static_cast<std::size_t>(model)]; }
std::string_view name(Fold fold) { return kFoldNames[static_cast<std::size_t>(fold)]; }

std::vector<std::string> parse_not_evaluated(std::string_view csv, const std::string& origin) {
  const CsvTable table = parse_csv(csv, origin);
  std::vector<std::size_t> columns;
  for (const std::string_view name : {"table", "source", "why"}) {
    const auto column = table.column(name);
    if (!column) {
      throw Error(ErrorKind::bad_input, fmt::format("{}: there is no column `{}`", origin, name));
    }
    columns.push_back(*column);
  }
  std::vector<std::string> sentences;
  for (const CsvRow& row : table.rows) {
    sentences.push_back(
        fmt::format("{} ({}): {}", row.cells[columns[0]], row.cells[columns[1]], row.cells[columns[2]]));
  }
  return sentences;
}

std::vector<NcclTable> fit_tables(std::span<const EvaluationSystem> systems) {
  std::vector<NcclTable> tables;
  for (const EvaluationSystem& system : systems) {
    const std::vector<Point> points = native_points(system);
    if (system.odd || !std::holds_alternative<NcclSystem>(system_of(system, points))) {
      continue;
    }
    NcclTable table = {.name = system.name, .group = system.group, .rows = {}};
    for (const Point& point : points) {
      table.rows.push_back({.system = std::get<NcclSystem>(nccl_system(system.machine, point.key.ranks)),
                            .bytes = static_cast<double>(point.key.bytes.value),
                            .seconds = point.measured->seconds.value});
    }
    tables.push_back(std::move(table));
  }
  std::sort(tables.begin(), tables.end(),
            [](const NcclTable& a, const NcclTable& b) { return a.name < b.name; });
  return tables;
}

AccuracyReport evaluate(std::span<const EvaluationSystem> systems, const NcclFit& all,
                        std::span<const NcclStudy::Fold> folds) {
  AccuracyReport evaluation;
  for (const EvaluationSystem& system : systems) {
    const std::vector<Point> points = native_points(system);
    const auto outcome = system_of(system, points);
    if (const auto* reason = std::get_if<std::string>(&outcome)) {
      evaluation.skipped.push_back(fmt::format("{}: {}", system.name, *reason));
      continue;
    }
    const auto& words = std::get<NcclSystem>(outcome);
    const auto fold = std::find_if(folds.begin(), folds.end(), [&](const NcclStudy::Fold& candidate) {
      return candidate.group == system.group;
    });
    EvaluatedSystem result = {
        .name = system.name,
        .source = system.source,
        .group = system.group,
        .odd = system.odd,
        .weak = system.weak,
        .machine_class = words.machine_class(),
        .rdma = words.nodes > 1 && words.gpus_per_node() >= 2 &&
                (words.network == InterKind::infiniband || words.network == InterKind::roce),
        .points = points_of(system, points, all, fold != folds.end() ? fold->fit : all, fold != folds.end()),
        .records = {}};
    result.records = records_of(result);
    evaluation.systems.push_back(std::move(result));
  }
  evaluation.summaries = summaries_of(evaluation.systems);
  compare_with_tuner(evaluation);
  evaluation.fitted_to_these = hash_of(fit_tables(systems)) == all.data_hash;
  return evaluation;
}

const Accuracy* find(std::span<const Accuracy> records, const AccuracyQuestion& question) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const Accuracy& record) {
    return record.band == question.band && record.model == name(question.model) &&
           record.fold == name(question.fold) &&
           (question.statistic.empty() || record.statistic == question.statistic) &&
           (question.machine_class.empty() || record.machine_class == question.machine_class);
  });
  return found != records.end() ? &*found : nullptr;
}

const EvaluatedPoint* find_point(const AccuracyReport& report, std::string_view system, Bytes bytes,
                                 Fold fold) {
  for (const EvaluatedSystem& candidate : report.systems) {
    if (candidate.name != system) {
      continue;
    }
    const auto point =
        std::find_if(candidate.points.begin(), candidate.points.end(), [&](const EvaluatedPoint& evaluated) {
          return evaluated.model == EvaluatedModel::ringside && evaluated.fold == fold &&
                 evaluated.bytes == bytes;
        });
    return point != candidate.points.end() ? &*point : nullptr;
  }
  return nullptr;
}

}  // namespace ringside
