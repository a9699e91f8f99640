#include "cli/reports/report.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "analysis/comparison/policy_sentences.hpp"
#include "analysis/fitted.hpp"
#include "common/numbers.hpp"
#include "plots/drawing/gnuplot.hpp"
#include "results/codec/record.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

template <typename T, typename Format>
std::string or_absent(const std::optional<T>& value, Format format_value) {
  return value ? format_value(*value) : std::string(kAbsent);
}

std::string measured_text(const std::optional<Measurement>& measured) {
  if (!measured) {
    return std::string(kAbsent);
  }
  return measured->outcome == Outcome::ok ? format(measured->seconds) : std::string(name(measured->outcome));
}

bool has_predicted_interval(const Point& point) {
  return point.predicted && point.predicted->low && point.predicted->high;
}

/// `9.1–12.4 ms`, or with both units where they differ.
std::string interval_text(const std::optional<Prediction>& predicted) {
  if (!predicted || !predicted->low || !predicted->high) {
    return std::string(kAbsent);
  }
  const std::string high = format(*predicted->high);
  const std::string unit = high.substr(high.find(' '));
  std::string low = format(*predicted->low);
  if (low.ends_with(unit)) {
    low.resize(low.size() - unit.size());
  }
  return fmt::format("{}–{}", low, high);
}

/// What stands behind a row: that it is the fastest, and that its two times are of different execution policies.
std::string remark(const ComparisonRow& row, std::string_view fastest) {
  std::string text(row.fastest ? fastest : "");
  if (policies_differ({.key = row.key, .predicted = row.predicted, .measured = row.measured})) {
    text += text.empty() ? "other policy" : ", other policy";
  }
  return text;
}

void print_comparison(const std::vector<Point>& points) {
  const bool any_measured = std::any_of(points.begin(), points.end(),
                                        [](const Point& point) { return point.measured.has_value(); });
  const bool any_predicted = std::any_of(points.begin(), points.end(),
                                         [](const Point& point) { return point.predicted.has_value(); });
  const bool any_interval = std::any_of(points.begin(), points.end(), has_predicted_interval);
  std::vector<std::string> header = {">ranks", ">size", "algorithm"};
  if (any_predicted) {
    header.emplace_back(">predicted");
    if (any_interval) {
      header.emplace_back(">90 % interval");
    }
    header.emplace_back(">busbw");
  }
  if (any_measured) {
    header.insert(header.end(), {">measured", ">busbw"});
  }
  if (any_predicted && any_measured) {
    header.emplace_back(">predicted/measured");
  }
  header.emplace_back("");
  const bool any_native = std::any_of(points.begin(), points.end(),
                                      [](const Point& point) { return point.key.algorithm == kNative; });
  const std::string_view fastest = any_native ? "fastest of ours" : "fastest";
  const auto rate = [](BytesPerSecond value) { return format(value); };
  std::vector<std::vector<std::string>> rows;
  for (const ComparisonRow& row : comparison(points)) {
    if (row.first_of_group && !rows.empty()) {
      rows.emplace_back(header.size());
    }
    std::vector<std::string> cells = {row.first_of_group ? std::to_string(row.key.ranks) : "",
                                      row.first_of_group ? format(row.key.bytes) : "", row.key.algorithm};
    if (any_predicted) {
      cells.push_back(or_absent(row.predicted, [](const Prediction& p) { return format(p.seconds); }));
      if (any_interval) {
        cells.push_back(interval_text(row.predicted));
      }
      cells.push_back(or_absent(row.predicted_busbw, rate));
    }
    if (any_measured) {
      cells.push_back(measured_text(row.measured));
      cells.push_back(or_absent(row.measured_busbw, rate));
    }
    if (any_predicted && any_measured) {
      cells.push_back(or_absent(row.ratio, [](double ratio) { return fmt::format("{:.2f}", ratio); }));
    }
    cells.emplace_back(remark(row, fastest));
    rows.push_back(std::move(cells));
  }
  print(table(header, rows));
}

void print_accuracy(const std::vector<Accuracy>& records) {
  if (records.empty()) {
    return;
  }
  const auto whole_percent = [](double share) { return percent(share); };
  std::vector<std::vector<std::string>> rows;
  for (const Accuracy& record : records) {
    rows.push_back({record.algorithm.value_or("all"), std::to_string(record.points), percent(record.mape),
                    percent(record.median_abs_error), signed_percent(record.bias),
                    or_absent(record.coverage, whole_percent),
                    or_absent(record.winner_agreement, whole_percent)});
  }
  print_line();
  print_line("accuracy of the predictions");
  print(table(
      {"algorithm", ">points", ">mean error", ">median error", ">bias", ">in interval", ">winner right"},
      rows));
}

std::optional<plots::BandwidthLimit> bandwidth_limit(const Machine& machine) {
  if (machine.calibrated) {
    return plots::BandwidthLimit{machine.calibrated->bandwidth, "one message alone"};
  }
  if (machine.intra && machine.intra->bandwidth) {
    return plots::BandwidthLimit{*machine.intra->bandwidth, "link"};
  }
  return std::nullopt;
}

/// The journal as it is, or its points where it could not be written.
void print_records(const study::PointStudy& study) {
  if (!study.unwritable) {
    print_file(study.file);
    return;
  }
  for (const Point& point : study.points) {
    print_line(to_line(point));
  }
}

}  // namespace

void draw_charts(const std::vector<plots::Figure>& figures, const plots::ChartContext& context,
                 const CommonOptions& common, Progress& progress) {
  if (figures.empty()) {
    return;
  }
  if (!plots::gnuplot_available()) {
    progress.note("No charts: gnuplot is not installed (Debian package gnuplot-nox).");
    return;
  }
  plots::ChartContext drawn = context;
  drawn.format = common.svg ? plots::ChartFormat::both : plots::ChartFormat::png;
  for (const std::filesystem::path& file : plots::draw(figures, drawn)) {
    if (common.format == OutputFormat::table) {
      print_line("  " + file.string());
    }
  }
}

void print_points(const study::PointStudy& study, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_records(study);
    return;
  }
  print_comparison(study.points);
  print_accuracy(study.conclusions.accuracy);
  if (!study.conclusions.sentences.empty()) {
    print_line();
  }
  for (const std::string& sentence : study.conclusions.sentences) {
    print_line(sentence);
  }
  if (std::any_of(study.points.begin(), study.points.end(),
                  [](const Point& point) { return point.measured && point.measured->shared_gpu; })) {
    print_line(
        "shared GPU: several ranks ran on one GPU; these times try the path and say nothing about a link");
  }
  for (const std::string& sentence : fitted_sentences(study.conclusions.fitted)) {
    print_line(sentence);
  }
  if (!study.unwritable) {
    print_line();
    print_line(fmt::format("results: {}", study.file.string()));
  }
}

void draw_points(const study::PointStudy& study, const std::optional<SpeedupGrid>& grid,
                 const CommonOptions& common, Progress& progress) {
  progress.stage("drawing charts");
  const plots::ChartContext context = {.title = study.scenario.name,
                                       .machine = study.machine.name,
                                       .source = study.file.string(),
                                       .output_directory = study.file.parent_path()};
  std::vector<plots::Figure> figures =
      plots::time_vs_size(study.points, context, study.conclusions.crossovers, study.conclusions.fitted);
  const auto add = [&](std::vector<plots::Figure> more) {
    std::move(more.begin(), more.end(), std::back_inserter(figures));
  };
  add(plots::ratio(study.points, context));
  add(plots::bus_bandwidth(study.points, context, bandwidth_limit(study.machine)));
  if (grid) {
    add(plots::speedup_map(*grid, context));
  }
  if (common.format == OutputFormat::table) {
    print_line("charts:");
  }
  draw_charts(figures, context, common, progress);
}

}  // namespace ringside::cli
