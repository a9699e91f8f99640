#include "examples/support/timeline.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plots/charts/charts.hpp"
#include "plots/drawing/layout.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/tics.hpp"

namespace examples {

using namespace ringside;
namespace fs = std::filesystem;

namespace {

std::string drawn(const std::vector<plots::Figure>& figures, const plots::ChartContext& context) {
  try {
    return plots::draw(figures, context).front().string();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) {
      throw;
    }
    return fmt::format("none, {}", error.what());
  }
}

}  // namespace

std::vector<Event> collect(Communicator& communicator, const std::vector<Event>& own) {
  std::vector<double> times;
  for (const Event& event : own) {
    times.push_back(event.start);
    times.push_back(event.end);
  }
  std::vector<double> all(
      communicator.rank() == 0 ? times.size() * static_cast<std::size_t>(communicator.ranks()) : 0);
  communicator.gather(times, all, 0);
  std::vector<Event> result;
  if (all.empty()) {
    return result;
  }
  const double origin = *std::min_element(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); i += 2) {
    Event event = own[i / 2 % own.size()];
    event.track = fmt::format("rank {} {}", i / 2 / own.size(), event.track);
    event.start = all[i] - origin;
    event.end = all[i + 1] - origin;
    result.push_back(std::move(event));
  }
  return result;
}

std::string draw(const std::vector<Event>& events, const std::string& title, const std::string& name,
                 const fs::path& folder) {
  std::vector<plots::TimelineBar> bars;
  for (const Event& event : events) {
    bars.push_back({.track = event.track,
                    .start = {event.start},
                    .end = {event.end},
                    .label = event.label,
                    .kind = event.kind});
  }
  plots::ChartContext context;
  context.title = title;
  context.output_directory = folder;
  std::vector<plots::Figure> figures = plots::timelines({{"", bars}}, context);
  for (plots::Figure& figure : figures) {
    figure.name = name;
  }
  return drawn(figures, context);
}

fs::path write_perfetto(const std::vector<Event>& events, const std::string& name, const fs::path& folder) {
  // The Trace Event Format: complete events ("X") in microseconds; a thread per track.
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::map<std::string, int> threads;
  for (const Event& event : events) {
    const auto [thread, is_new] = threads.emplace(event.track, static_cast<int>(threads.size()));
    if (is_new) {
      list.push_back({{"ph", "M"},
                      {"name", "thread_name"},
                      {"pid", 0},
                      {"tid", thread->second},
                      {"args", {{"name", event.track}}}});
    }
    list.push_back({{"ph", "X"},
                    {"name", event.label.empty() ? event.kind : event.label},
                    {"cat", event.kind},
                    {"pid", 0},
                    {"tid", thread->second},
                    {"ts", event.start * 1e6},
                    {"dur", (event.end - event.start) * 1e6}});
  }
  const fs::path file = folder / (name + ".json");
  fs::create_directories(folder);
  std::ofstream stream(file);
  stream << nlohmann::ordered_json{{"displayTimeUnit", "ms"}, {"traceEvents", list}}.dump(1) << "\n";
  stream.close();
  if (!stream) {
    throw Error(ErrorKind::environment, fmt::format("cannot write {}", file.string()));
  }
  return file;
}

std::string draw_steps(const std::vector<StepSeries>& series, const std::string& title,
                       const std::string& name, const fs::path& folder) {
  const std::vector<plots::Color> colors = {plots::kGreen, plots::kPurple, plots::kBlue};
  const std::size_t num_steps = series.front().seconds.size();
  double most = 0;
  plots::Boxes boxes;
  std::vector<plots::LegendEntry> legend;
  std::vector<double> top(num_steps, 0);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const plots::Color color = colors[i % colors.size()];
    legend.push_back({.label = series[i].name, .band = color});
    for (std::size_t step = 0; step < num_steps; ++step) {
      const double low = top[step];
      top[step] += series[i].seconds[step];
      most = std::max(most, top[step]);
      boxes.boxes.push_back(
          {static_cast<double>(step) + 0.5, static_cast<double>(step) + 1.5, low, top[step], color});
    }
  }
  plots::ChartContext context;
  context.title = title;
  context.output_directory = folder;
  plots::Figure figure{.name = name, .height = 560};
  const plots::Rect area = plots::lay_out_page(
      figure, plots::page_text(context, "time of each step, by what it was spent on"), legend);
  plots::Panel panel{.area = plots::lay_out_panels(area, 1, 1).areas[0]};
  const plots::NamedUnit unit = plots::time_unit({most});
  panel.x = {.label = "step", .min = 0.5, .max = static_cast<double>(num_steps) + 0.5};
  panel.x.tics = plots::linear_tics({1, static_cast<double>(num_steps)}, 1, panel.area.width);
  panel.y = {.label = fmt::format("time ({})", unit.name), .min = 0, .max = 1.05 * most};
  panel.y.tics = plots::linear_tics({0, most}, unit.value, panel.area.height);
  panel.elements.emplace_back(std::move(boxes));
  figure.panels.push_back(std::move(panel));
  return drawn({figure}, context);
}

}  // namespace examples
