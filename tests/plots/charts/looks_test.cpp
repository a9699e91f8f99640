#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "plots/charts/plan_charts.hpp"
#include "plots/drawing/gnuplot.hpp"
#include "schedule/program/run_rounds.hpp"
#include "tests/paths.hpp"
#include "tests/plots/diagram_variants.hpp"
#include "tests/plots/drawing_variants.hpp"
#include "tests/plots/figure_parts.hpp"
#include "tests/plots/map_variants.hpp"
#include "tests/plots/samples.hpp"

namespace ringside::plots {
namespace {

std::vector<Figure> one_of_each_chart() {
  std::vector<Figure> figures;
  const auto add = [&](const std::vector<Figure>& more) {
    figures.insert(figures.end(), more.begin(), more.end());
  };
  const samples::SweepOptions few = {.algorithms = {"naive", "ring"}, .ranks = {2, 4}, .factor = 4096};
  for (const samples::SweepOptions& sweep :
       {few, samples::SweepOptions{.ranks = {2}, .from = 88'000'000, .to = 88'000'000}}) {
    const std::vector<Point> points = samples::sweep(sweep);
    add(time_vs_size(points, kContext, samples::crossovers(sweep)));
    add(ratio(points, kContext));
    add(bus_bandwidth(points, kContext, BandwidthLimit{.rate = {12.5e9}, .label = "PCIe 4.0 x8"}));
  }
  const KeyLines lines{.key = "inter nics",
                       .labels = {"1", "2", "4"},
                       .values = {1, 2, 4},
                       .lines = {{"naive", {3e-3, 2.5e-3, {}}}, {"ring", {2e-3, 1e-3, 5e-4}}}};
  add(lines_over_key(lines, "1 MiB", kContext));
  ChartContext column = kContext;
  column.size = ChartSize::column;
  add(lines_over_key(lines, "1 MiB", column));
  SpeedupGrid grid = samples::speedup_grid(true);
  add(speedup_map(grid, kContext));
  add(heat_map(samples::bandwidth_matrix(3), kContext));
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  matrix.bandwidth_ratio = true;
  matrix.values = {{0.5, 1}, {2, 64}};
  add(heat_map(matrix, kContext));
  matrix = samples::bandwidth_matrix(2);
  matrix.categories = {"naive", "tie", "ring"};
  matrix.neutral = "tie";
  matrix.values = {{0, 1}, {2, 0}};
  add(heat_map(matrix, kContext));
  add(schedule_diagram(samples::ring_schedule(3), kContext));
  add(schedule_diagram(samples::direct_schedule(3), kContext));
  add(program_diagram({samples::ring_schedule(3),
                       {.num_elements = 1 << 20},
                       {.receives_ahead = true, .segments = 2, .stride = 2, .in_flight = 2}},
                      kContext));
  add(timelines({{"predicted: 1.23 ms", samples::ring_timeline(2)}, {"measured", samples::ring_timeline(2)}},
                kContext));
  add(topology_graph(samples::two_nodes(), kContext));
  add(topology_graph(samples::pcie_host(), kContext));
  add(cost_against_time(
      {.points = {{.label = "cheap",
                   .seconds = {3600, 7200, 9000},
                   .cost = {1, 2, 3},
                   .pareto = true,
                   .recommended = true},
                  {.label = "fast", .seconds = {500, 600, 700}, .cost = {15, 20, 25}, .pareto = true},
                  {.label = "neither", .seconds = {8000, 9000, 9900}, .cost = {20, 30, 40}}},
       .currency = "USD",
       .of = "the run",
       .deadline = 3000,
       .budget = 30},
      kContext));
  add(step_bars({{.label = "offer",
                  .compute = 0.01,
                  .hidden = 0.02,
                  .exposed = 0.03,
                  .waiting = 0.01,
                  .whole = Interval<double>{.low = 0.05, .typical = 0.07, .high = 0.09}},
                 {.label = "other", .compute = 0.02, .exposed = 0.01}},
                kContext));
  const std::vector<Curve> curves = {
      {.label = "a",
       .points = {{1, 1}, {2, 0.9}, {32, 0.3}},
       .mark = XY{2, 0.3},
       .mark_interval = Interval<double>{.low = 0.2, .typical = 0.3, .high = 0.5}},
      {.label = "b", .points = {{1, 1}, {8, 0.5}}, .mark = XY{2, 0.4}}};
  add(scaling_efficiency(curves, kContext));
  add(exposed_against_bandwidth(curves, kContext));
  return figures;
}

/// The text is that of a file of this folder, which is written instead where RINGSIDE_WRITE_LOOKS is set.
void expect_as_before(const std::string& text, const std::string& file, const std::string& hint) {
  const std::string golden = RINGSIDE_SOURCE_DIR "/tests/plots/charts/" + file;
  if (std::getenv("RINGSIDE_WRITE_LOOKS") != nullptr) {
    std::ofstream(golden) << text;
    return;
  }
  std::ifstream stream(golden);
  const std::string before(std::istreambuf_iterator<char>(stream), {});
  ASSERT_FALSE(before.empty());
  EXPECT_TRUE(text == before)
      << "charts look otherwise; run this test with RINGSIDE_WRITE_LOOKS=1 and read the diff of " << golden
      << hint;
}

/// What gnuplot is told for one of each chart. Whoever changes how charts look sees what else changed.
TEST(EveryChart, LooksAsItDid) {
  std::string scripts;
  for (const Figure& figure : one_of_each_chart()) {
    scripts += "# " + figure.name + "\n" + gnuplot_script(figure, ImageFormat::svg);
  }
  expect_as_before(scripts, "looks.golden", "");
}

/// The same of so many charts that no page could show them: a hash for each group says which ones changed.
TEST(EveryChart, OfEveryKindLooksAsItDid) {
  variants::Variants all;
  for (const auto& add :
       {variants::add_tics, variants::add_colors, variants::add_texts, variants::add_layouts,
        variants::add_scripts, variants::add_sizes, variants::add_panels, variants::add_odd_points,
        variants::add_crossovers, variants::add_lines_over_keys, variants::add_speedup_maps,
        variants::add_heat_maps, variants::add_schedules, variants::add_timelines, variants::add_topologies,
        variants::add_costs, variants::add_steps, variants::add_curves, variants::add_refusals}) {
    EXPECT_NO_THROW(add(all));
  }
  if (const char* folder = std::getenv("RINGSIDE_SHOW_LOOKS")) {
    all.write_texts(folder);
  }
  expect_as_before(
      all.text(), "variants.golden",
      "; with RINGSIDE_SHOW_LOOKS=<folder> before and after, it writes what the lines are hashes of");
}

}  // namespace
}  // namespace ringside::plots
