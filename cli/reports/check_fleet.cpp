
#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/check/pair_outliers.hpp"
#include "cli/console.hpp"
#include "cli/reports/check_report.hpp"
#include "cli/reports/report.hpp"
#include "common/mapped.hpp"
#include "common/text.hpp"
#include "plots/charts/charts.hpp"

namespace ringside::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostMapRows = 60;  // More rows of a chart cannot be read.

std::string_view mark_of(Standing standing) {
  constexpr std::array<std::string_view, 6> kMarks = {"", " !", " ?", " h", " i", " f"};
  return kMarks.at(static_cast<std::size_t>(standing));
}

/// What was taken for granted, once for all logs of which it is said.
void print_assumptions(const std::vector<study::LogCheck>& checks) {
  std::map<std::string, std::set<std::string>> logs_of;
  for (const study::LogCheck& check : checks) {
    for (const std::string& assumption : check.assumptions) {
      logs_of[assumption].insert(check.log);
    }
  }
  for (const auto& [assumption, logs] : logs_of) {
    print_line("{}: {}", count_of(logs.size(), "log"), assumption);
  }
}

std::string likely_cause(const MachineCheck& check) {
  if (check.held_back) {
    return std::string(sentence(check.held_back->cause));
  }
  if (!check.alarmed()) {
    return "";
  }
  const std::vector<SuspectedCause> causes = likely_causes(check);
  return causes.empty() ? std::string() : std::string(sentence(causes.front().cause));
}

void print_pairs_as_json(const PairOutliers& outliers) {
  for (const PairOutliers::Node& node : outliers.nodes) {
    print_record({{"record", "slow_node"},
                  {"node", node.name},
                  {"pairs", node.pairs},
                  {"bandwidth_ratio", 1 / node.slowdown}});
  }
  for (const PairOutliers::Pair& pair : outliers.pairs) {
    print_record({{"record", "slow_pair"},
                  {"nodes", {pair.run.first, pair.run.second}},
                  {"bandwidth_ratio", 1 / pair.slowdown}});
  }
}

void print_pairs(const PairOutliers& outliers) {
  for (const PairOutliers::Node& node : outliers.nodes) {
    print_line("slow in each of its {} pairs: node {}, {} the bandwidth of pairs without it", node.pairs,
               node.name, factor_text(1 / node.slowdown));
  }
  for (const PairOutliers::Pair& pair : outliers.pairs) {
    print_line("slow pair: {} and {}, {} the bandwidth of other pairs; neither is slow with others",
               pair.run.first, pair.run.second, factor_text(1 / pair.slowdown));
  }
}

/// Every node with every other; those whose pairs are slowest where there are many.
plots::LabelledMatrix pair_map_of(const std::vector<PairRun>& runs) {
  std::map<std::string, double> slowest;
  for (const PairRun& run : runs) {
    for (const std::string& node : {run.first, run.second}) {
      slowest[node] = std::max(slowest[node], run.ratio);
    }
  }
  std::vector<std::string> names = mapped(slowest, [](const auto& node) { return node.first; });
  if (names.size() > kMostMapRows) {
    std::ranges::stable_sort(
        names, [&](const std::string& a, const std::string& b) { return slowest.at(a) > slowest.at(b); });
    names.resize(kMostMapRows);
  }
  plots::LabelledMatrix matrix;
  matrix.name = "check_pairs";
  matrix.subtitle = "measured over predicted bandwidth of runs on two nodes, largest sizes";
  matrix.row_title = "node";
  matrix.column_title = "node";
  matrix.value_title = "measured / predicted bandwidth";
  matrix.bandwidth_ratio = true;
  matrix.rows = names;
  matrix.columns = names;
  matrix.values.assign(names.size(),
                       std::vector<double>(names.size(), std::numeric_limits<double>::quiet_NaN()));
  const auto place_of = [&](const std::string& node) {
    return static_cast<std::size_t>(std::ranges::find(names, node) - names.begin());
  };
  for (const PairRun& run : runs) {
    const std::size_t first = place_of(run.first);
    const std::size_t second = place_of(run.second);
    if (first < names.size() && second < names.size()) {
      matrix.values[first][second] = matrix.values[second][first] = 1 / run.ratio;
    }
  }
  return matrix;
}

plots::LabelledMatrix map_of(const std::vector<study::LogCheck>& checks) {
  std::vector<const study::LogCheck*> shown =
      mapped(checks, [](const study::LogCheck& check) { return &check; });
  const auto worst = [](const study::LogCheck* check) {
    double ratio = std::numeric_limits<double>::infinity();
    for (const BandVerdict& band : check->check.bands) {
      ratio = std::min(ratio, band.ratio);
    }
    return ratio;
  };
  // The slowest are what one looks for.
  if (shown.size() > kMostMapRows) {
    std::ranges::stable_sort(shown, [&](const auto* a, const auto* b) { return worst(a) < worst(b); });
    shown.resize(kMostMapRows);
  }
  plots::LabelledMatrix matrix;
  matrix.name = "check_map";
  matrix.subtitle = "measured over predicted bandwidth, median of each band of sizes";
  matrix.row_title = "log";
  matrix.column_title = "sizes";
  matrix.value_title = "measured / predicted bandwidth";
  matrix.bandwidth_ratio = true;
  matrix.columns = {"up to 64 KiB", "up to 16 MiB", "above"};
  for (const study::LogCheck* check : shown) {
    matrix.rows.push_back(std::filesystem::path(check->log).stem().string());
    matrix.values.emplace_back(matrix.columns.size(), std::numeric_limits<double>::quiet_NaN());
    for (const BandVerdict& band : check->check.bands) {
      matrix.values.back()[static_cast<std::size_t>(band.band)] = band.ratio;
    }
  }
  return matrix;
}

}  // namespace

void print_checks(const std::vector<study::LogCheck>& checks, const std::vector<std::string>& problems,
                  const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    for (const study::LogCheck& check : checks) {
      print_check(check, common);
    }
    for (const std::string& problem : problems) {
      print_record({{"record", "check"}, {"problem", problem}});
    }
    print_pairs_as_json(pair_outliers(study::pair_runs(checks)));
    return;
  }
  Rows rows;
  std::size_t alarms = 0;
  for (const study::LogCheck& check : checks) {
    std::vector<std::string> row = {check.log, check.machine.name, "", "", "", "", ""};
    for (const BandVerdict& band : check.check.bands) {
      row.at(2U + static_cast<std::size_t>(band.band)) =
          fmt::format("{}{}", factor_text(band.ratio), mark_of(band.standing));
    }
    if (!check.check.bands.empty()) {
      const Collective collective = check.check.points.front().key.collective;
      row.at(1) += collective == Collective::all_reduce ? "" : fmt::format(", {}", name(collective));
      const BandVerdict& largest = check.check.bands.back();
      row.at(5) = fmt::format("{} of {} at {}", rate_text(largest.measured),
                              rate_text(largest.expected.typical), format(largest.bytes));
    }
    row.back() = !check.failure().empty() ? "results do not count" : likely_cause(check.check);
    alarms += check.check.alarmed() ? 1U : 0U;
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    print_lines(problems);
    return;
  }
  print_table({{"log", "machine", ">up to 64 KiB", ">up to 16 MiB", ">above", ">GB/s of expected",
                "most likely cause"},
               rows});
  print_line(
      "\nmeasured / predicted bandwidth, above 1 is faster; ! slower than such machines are, ? "
      "faster than expected,\n"
      "h slow for a known reason, i incomplete, f failed; all_reduce unless another is named. {} of {} slow, "
      "{} not checked",
      alarms, checks.size(), problems.size());
  print_assumptions(checks);
  print_pairs(pair_outliers(study::pair_runs(checks)));
  for (const std::string& problem : problems) {
    print_line("not checked: " + problem);
  }
}

void draw_checks(const std::vector<study::LogCheck>& checks, const CommonOptions& common) {
  if (checks.empty()) {
    return;
  }
  const plots::ChartContext context = {.title = "Your logs beside such machines",
                                       .source = "ringside check",
                                       .output_directory = study::output_directory(common, "check"),
                                       .size = common.chart_size};
  Progress progress(common.quiet);
  draw_charts(plots::heat_map(map_of(checks), context), context, common, progress);
  // One pair is no map.
  if (const std::vector<PairRun> runs = study::pair_runs(checks); runs.size() > 1) {
    draw_charts(plots::heat_map(pair_map_of(runs), context), context, common, progress);
  }
}

}  // namespace ringside::cli
