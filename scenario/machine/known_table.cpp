#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/names.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/scenario.hpp"

/// The key `known`: what somebody measured on the machine.
namespace ringside {
namespace {

/// `p2p: {…}` of `known`.
MapTable<Known> known_transfer_table() {
  return {.form = "a map such as `{bandwidth: 12 GB/s}`",
          .rows = {row<&Known::bandwidth>(bandwidth_type()), row<&Known::latency>(time_type())},
          .check = [](Reader& reader, const Value& value, Known&) {
            if (!reader.find(value, "bandwidth") && !reader.find(value, "latency")) {
              reader.fail(value, "says nothing; write `bandwidth`, `latency` or both");
            }
          }};
}

/// `native: {…}` of `known`, and likewise for any algorithm.
MapTable<Known> known_all_reduce_table() {
  return {.form = "a map such as `{ranks: 2, bytes: 1 GiB, seconds: 95 ms}`",
          .rows = {row<&Known::ranks>(whole_number_type({.min = 2, .max = kMaxRanks}), {.required = true}),
                   row<&Known::bytes>(size_type(), {.required = true}),
                   row<&Known::seconds>(time_type(Zero::refused), {.required = true})}};
}

/// `all_gather: {…}` of `known`, and likewise for any collective.
MapTable<Known> known_collective_table() {
  MapTable<Known> table = known_all_reduce_table();
  table.rows.push_back(
      row<&Known::algorithm>(text_type("an algorithm such as `ring`"), {.default_value = "native"}));
  return table;
}

constexpr std::string_view kKnownForm =
    "a map such as `{native: {ranks: 2, bytes: 1 GiB, seconds: 95 ms}}` or `{p2p: {bandwidth: 12 GB/s}}`";

std::optional<Known> read_known(Reader& reader, const Value& value) {
  if (!value.node.IsMap() || value.node.size() != 1 || !value.node.begin()->first.IsScalar()) {
    reader.fail(value, "is {}{}; write {}", shape(value.node),
                value.node.IsMap() ? fmt::format(" of {} keys", value.node.size()) : "", kKnownForm);
    return std::nullopt;
  }
  const auto entry = *value.node.begin();
  const std::string what = entry.first.Scalar();
  const Value inner = reader.at(value, entry.first, entry.second);
  if (what == "p2p") {
    return read_map(reader, inner, known_transfer_table());
  }
  if (const std::optional<Collective> collective = parse_name<Collective>(what)) {
    auto known = read_map(reader, inner, known_collective_table());
    if (known) {
      known->collective = *collective;
      known->algorithm = known->algorithm.value_or("native");
    }
    return known;
  }
  std::vector<std::string> names(reader.algorithms().begin(), reader.algorithms().end());
  if (names.empty() && nearest_name(what, std::vector<std::string>{"native", "p2p"}) && what != "native") {
    names = {"native"};  // Without a registry at hand, at least these two are not misspelt.
  }
  if (!names.empty() && std::ranges::count(names, what) == 0) {
    names.emplace_back("p2p");
    const std::vector<std::string> collectives = names_of<Collective>();
    names.insert(names.end(), collectives.begin(), collectives.end());
    reader.fail(inner, unknown_name("algorithm or collective", what, names));
    return std::nullopt;
  }
  auto known = read_map(reader, inner, known_all_reduce_table());
  if (known) {
    known->algorithm = what;
  }
  return known;
}

}  // namespace

ValueType<Known> known_type() {
  std::vector<KeyDescription> keys;
  const auto add = [&](const std::string& key, const MapTable<Known>& table) {
    keys.push_back({.path = key, .form = table.form});
    for (KeyDescription below : keys_of(table)) {
      below.path = key + "." + below.path;
      keys.push_back(std::move(below));
    }
  };
  add("native", known_collective_table());
  add("p2p", known_transfer_table());
  return {.form = std::string(kKnownForm),
          .below = keys,
          .read = read_known,
          .write = [](YAML::Emitter& out, const Known& known) {
            const bool other = known.collective != Collective::all_reduce;
            out << YAML::Flow << YAML::BeginMap << YAML::Key
                << (other ? std::string(name(known.collective)) : known.algorithm.value_or("p2p"))
                << YAML::Value;
            write_map(out, known,
                      other             ? known_collective_table()
                      : known.algorithm ? known_all_reduce_table()
                                        : known_transfer_table());
            out << YAML::EndMap;
          }};
}

}  // namespace ringside
