#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/job.hpp"
#include "cli/perfetto.hpp"
#include "cli/report.hpp"
#include "common/error.hpp"
#include "plots/charts.hpp"
#include "real/recording.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;

/// A ring of so many ranks has 130,560 transfers; files and pictures of more help nobody.
constexpr int kMostTracedRanks = 256;

struct TraceFlags {
  std::string scenario;
  std::vector<std::string> algorithms;
  int ranks = 0;
  std::string bytes;
  bool measures = false;
  LaunchFlags launch;
};

/// A simulated run.
struct Simulation {
  Prediction prediction;
  std::vector<TraceEvent> events;
};

/// What is known of one algorithm.
struct Timeline {
  PointKey key;
  std::optional<Simulation> simulated = {};
  std::optional<Recording> recorded = {};
};

/// The points to be traced: one per algorithm that has a schedule.
std::vector<PointKey> points_to_trace(const Scenario& scenario, const TraceFlags& flags) {
  std::vector<std::string> algorithms = flags.algorithms;
  if (algorithms.empty()) {
    std::copy_if(scenario.algorithms.begin(), scenario.algorithms.end(), std::back_inserter(algorithms),
                 [](const std::string& algorithm) { return algorithm != kNative; });
  }
  const int ranks = flags.ranks > 0 ? flags.ranks : scenario.ranks.back();
  if (ranks > kMostTracedRanks) {
    throw Error(ErrorKind::bad_input,
                fmt::format("a timeline of {} ranks is too long; choose at most {} with --ranks", ranks,
                            kMostTracedRanks));
  }
  std::vector<PointKey> keys;
  for (const std::string& algorithm : algorithms) {
    if (find_algorithm(scenario.collective, algorithm) == nullptr) {
      throw Error(ErrorKind::bad_input,
                  unknown_name("algorithm", algorithm, algorithm_names(scenario.collective)));
    }
    keys.push_back({.collective = scenario.collective,
                    .algorithm = algorithm,
                    .ranks = ranks,
                    .bytes = flags.bytes.empty() ? scenario.message_sizes.back() : parse_bytes(flags.bytes),
                    .dtype = scenario.dtype,
                    .op = scenario.op});
  }
  return keys;
}

std::optional<Simulation> simulate(const Machine& machine, const PointKey& key, Backend backend,
                                   Progress& progress) {
  Simulation simulation;
  PredictOptions options;
  options.backend = backend;
  options.trace = &simulation.events;
  const auto outcome = predict(machine, key, options);
  if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
    progress.note(fmt::format("No prediction of {}: {}", key.algorithm, unpredicted->reason));
    return std::nullopt;
  }
  simulation.prediction = std::get<Prediction>(outcome);
  return simulation;
}

MeasureOptions record_options(const TraceFlags& flags, const CommonOptions& common, const Scenario& scenario,
                              Backend backend) {
  MeasureOptions options;
  options.launch = launch_options(flags.launch, backend);
  options.budget_per_point = parse_seconds(flags.launch.time_per_point);
  options.seed = common.seed;
  options.placements = placements_of(scenario);
  return options;
}

void record_timelines(std::vector<Timeline>& timelines, const MeasureOptions& options, Progress& progress) {
  std::vector<PointKey> keys;
  for (const Timeline& timeline : timelines) {
    keys.push_back(timeline.key);
  }
  progress.stage(fmt::format("recording {} {}", keys.size(), keys.size() == 1 ? "point" : "points"));
  std::size_t done = 0;
  record(keys, options, [&](const PointKey& key, const Recording& recording) {
    if (recording.outcome == Outcome::wrong_result) {
      throw Error(ErrorKind::failed, fmt::format("wrong result: {} on {} ranks, {}: {}", key.algorithm,
                                                 key.ranks, format(key.bytes), recording.note));
    }
    if (recording.outcome == Outcome::ok) {
      timelines[done].recorded = recording;
    } else {
      progress.note(fmt::format("No recording of {}: {}", key.algorithm, recording.note));
    }
    ++done;
    progress.update(static_cast<double>(done) / static_cast<double>(keys.size()), key.algorithm);
  });
  progress.finish();
}

std::string title_of(const PointKey& key) {
  return fmt::format("{} {} of {} on {} ranks", key.algorithm, name(key.collective), format(key.bytes),
                     key.ranks);
}

std::string predicted_text(const Simulation& simulation) {
  return fmt::format("predicted: {} ({}, {} events)", format(simulation.prediction.seconds),
                     name(simulation.prediction.fidelity), simulation.events.size());
}

std::string measured_text(const Recording& recording) {
  return fmt::format("measured: {} ({}, the median of {} runs, {} events)", format(recording.seconds),
                     name(recording.backend), recording.iterations, recording.events.size());
}

/// What a reader must know before comparing times of different ranks.
std::string clock_text(const Recording& recording) {
  return recording.barrier_skew
             ? fmt::format("one clock; ranks left the barrier within {}", format(*recording.barrier_skew))
             : "several machines: each rank's time starts where it left the barrier";
}

/// Rows by rank.
std::vector<plots::TimelineBar> bars_of(std::vector<TraceEvent> events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.rank < b.rank; });
  std::vector<plots::TimelineBar> bars;
  for (const TraceEvent& event : events) {
    bars.push_back({.track = fmt::format("rank {}", event.rank),
                    .start = event.start,
                    .end = event.end,
                    .label = event.kind == TraceKind::transfer ? fmt::format("→{}", event.target) : "",
                    .kind = std::string(timeline_name(event.kind))});
  }
  return bars;
}

nlohmann::ordered_json record_of(const Timeline& timeline, const fs::path& file) {
  nlohmann::ordered_json record = {{"record", "trace"},
                                   {"collective", name(timeline.key.collective)},
                                   {"algorithm", timeline.key.algorithm},
                                   {"ranks", timeline.key.ranks},
                                   {"bytes", timeline.key.bytes.value}};
  if (timeline.simulated) {
    record["predicted"] = {{"seconds", timeline.simulated->prediction.seconds.value},
                           {"fidelity", name(timeline.simulated->prediction.fidelity)},
                           {"events", timeline.simulated->events.size()}};
  }
  if (timeline.recorded) {
    record["measured"] = {{"seconds", timeline.recorded->seconds.value},
                          {"iterations", timeline.recorded->iterations},
                          {"backend", name(timeline.recorded->backend)},
                          {"events", timeline.recorded->events.size()}};
    if (timeline.recorded->barrier_skew) {
      record["measured"]["barrier_skew"] = timeline.recorded->barrier_skew->value;
    }
  }
  record["file"] = file.string();
  return record;
}

/// Writes and draws what is known of one algorithm: prediction and reality share the time axis.
void write_timeline(const Timeline& timeline, const Machine& machine, const fs::path& directory,
                    const CommonOptions& common, Progress& progress) {
  std::vector<TracedRun> runs;
  std::vector<plots::TimelinePart> parts;
  const auto add = [&](const std::string& label, const std::string& text,
                       const std::vector<TraceEvent>& events) {
    runs.push_back({.label = label, .events = events});
    parts.push_back({.title = text, .bars = bars_of(events)});
  };
  if (timeline.simulated) {
    add("predicted", predicted_text(*timeline.simulated), timeline.simulated->events);
  }
  if (timeline.recorded) {
    add("measured", measured_text(*timeline.recorded), timeline.recorded->events);
  }
  if (runs.empty()) {
    return;
  }
  const std::string title = title_of(timeline.key);
  const fs::path file = directory / fmt::format("trace_{}.json", timeline.key.algorithm);
  write_perfetto(runs, title, file);
  if (common.format == OutputFormat::table) {
    print_line(title);
    for (const plots::TimelinePart& part : parts) {
      print_line("  " + part.title);
    }
    if (timeline.recorded) {
      print_line("  " + clock_text(*timeline.recorded));
    }
    print_line(fmt::format("  {}  (open in ui.perfetto.dev or chrome://tracing)", file.string()));
  } else {
    print_line(record_of(timeline, file).dump());
  }
  const plots::ChartContext context = {
      .title = title, .machine = machine.name, .source = file.string(), .output_directory = directory};
  std::vector<plots::Figure> figures = plots::timelines(parts, context);
  for (plots::Figure& figure : figures) {
    figure.name = fmt::format("timeline_{}", timeline.key.algorithm);
  }
  draw_charts(figures, context, common, progress);
}

void run(const TraceFlags& flags, const CommonOptions& common) {
  const Scenario scenario = read_scenario(flags.scenario);
  const std::vector<PointKey> keys = points_to_trace(scenario, flags);
  Progress progress(common.quiet);
  Backend backend = scenario.backend;
  if (flags.measures) {
    // The steps of a call on GPUs cannot be told apart, so those of CPU ranks are looked at.
    backend = measuring_backend({.asked = backend == Backend::automatic ? Backend::gloo : backend},
                                flags.launch, progress);
    if (const auto external = external_rank(); external && external->rank != 0) {
      // One of the other ranks of mpirun, srun or torchrun: takes part, and leaves files and words to rank 0.
      if (!scenario.machine) {
        take_part_in_calibration(scenario, flags.launch, launch_options(flags.launch, backend));
      }
      record(keys, record_options(flags, common, scenario, backend),
             [](const PointKey&, const Recording&) {});
      return;
    }
  }
  const fs::path directory = output_directory(common, scenario.name);
  const Machine machine = machine_of(scenario, flags.launch, directory, progress);

  std::vector<Timeline> timelines;
  for (const PointKey& key : keys) {
    timelines.push_back({.key = key, .simulated = simulate(machine, key, backend, progress)});
  }
  if (flags.measures) {
    record_timelines(timelines, record_options(flags, common, scenario, backend), progress);
  }
  for (const Timeline& timeline : timelines) {
    write_timeline(timeline, machine, directory, common, progress);
  }
}

}  // namespace

void add_trace(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("trace", "One collective as a timeline: PNG and Perfetto JSON");
  auto flags = std::make_shared<TraceFlags>();
  command->add_option("SCENARIO", flags->scenario, "Scenario file (docs/scenario.md)")->required();
  command
      ->add_option("--algorithm", flags->algorithms,
                   "Only these, such as naive,ring (default: all of the scenario's)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--ranks", flags->ranks, "Number of ranks (default: the scenario's last)")
      ->check(CLI::Range(1, kMostTracedRanks));
  command->add_option("--bytes", flags->bytes, "Message size (default: the scenario's last)")
      ->check(size_problem);
  command->add_flag(
      "--measure", flags->measures,
      "Also run it on real ranks, and show what was predicted and what happened on one time axis");
  add_calibrate_flags(*command, flags->launch);
  add_launch_flags(*command, flags->launch);
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
