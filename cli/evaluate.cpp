#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/accuracy_page.hpp"
#include "analysis/evaluation.hpp"
#include "cli/commands.hpp"
#include "cli/job.hpp"
#include "cli/lookup.hpp"
#include "cli/report.hpp"
#include "common/error.hpp"
#include "plots/accuracy_charts.hpp"
#include "results/reader.hpp"

namespace ringside::cli {
namespace {

struct EvaluateFlags {
  std::string directory;
  bool fit = false;
  bool charts = false;
  std::string page;
};

std::vector<std::filesystem::path> scenario_files(const std::filesystem::path& directory) {
  if (!std::filesystem::is_directory(directory)) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: no such directory", directory.string()));
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Systems {
  std::vector<EvaluationSystem> systems;
  std::vector<std::string> problems;  ///< Of each file that is left out, as its error says.
};

/// Nothing for a scenario without `measured:`: it is no business of ours. Throws Error{bad_input}.
std::optional<EvaluationSystem> read_system(const std::filesystem::path& file, Progress& progress) {
  const Scenario scenario = read_scenario(file);
  if (!scenario.measured || !scenario.machine) {
    return std::nullopt;
  }
  const Evaluation words = scenario.evaluation.value_or(Evaluation{});
  return EvaluationSystem{.name = scenario.name,
                          .source = words.source,
                          .group = words.group.empty() ? scenario.name : words.group,
                          .odd = words.odd,
                          .weak = words.weak,
                          .machine = *scenario.machine,
                          .points = read_measured(scenario, progress)};
}

/// One bad file among many does not keep the others from being evaluated.
Systems read_systems(const std::filesystem::path& directory, Progress& progress) {
  Systems read;
  for (const std::filesystem::path& file : scenario_files(directory)) {
    try {
      if (auto system = read_system(file, progress)) {
        read.systems.push_back(std::move(*system));
      }
    } catch (const Error& error) {
      read.problems.emplace_back(error.what());
    }
  }
  return read;
}

[[noreturn]] void throw_problems_of(const Systems& read) {
  throw Error(ErrorKind::bad_input,
              fmt::format("{} of {} scenarios cannot be read:\n{}", read.problems.size(),
                          read.problems.size() + read.systems.size(), fmt::join(read.problems, "\n")));
}

/// Of the tables beside the scenarios that are not evaluated, why.
std::vector<std::string> read_not_evaluated(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "not_evaluated.csv";
  return std::filesystem::exists(file) ? parse_not_evaluated(read_text(file), file.string())
                                       : std::vector<std::string>{};
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  if (file.has_parent_path()) {
    std::filesystem::create_directories(file.parent_path());
  }
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) {
    throw Error(ErrorKind::environment, fmt::format("{}: cannot be written", file.string()));
  }
}

/// Writes configs/nccl/, which the next build takes in.
void fit(const std::vector<EvaluationSystem>& systems, const CommonOptions& common, Progress& progress) {
  const std::vector<NcclTable> tables = fit_tables(systems);
  progress.stage("fitting");
  const NcclStudy study =
      study_nccl(tables, {.seed = common.seed}, [&](const std::string& what) { progress.update(0, what); });
  progress.finish();
  const std::filesystem::path directory =
      common.output.value_or(configs_directory().value_or("configs") / "nccl");
  write_file(directory / "parameters.yaml", parameters_file(study));
  write_file(directory / "left_out.yaml", left_out_file(study));
  print_line(fmt::format(
      "{} systems, {} points, data {}; wrote {} and left_out.yaml. Build again to use them.",
      study.all.systems, study.all.points, study.all.data_hash, (directory / "parameters.yaml").string()));
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

void print_summaries(const AccuracyReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const Accuracy& record : report.summaries) {
    if (record.statistic != "median") {
      continue;
    }
    const bool first = record.band == "all";
    if (first && !rows.empty() && rows.back().front() != *record.machine_class &&
        record.model == name(EvaluatedModel::ringside) && record.fold == name(Fold::left_out)) {
      rows.emplace_back(11);
    }
    rows.push_back({*record.machine_class, *record.model, *record.fold, *record.band,
                    std::to_string(record.systems.value_or(0)), percent(record.mape),
                    fmt::format("x{:.2f}", record.factor.value_or(1)),
                    fmt::format("{:+.0f} %", 100 * record.bias),
                    record.coverage ? fmt::format("{:.0f} %", 100 * *record.coverage) : "",
                    record.width ? fmt::format("x{:.1f}", *record.width) : ""});
  }
  print(table({"class", "model", "fold", "sizes", ">systems", ">mean error", ">factor", ">bias",
               ">in interval", ">its width"},
              rows));
  print_line();
  print_line(
      fmt::format("medians over systems; ringside is better than NCCL's cost table on {} of {} systems",
                  report.better_than_tuner, report.compared_with_tuner));
}

void print_apart(const AccuracyReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const EvaluatedSystem& system : report.systems) {
    const Accuracy* record = find(system.records, {.model = EvaluatedModel::ringside});
    if (system.odd && record != nullptr) {
      rows.push_back({system.name, percent(record->mape), *system.odd});
    }
  }
  if (!rows.empty()) {
    print_line();
    print_line("odd systems, not in the medians:");
    print(table({"system", ">mean error", "why"}, rows));
  }
  for (const std::string& skipped : report.skipped) {
    print_line("not evaluated: " + skipped);
  }
}

void draw(const AccuracyReport& report, const plots::ChartContext& context, const CommonOptions& common,
          Progress& progress) {
  std::vector<plots::Figure> figures = plots::accuracy_scatter(report, context);
  for (const auto& more :
       {plots::accuracy_by_size(report, context), plots::accuracy_curves(report, context)}) {
    figures.insert(figures.end(), more.begin(), more.end());
  }
  draw_charts(figures, context, common, progress);
}

void run(const EvaluateFlags& flags, const CommonOptions& common) {
  Progress progress(common.quiet);
  progress.stage("reading scenarios");
  const Systems read = read_systems(flags.directory, progress);
  const std::vector<EvaluationSystem>& systems = read.systems;
  progress.finish();
  // What is written for good is of all systems or of none.
  const bool for_good = flags.fit || !flags.page.empty();
  if (!read.problems.empty() && (systems.empty() || for_good)) {
    throw_problems_of(read);
  }
  if (systems.empty()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: no scenario below it has `measured:`", flags.directory));
  }
  if (flags.fit) {
    fit(systems, common, progress);
    return;
  }
  AccuracyReport report = evaluate(systems, nccl_fit(), nccl_left_out());
  for (std::string& sentence : read_not_evaluated(flags.directory)) {
    report.skipped.push_back(std::move(sentence));
  }

  const std::string title = std::filesystem::path(flags.directory).lexically_normal().filename().string();
  const std::filesystem::path directory = output_directory(common, title.empty() ? "evaluation" : title);
  Scenario asked;
  asked.name = flags.directory;
  Journal journal = Journal::create(directory / "accuracy.jsonl", run_header(common, asked, std::nullopt));
  for (const EvaluatedSystem& system : report.systems) {
    for (const Accuracy& record : system.records) {
      journal.append(record);
    }
  }
  for (const Accuracy& record : report.summaries) {
    journal.append(record);
  }
  if (common.format == OutputFormat::json) {
    print_file(journal.file());
  } else {
    print_summaries(report);
    print_apart(report);
    print_line();
    print_line(fmt::format("results: {}", journal.file().string()));
  }
  if (!flags.page.empty()) {
    write_file(flags.page, accuracy_page(report, nccl_fit()));
  }
  if (flags.charts) {
    progress.stage("drawing charts");
    const auto odd = static_cast<std::size_t>(
        std::count_if(report.systems.begin(), report.systems.end(),
                      [](const EvaluatedSystem& system) { return system.odd.has_value(); }));
    draw(report,
         {.title = "NCCL's own all_reduce",
          .machine = fmt::format("{} systems; {} odd ones are not shown", report.systems.size() - odd, odd),
          .source = "ringside evaluate " + flags.directory,
          .output_directory = directory},
         common, progress);
  }
  if (!read.problems.empty()) {
    throw_problems_of(read);
  }
}

}  // namespace

void add_evaluate(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "evaluate", "How well NCCL's own all_reduce is predicted, over every scenario with `measured:`");
  auto flags = std::make_shared<EvaluateFlags>();
  command->add_option("DIR", flags->directory, "Folder of scenarios, such as configs/evaluation")->required();
  command->add_flag("--fit", flags->fit,
                    "Fit the parameters to these systems and write configs/nccl/ (or --output DIR); minutes");
  command->add_flag("--charts", flags->charts, "Draw charts as well");
  command->add_option("--page", flags->page, "Write the table of all systems as Markdown to this file");
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
