#include "study/perfetto.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/text.hpp"
#include "study/inputs/invocation.hpp"

namespace ringside::study {
namespace {

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
