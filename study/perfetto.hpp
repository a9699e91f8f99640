#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results/trace_event.hpp"

namespace ringside::study {

/// `transfer`, `reduce`, `local`: as timelines call it.
std::string_view timeline_name(TraceKind kind);

/// A run on the time axis that all runs of a file share.
struct TracedRun {
  std::string label;  ///< `predicted`, `measured`.
  std::vector<TraceEvent> events;
};

/// Writes the Trace Event Format that ui.perfetto.dev and chrome://tracing read: two processes per run, whose
/// threads are ranks and links. Times in us. Throws Error{bad_input} when the file cannot be written.
void write_perfetto(const std::vector<TracedRun>& runs, const std::string& title,
                    const std::filesystem::path& file);

}  // namespace ringside::study
