#include "lab/studies/evaluate.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/console.hpp"
#include "cli/reports/report.hpp"
#include "common/numbers.hpp"
#include "lab/charts/accuracy_charts.hpp"
#include "lab/commands/commands.hpp"
#include "lab/planning/planning_fit.hpp"
#include "results/journal.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::lab {

using cli::CommonOptions;
using cli::OutputFormat;
using cli::print_line;
using cli::print_table;
using cli::Progress;

namespace {

struct EvaluateFlags {
  std::string directory;
  bool charts = false;
  bool scores = false;
  bool points = false;
};

void print_summaries(const AccuracyReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const Accuracy& record : report.summaries) {
    if (record.statistic != "median") {
      continue;
    }
    const bool first = record.band == "all";
    if (first && !rows.empty() && rows.back().front() != *record.machine_class &&
        record.model == name(EvaluatedModel::ringside) && record.fold == name(Fold::held_out)) {
      rows.emplace_back(11);
    }
    rows.push_back({*record.machine_class, *record.model, *record.fold, *record.band,
                    std::to_string(record.systems.value_or(0)), percent(record.mape, 1),
                    fmt::format("x{:.2f}", record.factor.value_or(1)), signed_percent(record.bias),
                    record.coverage ? percent(*record.coverage) : "",
                    record.width ? fmt::format("x{:.1f}", *record.width) : ""});
  }
  print_table({{"class", "model", "fold", "sizes", ">systems", ">mean error", ">factor", ">bias",
                ">in interval", ">its width"},
               rows});
  print_line();
  print_line(
      fmt::format("medians over systems; ringside is better than NCCL's cost table on {} of {} systems",
                  report.better_than_tuner, report.compared_with_tuner));
  print_line(
      fmt::format("over PCIe on {} of {}", report.better_than_tuner_pcie, report.compared_with_tuner_pcie));
}

std::string share(const std::optional<double>& value) { return value ? percent(*value) : ""; }

void print_scores(const AccuracyReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const IntervalScores& scores : report.scores) {
    if (scores.fold == Fold::held_out) {
      rows.push_back({scores.part, std::string(name(scores.model)), scores.band,
                      std::to_string(scores.systems), fmt::format("{:.3f}", scores.crps),
                      scores.winkler ? fmt::format("{:.2f}", *scores.winkler) : "", share(scores.held[0]),
                      share(scores.held[1]), share(scores.held[2])});
    }
  }
  print_line();
  print_line("Scores of the logarithm of time, means over systems that were held out (less is better):");
  print_table(
      {{"class", "model", "sizes", ">systems", ">CRPS", ">Winkler 90 %", ">in 50 %", ">in 80 %", ">in 90 %"},
       rows});
}

void print_excluded(const AccuracyReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const EvaluatedSystem& system : report.systems) {
    const Accuracy* record = find(system.records, {.model = EvaluatedModel::ringside});
    if (system.excluded && record != nullptr) {
      rows.push_back({system.name, percent(record->mape, 1), *system.excluded});
    }
  }
  if (!rows.empty()) {
    print_line();
    print_line("excluded systems, not in the medians:");
    print_table({{"system", ">mean error", "why"}, rows});
  }
  for (const std::string& skipped : report.skipped) {
    print_line("not evaluated: " + skipped);
  }
}

/// How many systems stand behind a chart: all, or those of all_reduce.
std::string systems_shown(const AccuracyReport& report, bool other_collectives) {
  int shown = 0;
  int excluded = 0;
  for (const EvaluatedSystem& system : report.systems) {
    if (other_collectives || system.collective == Collective::all_reduce) {
      ++(system.excluded ? excluded : shown);
    }
  }
  return fmt::format("{} systems; {} excluded ones are not shown", shown, excluded);
}

void draw(const AccuracyReport& report, const std::string& directory,
          const std::filesystem::path& output_directory, const CommonOptions& common, Progress& progress) {
  const plots::ChartContext all = {.title = "NCCL's own collectives",
                                   .machine = systems_shown(report, true),
                                   .source = "ringside-lab evaluate " + directory,
                                   .output_directory = output_directory};
  plots::ChartContext all_reduce = all;
  all_reduce.title = "NCCL's own all_reduce";
  all_reduce.machine = systems_shown(report, false);
  std::vector<plots::Figure> figures = plots::accuracy_scatter(report, all);
  for (const auto& more :
       {plots::accuracy_by_size(report, all_reduce), plots::accuracy_curves(report, all_reduce)}) {
    figures.insert(figures.end(), more.begin(), more.end());
  }
  cli::draw_charts(figures, all, common, progress);
}

/// Writes configs/planning/, which the next build takes in.
void fit_planning(const std::filesystem::path& table, const CommonOptions& common) {
  const PlanningStudy study = study_planning(load_published_runs(table, study::known_names()));
  const std::filesystem::path folder =
      common.output.value_or(study::configs_directory().value_or("configs") / "planning");
  write_file(folder / "parameters.yaml", to_yaml(study.all));
  write_file(folder / "held_out.yaml", held_out_file(study));
  print_line(fmt::format("{} runs of {} sources; wrote {} and held_out.yaml. Build again to use them.",
                         study.rows, study.folds.size(), (folder / "parameters.yaml").string()));
}

/// Writes configs/nccl/, which the next build takes in.
void run_fit(const std::string& directory, const CommonOptions& common) {
  const std::filesystem::path table = std::filesystem::path(directory) / "language_models.csv";
  if (std::filesystem::exists(table)) {
    fit_planning(table, common);
    return;
  }
  Progress progress(common.quiet);
  const FitStudy fit = fit_evaluated(directory, common, progress.observer());
  print_line(
      fmt::format("{} systems, {} points, data {}; wrote {} and held_out.yaml. Build again to use them.",
                  fit.study.all.systems, fit.study.all.points, fit.study.all.data_hash,
                  (fit.directory / "parameters.yaml").string()));
}

void run_evaluate(const EvaluateFlags& flags, const CommonOptions& common) {
  Progress progress(common.quiet);
  const EvaluateStudy study =
      evaluate({.directory = flags.directory, .points = flags.points}, common, progress.observer());
  const AccuracyReport& report = study.report;
  if (common.format == OutputFormat::json) {
    cli::print_file(study.file);
    cli::print_file(study.about);
  } else {
    print_summaries(report);
    if (flags.scores) {
      print_scores(report);
    }
    print_excluded(report);
    print_line();
    print_line(fmt::format("results: {}", study.file.string()));
  }
  if (flags.charts) {
    progress.stage("drawing charts");
    draw(report, flags.directory, study.directory, common, progress);
  }
  throw_problems(study);
}

}  // namespace

void add_evaluate(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "evaluate", "How well NCCL's own collectives are predicted, over every scenario with `measured:`");
  auto flags = std::make_shared<EvaluateFlags>();
  command->add_option("DIR", flags->directory, "Folder of scenarios, such as configs/evaluation")->required();
  command->add_flag("--charts", flags->charts, "Draw charts as well");
  command->add_flag("--scores", flags->scores,
                    "Score the intervals as well: CRPS, Winkler's score and how often they hold");
  command->add_flag("--points", flags->points,
                    "Every point as well, in evaluation.jsonl (--format json prints it)");
  command->callback([flags, &common] { run_evaluate(*flags, common); });
}

void add_fit(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("fit",
                         "Fit the model of NCCL's own collectives, or the planner, to what is published, and "
                         "write configs/nccl/ or configs/planning/ (or --output DIR); minutes");
  auto directory = std::make_shared<std::string>();
  command->add_option("DIR", *directory, "configs/evaluation, or configs/scaling for the planner")
      ->required();
  command->callback([directory, &common] { run_fit(*directory, common); });
}

}  // namespace ringside::lab
