#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/plan/plan_sentences.hpp"
#include "cli/reports/offer_remarks.hpp"
#include "cli/reports/plan_report.hpp"
#include "cli/reports/sweep_report.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "results/codec/record.hpp"

namespace ringside::cli {
namespace {

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

void print_plan_sweep(const study::PlanSweep& sweep, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_json(sweep);
    return;
  }
  std::vector<std::string> header = sweep_columns(sweep.sweeps);
  const std::vector<std::string> cells =
      sweep.shards ? std::vector<std::string>{"best offer", "way", ">step", ">exposed", ">tokens/s"}
                   : std::vector<std::string>{"best offer", ">step", ">exposed", ">efficiency", ">samples/s"};
  header.insert(header.end(), cells.begin(), cells.end());
  const auto of_run = [&](const char* what) {
    const bool run = std::any_of(sweep.rows.begin(), sweep.rows.end(),
                                 [](const study::PlanSweepRow& row) { return row.best.run.has_value(); });
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
  if (std::any_of(sweep.sweeps.begin(), sweep.sweeps.end(),
                  [](const study::Sweep& one) { return one.key == "nodes" || one.key == "gpus_per_node"; })) {
    print_line("other machine sizes are rented as whole machines, at the same price per GPU");
  }
  print_block("in brackets: not recommended", none);
  print_block("warnings", notes);
}

}  // namespace ringside::cli
