#include "scenario/measured_tables.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/names.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

/// `points` in ascending order of what `place_of` returns, none twice: curves are read by interpolation.
template <typename V, typename PlaceOf>
ValueType<std::vector<V>> curve_type(const MapTable<V>& point, const std::string& form,
                                     const std::string& order, PlaceOf place_of) {
  ValueType<std::vector<V>> type = list_type(map_type(point), {.form = form});
  type.read = [any = type.read, order, place_of](Reader& reader, const Value& value) {
    auto points = any(reader, value);
    const auto descending = [&](const V& a, const V& b) { return !(place_of(a) < place_of(b)); };
    if (points && std::adjacent_find(points->begin(), points->end(), descending) != points->end()) {
      reader.fail(value, fmt::format("must ascend: {}", order));
      points.reset();
    }
    return points;
  };
  return type;
}

/// A curve over the message size; `what` is what its seconds are.
ValueType<std::vector<TransferPoint>> transfer_curve(const std::string& what) {
  const MapTable<TransferPoint> point = {
      .form = "a map such as `{bytes: 4 KiB, seconds: 12 us}`",
      .rows = {row("bytes", &TransferPoint::bytes, size_type(),
                   {.meaning = "Size of the message.", .required = true}),
               row("seconds", &TransferPoint::seconds, time_type(Zero::refused),
                   {.meaning = what, .required = true})}};
  return curve_type(point, "a list of maps such as `{bytes: 4 KiB, seconds: 12 us}`",
                    "each size once, small ones first", [](const TransferPoint& p) { return p.bytes; });
}

MapTable<ShiftPoint> shift_table() {
  return {.form = "a map such as `{ranks: 4, bytes: 4 KiB, seconds: 20 us}`",
          .rows = {row("ranks", &ShiftPoint::ranks, whole_number_type({.min = 2, .max = kMaxRanks}),
                       {.meaning = "How many ranks send to their neighbour at once.", .required = true}),
                   row("bytes", &ShiftPoint::bytes, size_type(),
                       {.meaning = "Size of each message.", .required = true}),
                   row("seconds", &ShiftPoint::seconds, time_type(Zero::refused),
                       {.meaning = "Until all have arrived.", .required = true}),
                   row("messages", &ShiftPoint::messages, whole_number_type({.min = 1, .max = kMaxRanks}),
                       {.meaning = "How many each rank sends at once.", .default_value = "1"})}};
}

ValueType<std::vector<ShiftPoint>> shift_curve() {
  return curve_type(shift_table(), "a list of maps such as `{ranks: 4, bytes: 4 KiB, seconds: 20 us}`",
                    "by ranks, messages and then size, each once",
                    [](const ShiftPoint& p) { return std::tuple(p.ranks, p.messages, p.bytes); });
}

MapTable<ReductionPoint> reduction_table() {
  return {.form = "a map such as `{bytes: 64 KiB, cost: 0.1 ns/B}`",
          .rows = {row("bytes", &ReductionPoint::bytes, size_type(),
                       {.meaning = "Size of the operand.", .required = true}),
                   row("cost", &ReductionPoint::cost, cost_type(),
                       {.meaning = "γ at this size.", .required = true}),
                   row("ranks", &ReductionPoint::ranks, whole_number_type({.min = 1, .max = kMaxRanks}),
                       {.meaning = "How many ranks reduce at once.", .default_value = "1"})}};
}

/// A curve over the message size; a plain number, which is quicker to write by hand, is one of a single point.
ValueType<std::vector<SpreadPoint>> spread_type() {
  const MapTable<SpreadPoint> point = {
      .form = "a map such as `{bytes: 4 KiB, deviation: 0.2}`",
      .rows = {row("bytes", &SpreadPoint::bytes, size_type(),
                   {.meaning = "Size of the message or operand.", .required = true}),
               row("deviation", &SpreadPoint::deviation, factor_type(0),
                   {.meaning = "Relative standard deviation at this size.", .required = true})}};
  ValueType<std::vector<SpreadPoint>> type =
      curve_type(point, "a list of maps such as `{bytes: 4 KiB, deviation: 0.2}`, or a number for all sizes",
                 "each size once, small ones first", [](const SpreadPoint& p) { return p.bytes; });
  type.read = [curve = type.read](Reader& reader,
                                  const Value& value) -> std::optional<std::vector<SpreadPoint>> {
    if (!value.node.IsScalar()) {
      return curve(reader, value);
    }
    const auto deviation = factor_type(0).read(reader, value);
    return deviation ? std::optional(std::vector<SpreadPoint>{{.bytes = {1}, .deviation = *deviation}})
                     : std::nullopt;
  };
  return type;
}

MapTable<PairPoint> pair_table() {
  return {
      .form = "a map such as `{from: 0, to: 1, latency: 9 us, bandwidth: 20 GB/s, both_ways: 18 GB/s}`",
      .rows = {row("from", &PairPoint::from, whole_number_type({.min = 0, .max = kMaxRanks - 1}),
                   {.meaning = "Rank that sends.", .required = true}),
               row("to", &PairPoint::to, whole_number_type({.min = 0, .max = kMaxRanks - 1}),
                   {.meaning = "Rank that receives.", .required = true}),
               row("latency", &PairPoint::latency, time_type(),
                   {.meaning = "Of a small message, one way.", .required = true}),
               row("bandwidth", &PairPoint::bandwidth, bandwidth_type(),
                   {.meaning = "Of large messages in this direction alone.", .required = true}),
               row("both_ways", &PairPoint::both_ways, bandwidth_type(),
                   {.meaning = "In this direction while the other one is busy, too.", .required = true})}};
}

/// `p2p: {…}` of `known`.
MapTable<Known> known_transfer_table() {
  return {.form = "a map such as `{bandwidth: 12 GB/s}`",
          .rows = {row("bandwidth", &Known::bandwidth, bandwidth_type(),
                       {.meaning = "Measured between two ranks with nothing else going on."}),
                   row("latency", &Known::latency, time_type(),
                       {.meaning = "Measured for a small message between two ranks."})},
          .check = [](Reader& reader, const Value& value, Known&) {
            if (!reader.find(value, "bandwidth") && !reader.find(value, "latency")) {
              reader.fail(value, "says nothing; write `bandwidth`, `latency` or both");
            }
          }};
}

/// `native: {…}` of `known`, and likewise for any algorithm.
MapTable<Known> known_all_reduce_table() {
  return {
      .form = "a map such as `{ranks: 2, bytes: 1 GiB, seconds: 95 ms}`",
      .rows = {row("ranks", &Known::ranks, whole_number_type({.min = 2, .max = kMaxRanks}),
                   {.meaning = "Number of ranks of the measured all_reduce.", .required = true}),
               row("bytes", &Known::bytes, size_type(), {.meaning = "Its message size.", .required = true}),
               row("seconds", &Known::seconds, time_type(Zero::refused),
                   {.meaning = "What it took.", .required = true})}};
}

constexpr std::string_view kKnownForm =
    "a map such as `{native: {ranks: 2, bytes: 1 GiB, seconds: 95 ms}}` or `{p2p: {bandwidth: 12 GB/s}}`";

std::optional<Known> read_known(Reader& reader, const Value& value) {
  if (!value.node.IsMap() || value.node.size() != 1 || !value.node.begin()->first.IsScalar()) {
    reader.fail(value, fmt::format("is {}{}; write {}", shape(value.node),
                                   value.node.IsMap() ? fmt::format(" of {} keys", value.node.size()) : "",
                                   kKnownForm));
    return std::nullopt;
  }
  const auto entry = *value.node.begin();
  const std::string what = entry.first.Scalar();
  const Value inner = reader.at(value, entry.first, entry.second);
  if (what == "p2p") {
    return read_map(reader, inner, known_transfer_table());
  }
  std::vector<std::string> names(reader.algorithms().begin(), reader.algorithms().end());
  if (names.empty() && nearest_name(what, std::vector<std::string>{"native", "p2p"}) && what != "native") {
    names = {"native"};  // Without a registry at hand, at least these two are not misspelt.
  }
  if (!names.empty() && std::count(names.begin(), names.end(), what) == 0) {
    names.emplace_back("p2p");
    reader.fail(inner, unknown_name("algorithm", what, names));
    return std::nullopt;
  }
  auto known = read_map(reader, inner, known_all_reduce_table());
  if (known) {
    known->algorithm = what;
  }
  return known;
}

}  // namespace

MapTable<Calibrated> calibrated_table() {
  return {
      .form = "a map such as `{latency: 12 us, bandwidth: 3 GB/s, reduction: 0.1 ns/B}`",
      .rows =
          {
              row("backend", &Calibrated::backend, text_type("a transport such as `gloo`"),
                  {.meaning = "Transport that was probed."}),
              row("cores", &Calibrated::cores, whole_number_type({.min = 1, .max = 65536}),
                  {.meaning = "CPU cores that all ranks share; left out = nothing is shared."}),
              row("latency", &Calibrated::latency, time_type(),
                  {.meaning = "α of a message between two ranks.", .required = true}),
              row("latency_interval", &Calibrated::latency_interval,
                  interval_type(time_type(), "[9.8 us, 10.4 us]"),
                  {.meaning = "95 % interval of the latency."}),
              row("bandwidth", &Calibrated::bandwidth, bandwidth_type(),
                  {.meaning = "1/β between two ranks.", .required = true}),
              row("bandwidth_interval", &Calibrated::bandwidth_interval,
                  interval_type(bandwidth_type(Zero::allowed), "[9.7 GB/s, 10.2 GB/s]"),
                  {.meaning = "95 % interval of the bandwidth."}),
              row("reduction", &Calibrated::reduction, cost_type(),
                  {.meaning = "γ of a rank.", .required = true}),
              row("reduction_interval", &Calibrated::reduction_interval,
                  interval_type(cost_type(), "[0.09 ns/B, 0.11 ns/B]"),
                  {.meaning = "95 % interval of the reduction cost."}),
              row("transfers", &Calibrated::transfers, transfer_curve("What it takes, one way."),
                  {.meaning = "Time of one message alone, by size."}),
              row("shifts", &Calibrated::shifts, shift_curve(),
                  {.meaning =
                       "Time of messages of all ranks to their neighbours at once, by ranks and size."}),
              row("relays", &Calibrated::relays, shift_curve(),
                  {.meaning = "Time of each of several shifts to either side in turn, by ranks and size."}),
              row("ready_relays", &Calibrated::ready_relays, shift_curve(),
                  {.meaning = "The same to one side, receives started beforehand, by ranks and size."}),
              row("reductions", &Calibrated::reductions,
                  curve_type(reduction_table(), "a list of maps such as `{bytes: 64 KiB, cost: 0.1 ns/B}`",
                             "by ranks and then by size, each once",
                             [](const ReductionPoint& p) { return std::pair(p.ranks, p.bytes); }),
                  {.meaning = "Reduction cost of what has just arrived, by ranks and size of the operand."}),
              row("sends", &Calibrated::sends, transfer_curve("Until its kernel has the rest."),
                  {.meaning = "Time until the sender of one message may go on, by size."}),
              row("fan_outs", &Calibrated::fan_outs, transfer_curve("Until both are there."),
                  {.meaning = "Time of two messages at once from one rank to two others, by size."}),
              row("spread", &Calibrated::spread, spread_type(),
                  {.meaning = "Relative deviation of a probe's median from one pass to the next, by size."}),
              row("reduction_spread", &Calibrated::reduction_spread, spread_type(),
                  {.meaning = "The same of reductions; left out = as `spread`."}),
              row("pairs", &Calibrated::pairs,
                  curve_type(pair_table(),
                             "a list of maps such as `{from: 0, to: 1, latency: 9 us, bandwidth: 20 GB/s, "
                             "both_ways: 18 GB/s}`",
                             "by `from` and then by `to`, each pair once",
                             [](const PairPoint& p) { return std::pair(p.from, p.to); }),
                  {.meaning = "What each pair of ranks can do alone; for people, not priced."}),
          },
      .on_one_line = false,
  };
}

ValueType<Known> known_type() {
  const auto below = [](const std::string& prefix, std::vector<KeyDescription> keys, std::string meaning,
                        std::string form) {
    keys.insert(keys.begin(),
                KeyDescription{.path = "", .meaning = std::move(meaning), .form = std::move(form)});
    for (KeyDescription& key : keys) {
      key.path = key.path.empty() ? prefix : prefix + "." + key.path;
    }
    return keys;
  };
  std::vector<KeyDescription> keys = below("native", keys_of(known_all_reduce_table()),
                                           "An all_reduce that somebody measured on this machine: the "
                                           "backend's own, or under the name of an algorithm.",
                                           known_all_reduce_table().form);
  const std::vector<KeyDescription> transfer = below(
      "p2p", keys_of(known_transfer_table()),
      "A transfer between two ranks that somebody measured on this machine.", known_transfer_table().form);
  keys.insert(keys.end(), transfer.begin(), transfer.end());
  return {.form = std::string(kKnownForm),
          .below = keys,
          .read = read_known,
          .write = [](YAML::Emitter& out, const Known& known) {
            out << YAML::Flow << YAML::BeginMap << YAML::Key << known.algorithm.value_or("p2p")
                << YAML::Value;
            write_map(out, known, known.algorithm ? known_all_reduce_table() : known_transfer_table());
            out << YAML::EndMap;
          }};
}

}  // namespace ringside
