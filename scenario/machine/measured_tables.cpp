#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

std::vector<ProbeKind> kinds_with_curves() {
  std::vector<ProbeKind> kinds;
  for (const ProbeKindRow& row : probe_kinds()) {
    if (row.curve) {
      kinds.push_back(row.kind);
    }
  }
  return kinds;
}

constexpr std::string_view kPointsForm = "a map of sizes such as `{8 B: 12 us, 4 KiB: 14 us}`";

/// What stands at one size, as the unit of the kind wants it.
std::optional<double> read_point(Reader& reader, const Value& value, CurveUnit unit) {
  if (unit == CurveUnit::seconds) {
    const auto seconds = time_type(Zero::refused).read(reader, value);
    return seconds ? std::optional(seconds->value) : std::nullopt;
  }
  const auto cost = cost_type().read(reader, value);
  return cost ? std::optional(cost->value) : std::nullopt;
}

bool ascending(const std::vector<CurvePoint>& points) {
  return std::adjacent_find(points.begin(), points.end(), [](const CurvePoint& a, const CurvePoint& b) {
           return !(a.bytes < b.bytes);
         }) == points.end();
}

/// The kind says what the points are, so that it is read first.
void read_points(Reader& reader, const Value& value, Curve& curve) {
  const std::optional<Value> points = reader.find(value, "points");
  if (!points) {
    return;
  }
  if (!points->node.IsMap() || points->node.size() == 0) {
    reader.fail(*points, "is {}; write {}", shape(points->node), kPointsForm);
    return;
  }
  const std::size_t before = reader.num_problems();
  for (const auto& entry : points->node) {
    const auto bytes = size_type().read(reader, reader.at(*points, entry.first, entry.first));
    const auto read =
        read_point(reader, reader.at(*points, entry.first, entry.second), row_of(curve.kind).unit);
    if (bytes && read) {
      curve.points.push_back({.bytes = *bytes, .value = *read});
    }
  }
  if (reader.num_problems() == before && !ascending(curve.points)) {
    reader.fail(*points, "must ascend: each size once, small ones first");
  }
}

void write_points(YAML::Emitter& out, const Curve& curve) {
  out << YAML::Flow << YAML::BeginMap;
  for (const CurvePoint& point : curve.points) {
    out << YAML::Key;
    size_type().write(out, point.bytes);
    out << YAML::Value;
    if (row_of(curve.kind).unit == CurveUnit::seconds) {
      time_type().write(out, {point.value});
    } else {
      cost_type().write(out, {point.value});
    }
  }
  out << YAML::EndMap;
}

MapTable<Curve> curve_table() {
  const ValueType<std::string> points = {.form = std::string(kPointsForm), .read = {}, .write = {}};
  return {
      .form = "a map such as `{probe: ping_pong, ranks: 2, points: {8 B: 12 us, 4 KiB: 14 us}}`",
      .rows = {row("probe", &Curve::kind, choice_type("kind of probe", kinds_with_curves()),
                   {.required = true}),
               row<&Curve::ranks>(whole_number_type({.min = 1, .max = kMaxRanks}), {.required = true}),
               row<&Curve::messages>(whole_number_type({.min = 1, .max = kMaxRanks}), {.default_value = "1"}),
               {.key = description("points", points, {.required = true}),
                .below = {},
                .read = [](Reader&, const Value&, Curve&) {},
                .given = [](const Curve&) { return true; },
                .write = write_points}},
      .check = read_points};
}

ValueType<std::vector<Curve>> curves_type() {
  const auto any = list_type(
      map_type(curve_table()),
      {.form = "a list of maps such as `{probe: ping_pong, ranks: 2, points: {8 B: 12 us, 4 KiB: 14 us}}`"});
  return narrowed(any, [](const Value&, const std::vector<Curve>& curves) -> std::string {
    for (std::size_t i = 1; i < curves.size(); ++i) {
      const Curve& curve = curves[i];
      if (find_curve(std::span(curves).first(i), curve.kind, curve.ranks, curve.messages) != nullptr) {
        return fmt::format("has two curves of {} with {} and {}", name(curve.kind),
                           count_of(curve.ranks, "rank"), count_of(curve.messages, "message"));
      }
    }
    return {};
  });
}

/// `points` in ascending order of what `place_of` returns, none twice: curves are read by interpolation.
template <typename V, typename PlaceOf>
ValueType<std::vector<V>> curve_type(const MapTable<V>& point, const std::string& form,
                                     const std::string& order, PlaceOf place_of) {
  return narrowed(
      list_type(map_type(point), {.form = form}),
      [order, place_of](const Value&, const std::vector<V>& points) {
        const auto descending = [&](const V& a, const V& b) { return !(place_of(a) < place_of(b)); };
        const bool ascend = std::adjacent_find(points.begin(), points.end(), descending) == points.end();
        return ascend ? "" : fmt::format("must ascend: {}", order);
      });
}

/// Deviations are of logarithms: e¹⁰ is a factor of 22,000.
constexpr double kLargestDeviation = 10;

/// A curve over the message size; a plain number is one of a single point.
ValueType<std::vector<SpreadPoint>> spread_type() {
  const MapTable<SpreadPoint> point = {
      .form = "a map such as `{bytes: 4 KiB, deviation: 0.2}`",
      .rows = {row<&SpreadPoint::bytes>(size_type(), {.required = true}),
               row<&SpreadPoint::deviation>(factor_type(0, kLargestDeviation), {.required = true}),
               row<&SpreadPoint::slow_deviation>(factor_type(0, kLargestDeviation))}};
  ValueType<std::vector<SpreadPoint>> type =
      curve_type(point, "a list of maps such as `{bytes: 4 KiB, deviation: 0.2}`, or a number for all sizes",
                 "each size once, small ones first", [](const SpreadPoint& p) { return p.bytes; });
  type.read = [curve = type.read](Reader& reader,
                                  const Value& value) -> std::optional<std::vector<SpreadPoint>> {
    if (!value.node.IsScalar()) {
      return curve(reader, value);
    }
    const auto deviation = factor_type(0, kLargestDeviation).read(reader, value);
    return deviation ? std::optional(std::vector<SpreadPoint>{
                           {.bytes = {1}, .deviation = *deviation, .slow_deviation = {}}})
                     : std::nullopt;
  };
  return type;
}

MapTable<Disturbance> disturbance_table() {
  return {.form = "a map such as `{share: 0.4, slower: 1.6}`",
          .rows = {row<&Disturbance::share>(factor_type(0), {.required = true}),
                   row<&Disturbance::slower>(factor_type(1), {.required = true}),
                   row<&Disturbance::other_load>(factor_type(0), {.default_value = "0"}),
                   row<&Disturbance::stolen>(factor_type(0), {.default_value = "0"}),
                   row<&Disturbance::throttled>(factor_type(0), {.default_value = "0"})}};
}

/// The typical value of an interval stands in a key of its own.
void set_typical(std::optional<Interval<double>>& interval, double value) {
  if (interval) {
    interval->typical = value;
  }
}

MapTable<BetweenNodes> between_nodes_table() {
  return {.form = "a map such as `{latency: 60 us, bandwidth: 1.2 GB/s, messages: 2}`",
          .rows = {row<&BetweenNodes::latency>(time_type(), {.required = true}),
                   row<&BetweenNodes::latency_interval>(interval_type(time_type(), "[58 us, 63 us]")),
                   row<&BetweenNodes::bandwidth>(bandwidth_type(), {.required = true}),
                   row<&BetweenNodes::bandwidth_interval>(
                       interval_type(bandwidth_type(Zero::allowed), "[1.1 GB/s, 1.3 GB/s]")),
                   row<&BetweenNodes::messages>(whole_number_type({.min = 1, .max = 65536}),
                                                {.default_value = "1"}),
                   row<&BetweenNodes::native_exchange>(factor_type(1), {.default_value = "1"}),
                   row<&BetweenNodes::native_exchange_interval>(interval_type(factor_type(1), "[1.4, 1.9]"))},
          .check = [](Reader&, const Value&, BetweenNodes& between) {
            set_typical(between.latency_interval, between.latency.value);
            set_typical(between.bandwidth_interval, between.bandwidth.value);
            set_typical(between.native_exchange_interval, between.native_exchange);
          }};
}

MapTable<PairPoint> pair_table() {
  return {
      .form = "a map such as `{from: 0, to: 1, latency: 9 us, bandwidth: 20 GB/s, both_ways: 18 GB/s}`",
      .rows = {row<&PairPoint::from>(whole_number_type({.min = 0, .max = kMaxRanks - 1}), {.required = true}),
               row<&PairPoint::to>(whole_number_type({.min = 0, .max = kMaxRanks - 1}), {.required = true}),
               row<&PairPoint::latency>(time_type(), {.required = true}),
               row<&PairPoint::bandwidth>(bandwidth_type(), {.required = true}),
               row<&PairPoint::both_ways>(bandwidth_type(), {.required = true})}};
}

}  // namespace

MapTable<Calibrated> calibrated_table() {
  return {
      .form = "a map such as `{latency: 12 us, bandwidth: 3 GB/s, reduction: 0.1 ns/B}`",
      .rows =
          {
              row<&Calibrated::backend>(text_type("a transport such as `gloo`")),
              row<&Calibrated::cores>(whole_number_type({.min = 1, .max = 65536})),
              row<&Calibrated::machine_tuning>(bool_type(), {.default_value = "true"}),
              row<&Calibrated::latency>(time_type(), {.required = true}),
              row<&Calibrated::latency_interval>(interval_type(time_type(), "[9.8 us, 10.4 us]")),
              row<&Calibrated::bandwidth>(bandwidth_type(), {.required = true}),
              row<&Calibrated::bandwidth_interval>(
                  interval_type(bandwidth_type(Zero::allowed), "[9.7 GB/s, 10.2 GB/s]")),
              row<&Calibrated::reduction>(cost_type(), {.required = true}),
              row<&Calibrated::reduction_interval>(interval_type(cost_type(), "[0.09 ns/B, 0.11 ns/B]")),
              row<&Calibrated::curves>(curves_type()),
              row<&Calibrated::spread>(spread_type()),
              row<&Calibrated::reduction_spread>(spread_type()),
              row<&Calibrated::between_nodes>(map_type(between_nodes_table())),
              row<&Calibrated::disturbance>(map_type(disturbance_table())),
              row<&Calibrated::pairs>(
                  curve_type(pair_table(),
                             "a list of maps such as `{from: 0, to: 1, latency: 9 us, bandwidth: 20 GB/s, "
                             "both_ways: 18 GB/s}`",
                             "by `from` and then by `to`, each pair once",
                             [](const PairPoint& p) { return std::pair(p.from, p.to); })),
          },
      .check =
          [](Reader&, const Value&, Calibrated& calibrated) {
            set_typical(calibrated.latency_interval, calibrated.latency.value);
            set_typical(calibrated.bandwidth_interval, calibrated.bandwidth.value);
            set_typical(calibrated.reduction_interval, calibrated.reduction.value);
          },
      .on_one_line = false,
  };
}

}  // namespace ringside
