#include "cli/reports/report.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
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

/// What stands behind a row: that it is the fastest, or its two times differ in execution policy.
std::string remark(const ComparisonRow& row, std::string_view fastest) {
  std::string text(row.fastest ? fastest : "");
  if (policies_differ({.key = row.key, .predicted = row.predicted, .measured = row.measured})) {
    text += text.empty() ? "other policy" : ", other policy";
  }
  return text;
}

/// A column of a comparison: its title, and its cell of a row.
struct ComparisonColumn {
  std::string title;
  std::function<std::string(const ComparisonRow&)> cell;
};

/// `narrow`, for a narrow terminal: ranks and size stand above their rows, and without bus bandwidths.
std::vector<ComparisonColumn> columns_of(const std::vector<Point>& points, bool narrow) {
  using Row = ComparisonRow;
  const auto any = [&](auto property) { return std::any_of(points.begin(), points.end(), property); };
  const bool predicted = any([](const Point& point) { return point.predicted.has_value(); });
  const bool measured = any([](const Point& point) { return point.measured.has_value(); });
  const bool native = any([](const Point& point) { return point.key.algorithm == kNative; });
  const auto rate = [](BytesPerSecond value) { return format(value); };
  std::vector<ComparisonColumn> columns;
  const auto add = [&](bool shown, const char* title, std::function<std::string(const Row&)> cell) {
    if (shown) {
      columns.push_back({title, std::move(cell)});
    }
  };
  add(!narrow, ">ranks", [](const Row& r) { return r.first_of_group ? std::to_string(r.key.ranks) : ""; });
  add(!narrow, ">size", [](const Row& r) { return r.first_of_group ? format(r.key.bytes) : ""; });
  add(true, "algorithm", [=](const Row& r) { return (narrow ? " " : "") + r.key.algorithm; });
  add(predicted, ">predicted", [](const Row& r) {
    return or_absent(r.predicted, [](const Prediction& p) { return format(p.seconds); });
  });
  add(predicted && any(has_predicted_interval), narrow ? ">90 % int." : ">90 % interval",
      [](const Row& r) { return interval_text(r.predicted); });
  add(predicted && !narrow, ">busbw", [=](const Row& r) { return or_absent(r.predicted_busbw, rate); });
  add(measured, ">measured", [](const Row& r) { return measured_text(r.measured); });
  add(measured && !narrow, ">busbw", [=](const Row& r) { return or_absent(r.measured_busbw, rate); });
  add(predicted && measured, narrow ? "?>ratio" : ">predicted/measured", [](const Row& r) {
    return or_absent(r.ratio, [](double ratio) { return fmt::format("{:.2f}", ratio); });
  });
  add(true, narrow ? "?" : "",
      [=](const Row& r) { return remark(r, native ? "fastest of ours" : "fastest"); });
  return columns;
}

struct ComparisonTable {
  std::vector<std::string> header;
  Rows rows;
};

ComparisonTable comparison_table(const std::vector<Point>& points, bool narrow) {
  const std::vector<ComparisonColumn> columns = columns_of(points, narrow);
  ComparisonTable result;
  for (const ComparisonColumn& column : columns) {
    result.header.push_back(column.title);
  }
  for (const ComparisonRow& row : comparison(points)) {
    if (row.first_of_group && !result.rows.empty()) {
      result.rows.emplace_back(columns.size());
    }
    if (row.first_of_group && narrow) {
      result.rows.emplace_back(columns.size()).front() =
          fmt::format("{} ranks, {}", row.key.ranks, format(row.key.bytes));
    }
    for (std::vector<std::string>& cells = result.rows.emplace_back();
         const ComparisonColumn& column : columns) {
      cells.push_back(column.cell(row));
    }
  }
  return result;
}

/// Its time by the prediction, or by the clock where nothing was predicted.
std::optional<Seconds> time_of(const Point& point) {
  if (point.predicted) {
    return point.predicted->seconds;
  }
  return point.measured && point.measured->outcome == Outcome::ok ? std::optional(point.measured->seconds)
                                                                  : std::nullopt;
}

/// As many points as a screen takes. For each number of ranks the largest size and what failed stay in any
/// case; then come the smallest size, the sizes where the fastest of ours changes, and all others.
std::vector<Point> points_of_a_screen(const std::vector<Point>& points) {
  constexpr std::size_t kScreen = 24;
  std::map<int, std::map<Bytes, const Point*>> fastest;
  for (const Point& point : points) {
    const Point*& best = fastest[point.key.ranks][point.key.bytes];
    const bool ours = time_of(point) && point.key.algorithm != kNative;
    if (ours && (best == nullptr || *time_of(point) < *time_of(*best))) {
      best = &point;
    }
  }
  const auto same = [](const Point* a, const Point* b) {
    return (a == nullptr) == (b == nullptr) && (a == nullptr || a->key.algorithm == b->key.algorithm);
  };
  const auto rank_of = [&](const Point& point) {
    const auto& sizes = fastest.at(point.key.ranks);
    const auto at = sizes.find(point.key.bytes);
    if (std::next(at) == sizes.end() || (point.measured && point.measured->outcome != Outcome::ok)) {
      return 0;
    }
    if (at == sizes.begin()) {
      return 1;
    }
    return same(at->second, std::prev(at)->second) && same(at->second, std::next(at)->second) ? 3 : 2;
  };
  for (int last = 3;; --last) {
    std::vector<Point> shown;
    std::copy_if(points.begin(), points.end(), std::back_inserter(shown),
                 [&](const Point& point) { return rank_of(point) <= last; });
    if (shown.size() <= kScreen || last == 0) {
      return shown;
    }
  }
}

void print_comparison(const std::vector<Point>& points) {
  ComparisonTable shown = comparison_table(points, false);
  if (!fits_terminal(shown.header, shown.rows)) {
    shown = comparison_table(points, true);
  }
  const bool native = std::any_of(points.begin(), points.end(),
                                  [](const Point& point) { return point.key.algorithm == kNative; });
  print_marked(table(shown.header, shown.rows), native ? "fastest of ours" : "fastest");
}

void print_accuracy(const std::vector<Accuracy>& records) {
  if (records.empty()) {
    return;
  }
  const auto whole_percent = [](double share) { return percent(share); };
  Rows rows;
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
  if (common.svg) {
    drawn.formats.push_back(plots::ImageFormat::svg);
  }
  if (common.pdf) {
    drawn.formats.push_back(plots::ImageFormat::pdf);
  }
  for (const std::filesystem::path& file : plots::draw(figures, drawn)) {
    if (common.format == OutputFormat::table) {
      print_line("  " + file.string());
    }
  }
}

void print_points(const study::PointStudy& study, const CommonOptions& common, bool all) {
  if (common.format == OutputFormat::json) {
    print_records(study);
    return;
  }
  for (const std::string& sentence : study.conclusions.sentences) {
    &sentence == &study.conclusions.sentences.front() ? print_verdict(sentence) : print_line(sentence);
  }
  if (!study.conclusions.sentences.empty()) {
    print_line();
  }
  const std::vector<Point> shown = all ? study.points : points_of_a_screen(study.points);
  print_comparison(shown);
  if (shown.size() < study.points.size()) {
    print_line();
    print_line(fmt::format("{} of {} rows; --explain shows all", shown.size(), study.points.size()));
  } else {
    print_accuracy(study.conclusions.accuracy);
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
                                       .machine = chart_label(study.machine),
                                       .source = study.file.string(),
                                       .output_directory = study.file.parent_path(),
                                       .size = common.chart_size};
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
