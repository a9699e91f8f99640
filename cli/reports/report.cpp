#include "cli/reports/report.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "analysis/fitted.hpp"
#include "cli/reports/point_tables.hpp"
#include "plots/drawing/gnuplot.hpp"
#include "results/codec/record.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

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
  constexpr std::size_t kScreen = 24;  // Lines; a screen has 40, with what is said above and below.
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
    std::ranges::copy_if(points, std::back_inserter(shown),
                         [&](const Point& point) { return rank_of(point) <= last; });
    if (comparison_table(shown, ComparisonLayout::wide).rows.size() <= kScreen || last == 0) {
      return shown;
    }
  }
}

void print_comparison(const std::vector<Point>& points) {
  TextTable shown = comparison_table(points, ComparisonLayout::wide);
  if (!fits_terminal(shown)) {
    shown = comparison_table(points, ComparisonLayout::narrow);
  }
  const bool native =
      std::ranges::any_of(points, [](const Point& point) { return point.key.algorithm == kNative; });
  print_table(std::move(shown), native ? "fastest of ours" : "fastest");
}

void print_accuracy(const std::vector<Accuracy>& records) {
  if (records.empty()) {
    return;
  }
  print_line();
  print_line("accuracy of the predictions");
  print_table(accuracy_table(records));
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

void print_points(const study::PointStudy& study, const CommonOptions& common, bool all,
                  const std::vector<std::string>& next) {
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
    print_line("{} of {} rows; --explain shows all", shown.size(), study.points.size());
  } else {
    print_accuracy(study.conclusions.accuracy);
  }
  print_lines(fitted_sentences(study.conclusions.fitted));
  if (!next.empty()) {
    print_line();
  }
  print_lines(next);
  if (!study.unwritable) {
    print_line();
    print_line("results: {}", study.file.string());
  }
}

void draw_points(const study::PointStudy& study, const std::optional<SpeedupGrid>& grid,
                 const CommonOptions& common, Progress& progress) {
  progress.stage("drawing charts");
  const plots::ChartContext context = {.title = study.scenario.name,
                                       .machine = chart_label(study.machine),
                                       .source = study.file.string(),
                                       .output_directory = common.output.value_or(study.file.parent_path()),
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
