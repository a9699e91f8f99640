#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.hpp"
#include "analysis/comparison/speedup_grid.hpp"
#include "analysis/fitted.hpp"
#include "common/units.hpp"
#include "plots/drawing/layout.hpp"
#include "results/codec/record.hpp"

/// The charts of ringside (docs/charts.md shows how to read them). Each function is pure: it turns results
/// into figures, none when there is nothing to draw; `draw` writes them.
namespace ringside {
class RunRounds;
class Schedule;
}  // namespace ringside

namespace ringside::plots {

/// For which width a chart is laid out. Printed ones have letters of about 7 pt.
enum class ChartSize { screen, page, column };
/// The pixels of a chart that has so many on a screen.
int width_for(ChartSize size, int on_screen);

struct ChartContext {
  std::string title;         ///< The scenario's name, say.
  std::string machine = {};  ///< In the footer, where it is not empty.
  std::string source;        ///< The file that the numbers come from, in the footer.
  std::filesystem::path output_directory = ".";
  std::vector<ImageFormat> formats = {ImageFormat::png};
  ChartSize size = ChartSize::screen;
};

/// Title and footer that all charts of a context share.
PageText page_text(const ChartContext& context, const std::string& subtitle);

/// Draws the figures as `<output_directory>/<figure's name>.png` (or `.svg`, `.pdf`), makes the directory if
/// it is missing, and returns the files written. Throws Error{environment}, see plots/drawing/gnuplot.hpp.
std::vector<std::filesystem::path> draw(const std::vector<Figure>& figures, const ChartContext& context);

// ---- Points --------------------------------------------------------------------------------------------
// One panel per number of ranks, six to a file; collectives, data types and operations never share a file.

/// `time_vs_size`: seconds against message size; predictions are lines (with their interval as a band),
/// measurements are marks with their interval, crossovers are vertical lines, fitted curves thin and dotted.
std::vector<Figure> time_vs_size(const std::vector<Point>& points, const ChartContext& context,
                                 const std::vector<Crossover>& crossovers = {},
                                 const std::vector<FittedCurve>& fitted = {});

/// `ratio`: predicted over measured time against message size; needs points with both.
std::vector<Figure> ratio(const std::vector<Point>& points, const ChartContext& context);

struct BandwidthLimit {
  BytesPerSecond rate;
  std::string label;  ///< What limits: `PCIe 4.0 x16`.
};

/// `bus_bandwidth`: busbw as in nccl-tests against message size, with the link's limit where it is known.
std::vector<Figure> bus_bandwidth(const std::vector<Point>& points, const ChartContext& context,
                                  const std::optional<BandwidthLimit>& limit = std::nullopt);

/// `sweep_<key>`: seconds over the key's values, and beside it the speedup over the first algorithm.
std::vector<Figure> lines_over_key(const KeyLines& lines, const std::string& subtitle,
                                   const ChartContext& context);

// ---- Maps ----------------------------------------------------------------------------------------------

/// `speedup_map`: a grid of predictions as colours, the line where both are equally fast, and measured cells.
std::vector<Figure> speedup_map(const SpeedupGrid& grid, const ChartContext& context);

/// Any matrix: `values[row][column]`, NaN = not known.
struct LabelledMatrix {
  std::string name = "heat_map";  ///< File name without extension.
  std::string subtitle;           ///< What the values are.
  std::string row_title;
  std::string column_title;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<std::vector<double>> values = {};
  std::string value_title = {};  ///< Title of the colour bar, with the unit.
  /// Text of a value, in a cell and beside the bar; none = 3 digits.
  std::function<std::string(double)> label = {};
  /// Text of every cell instead of its value's, [row][column]; none = the value's.
  std::vector<std::vector<std::string>> texts = {};
  /// Where values are kinds and no numbers: their names, of which `values` are indices. Each has a colour of
  /// its own and stands in the legend; there is no bar.
  std::vector<std::string> categories = {};
  std::string neutral = {};  ///< The grey one among these; empty = none.
  /// Values are ratios of bandwidths: the scale is logarithmic and white at 1, and slower ones are orange.
  /// Otherwise white is 0 where some values are negative, else one colour grows darker.
  bool bandwidth_ratio = false;
};

std::vector<Figure> heat_map(const LabelledMatrix& matrix, const ChartContext& context);

// ---- Diagrams ------------------------------------------------------------------------------------------

inline constexpr int kMaxDiagramRanks = 16;

/// `schedule_<algorithm>_<ranks>_ranks`: who sends which chunks to whom. Throws Error{bad_input} for more
/// than kMaxDiagramRanks ranks; a long schedule shows its first rounds and says so.
std::vector<Figure> schedule_diagram(const Schedule& schedule, const ChartContext& context);

/// `program_<algorithm>_<ranks>_ranks`: the same as it runs: segments, and receives posted ahead.
std::vector<Figure> program_diagram(const RunRounds& run, const ChartContext& context);

struct TimelineBar {
  std::string track;  ///< The row: `rank 3`, `link 0 → 1`. Rows stand in order of first appearance.
  Seconds start;
  Seconds end;
  std::string label;
  std::string kind;  ///< What has one colour: `transfer`, `reduce`.
};

struct TimelinePart {
  std::string title;  ///< `predicted: 1.2 ms`.
  std::vector<TimelineBar> bars;
};

/// `timeline`: what each rank and link does when, of several runs beneath each other with one time axis. Bars
/// that overlap stand beneath each other.
std::vector<Figure> timelines(const std::vector<TimelinePart>& parts, const ChartContext& context);

struct TopologyNode {
  std::string id;
  std::string label;
  int level = 0;                 ///< 0 is the top row.
  std::string detail = {};       ///< What the node passes itself: `host memory 164 GB/s`.
  std::optional<int> part = {};  ///< Which of several alike parts it belongs to: a node of a cluster.
  bool limits = false;           ///< It holds back what the picture is about.
};
struct TopologyEdge {
  std::string from;
  std::string to;
  std::string label;  ///< The kind of link and its rate: `NVLink 300 GB/s`; empty = no link is modelled.
  BytesPerSecond capacity;  ///< Sets the width.
  bool limits = false;      ///< As of a node.
  int times = 1;            ///< So many alike are drawn as one.
};
struct TopologyGraph {
  std::vector<TopologyNode> nodes;
  std::vector<TopologyEdge> edges;
  std::string limit = {};         ///< What those that limit do: `limits the ring: 11 GB/s a hop`.
  std::string name = "topology";  ///< File name without extension.
};

/// Nodes in levels and the links between them. Of several alike parts one is drawn, and nodes of a level that
/// has no room for all their names are drawn as one where they are linked alike.
std::vector<Figure> topology_graph(const TopologyGraph& graph, const ChartContext& context);

}  // namespace ringside::plots
