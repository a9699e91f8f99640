#include "cli/report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "analysis/accuracy.hpp"
#include "analysis/comparison.hpp"
#include "analysis/crossover.hpp"
#include "analysis/fitted.hpp"
#include "analysis/verdict.hpp"
#include "cli/job.hpp"
#include "common/error.hpp"
#include "plots/gnuplot.hpp"
#include "schedule/registry.hpp"
#include "sim/predict.hpp"

namespace ringside::cli {
namespace {

constexpr std::string_view kAbsent = "–";

std::string percent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }

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

void print_comparison(const std::vector<Point>& points) {
  const bool any_measured = std::any_of(points.begin(), points.end(),
                                        [](const Point& point) { return point.measured.has_value(); });
  const bool any_predicted = std::any_of(points.begin(), points.end(),
                                         [](const Point& point) { return point.predicted.has_value(); });
  std::vector<std::string> header = {">ranks", ">size", "algorithm"};
  if (any_predicted) {
    header.insert(header.end(), {">predicted", ">busbw"});
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
      cells.push_back(or_absent(row.predicted_busbw, rate));
    }
    if (any_measured) {
      cells.push_back(measured_text(row.measured));
      cells.push_back(or_absent(row.measured_busbw, rate));
    }
    if (any_predicted && any_measured) {
      cells.push_back(or_absent(row.ratio, [](double ratio) { return fmt::format("{:.2f}", ratio); }));
    }
    cells.emplace_back(row.fastest ? fastest : "");
    rows.push_back(std::move(cells));
  }
  print(table(header, rows));
}

void print_accuracy(const std::vector<Accuracy>& records) {
  if (records.empty()) {
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Accuracy& record : records) {
    rows.push_back({record.algorithm.value_or("all"), std::to_string(record.points), percent(record.mape),
                    percent(record.median_abs_error), fmt::format("{:+.0f} %", 100 * record.bias),
                    or_absent(record.coverage, percent), or_absent(record.winner_agreement, percent)});
  }
  print_line();
  print_line("accuracy of the predictions");
  print(table(
      {"algorithm", ">points", ">mean error", ">median error", ">bias", ">in interval", ">winner right"},
      rows));
}

/// What the machine's `known` gave away proves nothing about a prediction.
std::vector<Point> not_given(std::vector<Point> points, const Machine& machine) {
  std::erase_if(points, [&](const Point& point) { return is_known(machine, point.key); });
  return points;
}

std::vector<int> map_ranks(const Scenario& scenario) {
  const int most = std::max(16, *std::max_element(scenario.ranks.begin(), scenario.ranks.end()));
  std::vector<int> ranks = scenario.ranks;
  for (int n = 2; n <= most; n *= 2) {
    ranks.push_back(n);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::erase(ranks, 1);
  return ranks;
}

std::vector<Bytes> map_sizes(const Scenario& scenario) {
  const auto [smallest, largest] =
      std::minmax_element(scenario.message_sizes.begin(), scenario.message_sizes.end());
  const std::int64_t first = std::max<std::int64_t>(1024, smallest->value / 4);
  const std::int64_t last = std::min<std::int64_t>(largest->value * 4, 4LL << 30);
  std::vector<Bytes> sizes = scenario.message_sizes;
  const auto element = static_cast<std::int64_t>(size_of(scenario.dtype));
  for (std::int64_t size = 1024; size <= last; size *= 2) {
    if (size >= first && size % element == 0) {
      sizes.push_back({size});
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// The map over a wider range than was asked for; ranks that the machine does not have are left out.
plots::SpeedupGrid speedup_grid(const ReportRequest& request, const AlgorithmPair& pair) {
  plots::SpeedupGrid grid;
  grid.baseline = pair.baseline;
  grid.candidate = pair.candidate;
  grid.sizes = map_sizes(request.scenario);
  const auto seconds = [&](const std::string& algorithm, int ranks, Bytes bytes) {
    const auto outcome = predict(request.machine,
                                 {.collective = request.scenario.collective,
                                  .algorithm = algorithm,
                                  .ranks = ranks,
                                  .bytes = bytes,
                                  .dtype = request.scenario.dtype,
                                  .op = request.scenario.op},
                                 {.backend = request.scenario.backend});
    const auto* prediction = std::get_if<Prediction>(&outcome);
    return prediction != nullptr ? prediction->seconds.value : std::numeric_limits<double>::quiet_NaN();
  };
  for (const int ranks : map_ranks(request.scenario)) {
    std::vector<double> row;
    try {
      for (const Bytes bytes : grid.sizes) {
        row.push_back(seconds(pair.baseline, ranks, bytes) / seconds(pair.candidate, ranks, bytes));
      }
    } catch (const Error&) {
      continue;
    }
    grid.ranks.push_back(ranks);
    grid.speedup.push_back(std::move(row));
  }
  for (const Verdict& verdict : verdicts(request.points, pair)) {
    if (verdict.measured_speedup) {
      grid.measured.push_back({verdict.ranks, verdict.bytes, *verdict.measured_speedup});
    }
  }
  return grid;
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
  for (const std::filesystem::path& file : plots::draw(figures, context)) {
    if (common.format == OutputFormat::table) {
      print_line("  " + file.string());
    }
  }
}

void report(const ReportRequest& request, const CommonOptions& common, Progress& progress) {
  const std::optional<AlgorithmPair> pair = choose_pair(request.points);
  std::vector<Crossover> crossing;
  if (pair) {
    for (const Verdict& verdict : verdicts(request.points, *pair)) {
      request.journal.append(verdict);
    }
    crossing = crossovers(request.points, *pair);
    for (const Crossover& crossover : crossing) {
      request.journal.append(crossover);
    }
  }
  const std::vector<Accuracy> quality = accuracy(not_given(request.points, request.machine));
  for (const Accuracy& record : quality) {
    request.journal.append(record);
  }

  const std::vector<FittedCurve> fitted =
      request.fitted ? fitted_curves(request.points) : std::vector<FittedCurve>{};

  if (common.format == OutputFormat::json) {
    print_file(request.journal.file());
  } else {
    print_comparison(request.points);
    print_accuracy(quality);
    const std::vector<std::string> sentences = verdict_sentences(request.points);
    if (!sentences.empty()) {
      print_line();
      for (const std::string& sentence : sentences) {
        print_line(sentence);
      }
    }
    if (std::any_of(request.points.begin(), request.points.end(),
                    [](const Point& point) { return point.measured && point.measured->oversubscribed; })) {
      print_line(
          "oversubscribed: several ranks shared a GPU; these times try the path and say nothing about a "
          "link");
    }
    for (const std::string& sentence : fitted_sentences(fitted)) {
      print_line(sentence);
    }
    print_line();
    print_line(fmt::format("results: {}", request.journal.file().string()));
  }

  if (request.charts) {
    progress.stage("drawing charts");
    const plots::ChartContext context = {.title = request.scenario.name,
                                         .machine = request.machine.name,
                                         .source = request.journal.file().string(),
                                         .output_directory = request.journal.file().parent_path()};
    std::vector<plots::Figure> figures = plots::time_vs_size(request.points, context, crossing, fitted);
    const auto add = [&](std::vector<plots::Figure> more) {
      std::move(more.begin(), more.end(), std::back_inserter(figures));
    };
    add(plots::ratio(request.points, context));
    add(plots::bus_bandwidth(request.points, context, bandwidth_limit(request.machine)));
    if (pair) {
      add(plots::speedup_map(speedup_grid(request, *pair), context));
    }
    if (common.format == OutputFormat::table) {
      print_line("charts:");
    }
    draw_charts(figures, context, common, progress);
  }
}

}  // namespace ringside::cli
