#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/live/live_page.hpp"
#include "cli/options.hpp"
#include "cli/reports/html_report.hpp"
#include "cli/reports/next_steps.hpp"
#include "cli/reports/report.hpp"
#include "common/failures.hpp"
#include "real/launch/external/external_rank.hpp"
#include "study/compare.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::cli {
namespace {

/// Ranks have ended by then (real/system/interrupt.hpp), and every finished point is in the journal.
extern "C" void end_resumable(int /*signal*/) {
  constexpr std::string_view kSentence =
      "\nringside: interrupted; finished points are kept, --resume goes on\n";
  // Whether or not it can be written, this is the end.
  [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(kInterrupted);
}

struct MeasureFlags {
  std::string scenario;
  bool no_charts = false;
  bool explain = false;
  bool report = false;
  bool live = false;
  study::CompareRequest request;
};

/// The same of a run that is over, which its results or its report.html hold.
void show_written(const CLI::App& command, const MeasureFlags& flags, const CommonOptions& common,
                  Progress& progress) {
  for (const char* group : {kRanksGroup, kPointsGroup, kProbesGroup}) {
    refuse_group(command, group, "the file holds results, and nothing is measured");
  }
  const study::WrittenStudy written = study::read_study(flags.scenario, flags.request.fitted);
  if (common.output) {  // Refused before anything is printed.
    study::output_directory(common, written.header.scenario.name);
  }
  std::ranges::for_each(written.notes, [&](const auto& note) { progress.note(note); });
  print_points(written.study, common, flags.explain,
               next_steps(written.study, written.header.command, written.ended));
  if (!flags.no_charts) {
    draw_points(written.study, std::nullopt, common, progress);
  }
  if (flags.report) {
    write_report(written, common);
  }
}

void run(const CLI::App& command, MeasureFlags& flags, const CommonOptions& common) {
  Progress progress(common.quiet);
  std::signal(SIGINT, end_resumable);
  study::CompareRequest& request = flags.request;
  if (request.predicts && study::holds_results(flags.scenario)) {
    show_written(command, flags, common, progress);
    return;
  }
  request.scenario = study::read_scenario(flags.scenario);
  refuse_idle(command, request.scenario,
              request.measures() ? std::nullopt : std::optional("`measured:` says what was measured"));
  if (flags.live && external_rank()) {
    throw bad_input("--live has no effect on ranks that mpirun, srun or torchrun started");
  }
  request.launch.ranks.remark = [&](const std::string& sentence) { progress.note(sentence); };
  std::optional<LivePage> live;
  if (flags.live) {
    live.emplace(request.scenario.name);
  }
  const std::optional<study::PointStudy> study =
      study::compare(request, common, live ? live->observer(progress.observer()) : progress.observer());
  live.reset();
  if (!study) {
    return;  // Rank 0 of mpirun, srun or torchrun prints.
  }
  print_points(*study, common, flags.explain, next_steps(*study, common.command_line, true));
  if (request.predicts && !flags.no_charts) {
    draw_points(*study, study::speedup_grid(*study), common, progress);
  }
  if (flags.report) {
    write_report(*study, common);
  }
  study::throw_if_failed(study->points);
}

void add_flags(CLI::App& command, MeasureFlags& flags) {
  study::CompareRequest& request = flags.request;
  command
      .add_option("SCENARIO", flags.scenario,
                  command.get_name() == "compare" ? "Scenario file (docs/scenario.md), or results of a run"
                                                  : "Scenario file (docs/scenario.md)")
      ->required();
  command.add_flag("--explain", flags.explain, "Show every size, and how accurate each algorithm is");
  add_report_flag(command, flags.report);
  command.add_flag("--live", flags.live, "Show the run in a browser while it goes on")->group(kPointsGroup);
  auto* resume =
      command.add_flag("--resume", request.resume, "Continue an interrupted run; keep its results");
  add_launch_flags(command, request.launch);
  add_point_flags(command, request.launch);
  // What it was called before is --passes.
  auto* repetitions =
      command.add_option("--repetitions,--passes", request.repetitions, "Runs of the whole list of points")
          ->check(CLI::Range(1, 1000))
          ->capture_default_str();
  auto* check = add_read(command, "--check", "Check every result, or each point's last; untimed",
                         [&request](const std::string& text) { request.check_every_call = text == "every"; })
                    ->check(CLI::IsMember({"every", "last"}))
                    ->default_str("every");
  for (CLI::Option* option : {resume, repetitions, check}) {
    option->group(kPointsGroup);
  }
}

}  // namespace

void add_measure(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("measure", "Run the scenario on this machine and time it; no prediction");
  auto flags = std::make_shared<MeasureFlags>();
  flags->request.predicts = false;
  add_flags(*command, *flags);
  command->footer("measure configs/scenarios/quickstart.yaml");
  command->callback([flags, command, &common] { run(*command, *flags, common); });
}

void add_report(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("report", "Results of a run as one page to send: report.html");
  auto file = std::make_shared<std::string>();
  command->add_option("RESULTS", *file, "results.jsonl or predictions.jsonl of a run, or a report.html")
      ->required();
  command->footer("report out/quickstart/results.jsonl");
  command->callback([file, &common] { write_report(study::read_study(*file), common); });
}

void add_compare(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "compare", "Predict, measure (or read `measured:`), draw, and name the fastest algorithm");
  auto flags = std::make_shared<MeasureFlags>();
  add_flags(*command, *flags);
  add_calibrate_flags(*command, flags->request.launch);
  command->add_flag("--fitted", flags->request.fitted, "Also draw lines fitted to the measurements");
  command->add_flag("--no-charts", flags->no_charts, "Do not draw charts");
  command->footer("compare configs/scenarios/quickstart.yaml");
  command->callback([flags, command, &common] { run(*command, *flags, common); });
}

}  // namespace ringside::cli
