#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/job.hpp"
#include "cli/report.hpp"
#include "common/error.hpp"
#include "results/import.hpp"

namespace ringside::cli {
namespace {

struct MeasureFlags {
  std::string scenario;
  bool resume = false;
  int passes = 1;
  bool fitted = false;
  bool predicts = false;  ///< compare: predict as well
  bool no_charts = false;
  LaunchFlags launch;
};

MeasureOptions measure_options(const MeasureFlags& flags, const CommonOptions& common,
                               const Scenario& scenario, const LaunchOptions& launch) {
  MeasureOptions options;
  options.launch = launch;
  options.budget_per_point = parse_seconds(flags.launch.time_per_point);
  options.passes = flags.passes;
  options.seed = common.seed;
  options.placements = placements_of(scenario);
  return options;
}

/// Measurements that somebody else made, for the points of this scenario.
std::vector<Point> points_measured_elsewhere(const Scenario& scenario, const std::vector<PointKey>& keys,
                                             Progress& progress) {
  const std::vector<Point> measured = read_measured(scenario, progress);
  std::vector<Point> points;
  for (const PointKey& key : keys) {
    const auto found =
        std::find_if(measured.begin(), measured.end(), [&](const Point& point) { return point.key == key; });
    points.push_back(
        {.key = key, .predicted = {}, .measured = found == measured.end() ? std::nullopt : found->measured});
  }
  if (std::none_of(points.begin(), points.end(),
                   [](const Point& point) { return point.measured.has_value(); })) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: holds no measurement of any point of this scenario, only of {}",
                            scenario.measured->string(), fmt::join(describe_kinds(measured), "; ")));
  }
  return points;
}

void throw_if_wrong(const std::vector<Point>& points) {
  const auto wrong = std::find_if(points.begin(), points.end(), [](const Point& point) {
    return point.measured && point.measured->outcome == Outcome::wrong_result;
  });
  if (wrong != points.end()) {
    throw Error(ErrorKind::failed,
                fmt::format("wrong result: {} on {} ranks, {}: {}", wrong->key.algorithm, wrong->key.ranks,
                            format(wrong->key.bytes), wrong->measured->note));
  }
}

/// Where ranks are started from outside, there is something to do for as many as were started.
void require_points_of(const Scenario& scenario, const ExternalRank& external) {
  if (std::find(scenario.ranks.begin(), scenario.ranks.end(), external.num_ranks) == scenario.ranks.end()) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{} started {} ranks, and this scenario is for {}; start as many, or change its `ranks`",
                    external.launcher, external.num_ranks, fmt::join(scenario.ranks, ", ")));
  }
}

/// One of the other ranks of mpirun, srun or torchrun: takes part, and leaves files and words to rank 0.
void take_part(const Scenario& scenario, const MeasureFlags& flags, const CommonOptions& common,
               const LaunchOptions& launch) {
  if (flags.predicts && !scenario.machine) {
    take_part_in_calibration(scenario, flags.launch, launch);
  }
  measure(points_of(scenario), measure_options(flags, common, scenario, launch),
          [](const PointKey&, const Measurement&) {});
}

void run(const MeasureFlags& flags, const CommonOptions& common) {
  const Scenario scenario = read_scenario(flags.scenario);
  const std::vector<PointKey> keys = points_of(scenario);
  Progress progress(common.quiet);
  const bool measures = !(flags.predicts && scenario.measured);
  Backend backend = scenario.backend;
  LaunchOptions launch;
  if (measures) {
    const int max_ranks = *std::max_element(scenario.ranks.begin(), scenario.ranks.end());
    backend = measuring_backend({.asked = scenario.backend, .max_ranks = max_ranks}, flags.launch, progress);
    launch = launch_options(flags.launch, backend, scenario.software);
    if (const auto external = external_rank()) {
      require_points_of(scenario, *external);
      if (external->rank != 0) {
        take_part(scenario, flags, common, launch);
        return;
      }
    }
  }
  const std::filesystem::path directory = output_directory(common, scenario.name);
  if (measures) {
    require_points(keys, launch);
  }

  // What is known already: from a killed run, or from somebody else's.
  const std::filesystem::path file = directory / "results.jsonl";
  std::optional<ResumedJournal> resumed;
  if (flags.resume) {
    ResumeRequest request{
        .header = run_header(common, scenario, scenario.machine), .keys = keys, .backend = backend};
    resumed.emplace(resume_journal(file, request));
    for (const std::string& note : resumed->notes) {
      progress.note(note);
    }
  }
  std::vector<Point> points;
  if (!measures) {
    points = points_measured_elsewhere(scenario, keys, progress);
  } else {
    for (const PointKey& key : keys) {
      points.push_back({.key = key, .predicted = {}, .measured = {}});
      if (resumed) {
        const auto known = std::find_if(resumed->points.begin(), resumed->points.end(),
                                        [&](const Point& point) { return point.key == key; });
        if (known != resumed->points.end()) {
          points.back() = *known;
        }
      }
    }
  }

  Machine machine = scenario.machine.value_or(Machine{});
  if (!scenario.machine) {
    machine.name = "this machine";
  }
  std::optional<Machine> known_machine = scenario.machine;
  if (flags.predicts) {
    const bool predicted = std::all_of(points.begin(), points.end(),
                                       [](const Point& point) { return point.predicted.has_value(); });
    machine = predicted && resumed && !scenario.machine
                  ? load_machine(directory / "machine.yaml")
                  : machine_of(scenario, flags.launch, directory, progress);
    known_machine = machine;
    predict_points(points, machine, {.backend = backend}, progress);
  }
  if (!resumed) {
    if (const auto kept = keep_measurements(file, points)) {
      progress.note(fmt::format("Earlier results are kept in {} (--resume would have gone on with them).",
                                kept->string()));
    }
  }
  Journal journal =
      resumed
          ? std::move(resumed->journal)
          : Journal::create(file, run_header(common, scenario, known_machine, measures ? &launch : nullptr));
  if (flags.predicts) {
    journal.append(points);
  }
  if (measures) {
    measure_points(points, measure_options(flags, common, scenario, launch), journal, progress);
  }
  report({.scenario = scenario,
          .machine = machine,
          .points = points,
          .journal = journal,
          .charts = flags.predicts && !flags.no_charts,
          .fitted = flags.fitted},
         common, progress);
  throw_if_wrong(points);
}

void add_flags(CLI::App& command, MeasureFlags& flags) {
  command.add_option("SCENARIO", flags.scenario, "Scenario file (docs/scenario.md)")->required();
  command.add_flag("--resume", flags.resume,
                   "Go on with the results that are there, from a run that was ended");
  add_launch_flags(command, flags.launch);
  command
      .add_option(
          "--passes", flags.passes,
          "Go through all points this many times, each time with a part of --time-per-point, so that drift "
          "hits all alike")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

}  // namespace

void add_measure(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("measure", "Run the scenario on this machine and time it; no prediction");
  auto flags = std::make_shared<MeasureFlags>();
  add_flags(*command, *flags);
  command->callback([flags, &common] { run(*flags, common); });
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
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
