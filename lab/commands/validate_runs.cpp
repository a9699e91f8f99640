#include "lab/commands/validate_runs.hpp"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "lab/planning/published_speeds.hpp"
#include "lab/planning/run_scores.hpp"

namespace ringside::lab {

using cli::print_line;
using cli::print_table;

namespace {

void print_json(const std::vector<RunCheck>& checks) {
  for (const RunCheck& check : checks) {
    nlohmann::ordered_json line = {
        {"record", "published_run"}, {"run", check.run.run}, {"source", check.run.source}};
    if (check.run.step_seconds) {
      line["published"] = *check.run.step_seconds;
    }
    if (check.run.memory_gb) {
      line["published_memory_gb"] = *check.run.memory_gb;
    }
    if (check.step.problem.empty()) {
      line["planned"] = check.step.total.typical.value;
      line["low"] = check.step.total.low.value;
      line["high"] = check.step.total.high.value;
      line["planned_memory_gb"] = check.planned_gb();
    } else {
      line["problem"] = check.step.problem;
    }
    print_line(line.dump());
  }
}

std::string memory_cell(const RunCheck& check) {
  const std::string planned =
      check.step.gpu_memory ? fmt::format("{:.3g}", check.planned_gb()) : std::string(cli::kAbsent);
  return check.run.memory_gb ? fmt::format("{} ({:.3g})", planned, *check.run.memory_gb) : planned;
}

/// Those outside their interval; --format json has all.
void print_rows(const std::vector<RunCheck>& checks) {
  std::vector<std::vector<std::string>> rows;
  for (const RunCheck& check : checks) {
    if (!check.ratio() || check.inside()) {
      continue;
    }
    const PlannedStep& step = check.step;
    rows.push_back({check.run.run, std::to_string(check.run.model().sequence), check.run.offer().name,
                    describe(*step.layout), memory_cell(check), format(Seconds{*check.run.step_seconds}),
                    format(step.total.typical),
                    fmt::format("{} – {}", format(step.total.low), format(step.total.high)),
                    fmt::format("{:.2f}", *check.ratio()), repository_of(check.run.source)});
  }
  print_line();
  print_line("Outside their interval (--format json prints every run):");
  print_table({{"run", ">tokens", "on", "way", ">GB (published)", ">published", ">planned", ">90 %", ">ratio",
                "source, held out"},
               rows});
}

void print_classes(const std::vector<RunCheck>& checks) {
  const auto cell = [](const FactorSummary& score) {
    return fmt::format("{:.2f} / {:.2f} / {:.0f}", score.median, score.percentile_90, 100 * score.within);
  };
  std::vector<std::vector<std::string>> rows;
  for (const RunClassScore& score : scores_of(checks)) {
    rows.push_back({score.name, std::to_string(score.planned.rows), std::to_string(score.sources),
                    cell(score.planned), fmt::format("{:.2f}", score.sources_alike),
                    fmt::format("{:.0f}", 100 * score.planned.coverage), fmt::format("{:.2f}", score.width),
                    cell(score.rule_40), cell(score.mfu_50), cell(score.elsewhere)});
  }
  print_line(
      "Time of a step from words alone, each source held out: median factor / 90th percentile / % within "
      "1.5");
  print_table({{"rows of", ">rows", ">sources", ">planned", ">sources alike", ">% inside", ">width ×",
                ">6·N at 40 %", ">with attention at 50 %", ">6·N as elsewhere"},
               rows});
}

void print_memory(const std::vector<RunCheck>& checks) {
  const MemoryScore memory = memory_score_of(checks);
  print_line();
  print_line(fmt::format(
      "Memory: {} published peaks, median factor {:.2f}, 90th percentile {:.2f}, {:.0f} % within 15 %.",
      memory.peak.rows, memory.peak.median, memory.peak.percentile_90, 100 * memory.close));
  print_line(fmt::format("{} of {} runs that ran fit, {} of {} that ran out of memory do not.", memory.fit,
                         memory.ran, memory.refused, memory.burst));
  for (const std::string& exception : memory.exceptions) {
    print_line("  " + exception);
  }
}

}  // namespace

void print_decisions(const std::vector<Candidate>& candidates) {
  const DecisionScores scores = decision_scores_of(candidates);
  if (scores.pairs == 0) {
    return;
  }
  const auto cells = [](const std::string& which, const DecisionScore& score) -> std::vector<std::string> {
    return {which, fmt::format("{:.0f}", 100 * score.right), fmt::format("{:.1f}", 100 * score.regret),
            fmt::format("{:.2f}", score.relation)};
  };
  print_line();
  print_line(fmt::format(
      "Which of two kinds of GPU does the same work for less, {} pairs of runs; prices of what a data sheet "
      "promises differ by up to 2:",
      scores.pairs));
  print_table({{"foretold by", ">% right", ">% lost", ">relation off by"},
               {cells("plans, from words alone", scores.planned),
                cells("data sheets, any fixed share", scores.by_sheet)}});
}

void print_runs(const std::vector<RunCheck>& checks, const cli::CommonOptions& common) {
  if (common.format == cli::OutputFormat::json) {
    print_json(checks);
    return;
  }
  print_classes(checks);
  print_decisions(candidates_of(checks));
  print_memory(checks);
  print_rows(checks);
}

}  // namespace ringside::lab
