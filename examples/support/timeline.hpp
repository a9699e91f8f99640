#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ringside/communicator.hpp"

/// What ranks did when, collected from all of them and drawn.
namespace examples {

struct Event {
  std::string track;  ///< `backward`, `communication`: a row of the picture per rank.
  std::string kind;   ///< What has one colour.
  std::string label;
  double start = 0;  ///< As now() says.
  double end = 0;
};

/// All ranks' events, in order of rank, at rank 0; empty at the others. All ranks pass the same events but
/// for their times, and all call it. Tracks begin with `rank 2 `, and time with the first event.
std::vector<Event> collect(ringside::Communicator& communicator, const std::vector<Event>& own);

/// <folder>/<name>.png, or why there is none: a program that has measured goes on without gnuplot.
std::string draw(const std::vector<Event>& events, const std::string& title, const std::string& name,
                 const std::filesystem::path& folder);

/// <folder>/<name>.json, for ui.perfetto.dev and chrome://tracing.
std::filesystem::path write_perfetto(const std::vector<Event>& events, const std::string& name,
                                     const std::filesystem::path& folder);

/// Seconds against the number of the step, a line per series: <folder>/<name>.png, or why there is none.
struct StepSeries {
  std::string name;
  std::vector<double> seconds;
};
std::string draw_steps(const std::vector<StepSeries>& series, const std::string& title,
                       const std::string& name, const std::filesystem::path& folder);

}  // namespace examples
