#include "scenario/machine/spread_tables.hpp"

#include <optional>

#include "scenario/machine/curve_type.hpp"

namespace ringside {

ValueType<std::vector<SpreadPoint>> spread_type() {
  const MapTable<SpreadPoint> point = {
      .form = "a map such as `{bytes: 4 KiB, deviation: 0.2}`",
      .rows = {
          row("bytes", &SpreadPoint::bytes, size_type(),
              {.meaning = "Size of the message or operand.", .required = true}),
          row("deviation", &SpreadPoint::deviation, factor_type(0),
              {.meaning = "Relative standard deviation at this size.", .required = true}),
          row("slow_deviation", &SpreadPoint::slow_deviation, factor_type(0),
              {.meaning = "The same of what took longer, of which a disturbed machine has more; left out = "
                          "as `deviation`."})}};
  ValueType<std::vector<SpreadPoint>> type =
      curve_type(point, "a list of maps such as `{bytes: 4 KiB, deviation: 0.2}`, or a number for all sizes",
                 "each size once, small ones first", [](const SpreadPoint& p) { return p.bytes; });
  type.read = [curve = type.read](Reader& reader,
                                  const Value& value) -> std::optional<std::vector<SpreadPoint>> {
    if (!value.node.IsScalar()) {
      return curve(reader, value);
    }
    const auto deviation = factor_type(0).read(reader, value);
    return deviation ? std::optional(std::vector<SpreadPoint>{
                           {.bytes = {1}, .deviation = *deviation, .slow_deviation = {}}})
                     : std::nullopt;
  };
  return type;
}

MapTable<Disturbance> disturbance_table() {
  return {
      .form = "a map such as `{share: 0.4, slower: 1.6}`",
      .rows = {row("share", &Disturbance::share, factor_type(0),
                   {.meaning = "Share of the probes that were slow.", .required = true}),
               row("slower", &Disturbance::slower, factor_type(1),
                   {.meaning = "How many times longer these took than the fast ones.", .required = true}),
               row("other_load", &Disturbance::other_load, factor_type(0),
                   {.meaning = "Cores that other processes used meanwhile.", .default_value = "0"}),
               row("stolen", &Disturbance::stolen, factor_type(0),
                   {.meaning = "Cores that the hypervisor gave to other machines.", .default_value = "0"}),
               row("throttled", &Disturbance::throttled, factor_type(0),
                   {.meaning = "Cores' worth of time in which the control group was stopped.",
                    .default_value = "0"})}};
}

}  // namespace ringside
