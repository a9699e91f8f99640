#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/plan/compute_time.hpp"
#include "cli/console.hpp"
#include "common/numbers.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/validate_runs.hpp"
#include "lab/planning/published_runs.hpp"
#include "lab/planning/scaling_check.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::lab {

using cli::CommonOptions;
using cli::OutputFormat;
using cli::print_line;
using cli::print_table;

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kFactorColumns = {"rows of", ">rows", ">median", ">90th percentile",
                                                 ">% inside"};

std::vector<std::string> factor_cells(const std::string& which, const FactorSummary& summary) {
  return {which, std::to_string(summary.rows), fmt::format("{:.2f}", summary.median),
          fmt::format("{:.2f}", summary.percentile_90), fmt::format("{:.0f}", 100 * summary.coverage)};
}

void print_json(const std::vector<ScalingCheck>& checks) {
  for (const ScalingCheck& check : checks) {
    print_line(nlohmann::ordered_json({{"record", "scaling"},
                                       {"model", check.row.model},
                                       {"precision", check.row.precision},
                                       {"system", check.row.system},
                                       {"gpus", check.row.gpus},
                                       {"measured", check.row.efficiency},
                                       {"predicted", check.predicted.typical},
                                       {"low", check.predicted.low},
                                       {"high", check.predicted.high}})
                   .dump());
  }
}

void print_scaling(const std::vector<ScalingCheck>& checks, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_json(checks);
    return;
  }
  const auto points = [](double share) { return fmt::format("{:.1f}", 100 * share); };
  std::vector<std::vector<std::string>> rows;
  for (const ScalingCheck& check : checks) {
    const PublishedScaling& row = check.row;
    rows.push_back({row.model, row.precision, row.system, std::to_string(row.gpus), points(row.efficiency),
                    points(check.predicted.typical),
                    fmt::format("{} – {}", points(check.predicted.low), points(check.predicted.high)),
                    fmt::format("{:+.1f}", 100 * check.error()), check.inside() ? "" : "outside",
                    fmt::format("{:.2f}", check.throughput.typical / check.measured_throughput()),
                    check.throughput_inside() ? "" : "outside"});
  }
  print_table({{"model", "precision", "system", ">GPUs", ">measured %", ">predicted %", ">90 %", ">error", "",
                ">from words ×", ""},
               rows});
  const auto errors = [](const ScalingErrors& of) {
    return fmt::format("{:.1f} / {:.1f} / {:.1f}", 100 * of.median, 100 * of.mean, 100 * of.percentile_90);
  };
  std::vector<std::vector<std::string>> summaries;
  const auto add_summary = [&](const std::string& which, const std::vector<ScalingCheck>& some) {
    const ScalingSummary summary = summary_of(some);
    summaries.push_back(
        {which, std::to_string(summary.rows), errors(summary.errors), errors(errors_of_perfect_scaling(some)),
         errors(errors_of_median_elsewhere(some, checks)), errors(errors_by_ring(some)),
         errors(errors_by_best_factors(some, checks)), fmt::format("{:.0f}", 100 * summary.coverage),
         fmt::format("{:.0f}", 100 * summary.width)});
  };
  add_summary("all", checks);
  for (const std::string& system_class : system_classes(checks)) {
    add_summary(system_class, of_class(checks, system_class));
  }
  if (const std::vector<ScalingCheck> rest = held_out(checks); !rest.empty()) {
    add_summary("no part in the spread of GPUs", rest);
  }
  std::vector<std::vector<std::string>> words;
  words.push_back(factor_cells("all", throughput_summary_of(checks)));
  for (const std::string& system_class : system_classes(checks)) {
    words.push_back(factor_cells(system_class, throughput_summary_of(of_class(checks, system_class))));
  }
  print_line();
  print_line("Error of efficiency in points: median / mean / 90th percentile");
  print_table({{"rows of", ">rows", ">predicted", ">perfect scaling", ">median elsewhere", ">ring law",
                ">fitted factors", ">% inside", ">width, points"},
               summaries});
  print_line();
  print_line("Throughput of all GPUs from words alone, each source held out: by which factor it is off");
  print_table({kFactorColumns, words});
  print_decisions(candidates_of(checks));
}

FactorSummary summary_of_speeds(const std::vector<SpeedCheck>& checks) {
  std::vector<double> factors;
  std::size_t inside = 0;
  for (const SpeedCheck& check : checks) {
    factors.push_back(check.factor());
    inside += check.inside() ? 1U : 0U;
  }
  return summary_of_factors(factors, inside);
}

void print_json(const std::vector<SpeedCheck>& checks) {
  for (const SpeedCheck& check : checks) {
    print_line(nlohmann::ordered_json{{"model", check.row.workload},
                                      {"gpu", check.row.gpu},
                                      {"precision", name(check.row.precision)},
                                      {"measured", check.row.samples_per_second},
                                      {"predicted", check.predicted.typical},
                                      {"low", check.predicted.low},
                                      {"high", check.predicted.high}}
                   .dump());
  }
}

void print_speeds(const std::vector<SpeedCheck>& checks, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    print_json(checks);
    return;
  }
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, std::vector<SpeedCheck>> by_family;
  for (const SpeedCheck& check : checks) {
    const PublishedSpeed& row = check.row;
    by_family[std::string(name(row.family))].push_back(check);
    const double share = 3 * row.forward_flops * row.samples_per_second / flop_rate(row.sheet, row.precision);
    rows.push_back({row.workload, row.gpu, std::string(name(row.precision)), std::to_string(row.batch),
                    fmt::format("{:.4g}", row.samples_per_second), percent(share),
                    fmt::format("{:.4g}", check.predicted.typical),
                    fmt::format("{:.4g} – {:.4g}", check.predicted.low, check.predicted.high),
                    fmt::format("{:.2f}", check.predicted.typical / row.samples_per_second),
                    check.inside() ? "" : "outside", repository_of(row.source)});
  }
  print_table({{"model", "GPU", "precision", ">batch", ">measured/s", ">of data sheet", ">predicted/s",
                ">90 %", ">×", "", "source, held out"},
               rows});
  std::vector<std::vector<std::string>> summaries = {factor_cells("all", summary_of_speeds(checks))};
  for (const auto& [family, some] : by_family) {
    summaries.push_back(factor_cells(family, summary_of_speeds(some)));
  }
  print_line();
  print_line("Speed of one GPU from words alone, each source held out: by which factor it is off");
  print_table({kFactorColumns, summaries});
}

/// Predicted beside published, every row of a table: scaling, speeds of one GPU, or runs of language models.
void print_validation(const fs::path& file, const CommonOptions& common) {
  const fs::path configs = study::configs_directory().value_or("configs");
  const fs::path models = configs / "workloads" / "tensors";
  const KnownNames known = study::known_names();
  if (is_table_of_runs(file)) {
    print_runs(check_runs(load_published_runs(file, known)), common);
  } else if (is_table_of_speeds(file)) {
    print_speeds(check_speeds(load_published_speeds(file, models)), common);
  } else {
    print_scaling(
        check_scaling(
            load_published_scaling(file),
            {.table = file, .models = models, .speeds = configs / "scaling" / "speeds.csv", .known = known}),
        common);
  }
}

}  // namespace

void add_validate(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("validate", "What plans say beside what others published, every row of a table");
  auto file = std::make_shared<std::string>();
  command
      ->add_option(
          "TABLE", *file,
          "configs/scaling/published.csv (scaling), speeds.csv (one GPU) or language_models.csv (runs) there")
      ->required();
  command->callback([file, &common] { print_validation(*file, common); });
}

}  // namespace ringside::lab
