#include "sim/trace.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/job.hpp"
#include "cli/report.hpp"
#include "common/error.hpp"
#include "plots/charts.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;

struct TraceFlags {
  std::string scenario;
  std::vector<std::string> algorithms;
  int ranks = 0;
  std::string bytes;
  LaunchFlags launch;
};

std::string_view kind_name(TraceKind kind) {
  switch (kind) {
    case TraceKind::transfer:
      return "transfer";
    case TraceKind::reduction:
      return "reduce";
    case TraceKind::local:
      return "local";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a trace kind has no name");
}

std::string chunks_text(const TraceEvent& event) {
  return event.num_chunks == 1
             ? fmt::format("chunk {}", event.first_chunk)
             : fmt::format("chunks {}–{}", event.first_chunk, event.first_chunk + event.num_chunks - 1);
}

/// The Trace Event Format that chrome://tracing and ui.perfetto.dev read: complete events ("X"), microseconds. Ranks
/// are threads of process 0, links threads of process 1.
void write_perfetto(const std::vector<TraceEvent>& events, const std::string& title, const fs::path& file) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::vector<std::pair<Rank, Rank>> links;
  for (const TraceEvent& event : events) {
    if (event.kind == TraceKind::transfer) {
      links.emplace_back(event.source, event.target);
    }
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());

  const auto name_track = [&](std::string_view what, int process, std::size_t thread,
                              const std::string& text) {
    list.push_back(
        {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", text}}}});
  };
  name_track("process_name", 0, 0, "ranks: " + title);
  name_track("process_name", 1, 0, "links: " + title);
  Rank num_ranks = 0;
  for (const TraceEvent& event : events) {
    num_ranks = std::max({num_ranks, event.source + 1, event.target + 1});
  }
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    name_track("thread_name", 0, static_cast<std::size_t>(rank), fmt::format("rank {}", rank));
  }
  for (std::size_t link = 0; link < links.size(); ++link) {
    name_track("thread_name", 1, link, fmt::format("{} → {}", links[link].first, links[link].second));
  }
  const auto add = [&](const TraceEvent& event, int process, std::size_t thread) {
    list.push_back({{"ph", "X"},
                    {"name", fmt::format("{} {}", kind_name(event.kind), chunks_text(event))},
                    {"cat", kind_name(event.kind)},
                    {"pid", process},
                    {"tid", thread},
                    {"ts", event.start.value * 1e6},
                    {"dur", (event.end - event.start).value * 1e6},
                    {"args",
                     {{"round", event.round},
                      {"source", event.source},
                      {"target", event.target},
                      {"bytes", event.bytes.value}}}});
  };
  for (const TraceEvent& event : events) {
    add(event, 0, static_cast<std::size_t>(event.rank));
    if (event.kind == TraceKind::transfer) {
      const auto link = std::lower_bound(links.begin(), links.end(), std::pair(event.source, event.target));
      add(event, 1, static_cast<std::size_t>(link - links.begin()));
    }
  }
  std::ofstream stream(file);
  stream << nlohmann::ordered_json{{"displayTimeUnit", "ms"}, {"traceEvents", list}}.dump(1) << "\n";
  stream.close();
  if (!stream) {
    throw Error(ErrorKind::bad_input, fmt::format("cannot write {}", file.string()));
  }
}

std::vector<plots::TimelineBar> bars_of(const std::vector<TraceEvent>& events) {
  std::vector<plots::TimelineBar> bars;
  for (const TraceEvent& event : events) {
    bars.push_back({.track = fmt::format("rank {}", event.rank),
                    .start = event.start,
                    .end = event.end,
                    .label = event.kind == TraceKind::transfer ? fmt::format("→{}", event.target) : "",
                    .kind = std::string(kind_name(event.kind))});
  }
  // Tracks stand in order of first appearance.
  std::stable_sort(bars.begin(), bars.end(), [](const plots::TimelineBar& a, const plots::TimelineBar& b) {
    return std::stoi(a.track.substr(5)) < std::stoi(b.track.substr(5));
  });
  return bars;
}

void run(const TraceFlags& flags, const CommonOptions& common) {
  const Scenario scenario = read_scenario(flags.scenario);
  const fs::path directory = output_directory(common, scenario.name);
  Progress progress(common.quiet);
  const Machine machine = machine_of(scenario, flags.launch, directory, progress);

  std::vector<std::string> algorithms = flags.algorithms;
  if (algorithms.empty()) {
    std::copy_if(scenario.algorithms.begin(), scenario.algorithms.end(), std::back_inserter(algorithms),
                 [](const std::string& algorithm) { return algorithm != kNative; });
  }
  const int ranks = flags.ranks > 0 ? flags.ranks : scenario.ranks.back();
  const Bytes bytes = flags.bytes.empty() ? scenario.message_sizes.back() : parse_bytes(flags.bytes);
  for (const std::string& algorithm : algorithms) {
    if (find_algorithm(scenario.collective, algorithm) == nullptr) {
      throw Error(ErrorKind::bad_input,
                  unknown_name("algorithm", algorithm, algorithm_names(scenario.collective)));
    }
    std::vector<TraceEvent> events;
    PredictOptions options;
    options.backend = scenario.backend;
    options.trace = &events;
    const auto outcome = predict(machine,
                                 {.collective = scenario.collective,
                                  .algorithm = algorithm,
                                  .ranks = ranks,
                                  .bytes = bytes,
                                  .dtype = scenario.dtype,
                                  .op = scenario.op},
                                 options);
    if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
      progress.note(fmt::format("No timeline of {}: {}", algorithm, unpredicted->reason));
      continue;
    }
    const auto& prediction = std::get<Prediction>(outcome);
    const std::string title =
        fmt::format("{} {} of {} on {} ranks", algorithm, name(scenario.collective), format(bytes), ranks);
    const fs::path trace_file = directory / fmt::format("trace_{}.json", algorithm);
    write_perfetto(events, title, trace_file);
    if (common.format == OutputFormat::table) {
      print_line(fmt::format("{}: {} ({}, {} events)", title, format(prediction.seconds),
                             name(prediction.fidelity), events.size()));
      print_line(fmt::format("  {}  (open in ui.perfetto.dev or chrome://tracing)", trace_file.string()));
    } else {
      print_line(nlohmann::ordered_json{{"record", "trace"},
                                        {"algorithm", algorithm},
                                        {"ranks", ranks},
                                        {"bytes", bytes.value},
                                        {"seconds", prediction.seconds.value},
                                        {"events", events.size()},
                                        {"file", trace_file.string()}}
                     .dump());
    }
    std::vector<plots::Figure> figures = plots::timeline(
        bars_of(events), {.title = title, .machine = machine.name, .source = trace_file.string()});
    for (plots::Figure& figure : figures) {
      figure.name = fmt::format("timeline_{}", algorithm);
    }
    draw_charts(figures,
                {.title = title,
                 .machine = machine.name,
                 .source = trace_file.string(),
                 .output_directory = directory},
                common, progress);
  }
}

}  // namespace

void add_trace(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("trace", "One collective as a timeline: PNG and Perfetto JSON");
  auto flags = std::make_shared<TraceFlags>();
  command->add_option("SCENARIO", flags->scenario, "Scenario file (docs/scenario.md)")->required();
  command->add_option("--algorithm", flags->algorithms, "Only these (default: all of the scenario's)");
  command->add_option("--ranks", flags->ranks, "Number of ranks (default: the scenario's last)")
      ->check(CLI::PositiveNumber);
  command->add_option("--bytes", flags->bytes, "Message size (default: the scenario's last)");
  add_calibrate_flags(*command, flags->launch);
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
