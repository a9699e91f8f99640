#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "plots/charts/small_multiples.hpp"

namespace ringside::plots {
namespace {

constexpr Stroke kLimitStroke{.color = kBlack, .width = 1.5, .dash = Dash::dashed};

/// An interval that reaches down to no time at all has no end to its bandwidth.
double bandwidth(Seconds time, const PointKey& key) {
  const std::optional<BytesPerSecond> rate =
      ringside::bus_bandwidth(key.collective, key.ranks, key.bytes, time);
  return rate ? rate->value : std::numeric_limits<double>::infinity();
}

double fastest(const PointGroup& group) {
  double rate = 0;
  for_each_point(group, [&](const Point& point) {
    if (has_prediction(point)) {
      rate = std::max(rate, bandwidth(point.predicted->seconds, point.key));
    }
    if (has_measurement(point)) {
      rate = std::max(rate, bandwidth(point.measured->seconds, point.key));
    }
  });
  return rate;
}

}  // namespace

std::vector<Figure> bus_bandwidth(const std::vector<Point>& points, const ChartContext& context,
                                  const std::optional<BandwidthLimit>& limit) {
  std::vector<Point> moving;  // One rank alone moves nothing.
  std::ranges::copy_if(points, std::back_inserter(moving),
                       [](const Point& point) { return point.key.ranks > 1; });
  return draw_small_multiples(moving, context, [&](const PointGroup& group, const SeriesPen& pen) {
    const double most = fastest(group);
    // A limit far above everything would press the curves to the floor: then it is said, not drawn.
    const bool limit_fits = limit && limit->rate.value <= 4 * most;
    const double top = 1.08 * std::max(most, limit_fits ? limit->rate.value : 0.0);
    const NamedUnit unit = bandwidth_unit({top});
    std::vector<LegendEntry> legend = pen.legend();
    if (limit) {
      const std::string text = fmt::format("limit: {} {}", limit->label, format(limit->rate));
      legend.push_back(limit_fits ? LegendEntry{.label = text, .line = kLimitStroke}
                                  : LegendEntry{.label = text + " (above this chart)"});
    }
    return SmallMultiples{
        .name = "bus_bandwidth",
        .subtitle = group.description + ": bus bandwidth (busbw of nccl-tests) against message size",
        .legend = legend,
        .y = {.label = fmt::format("bus bandwidth ({})", unit.name), .min = 0, .max = top},
        .y_tics =
            [top, unit](double pixels) {
              return linear_tics({0, top}, unit.value, pixels);
            },
        .fill =
            [&pen, &limit, limit_fits, top](Panel& panel, const RanksPanel& content) {
              if (limit_fits) {
                const double rate = limit->rate.value;
                panel.elements.emplace_back(
                    Polyline{.points = {{panel.x.min, rate}, {panel.x.max, rate}}, .stroke = kLimitStroke});
              }
              pen.add_series(panel, content, [top](Seconds time, const PointKey& key) {
                return std::min(bandwidth(time, key), top);  // Intervals may reach beyond.
              });
            },
    };
  });
}

}  // namespace ringside::plots
