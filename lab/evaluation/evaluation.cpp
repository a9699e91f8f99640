// 400 lines: every score goes over the same systems, folds and bands of sizes, said here once.
#include "lab/evaluation/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "lab/evaluation/every_fourth.hpp"
#include "lab/evaluation/traits.hpp"
#include "scenario/yaml/csv.hpp"
#include "schedule/registry.hpp"
#include "sim/nccl/model.hpp"
#include "sim/nccl/native.hpp"

namespace ringside {

namespace {

constexpr std::array<std::string_view, 9> kModelNames = {
    "ringside",    "ringside+known", "ringside+known2",   "ringside+known3", "ringside+every4",
    "line+every4", "nccl_tuner",     "nccl_tuner+known2", "alpha_beta"};
constexpr std::array<std::string_view, 3> kFoldNames = {"held_out", "new_generation", "in_sample"};
constexpr std::string_view kAllBands = "all";

bool is_native_collective(const Point& point) {
  return point.measured && point.measured->outcome == Outcome::ok && point.measured->seconds.value > 0 &&
         point.key.algorithm == kNative && point.key.ranks > 1 && point.key.bytes.value > 0;
}

std::vector<Point> native_points(const EvaluationSystem& system) {
  std::vector<Point> points;
  std::copy_if(system.points.begin(), system.points.end(), std::back_inserter(points), is_native_collective);
  return points;
}

/// The system of a machine's points; the text says why there is none.
std::variant<NcclSystem, std::string> system_of(const EvaluationSystem& system,
                                                const std::vector<Point>& points) {
  if (points.empty()) {
    return std::string("holds no measurement of a collective of NCCL's own that is modelled");
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
    result.interval = Interval<double>{
        .low = prediction.low->value, .typical = prediction.seconds.value, .high = prediction.high->value};
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

/// What an owner would measure first: the largest message, then the ones nearest to 1 KiB and to 1 MiB. Fewer
/// when the table has no such sizes or would have none left.
std::vector<Point> first_measured(const std::vector<Point>& points) {
  std::vector<Point> known;
  const auto largest = std::max_element(
      points.begin(), points.end(), [](const Point& a, const Point& b) { return a.key.bytes < b.key.bytes; });
  if (points.size() < 3 || largest->key.collective != Collective::all_reduce ||
      size_band(static_cast<double>(largest->key.bytes.value)) != SizeBand::large) {
    return known;
  }
  known.push_back(*largest);
  for (const double log2_size : {10.0, 20.0}) {
    const auto off = [&](const Point& point) {
      return std::abs(std::log2(static_cast<double>(point.key.bytes.value)) - log2_size);
    };
    const auto nearest = std::min_element(points.begin(), points.end(),
                                          [&](const Point& a, const Point& b) { return off(a) < off(b); });
    constexpr double kNear = 1.01;
    if (off(*nearest) > kNear || points.size() < known.size() + 3) {
      break;
    }
    known.push_back(*nearest);
  }
  return known;
}

Machine conditioned(const Machine& machine, std::span<const Point> known) {
  Machine result = machine;
  for (const Point& point : known) {
    result.known.push_back({.algorithm = point.key.algorithm,
                            .ranks = point.key.ranks,
                            .bytes = point.key.bytes,
                            .seconds = point.measured->seconds,
                            .bandwidth = {},
                            .latency = {}});
  }
  return result;
}

/// NCCL's table, its logarithmic error at the known points interpolated over the logarithm of the size.
void add_interpolated_tuner(std::vector<EvaluatedPoint>& result, const Machine& machine,
                            const std::vector<Point>& points, std::vector<Point> known, const NcclFit& fit) {
  std::sort(known.begin(), known.end(),
            [](const Point& a, const Point& b) { return a.key.bytes < b.key.bytes; });
  const auto tuner = [&](const Point& point) -> std::optional<Prediction> {
    const auto outcome = predict_nccl_native(machine, point.key, NativeModel::nccl_tuner, fit);
    const auto* prediction = std::get_if<Prediction>(&outcome);
    return prediction != nullptr ? std::optional(*prediction) : std::nullopt;
  };
  std::vector<double> errors;
  std::vector<double> sizes;
  for (const Point& point : known) {
    const std::optional<Prediction> prediction = tuner(point);
    if (!prediction) {
      return;
    }
    errors.push_back(std::log(point.measured->seconds.value / prediction->seconds.value));
    sizes.push_back(std::log2(static_cast<double>(point.key.bytes.value)));
  }
  for (const Point& point : points) {
    const auto same = [&](const Point& other) { return other.key == point.key; };
    std::optional<Prediction> prediction = tuner(point);
    if (!prediction || std::any_of(known.begin(), known.end(), same)) {
      continue;
    }
    const double at = std::clamp((std::log2(static_cast<double>(point.key.bytes.value)) - sizes.front()) /
                                     (sizes.back() - sizes.front()),
                                 0.0, 1.0);
    prediction->seconds.value *= std::exp((1 - at) * errors.front() + at * errors.back());
    result.push_back(evaluated(point, EvaluatedModel::tuner_known2, Fold::held_out, *prediction));
  }
}

/// The fits that a system is evaluated with; without the ones that it is new to.
struct Fits {
  const NcclFit& all;
  const NcclFit& held_out;
  const NcclFit* new_generation = nullptr;
  bool had_a_part = false;
};

std::vector<EvaluatedPoint> points_of(const EvaluationSystem& system, const std::vector<Point>& points,
                                      const Fits& fits) {
  std::vector<EvaluatedPoint> result;
  const Machine& machine = system.machine;
  add_points(result, machine, points, EvaluatedModel::ringside, Fold::held_out, fits.held_out);
  if (fits.new_generation != nullptr) {
    add_points(result, machine, points, EvaluatedModel::ringside, Fold::new_generation, *fits.new_generation);
  }
  if (fits.had_a_part) {
    add_points(result, machine, points, EvaluatedModel::ringside, Fold::in_sample, fits.all);
  }
  const std::vector<Point> known = first_measured(points);
  constexpr std::array kKnown = {EvaluatedModel::ringside_known, EvaluatedModel::ringside_known2,
                                 EvaluatedModel::ringside_known3};
  for (std::size_t count = 1; count <= known.size(); ++count) {
    add_points(result, conditioned(machine, std::span(known).first(count)), points, kKnown.at(count - 1),
               Fold::held_out, fits.held_out);
  }
  const std::vector<Point> fourth = every_fourth(points);
  if (!fourth.empty()) {
    add_points(result, conditioned(machine, fourth), points, EvaluatedModel::ringside_every4, Fold::held_out,
               fits.held_out);
    const std::vector<EvaluatedPoint> lines = on_lines_between(points, fourth);
    result.insert(result.end(), lines.begin(), lines.end());
  }
  add_points(result, machine, points, EvaluatedModel::nccl_tuner, Fold::held_out, fits.all);
  if (known.size() > 1) {
    add_interpolated_tuner(result, machine, points, {known[0], known[1]}, fits.all);
  }
  add_points(result, machine, points, EvaluatedModel::alpha_beta, Fold::held_out, fits.all);
  return result;
}

double median_value(std::vector<double> values) { return summarize(std::move(values)).median; }

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

/// Accuracy over points of one system, model, fold and band; at least one.
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
                     .median_abs_error = median_value(errors),
                     .bias = std::expm1(sum / count)};
  if (!widths.empty()) {
    record.coverage = static_cast<double>(covered) / static_cast<double>(widths.size());
    record.width = median_value(widths);
  }
  return record;
}

std::vector<std::optional<SizeBand>> bands() {
  return {std::nullopt, SizeBand::small, SizeBand::middle, SizeBand::large};
}
std::string band_name(std::optional<SizeBand> band) { return std::string(band ? name(*band) : kAllBands); }

/// What is reported: a model, and whether it had seen the system.
struct Contestant {
  EvaluatedModel model;
  Fold fold;
};
constexpr std::array<Contestant, 11> kContestants = {{{EvaluatedModel::ringside, Fold::held_out},
                                                      {EvaluatedModel::ringside, Fold::new_generation},
                                                      {EvaluatedModel::ringside, Fold::in_sample},
                                                      {EvaluatedModel::ringside_known, Fold::held_out},
                                                      {EvaluatedModel::ringside_known2, Fold::held_out},
                                                      {EvaluatedModel::ringside_known3, Fold::held_out},
                                                      {EvaluatedModel::ringside_every4, Fold::held_out},
                                                      {EvaluatedModel::line_every4, Fold::held_out},
                                                      {EvaluatedModel::nccl_tuner, Fold::held_out},
                                                      {EvaluatedModel::tuner_known2, Fold::held_out},
                                                      {EvaluatedModel::alpha_beta, Fold::held_out}}};

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

bool reduces_all(const EvaluatedSystem& s) { return s.collective == Collective::all_reduce; }
/// What NCCL makes of sends and receives.
bool sends(const EvaluatedSystem& s) {
  return s.collective == Collective::all_to_all || s.collective == Collective::send_recv;
}

constexpr std::array<Part, 13> kParts = {{
    {"node_nvlink",
     [](const EvaluatedSystem& s) { return reduces_all(s) && s.machine_class == MachineClass::node_nvlink; }},
    {"node_pcie",
     [](const EvaluatedSystem& s) { return reduces_all(s) && s.machine_class == MachineClass::node_pcie; }},
    {"node_pcie_peer",
     [](const EvaluatedSystem& s) { return reduces_all(s) && s.kind == NcclKind::pcie_peer; }},
    {"node_pcie_host",
     [](const EvaluatedSystem& s) { return reduces_all(s) && s.kind == NcclKind::pcie_host; }},
    {"multi_node",
     [](const EvaluatedSystem& s) { return reduces_all(s) && s.machine_class == MachineClass::multi_node; }},
    {"multi_node_rdma", [](const EvaluatedSystem& s) { return reduces_all(s) && s.kind == NcclKind::rdma; }},
    {"multi_node_other",
     [](const EvaluatedSystem& s) { return reduces_all(s) && s.kind == NcclKind::other_network; }},
    {"other_collectives_nvlink",
     [](const EvaluatedSystem& s) {
       return !reduces_all(s) && s.machine_class == MachineClass::node_nvlink;
     }},
    {"other_collectives_pcie",
     [](const EvaluatedSystem& s) { return !reduces_all(s) && s.machine_class == MachineClass::node_pcie; }},
    {"other_collectives_multi_node",
     [](const EvaluatedSystem& s) { return !reduces_all(s) && s.machine_class == MachineClass::multi_node; }},
    {"sends_nvlink",
     [](const EvaluatedSystem& s) { return sends(s) && s.machine_class == MachineClass::node_nvlink; }},
    {"sends_pcie",
     [](const EvaluatedSystem& s) { return sends(s) && s.machine_class == MachineClass::node_pcie; }},
    {"sends_multi_node",
     [](const EvaluatedSystem& s) { return sends(s) && s.machine_class == MachineClass::multi_node; }},
}};

/// Medians or means over systems. Coverage is a mean in both: a median of shares says little.
Accuracy summary_of(const std::vector<const Accuracy*>& records, bool median) {
  const auto over = [&](auto member) {
    std::vector<double> values;
    for (const Accuracy* record : records) {
      values.push_back(member(*record));
    }
    return median ? median_value(values) : mean_of(values);
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
    summary.width = median ? median_value(widths) : mean_of(widths);
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
              !system.excluded && part.holds(system) ? find(system.records, question) : nullptr;
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

/// Scores of one system's points; nothing when it has none.
std::optional<IntervalScores> scores_of(const EvaluatedSystem& system, const Contestant& contestant,
                                        std::optional<SizeBand> band) {
  IntervalScores scores;
  int count = 0;
  double winkler = 0;
  std::array<double, kReliabilityLevels.size()> held = {};
  bool has_intervals = false;
  for (const EvaluatedPoint& point : system.points) {
    if (point.model != contestant.model || point.fold != contestant.fold || (band && point.band != *band)) {
      continue;
    }
    const TimeForecast forecast{.predicted = point.predicted, .interval = point.interval};
    ++count;
    scores.crps += crps(forecast, point.measured);
    if (point.interval) {
      has_intervals = true;
      winkler += *winkler_score(forecast, point.measured);
      for (std::size_t i = 0; i < held.size(); ++i) {
        held[i] += *holds(forecast, point.measured, kReliabilityLevels[i]) ? 1 : 0;
      }
    }
  }
  if (count == 0) {
    return std::nullopt;
  }
  scores.crps /= count;
  if (has_intervals) {
    scores.winkler = winkler / count;
    for (std::size_t i = 0; i < held.size(); ++i) {
      scores.held[i] = held[i] / count;
    }
  }
  return scores;
}

std::vector<IntervalScores> all_scores_of(const std::vector<EvaluatedSystem>& systems) {
  std::vector<IntervalScores> result;
  for (const Part& part : kParts) {
    for (const Contestant& contestant : kContestants) {
      for (const std::optional<SizeBand> band : bands()) {
        IntervalScores total{.part = std::string(part.name),
                             .band = band_name(band),
                             .model = contestant.model,
                             .fold = contestant.fold};
        for (const EvaluatedSystem& system : systems) {
          const auto scores =
              !system.excluded && part.holds(system) ? scores_of(system, contestant, band) : std::nullopt;
          if (!scores) {
            continue;
          }
          ++total.systems;
          total.crps += scores->crps;
          if (scores->winkler) {
            total.winkler = total.winkler.value_or(0) + *scores->winkler;
            for (std::size_t i = 0; i < total.held.size(); ++i) {
              total.held[i] = total.held[i].value_or(0) + *scores->held[i];
            }
          }
        }
        if (total.systems == 0) {
          continue;
        }
        total.crps /= total.systems;
        if (total.winkler) {
          *total.winkler /= total.systems;
          for (std::optional<double>& share : total.held) {
            *share /= total.systems;
          }
        }
        result.push_back(std::move(total));
      }
    }
  }
  return result;
}

void compare_with_tuner(AccuracyReport& evaluation) {
  for (const EvaluatedSystem& system : evaluation.systems) {
    const Accuracy* ours = find(system.records, {.model = EvaluatedModel::ringside});
    const Accuracy* tuner = find(system.records, {.model = EvaluatedModel::nccl_tuner});
    if (!system.excluded && ours != nullptr && tuner != nullptr) {
      const int better = ours->mape < tuner->mape ? 1 : 0;
      ++evaluation.compared_with_tuner;
      evaluation.better_than_tuner += better;
      if (system.machine_class == MachineClass::node_pcie) {
        ++evaluation.compared_with_tuner_pcie;
        evaluation.better_than_tuner_pcie += better;
      }
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
    if (system.excluded || !std::holds_alternative<NcclSystem>(system_of(system, points)) ||
        points.front().key.collective != Collective::all_reduce) {
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
    const auto& described = std::get<NcclSystem>(outcome);
    const auto fold_of = [&](const std::string& group) -> const NcclFit* {
      const auto fold = std::find_if(folds.begin(), folds.end(), [&](const NcclStudy::Fold& candidate) {
        return candidate.group == group;
      });
      return fold != folds.end() ? &fold->fit : nullptr;
    };
    const NcclFit* held_out = fold_of(system.group);
    const Fits fits = {.all = all,
                       .held_out = held_out != nullptr ? *held_out : all,
                       .new_generation = fold_of(generation_group(described)),
                       .had_a_part = held_out != nullptr};
    EvaluatedSystem result = {.name = system.name,
                              .source = system.source,
                              .group = system.group,
                              .excluded = system.excluded,
                              .uncertain = system.uncertain,
                              .collective = points.front().key.collective,
                              .machine_class = described.machine_class(),
                              .kind = described.kind(),
                              .traits = traits_of(described),
                              .points = points_of(system, points, fits),
                              .records = {}};
    result.records = records_of(result);
    evaluation.systems.push_back(std::move(result));
  }
  evaluation.summaries = summaries_of(evaluation.systems);
  evaluation.scores = all_scores_of(evaluation.systems);
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
