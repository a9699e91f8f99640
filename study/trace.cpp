#include "study/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/text.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/external/external_rank.hpp"
#include "schedule/registry.hpp"
#include "sim/predict.hpp"
#include "study/calibrate.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::study {
namespace {

/// The points to be traced: one per algorithm that has a schedule.
std::vector<PointKey> points_to_trace(const Scenario& scenario, const TraceRequest& request) {
  std::vector<std::string> algorithms = request.algorithms;
  if (algorithms.empty()) {
    std::copy_if(scenario.algorithms.begin(), scenario.algorithms.end(), std::back_inserter(algorithms),
                 [](const std::string& algorithm) { return algorithm != kNative; });
  }
  const int ranks = request.ranks.value_or(scenario.ranks.back());
  if (ranks > kMostTracedRanks) {
    throw KeyError(
        fmt::format("ranks: a timeline of {} ranks is too long; choose at most {}", ranks, kMostTracedRanks));
  }
  std::vector<PointKey> keys;
  for (const std::string& algorithm : algorithms) {
    if (algorithm == kNative) {
      throw Error(
          ErrorKind::bad_input,
          "native has no schedule to be seen from outside: it is the backend's own; trace one of ours, such "
          "as ring");
    }
    if (find_algorithm(scenario.collective, algorithm) == nullptr) {
      throw Error(ErrorKind::bad_input,
                  unknown_name("algorithm", algorithm, algorithm_names(scenario.collective)));
    }
    keys.push_back({.collective = scenario.collective,
                    .algorithm = algorithm,
                    .ranks = ranks,
                    .bytes = request.bytes.value_or(scenario.message_sizes.back()),
                    .dtype = scenario.dtype,
                    .op = scenario.op});
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

MeasureOptions record_options(const TraceRequest& request, const Invocation& invocation,
                              const Scenario& scenario, Backend backend) {
  MeasureOptions options;
  options.launch = launch_options(request.launch, backend);
  options.budget_per_point = request.launch.time_per_point;
  options.seed = invocation.seed;
  options.placements = placements_of(scenario);
  return options;
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

/// Prediction and reality share the time axis.
void write_timeline(Timeline& timeline, const std::filesystem::path& directory) {
  std::vector<TracedRun> runs;
  if (timeline.simulated) {
    runs.push_back({.label = "predicted", .events = timeline.simulated->events});
  }
  if (timeline.recorded) {
    runs.push_back({.label = "measured", .events = timeline.recorded->events});
  }
  if (!runs.empty()) {
    timeline.file = directory / fmt::format("trace_{}.json", timeline.key.algorithm);
    write_perfetto(runs, title_of(timeline.key), timeline.file);
  }
}

using nlohmann::ordered_json;

std::string chunks_text(const TraceEvent& event) {
  return consecutive("chunk", event.first_chunk, event.first_chunk + event.num_chunks - 1);
}

/// What happens on one rank or one link, with its name.
struct Track {
  std::string name;
  std::vector<TraceEvent> events = {};
};

template <typename Key>
std::vector<Track> tracks_of(std::map<Key, Track> by_key) {
  std::vector<Track> tracks;
  for (auto& [key, track] : by_key) {
    tracks.push_back(std::move(track));
  }
  return tracks;
}

std::vector<Track> ranks_of(const std::vector<TraceEvent>& events) {
  std::map<Rank, Track> tracks;
  for (const TraceEvent& event : events) {
    // A rank that only receives has a track too, if an empty one.
    for (const Rank rank : {event.source, event.target}) {
      tracks[rank].name = fmt::format("rank {}", rank);
    }
    tracks.at(event.rank).events.push_back(event);
  }
  return tracks_of(std::move(tracks));
}

std::vector<Track> links_of(const std::vector<TraceEvent>& events) {
  std::map<std::pair<Rank, Rank>, Track> tracks;
  for (const TraceEvent& event : events) {
    if (event.kind == TraceKind::transfer) {
      Track& track = tracks[{event.source, event.target}];
      track.name = fmt::format("{} → {}", event.source, event.target);
      track.events.push_back(event);
    }
  }
  return tracks_of(std::move(tracks));
}

/// Events of one thread may not overlap (the format would nest them), so overlapping events get threads.
std::vector<std::vector<TraceEvent>> threads_of(std::vector<TraceEvent> events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.start < b.start; });
  std::vector<std::vector<TraceEvent>> threads(1);
  for (const TraceEvent& event : events) {
    const auto free =
        std::find_if(threads.begin(), threads.end(), [&](const std::vector<TraceEvent>& thread) {
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
  return {{"ph", "X"},
          {"name", fmt::format("{} {}", timeline_name(event.kind), chunks_text(event))},
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
void add_process(std::size_t process, const std::string& process_name, const std::vector<Track>& tracks,
                 ordered_json& list) {
  list.push_back(metadata("process_name", process, 0, {{"name", process_name}}));
  list.push_back(metadata("process_sort_index", process, 0, {{"sort_index", process}}));
  std::size_t next_thread = 0;
  for (const Track& track : tracks) {
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
  if (request.measures) {
    backend =
        measuring_backend({.asked = backend, .max_ranks = keys.front().ranks}, request.launch, observer);
    if (registered(backend).on_gpus && !request.launch.backend && scenario.backend == Backend::automatic) {
      backend = resolve(scenario.backend);  // The steps of a call on GPUs cannot be told apart.
    }
    if (scenario.machine) {
      require_this_machine(*scenario.machine, backend, request.launch);
    }
    if (const auto external = external_rank(); external && external->rank != 0) {
      if (!scenario.machine) {
        take_part_in_calibration(scenario, request.launch, launch_options(request.launch, backend));
      }
      record(keys, record_options(request, invocation, scenario, backend),
             [](const PointKey&, const Recording&) {});
      return std::nullopt;
    }
  }
  TraceStudy study{.machine = {}, .directory = output_directory(invocation, scenario.name)};
  study.machine = machine_of(scenario, request.launch, study.directory, observer);
  for (const PointKey& key : keys) {
    study.timelines.push_back({.key = key, .simulated = simulate(study.machine, key, backend, observer)});
  }
  if (request.measures) {
    record_timelines(study.timelines, keys, record_options(request, invocation, scenario, backend), observer);
  }
  for (Timeline& timeline : study.timelines) {
    write_timeline(timeline, study.directory);
  }
  return study;
}

std::string_view timeline_name(TraceKind kind) {
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

void write_perfetto(const std::vector<TracedRun>& runs, const std::string& title,
                    const std::filesystem::path& file) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const TracedRun& run = runs[i];
    add_process(2 * i, fmt::format("{} ranks: {}", run.label, title), ranks_of(run.events), list);
    add_process(2 * i + 1, fmt::format("{} links: {}", run.label, title), links_of(run.events), list);
  }
  write_file(file, ordered_json{{"displayTimeUnit", "ms"}, {"traceEvents", list}}.dump(
                       1, ' ', false, ordered_json::error_handler_t::replace) +
                       "\n");
}

}  // namespace ringside::study
