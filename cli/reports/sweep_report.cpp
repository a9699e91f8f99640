#include "cli/reports/sweep_report.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/plan/plan_sentences.hpp"
#include "cli/reports/offer_remarks.hpp"
#include "cli/reports/plan_report.hpp"
#include "cli/reports/report.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "plots/charts/charts.hpp"
#include "results/codec/record.hpp"

namespace ringside::cli {
namespace {

std::string time_of(const study::SweepCell& cell, const std::string& algorithm) {
  const auto point = std::ranges::find_if(
      cell.points, [&](const Point& candidate) { return candidate.key.algorithm == algorithm; });
  return point != cell.points.end() && point->predicted ? format(point->predicted->seconds)
                                                        : std::string(kAbsent);
}

/// The fastest, or two that tie.
std::string names_of(const study::Winner& winner) {
  return winner.tied_with.empty() ? winner.algorithm
                                  : fmt::format("{}, {}", winner.algorithm, winner.tied_with);
}

void draw_lines(const study::SweepLines& lines, const plots::ChartContext& context,
                const CommonOptions& common, Progress& progress) {
  const std::string subtitle = fmt::format("predicted time over {}{}{}", lines.key,
                                           lines.ranks > 0 ? fmt::format(", {} ranks", lines.ranks) : "",
                                           lines.bytes ? ", " + format(*lines.bytes) : "");
  draw_charts(plots::lines_over_key(lines, subtitle, context), context, common, progress);
}

/// Time of the run, or of a million samples or a billion tokens where its length is not known.
double run_seconds(const OfferRecord& best) {
  return best.run                 ? best.run->typical
         : best.tokens_per_second ? 1e9 / best.tokens_per_second->typical
                                  : 1e6 / best.samples_per_second->typical;
}

std::vector<std::string> best_offer_cells(const OfferRecord& best) {
  if (!best.step) {
    return {fmt::format("none: {}", best.problem.value_or("")), "", "", "", "", "", ""};
  }
  const bool spread = best.sharding.has_value();
  std::vector<std::string> cells = {
      best.name,
      format(Seconds{best.step->typical}),
      percent(best.exposed->typical / best.step->typical),
      fmt::format("{:.0f}", (spread ? best.tokens_per_second : best.samples_per_second)->typical),
      long_time(run_seconds(best)),
      best.cost ? fmt::format("{} {}", money_text(best.cost->typical), best.currency.value_or(""))
                : std::string(kAbsent)};
  cells.insert(cells.begin() + (spread ? 1 : 3), spread ? *best.sharding : percent(best.efficiency->typical));
  return cells;
}

/// `deadline=1h accumulate=4`.
std::string swept(const study::PlanSweep& sweep, const study::PlanSweepRow& row) {
  std::vector<std::string> parts;
  for (std::size_t index = 0; index < row.values.size(); ++index) {
    parts.push_back(fmt::format("{}={}", sweep.sweeps[index].key, row.values[index]));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

void print_json(const study::PlanSweep& sweep) {
  for (const study::PlanSweepRow& row : sweep.rows) {
    nlohmann::ordered_json line = nlohmann::ordered_json::parse(to_line(row.best));
    std::map<std::string, std::string> values;
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      values[sweep.sweeps[index].key] = row.values[index];
    }
    line["sweep"] = values;
    print_record(line);
  }
}

}  // namespace

void print_sweep(const study::SweepStudy& sweep, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_lines(study::records(sweep));
    return;
  }
  using Cell = const study::SweepCell*;
  std::vector<Column<Cell>> columns;
  for (std::size_t index = 0; index < sweep.sweeps.size(); ++index) {
    columns.push_back(
        {">" + sweep.sweeps[index].key, [index](Cell cell) { return study::readable(cell->values[index]); }});
  }
  if (!sweep.sweeps_key("ranks")) {
    columns.push_back({">ranks", [](Cell cell) { return std::to_string(cell->ranks); }});
  }
  if (!sweep.sweeps_key("bytes")) {
    columns.push_back({">size", [](Cell cell) { return format(cell->bytes); }});
  }
  for (const std::string& algorithm : sweep.scenario.algorithms) {
    columns.push_back({">" + algorithm, [&](Cell cell) { return time_of(*cell, algorithm); }});
  }
  columns.push_back({"fastest", [](Cell cell) { return or_absent(cell->winner, names_of); }});
  columns.push_back({">second takes", [](Cell cell) {
                       return or_absent(cell->winner ? cell->winner->margin : std::nullopt,
                                        [](double margin) { return factor_text(margin); });
                     }});
  const std::vector<Cell> shown = study::shown_cells(sweep);
  print_table(table_of(columns, shown));
  if (shown.size() < sweep.cells.size()) {
    print_line("{} of {} rows: the first, the last and where the winner changes", shown.size(),
               sweep.cells.size());
  }
  if (!sweep.sentences.empty()) {
    print_line();
  }
  print_lines(sweep.sentences);
  if (!sweep.file.empty()) {
    print_line();
    print_line("results: {}", sweep.file.string());
  }
}

void draw_sweep(const study::SweepStudy& sweep, const CommonOptions& common, Progress& progress) {
  const plots::ChartContext context = {
      .title = sweep.scenario.name,
      .machine = chart_label(sweep.machine),
      .source = sweep.file.empty() ? "ringside predict" : sweep.file.string(),
      .output_directory = sweep.directory,
      .size = common.chart_size};
  const std::optional<study::SweepLines> lines = study::sweep_lines(sweep);
  if (lines) {
    draw_lines(*lines, context, common, progress);
  }
  const std::optional<study::WinnerMap> map = study::winner_map(sweep);
  if (!map) {
    if (!lines) {
      progress.note(
          "A chart is drawn where one or two keys take several values; this run has another number.");
    }
    return;
  }
  const std::string tie = "no clear winner";
  std::vector<std::string> algorithms = sweep.scenario.algorithms;
  algorithms.push_back(tie);
  plots::LabelledMatrix matrix = {
      .name = "winner_map",
      .subtitle = "fastest algorithm, predicted, and how many times as long the second takes",
      .row_title = map->rows.key,
      .column_title = map->columns.key,
      .rows = map->rows.values,
      .columns = map->columns.values,
      .categories = algorithms,
      .neutral = tie};
  // Values grow upwards, as on every axis.
  std::reverse(matrix.rows.begin(), matrix.rows.end());
  for (auto winners = map->winners.rbegin(); winners != map->winners.rend(); ++winners) {
    std::vector<double>& row = matrix.values.emplace_back();
    std::vector<std::string>& texts = matrix.texts.emplace_back();
    for (const std::optional<study::Winner>& winner : *winners) {
      const bool tied = winner && !winner->tied_with.empty();
      const std::string name = !winner ? "" : tied ? tie : winner->algorithm;
      texts.push_back(!winner                   ? ""
                      : tied || !winner->margin ? names_of(*winner)
                                                : fmt::format("{} {}", name, factor_text(*winner->margin)));
      const auto found = std::ranges::find(algorithms, name);
      row.push_back(found == algorithms.end() ? std::numeric_limits<double>::quiet_NaN()
                                              : static_cast<double>(found - algorithms.begin()));
    }
  }
  draw_charts(plots::heat_map(matrix, context), context, common, progress);
}

void print_plan_sweep(const study::PlanSweep& sweep, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_json(sweep);
    return;
  }
  std::vector<std::string> header =
      mapped(sweep.sweeps, [](const study::Sweep& one) { return ">" + one.key; });
  const std::vector<std::string> cells =
      sweep.shards ? std::vector<std::string>{"best offer", "way", ">step", ">exposed", ">tokens/s"}
                   : std::vector<std::string>{"best offer", ">step", ">exposed", ">efficiency", ">samples/s"};
  header.insert(header.end(), cells.begin(), cells.end());
  const auto of_run = [&](const char* what) {
    const bool run = std::ranges::any_of(
        sweep.rows, [](const study::PlanSweepRow& row) { return row.best.run.has_value(); });
    return fmt::format("{}{}", what, run ? "" : sweep.shards ? " of 1 G tokens" : " of 1 M samples");
  };
  header.push_back(of_run(">time"));
  header.push_back(of_run(">cost"));
  std::vector<std::vector<std::string>> rows;
  std::vector<Remark> none;
  std::vector<Remark> notes;
  for (const study::PlanSweepRow& row : sweep.rows) {
    rows.push_back(row.values);
    std::vector<std::string> of_best = best_offer_cells(row.best);
    if (row.best.step && !row.why_none.empty()) {
      of_best.front() = fmt::format("({})", of_best.front());
      none.push_back({swept(sweep, row), row.why_none});
    }
    rows.back().insert(rows.back().end(), of_best.begin(), of_best.end());
    add_remarks(row.best.name, row.best.warnings, notes);
    add_remarks(row.best.name, row.idle_nics, notes);
  }
  print_table({header, rows});
  if (std::ranges::any_of(sweep.sweeps, [](const study::Sweep& one) {
        return one.key == "nodes" || one.key == "gpus_per_node";
      })) {
    print_line("other machine sizes are rented as whole machines, at the same price per GPU");
  }
  print_block("in brackets: not recommended", none);
  print_block("warnings", notes);
}

}  // namespace ringside::cli
