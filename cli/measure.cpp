#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/interruption.hpp"
#include "cli/launch_flags.hpp"
#include "cli/reports/report.hpp"
#include "study/compare.hpp"

namespace ringside::cli {
namespace {

struct MeasureFlags {
  std::string scenario;
  bool resume = false;
  int repetitions = study::CompareRequest{}.repetitions;
  std::string check = "every";
  bool fitted = false;
  bool predicts = false;  ///< compare: predict as well
  bool no_charts = false;
  LaunchFlags launch;
};

void run(const MeasureFlags& flags, const CommonOptions& common) {
  Progress progress(common.quiet);
  say_how_to_resume_when_interrupted();
  const std::optional<study::PointStudy> study = study::compare({.scenario = flags.scenario,
                                                                 .predicts = flags.predicts,
                                                                 .resume = flags.resume,
                                                                 .repetitions = flags.repetitions,
                                                                 .check_every_call = flags.check == "every",
                                                                 .fitted = flags.fitted,
                                                                 .launch = launch_choices(flags.launch)},
                                                                common, progress.observer());
  if (!study) {
    return;  // Rank 0 of mpirun, srun or torchrun prints.
  }
  print_points(*study, common);
  if (flags.predicts && !flags.no_charts) {
    draw_points(*study, study::speedup_grid(*study), common, progress);
  }
  study::throw_if_failed(study->points);
}

void add_flags(CLI::App& command, MeasureFlags& flags) {
  command.add_option("SCENARIO", flags.scenario, "Scenario file (docs/scenario.md)")->required();
  command.add_flag("--resume", flags.resume,
                   "Go on with the results that are there, from a run that was ended");
  add_launch_flags(command, flags.launch);
  add_point_flags(command, flags.launch);
  command
      .add_option(
          "--repetitions", flags.repetitions,
          "Go through all points this many times, each time with a part of --time-per-point, so that drift "
          "hits all alike")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  // What it was called before.
  command.add_option("--passes", flags.repetitions)->check(CLI::Range(1, 1000))->group("");
  command
      .add_option(
          "--check", flags.check,
          "Which results are compared with what they must be, outside the timer: every or last (of a point)")
      ->check(CLI::IsMember({"every", "last"}))
      ->capture_default_str();
}

}  // namespace

void add_measure(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("measure", "Run the scenario on this machine and time it; no prediction");
  auto flags = std::make_shared<MeasureFlags>();
  add_flags(*command, *flags);
  command->callback([flags, command, &common] {
    flags->launch.given = typed_flags(*command);
    run(*flags, common);
  });
}

void add_compare(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "compare", "The main job: predict, measure (or read `measured:`), draw, and say who wins");
  auto flags = std::make_shared<MeasureFlags>();
  flags->predicts = true;
  add_flags(*command, *flags);
  add_calibrate_flags(*command, flags->launch);
  command->add_flag(
      "--fitted", flags->fitted,
      "Also draw the line fitted to each algorithm's own measurements, and say how far off it would be");
  command->add_flag("--no-charts", flags->no_charts, "Do not draw charts");
  command->callback([flags, command, &common] {
    flags->launch.given = typed_flags(*command);
    run(*flags, common);
  });
}

}  // namespace ringside::cli
