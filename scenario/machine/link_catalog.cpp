#include "scenario/machine/link_catalog.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "scenario/machine/catalog_text.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

Note needed() { return {.required = true}; }

/// A quantity as the plain number that it is in SI units.
template <typename Q>
ValueType<double> plain(const ValueType<Q>& quantity) {
  return {.form = quantity.form,
          .read = [quantity](Reader& reader, const Value& value) -> std::optional<double> {
            const auto read = quantity.read(reader, value);
            return read ? std::optional(read->value) : std::nullopt;
          },
          .write = [quantity](YAML::Emitter& out, const double& value) { quantity.write(out, Q{value}); }};
}

ValueType<double> share() { return factor_type(0); }
ValueType<double> bandwidth() { return plain(bandwidth_type()); }
ValueType<double> latency() { return plain(time_type()); }

ValueType<SourcedNumber> number_type(const ValueType<double>& value) {
  return map_type(MapTable<SourcedNumber>{
      .form = fmt::format("a map of `value`, {}, and `source`", value.form),
      .rows = {row("value", &SourcedNumber::value, value, needed()),
               row("source", &SourcedNumber::source, text_type("who says so"), needed())}});
}

void check_order(Reader& reader, const Value& value, Interval<SourcedNumber>& range) {
  // What could not be read has been reported already.
  const bool complete =
      !range.low.source.empty() && !range.typical.source.empty() && !range.high.source.empty();
  const bool ordered = range.low.value <= range.typical.value && range.typical.value <= range.high.value;
  if (complete && !ordered) {
    reader.fail(value, "must have low ≤ typical ≤ high");
  }
}

ValueType<Interval<SourcedNumber>> range_type(const ValueType<double>& value) {
  const ValueType<SourcedNumber> number = number_type(value);
  return map_type(MapTable<Interval<SourcedNumber>>{
      .form = "a map of `low`, `typical` and `high`",
      .rows = {row("low", &Interval<SourcedNumber>::low, number, needed()),
               row("typical", &Interval<SourcedNumber>::typical, number, needed()),
               row("high", &Interval<SourcedNumber>::high, number, needed())},
      .check = check_order});
}

ValueType<int> generation_type() { return whole_number_type({.min = 1, .max = 99}); }

ValueType<PcieSheet> pcie_type() {
  return map_type(MapTable<PcieSheet>{
      .form = "a map of one generation",
      .rows = {row("generation", &PcieSheet::generation, generation_type(), needed()),
               row("lane", &PcieSheet::lane, number_type(bandwidth()), needed()),
               row("direct", &PcieSheet::direct, range_type(share()), needed()),
               row("staged", &PcieSheet::staged, range_type(share()), needed()),
               row("host_memory", &PcieSheet::host_memory, range_type(bandwidth()), needed()),
               row("inter_socket", &PcieSheet::inter_socket, range_type(bandwidth()), needed())}});
}

ValueType<CableSheet> cable_type() {
  return map_type(MapTable<CableSheet>{
      .form = "a map of one generation",
      .rows = {row("generation", &CableSheet::generation, generation_type(), needed()),
               row("data_sheet", &CableSheet::data_sheet, number_type(bandwidth()), needed()),
               row("bandwidth", &CableSheet::bandwidth, range_type(bandwidth()), needed())}});
}

ValueType<NetworkSheet> network_type() {
  const ValueType<InterKind> kind = choice_type<InterKind>(
      "network", {InterKind::infiniband, InterKind::roce, InterKind::efa, InterKind::tcpx, InterKind::tcpxo,
                  InterKind::ethernet, InterKind::slingshot});
  return map_type(MapTable<NetworkSheet>{
      .form = "a map of one kind",
      .rows = {row("kind", &NetworkSheet::kind, kind, needed()),
               row("up_to", &NetworkSheet::up_to, bandwidth_type()),
               row("bandwidth", &NetworkSheet::bandwidth, range_type(share()), needed()),
               row("latency", &NetworkSheet::latency, range_type(latency()), needed())}});
}

template <typename Sheet>
ValueType<std::vector<Sheet>> generations_type(const ValueType<Sheet>& sheet) {
  const auto list = list_type(sheet, {.form = "a list of generations"});
  return narrowed(list, [](const Value&, const std::vector<Sheet>& sheets) -> std::string {
    std::set<int> seen;
    for (const Sheet& one : sheets) {
      if (!seen.insert(one.generation).second) {
        return fmt::format("has generation {} twice", one.generation);
      }
    }
    return {};
  });
}

/// A rate must find one row: each kind has bounds that grow and ends with a row without one.
void check_networks(Reader& reader, const Value& value, LinkCatalog& catalog) {
  for (const NetworkSheet& sheet : catalog.networks) {
    std::vector<double> bounds;
    for (const NetworkSheet& other : catalog.networks) {
      if (other.kind == sheet.kind) {
        bounds.push_back(other.up_to ? other.up_to->value : HUGE_VAL);
      }
    }
    const bool grows =
        std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) == bounds.end();
    if (!grows || bounds.back() != HUGE_VAL) {
      reader.fail(value,
                  fmt::format("the rows of {} need growing `up_to`, and none in the last", name(sheet.kind)));
      return;
    }
  }
}

MapTable<LinkCatalog> catalog_table() {
  return {
      .form = "a map such as configs/catalog/links.yaml",
      .rows = {row("pcie", &LinkCatalog::pcie, generations_type(pcie_type()), needed()),
               row("pcie_latency", &LinkCatalog::pcie_latency, range_type(latency()), needed()),
               row("host_memory_latency", &LinkCatalog::host_memory_latency, range_type(latency()), needed()),
               row("staged_both_ways", &LinkCatalog::staged_both_ways, range_type(share()), needed()),
               row("inter_socket_latency", &LinkCatalog::inter_socket_latency, range_type(latency()),
                   needed()),
               row("worst_host_bridge_share", &LinkCatalog::worst_host_bridge_share, number_type(share()),
                   needed()),
               row("nvlink", &LinkCatalog::nvlink, generations_type(cable_type()), needed()),
               row("nvlink_ga102", &LinkCatalog::nvlink_ga102, cable_type(), needed()),
               row("nvlink_latency", &LinkCatalog::nvlink_latency, range_type(latency()), needed()),
               row("nvswitch", &LinkCatalog::nvswitch, generations_type(cable_type()), needed()),
               row("nvswitch_latency", &LinkCatalog::nvswitch_latency, range_type(latency()), needed()),
               row("xgmi", &LinkCatalog::xgmi, generations_type(cable_type()), needed()),
               row("xgmi_latency", &LinkCatalog::xgmi_latency, range_type(latency()), needed()),
               row("networks", &LinkCatalog::networks,
                   list_type(network_type(), {.form = "a list of networks"}), needed())},
      .check = check_networks};
}

}  // namespace

LinkCatalog parse_link_catalog(const std::string& yaml, const std::string& file) {
  return parse_map(yaml, file, catalog_table());
}

const LinkCatalog& link_catalog() {
  static const LinkCatalog catalog =
      parse_link_catalog(std::string(kLinksYaml), "configs/catalog/links.yaml");
  return catalog;
}

}  // namespace ringside
