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

/// Which columns a comparison has.
struct ComparisonColumns {
  bool predicted = false;
  bool interval = false;
  bool measured = false;
  /// For a narrow terminal: ranks and size stand above their rows, and without bus bandwidths.
  bool narrow = false;
};

ComparisonColumns columns_of(const std::vector<Point>& points) {
  const auto any = [&](auto property) { return std::any_of(points.begin(), points.end(), property); };
  return {.predicted = any([](const Point& point) { return point.predicted.has_value(); }),
          .interval = any(has_predicted_interval),
          .measured = any([](const Point& point) { return point.measured.has_value(); })};
}

std::vector<std::string> comparison_header(const ComparisonColumns& columns) {
  std::vector<std::string> header = {">ranks", ">size", "algorithm"};
  if (columns.narrow) {
    header = {"algorithm"};
  }
  const auto add = [&](bool shown, const char* title) {
    if (shown) {
      header.emplace_back(title);
    }
  };
  add(columns.predicted, ">predicted");
  add(columns.predicted && columns.interval, columns.narrow ? ">90 % int." : ">90 % interval");
  add(columns.predicted && !columns.narrow, ">busbw");
  add(columns.measured, ">measured");
  add(columns.measured && !columns.narrow, ">busbw");
  add(columns.predicted && columns.measured, columns.narrow ? "?>ratio" : ">predicted/measured");
  header.emplace_back(columns.narrow ? "?" : "");
  return header;
}

std::vector<std::string> comparison_cells(const ComparisonRow& row, const ComparisonColumns& columns,
                                          std::string_view fastest) {
  const auto rate = [](BytesPerSecond value) { return format(value); };
  std::vector<std::string> cells;
  if (columns.narrow) {
    cells.push_back(" " + row.key.algorithm);
  } else {
    cells = {row.first_of_group ? std::to_string(row.key.ranks) : "",
             row.first_of_group ? format(row.key.bytes) : "", row.key.algorithm};
  }
  const auto add = [&](bool shown, std::string cell) {
    if (shown) {
      cells.push_back(std::move(cell));
    }
  };
  add(columns.predicted, or_absent(row.predicted, [](const Prediction& p) { return format(p.seconds); }));
  add(columns.predicted && columns.interval, interval_text(row.predicted));
  add(columns.predicted && !columns.narrow, or_absent(row.predicted_busbw, rate));
  add(columns.measured, measured_text(row.measured));
  add(columns.measured && !columns.narrow, or_absent(row.measured_busbw, rate));
  add(columns.predicted && columns.measured,
      or_absent(row.ratio, [](double ratio) { return fmt::format("{:.2f}", ratio); }));
  cells.emplace_back(remark(row, fastest));
  return cells;
}

std::vector<std::vector<std::string>> comparison_rows(const std::vector<Point>& points,
                                                      const ComparisonColumns& columns) {
  const bool any_native = std::any_of(points.begin(), points.end(),
                                      [](const Point& point) { return point.key.algorithm == kNative; });
  const std::string_view fastest = any_native ? "fastest of ours" : "fastest";
  const std::size_t num_columns = comparison_header(columns).size();
  std::vector<std::vector<std::string>> rows;
  for (const ComparisonRow& row : comparison(points)) {
    if (row.first_of_group && !rows.empty()) {
      rows.emplace_back(num_columns);
    }
    if (row.first_of_group && columns.narrow) {
      rows.emplace_back(num_columns).front() =
          fmt::format("{} ranks, {}", row.key.ranks, format(row.key.bytes));
    }
    rows.push_back(comparison_cells(row, columns, fastest));
  }
  return rows;
}

void print_comparison(const std::vector<Point>& points) {
  ComparisonColumns columns = columns_of(points);
  columns.narrow = !fits_terminal(comparison_header(columns), comparison_rows(points, columns));
  print(table(comparison_header(columns), comparison_rows(points, columns)));
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
      {"algorithm", "?>points", "?>mean error", ">median error", "?>bias", ">in interval", ">winner right"},
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

std::string chart_label(const Machine& machine) {
  const bool here = machine.name.starts_with("this machine") && machine.cpu && machine.cpu->model;
  return here ? fmt::format("{} ({})", machine.name, *machine.cpu->model) : machine.name;
}

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
  for (const std::string& sentence : study.conclusions.sentences) {
    print_line(sentence);
  }
  if (!study.conclusions.sentences.empty()) {
    print_line();
  }
  print_comparison(study.points);
  print_accuracy(study.conclusions.accuracy);
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
                                       .machine = chart_label(study.machine),
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
