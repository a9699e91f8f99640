#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plots/charts/charts.hpp"
#include "plots/drawing/gnuplot.hpp"
#include "tests/plots/figure_parts.hpp"
#include "tests/plots/samples.hpp"

/// Charts of points and maps over everything that changes how they are laid out.
namespace ringside::plots::variants {

struct Variant {
  std::string name;
  std::vector<Figure> figures;
};

/// What gnuplot is told for many charts, a line of numbers for each group of them.
class Variants {
 public:
  void begin(const std::string& group) { groups_.push_back({.name = group}); }
  void push_back(const Variant& variant) {
    push_back(variant.name, "");
    for (const Figure& figure : variant.figures) {
      push_back(figure.name, gnuplot_script(figure, ImageFormat::svg));
    }
  }
  void push_back(const std::string& name, const std::string& text) {
    Group& group = groups_.back();
    ++group.texts;
    const std::string both = fmt::format("# {}\n{}\n", name, text);
    for (const char character : both) {  // FNV-1a (RFC 9923).
      group.hash = (group.hash ^ static_cast<unsigned char>(character)) * 0x100000001B3U;
    }
    group.all += both;
  }
  std::string text() const {
    std::string lines;
    for (const Group& group : groups_) {
      lines += fmt::format("{}: {} texts, {:016x}\n", group.name, group.texts, group.hash);
    }
    return lines;
  }
  /// The texts of each group, to look at what has changed.
  void write_texts(const std::filesystem::path& folder) const {
    std::filesystem::create_directories(folder);
    for (const Group& group : groups_) {
      std::ofstream(folder / group.name) << group.all;
    }
  }

 private:
  struct Group {
    std::string name;
    std::size_t texts = 0;
    std::uint64_t hash = 0xCBF29CE484222325U;
    std::string all = {};
  };
  std::vector<Group> groups_;
};

inline ChartContext sized(ChartSize size) {
  ChartContext context = kContext;
  context.size = size;
  return context;
}
inline std::string size_name(ChartSize size) {
  return size == ChartSize::screen ? "screen" : size == ChartSize::page ? "page" : "column";
}
constexpr auto kSizes = {ChartSize::screen, ChartSize::page, ChartSize::column};
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// All three charts of the same points.
inline void add_points(Variants& all, const std::string& name, const std::vector<Point>& points,
                       const ChartContext& context = kContext, const std::vector<Crossover>& crossovers = {},
                       double limit = 12.5e9) {
  all.push_back({"time_vs_size, " + name, time_vs_size(points, context, crossovers)});
  all.push_back({"ratio, " + name, ratio(points, context)});
  all.push_back({"bus_bandwidth, " + name,
                 bus_bandwidth(points, context, BandwidthLimit{.rate = {limit}, .label = "PCIe 4.0 x8"})});
}

inline std::vector<Point> at_sizes(const std::vector<std::int64_t>& sizes,
                                   const std::vector<std::string>& algorithms = {"naive", "ring"}) {
  std::vector<Point> points;
  for (const std::string& algorithm : algorithms) {
    for (const std::int64_t bytes : sizes) {
      const double seconds = 1e-5 + 1e-9 * static_cast<double>(bytes) * (algorithm == "ring" ? 1 : 1.5);
      points.push_back(point(algorithm, 4, bytes, seconds, 1.1 * seconds));
    }
  }
  return points;
}

inline void add_sizes(Variants& all) {
  all.begin("charts of points over sizes");
  const std::vector<std::vector<std::int64_t>> lists = {
      {1},
      {1000},
      {1024, 2048},
      {1000, 1'000'000},
      {1000, 2000, 4000},
      {1024, 4096, 65536},
      {1000, 10'000, 100'000, 1'000'000},
      {1024, 2048, 4096, 8192},
      {1000, 2000, 4096, 8192},                // Half of them decimal.
      {128'000, 256'000, 512'000, 1'024'000},  // Decimal and binary.
      {1500, 1600, 1700, 1800},                // Without a power of two among them.
      {2048, 2100, 2200, 2300, 2400},          // One.
      {2000, 2048, 3000, 4096},                // Two.
      {1, 1LL << 20, 1LL << 30, 1LL << 40, 1LL << 50},
  };
  for (const auto& sizes : lists) {
    std::string name = "sizes";
    for (const std::int64_t size : sizes) {
      name += fmt::format(" {}", size);
    }
    add_points(all, name, at_sizes(sizes));
  }
  std::vector<std::int64_t> close;
  for (int i = 0; i < 40; ++i) {
    close.push_back(1'050'000 + 7 * i);
  }
  add_points(all, "40 close sizes", at_sizes(close));
}

inline void add_panels(Variants& all) {
  all.begin("charts of points over panels");
  const std::vector<int> ranks = {2, 3, 4, 6, 8, 16, 32};
  for (const ChartSize size : kSizes) {
    for (std::size_t count = 1; count <= ranks.size(); ++count) {
      const samples::SweepOptions options = {
          .algorithms = {"naive", "ring"},
          .ranks = {ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count)},
          .factor = 16};
      add_points(all, fmt::format("{} panels, {}", count, size_name(size)), samples::sweep(options),
                 sized(size), samples::crossovers(options));
    }
  }
  const std::vector<std::string> algorithms = {"naive", "tutorial_ring", "ring", "direct_two_shot", "native"};
  for (std::size_t count = 1; count <= algorithms.size(); ++count) {
    for (const bool one_size : {false, true}) {
      samples::SweepOptions options = {
          .algorithms = {algorithms.begin(), algorithms.begin() + static_cast<std::ptrdiff_t>(count)},
          .ranks = {2, 8},
          .factor = one_size ? 1 << 30 : 64};
      add_points(all, fmt::format("{} algorithms{}", count, one_size ? " at one size" : ""),
                 samples::sweep(options));
      options.measured = false;
      add_points(all, fmt::format("{} algorithms{}, predicted", count, one_size ? " at one size" : ""),
                 samples::sweep(options));
      options.intervals = false;
      add_points(all, fmt::format("{} algorithms{}, no intervals", count, one_size ? " at one size" : ""),
                 samples::sweep(options));
      options.predicted = false;
      options.measured = true;
      add_points(all, fmt::format("{} algorithms{}, measured", count, one_size ? " at one size" : ""),
                 samples::sweep(options));
    }
  }
}

/// Times that are odd one by one.
inline void add_odd_points(Variants& all) {
  all.begin("charts of odd points");
  const std::vector<std::int64_t> sizes = {1024, 4096, 65536, 1 << 20};
  const std::vector<std::pair<std::string, std::function<void(Point&)>>> changes = {
      {"a failure", [](Point& one) { one.measured->outcome = Outcome::failed; }},
      {"no measurement", [](Point& one) { one.measured.reset(); }},
      {"no prediction", [](Point& one) { one.predicted.reset(); }},
      {"a prediction of nothing", [](Point& one) { one.predicted->seconds = {0}; }},
      {"a measurement of nothing", [](Point& one) { one.measured->seconds = {0}; }},
      {"an endless prediction", [](Point& one) { one.predicted->seconds = {kInfinity}; }},
      {"a lower end alone", [](Point& one) { one.predicted->low = Seconds{5e-6}; }},
      {"an upper end alone", [](Point& one) { one.predicted->high = Seconds{5e-3}; }},
      {"an interval",
       [](Point& one) {
         one.predicted->low = Seconds{5e-6};
         one.predicted->high = Seconds{5e-3};
       }},
      {"an interval from nothing",
       [](Point& one) {
         one.predicted->low = Seconds{0};
         one.predicted->high = Seconds{5e-3};
       }},
      {"a measured interval",
       [](Point& one) {
         one.measured->low = {5e-6};
         one.measured->high = {5e-3};
       }},
      {"a measured interval from nothing", [](Point& one) { one.measured->low = {0}; }},
      {"a long measurement", [](Point& one) { one.measured->seconds = {0.5}; }},
      {"a short measurement", [](Point& one) { one.measured->seconds = {1e-7}; }},
      {"one byte less than nothing", [](Point& one) { one.key.bytes = {-1}; }},
      {"no bytes", [](Point& one) { one.key.bytes = {0}; }},
      {"one byte", [](Point& one) { one.key.bytes = {1}; }},
      {"one rank", [](Point& one) { one.key.ranks = 1; }},
      {"the shortest time", [](Point& one) { one.predicted->seconds = {1e-30}; }},
      {"the longest time", [](Point& one) { one.predicted->seconds = {1e30}; }},
      {"another collective", [](Point& one) { one.key.collective = Collective::broadcast; }},
      {"another data type", [](Point& one) { one.key.dtype = DataType::int64; }},
      {"another operation", [](Point& one) { one.key.op = ReduceOp::max; }},
      {"another policy",
       [](Point& one) {
         one.predicted->policy = ExecutionPolicy{};
         one.measured->policy = ExecutionPolicy{.segments = 4};
       }},
      {"everything another",
       [](Point& one) {
         one.key.collective = Collective::reduce;
         one.key.dtype = DataType::int64;
         one.key.op = ReduceOp::max;
       }},
  };
  for (const auto& [name, change] : changes) {
    std::vector<Point> points = at_sizes(sizes);
    change(points.at(1));
    add_points(all, name, points);
  }
  for (const double limit : {1e8, 1.5e9, 5.99e9, 6e9, 6.01e9}) {  // 1.5 GB/s are measured.
    for (const double other : {1.0, 2.0}) {
      const std::vector<Point> points = {point("ring", 4, 1'000'000'000, 1, other)};
      all.push_back({fmt::format("a limit of {}, {} s", limit, other),
                     bus_bandwidth(points, kContext, BandwidthLimit{.rate = {limit}, .label = "PCIe"})});
      all.push_back({fmt::format("no limit, {} s", other), bus_bandwidth(points, kContext)});
    }
  }
  for (const double factor : {0.5, 0.79, 0.8, 0.95, 1.2, 1.25, 1.26, 4.0}) {
    all.push_back({fmt::format("a ratio of {}", factor),
                   ratio({point("ring", 4, 4096, factor, 1), point("ring", 4, 8192, 1, 1)}, kContext)});
  }
}

inline void add_crossovers(Variants& all) {
  all.begin("crossovers and fitted curves");
  for (const ChartSize size : kSizes) {
    for (const std::int64_t bytes : {1023LL, 1024LL, 50'000LL, 1LL << 20, (1LL << 20) + 1}) {
      for (const char* winner : {"", "naive", "ring"}) {
        Crossover crossover{.ranks = 4, .baseline = "naive", .candidate = "ring"};
        crossover.predicted_bytes = Bytes{bytes};
        crossover.measured_bytes = Bytes{1LL << 15};
        if (*winner != '\0') {
          crossover.predicted_winner = winner;
          crossover.measured_winner = winner;
        }
        Crossover elsewhere = crossover;
        elsewhere.ranks = 2;
        all.push_back({fmt::format("a crossover at {}, winner '{}', {}", bytes, winner, size_name(size)),
                       time_vs_size(at_sizes({1024, 4096, 65536, 1 << 20}), sized(size),
                                    {crossover, elsewhere, crossover})});
        crossover.predicted_bytes.swap(crossover.measured_bytes);
        all.push_back({fmt::format("measured at {}, winner '{}', {}", bytes, winner, size_name(size)),
                       time_vs_size(at_sizes({1024, 1 << 20}), sized(size), {crossover})});
      }
    }
  }
  for (const double latency : {0.0, 1e-5, 1.0}) {
    FittedCurve curve;
    curve.key = {.algorithm = "ring", .ranks = 4, .bytes = {1024}};
    curve.latency = {latency};
    curve.inverse_bandwidth = {1e-10};
    const std::vector<Point> points = at_sizes({1024, 4096, 65536, 1 << 20});
    std::vector<FittedCurve> curves(5, curve);
    curves[1].key.ranks = 2;
    curves[2].key.collective = Collective::gather;
    curves[3].key.dtype = DataType::float64;
    curves[4].key.op = ReduceOp::min;
    for (std::size_t count = 1; count <= curves.size(); ++count) {
      all.push_back({fmt::format("{} fitted curves from {}", count, latency),
                     time_vs_size(points, kContext, {},
                                  {curves.end() - static_cast<std::ptrdiff_t>(count), curves.end()})});
    }
  }
}

}  // namespace ringside::plots::variants
