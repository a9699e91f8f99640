#include "study/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/failures.hpp"
#include "common/text.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/external/external_rank.hpp"
#include "results/journal.hpp"
#include "schedule/registry.hpp"
#include "sim/predict.hpp"
#include "study/calibrate.hpp"
#include "study/compare.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::study {
namespace {

/// The points to be traced: one per algorithm that has a schedule.
std::vector<PointKey> points_to_trace(const Scenario& scenario, const TraceRequest& request) {
  std::vector<std::string> algorithms = request.algorithms;
  if (algorithms.empty()) {
    std::ranges::copy_if(scenario.algorithms, std::back_inserter(algorithms),
                         [](const std::string& algorithm) { return algorithm != kNative; });
  }
  const int ranks = request.ranks.value_or(scenario.ranks.back());
  if (ranks > kMostTracedRanks) {
    throw bad_key("ranks: a timeline of {} ranks is too long; choose at most {}", ranks, kMostTracedRanks);
  }
  std::vector<PointKey> keys;
  for (const std::string& algorithm : algorithms) {
    if (algorithm == kNative) {
      throw bad_input(
          "native has no schedule to be seen from outside: it is the backend's own; trace one of ours, such "
          "as ring");
    }
    if (find_algorithm(scenario.collective, algorithm) == nullptr) {
      throw Error(ErrorKind::bad_input,
                  unknown_name("algorithm", algorithm, algorithm_names(scenario.collective)));
    }
    keys.push_back(key_of(scenario, algorithm, ranks, request.bytes.value_or(scenario.message_sizes.back())));
  }
  return keys;
}

std::optional<Simulation> simulate(const Machine& machine, const PointKey& key, Backend backend,
                                   const Observer& observer) {
  Simulation simulation;
  PredictOptions options;
  options.backend = backend;
  options.trace = &simulation.events;
  const auto outcome = ringside::predict(machine, key, options);
  if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
    observer.note(fmt::format("No prediction of {}: {}", key.algorithm, unpredicted->reason));
    return std::nullopt;
  }
  simulation.prediction = std::get<Prediction>(outcome);
  return simulation;
}

void record_timelines(std::vector<Timeline>& timelines, const std::vector<PointKey>& keys,
                      const MeasureOptions& options, const Observer& observer) {
  observer.stage("recording " + count_of(keys.size(), "point"));
  std::size_t done = 0;
  record(keys, options, [&](const PointKey& key, const Recording& recording) {
    if (recording.outcome == Outcome::wrong_result) {
      throw Error(ErrorKind::failed, fmt::format("wrong result: {} on {} ranks, {}: {}", key.algorithm,
                                                 key.ranks, format(key.bytes), recording.note));
    }
    if (recording.outcome == Outcome::ok) {
      timelines[done].recorded = recording;
    } else {
      observer.note(fmt::format("No recording of {}: {}", key.algorithm, recording.note));
    }
    ++done;
    observer.progress(static_cast<double>(done) / static_cast<double>(keys.size()), key.algorithm);
  });
  observer.finished();
}

using nlohmann::ordered_json;

/// What happens on one rank or one link, with its name.
struct Track {
  std::string name;
  std::vector<TraceEvent> events = {};
};

/// By source and target; those of a rank are the same.
using Tracks = std::map<std::pair<Rank, Rank>, Track>;

Tracks ranks_of(const std::vector<TraceEvent>& events) {
  Tracks tracks;
  for (const TraceEvent& event : events) {
    // A rank that only receives has a track too, if an empty one.
    for (const Rank rank : {event.source, event.target}) {
      tracks[{rank, rank}].name = fmt::format("rank {}", rank);
    }
    tracks.at({event.rank, event.rank}).events.push_back(event);
  }
  return tracks;
}

Tracks links_of(const std::vector<TraceEvent>& events) {
  Tracks tracks;
  for (const TraceEvent& event : events) {
    if (event.kind == TraceKind::transfer) {
      Track& track = tracks[{event.source, event.target}];
      track.name = fmt::format("{} → {}", event.source, event.target);
      track.events.push_back(event);
    }
  }
  return tracks;
}

/// Events of one thread may not overlap (the format would nest them), so overlapping events get threads.
std::vector<std::vector<TraceEvent>> threads_of(std::vector<TraceEvent> events) {
  std::ranges::stable_sort(events, {}, &TraceEvent::start);
  std::vector<std::vector<TraceEvent>> threads(1);
  for (const TraceEvent& event : events) {
    const auto free = std::ranges::find_if(threads, [&](const std::vector<TraceEvent>& thread) {
      return thread.empty() || thread.back().end <= event.start;
    });
    (free == threads.end() ? threads.emplace_back() : *free).push_back(event);
  }
  return threads;
}

/// A metadata event ("M"): the name of a process or thread, or where it stands among the others.
ordered_json metadata(std::string_view what, std::size_t process, std::size_t thread,
                      const ordered_json& arguments) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", arguments}};
}

/// A complete event ("X").
ordered_json complete_event(const TraceEvent& event, std::size_t process, std::size_t thread) {
  const std::string chunks =
      consecutive("chunk", event.first_chunk, event.first_chunk + event.num_chunks - 1);
  return {{"ph", "X"},
          {"name", fmt::format("{} {}", timeline_name(event.kind), chunks)},
          {"cat", timeline_name(event.kind)},
          {"pid", process},
          {"tid", thread},
          {"ts", event.start.value * 1e6},
          {"dur", (event.end - event.start).value * 1e6},
          {"args",
           {{"round", event.round},
            {"source", event.source},
            {"target", event.target},
            {"bytes", event.bytes.value}}}};
}

/// A process whose threads are the tracks.
void add_process(std::size_t process, const std::string& process_name, const Tracks& tracks,
                 ordered_json& list) {
  list.push_back(metadata("process_name", process, 0, {{"name", process_name}}));
  list.push_back(metadata("process_sort_index", process, 0, {{"sort_index", process}}));
  std::size_t next_thread = 0;
  for (const auto& [ends, track] : tracks) {
    for (const std::vector<TraceEvent>& thread : threads_of(track.events)) {
      list.push_back(metadata("thread_name", process, next_thread, {{"name", track.name}}));
      list.push_back(metadata("thread_sort_index", process, next_thread, {{"sort_index", next_thread}}));
      for (const TraceEvent& event : thread) {
        list.push_back(complete_event(event, process, next_thread));
      }
      ++next_thread;
    }
  }
}

/// Writes the Trace Event Format that ui.perfetto.dev and chrome://tracing read: two processes per run, whose
/// threads are ranks and links. Times in us. Prediction and reality share the time axis.
void write_timeline(Timeline& timeline, const std::filesystem::path& directory) {
  ordered_json list = ordered_json::array();
  std::size_t process = 0;
  const auto add = [&](std::string_view label, const std::vector<TraceEvent>& events) {
    const std::string title = title_of(timeline.key);
    add_process(process++, fmt::format("{} ranks: {}", label, title), ranks_of(events), list);
    add_process(process++, fmt::format("{} links: {}", label, title), links_of(events), list);
  };
  if (timeline.simulated) {
    add("predicted", timeline.simulated->events);
  }
  if (timeline.recorded) {
    add("measured", timeline.recorded->events);
  }
  if (list.empty()) {
    return;
  }
  timeline.file = directory / fmt::format("trace_{}.json", timeline.key.algorithm);
  write_file(timeline.file, ordered_json{{"displayTimeUnit", "ms"}, {"traceEvents", list}}.dump(
                                1, ' ', false, ordered_json::error_handler_t::replace) +
                                "\n");
}

}  // namespace

std::string title_of(const PointKey& key) {
  return fmt::format("{} {} of {} on {} ranks", key.algorithm, name(key.collective), format(key.bytes),
                     key.ranks);
}

std::optional<TraceStudy> trace(const TraceRequest& request, const Invocation& invocation,
                                const Observer& observer) {
  const Scenario& scenario = request.scenario;
  const std::vector<PointKey> keys = points_to_trace(scenario, request);
  Backend backend = scenario.backend;
  MeasureOptions options;
  if (request.measures) {
    backend =
        measuring_backend({.asked = backend, .max_ranks = keys.front().ranks}, request.launch, observer);
    if (registered(backend).on_gpus && !request.launch.backend && scenario.backend == Backend::automatic) {
      backend = resolve(scenario.backend);  // The steps of a call on GPUs cannot be told apart.
    }
    if (scenario.machine) {
      require_this_machine(*scenario.machine, backend, request.launch);
    }
    options = measure_options(scenario, request.launch, invocation, launch_options(request.launch, backend));
    if (const auto external = external_rank(); external && external->rank != 0) {
      if (!scenario.machine) {
        take_part_in_calibration(scenario, request.launch, options.launch);
      }
      record(keys, options, [](const PointKey&, const Recording&) {});
      return std::nullopt;
    }
  }
  TraceStudy study{.machine = {}, .directory = output_directory(invocation, scenario.name)};
  study.machine = machine_of(scenario, request.launch, study.directory, observer);
  for (const PointKey& key : keys) {
    study.timelines.push_back({.key = key, .simulated = simulate(study.machine, key, backend, observer)});
  }
  if (request.measures) {
    record_timelines(study.timelines, keys, options, observer);
  }
  for (Timeline& timeline : study.timelines) {
    write_timeline(timeline, study.directory);
  }
  return study;
}

std::string_view timeline_name(TraceKind kind) {
  return kind == TraceKind::reduction ? "reduce" : name(kind);
}

}  // namespace ringside::study
