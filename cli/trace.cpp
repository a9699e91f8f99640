#include "study/trace.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/comparison/point_sentences.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "plots/charts/charts.hpp"
#include "results/codec/field_table.hpp"
#include "schedule/program/policy.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::cli {
namespace {

std::string predicted_text(const study::Simulation& simulation) {
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

/// How the schedule runs in the two; empty where nobody says.
std::string policy_text(const study::Timeline& timeline) {
  const auto predicted = timeline.simulated ? timeline.simulated->prediction.policy : std::nullopt;
  const auto measured = timeline.recorded ? timeline.recorded->policy : std::nullopt;
  if (predicted && measured && *predicted != *measured) {
    return policy_difference(*predicted, *measured);
  }
  const auto& either = measured ? measured : predicted;
  return either ? describe(*either) : "";
}

/// Rows by rank.
std::vector<plots::TimelineBar> bars_of(std::vector<TraceEvent> events) {
  std::ranges::stable_sort(events, {}, &TraceEvent::rank);
  std::vector<plots::TimelineBar> bars;
  for (const TraceEvent& event : events) {
    bars.push_back({.track = fmt::format("rank {}", event.rank),
                    .start = event.start,
                    .end = event.end,
                    .label = event.kind == TraceKind::transfer ? fmt::format("→{}", event.target) : "",
                    .kind = std::string(study::timeline_name(event.kind))});
  }
  return bars;
}

Json policy_json(const ExecutionPolicy& policy) {
  JsonWriter json;
  Codec<ExecutionPolicy>::write(json, policy);
  return Json::parse(json.take());
}

nlohmann::ordered_json record_of(const study::Timeline& timeline) {
  nlohmann::ordered_json record = {{"record", "trace"},
                                   {"collective", name(timeline.key.collective)},
                                   {"algorithm", timeline.key.algorithm},
                                   {"ranks", timeline.key.ranks},
                                   {"bytes", timeline.key.bytes.value}};
  if (timeline.simulated) {
    record["predicted"] = {{"seconds", timeline.simulated->prediction.seconds.value},
                           {"fidelity", name(timeline.simulated->prediction.fidelity)},
                           {"events", timeline.simulated->events.size()}};
    if (timeline.simulated->prediction.policy) {
      record["predicted"]["policy"] = policy_json(*timeline.simulated->prediction.policy);
    }
  }
  if (timeline.recorded) {
    record["measured"] = {{"seconds", timeline.recorded->seconds.value},
                          {"iterations", timeline.recorded->iterations},
                          {"backend", name(timeline.recorded->backend)},
                          {"events", timeline.recorded->events.size()}};
    if (timeline.recorded->policy) {
      record["measured"]["policy"] = policy_json(*timeline.recorded->policy);
    }
    if (timeline.recorded->barrier_skew) {
      record["measured"]["barrier_skew"] = timeline.recorded->barrier_skew->value;
    }
  }
  record["file"] = timeline.file.string();
  return record;
}

/// Prints and draws what is known of one algorithm: prediction and reality share the time axis.
void show_timeline(const study::Timeline& timeline, const study::TraceStudy& study,
                   const CommonOptions& common, Progress& progress) {
  std::vector<plots::TimelinePart> parts;
  if (timeline.simulated) {
    parts.push_back(
        {.title = predicted_text(*timeline.simulated), .bars = bars_of(timeline.simulated->events)});
  }
  if (timeline.recorded) {
    parts.push_back({.title = measured_text(*timeline.recorded), .bars = bars_of(timeline.recorded->events)});
  }
  if (parts.empty()) {
    return;
  }
  const std::string title = study::title_of(timeline.key);
  if (common.format == OutputFormat::table) {
    print_line(title);
    for (const plots::TimelinePart& part : parts) {
      print_line("  " + part.title);
    }
    if (timeline.recorded) {
      print_line("  " + clock_text(*timeline.recorded));
    }
    if (const std::string difference = policy_text(timeline); !difference.empty()) {
      print_line("  " + difference);
    }
    print_line("  {}  (open in ui.perfetto.dev or chrome://tracing)", timeline.file.string());
  } else {
    print_record(record_of(timeline));
  }
  const plots::ChartContext context = {.title = title,
                                       .machine = chart_label(study.machine),
                                       .source = timeline.file.string(),
                                       .output_directory = study.directory,
                                       .size = common.chart_size};
  std::vector<plots::Figure> figures = plots::timelines(parts, context);
  for (plots::Figure& figure : figures) {
    figure.name = fmt::format("timeline_{}", timeline.key.algorithm);
  }
  draw_charts(figures, context, common, progress);
}

void run(const CLI::App& command, const std::string& scenario, study::TraceRequest& request,
         const CommonOptions& common) {
  request.scenario = study::read_scenario(scenario);
  refuse_idle(command, request.scenario,
              request.measures ? std::nullopt : std::optional("without --measure nothing is measured"));
  Progress progress(common.quiet);
  const std::optional<study::TraceStudy> study = study::trace(request, common, progress.observer());
  if (!study) {
    return;  // Rank 0 of mpirun, srun or torchrun prints.
  }
  for (const study::Timeline& timeline : study->timelines) {
    show_timeline(timeline, *study, common, progress);
  }
}

}  // namespace

void add_trace(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("trace", "One collective as a timeline: PNG and Perfetto JSON");
  struct Flags {
    std::string scenario;
    study::TraceRequest request;
  };
  auto flags = std::make_shared<Flags>();
  study::TraceRequest& request = flags->request;
  command->add_option("SCENARIO", flags->scenario, "Scenario file (docs/scenario.md)")->required();
  command->add_option("--algorithm", request.algorithms, "Only these algorithms, such as naive,ring")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--ranks", request.ranks, "Number of ranks (default: the scenario's last)")
      ->check(CLI::Range(1, study::kMostTracedRanks));
  add_bytes(*command, "--bytes", request.bytes, "Message size (default: the scenario's last)");
  command->add_flag("--measure", request.measures, "Also measure it, and draw both on one time axis");
  add_calibrate_flags(*command, request.launch);
  add_launch_flags(*command, request.launch);
  add_point_flags(*command, request.launch);
  command->footer("trace configs/scenarios/quickstart.yaml --algorithm ring --ranks 4 --bytes '16 MiB'");
  command->callback([flags, command, &common] { run(*command, flags->scenario, flags->request, common); });
}

}  // namespace ringside::cli
