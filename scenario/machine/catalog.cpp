#include "scenario/machine/catalog.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

ValueType<std::vector<std::string>> texts_type(const std::string& form) {
  return list_type(text_type("a text"), {.form = form});
}

Note required() { return {.required = true}; }

MapTable<GpuSheet> gpu_sheet_table() {
  return {
      .form = "a map such as `{model: L40S, memory: 48 GB}`",
      .rows =
          {
              row<&GpuSheet::model>(text_type("a model such as `A100-SXM4-80GB`"), required()),
              row<&GpuSheet::vendor>(choice_type<Vendor>("vendor"), required()),
              row<&GpuSheet::architecture>(choice_type<Architecture>("architecture"), required()),
              row<&GpuSheet::memory>(size_type(), required()),
              row<&GpuSheet::memory_bandwidth>(bandwidth_type(), required()),
              row("fp32_tflops", &GpuSheet::fp32, factor_type(0)),
              row("tf32_tflops", &GpuSheet::tf32, factor_type(0)),
              row("bf16_tflops", &GpuSheet::bf16, factor_type(0)),
              row("fp16_tflops", &GpuSheet::fp16, factor_type(0)),
              row<&GpuSheet::pcie_generation>(whole_number_type({.min = 1, .max = 6}), required()),
              row<&GpuSheet::pcie_lanes>(whole_number_type({.min = 1, .max = 16})),
              row<&GpuSheet::nvlink_generation>(whole_number_type({.min = 1, .max = 5})),
              row<&GpuSheet::xgmi_generation>(whole_number_type({.min = 1, .max = 4})),
              row<&GpuSheet::links>(whole_number_type({.min = 1, .max = 18})),
              row<&GpuSheet::links_bandwidth>(bandwidth_type()),
              row<&GpuSheet::peer_to_peer>(bool_type()),
              row<&GpuSheet::sources>(texts_type("a list of sources"), required()),
              row<&GpuSheet::unverified>(texts_type("a list of keys")),
          },
  };
}

struct GpuFile {
  std::vector<GpuSheet> gpus = {};
};

MapTable<GpuFile> gpu_file_table() {
  return {.form = "a map of `gpus`",
          .rows = {row<&GpuFile::gpus>(list_type(map_type(gpu_sheet_table()), {.form = "a list of GPUs"}),
                                       required())}};
}

}  // namespace

const std::vector<GpuSheet>& gpu_sheets() {
  static const GpuFile file =
      parse_map(std::string(kGpusYaml), "configs/catalog/gpus.yaml", gpu_file_table());
  return file.gpus;
}

namespace {

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
  return map_type(
      MapTable<SourcedNumber>{.form = fmt::format("a map of `value`, {}, and `source`", value.form),
                              .rows = {row<&SourcedNumber::value>(value, required()),
                                       row<&SourcedNumber::source>(text_type("who says so"), required())}});
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
  return map_type(
      MapTable<Interval<SourcedNumber>>{.form = "a map of `low`, `typical` and `high`",
                                        .rows = {row<&Interval<SourcedNumber>::low>(number, required()),
                                                 row<&Interval<SourcedNumber>::typical>(number, required()),
                                                 row<&Interval<SourcedNumber>::high>(number, required())},
                                        .check = check_order});
}

ValueType<int> generation_type() { return whole_number_type({.min = 1, .max = 99}); }

ValueType<PcieSheet> pcie_type() {
  return map_type(
      MapTable<PcieSheet>{.form = "a map of one generation",
                          .rows = {row<&PcieSheet::generation>(generation_type(), required()),
                                   row<&PcieSheet::lane>(number_type(bandwidth()), required()),
                                   row<&PcieSheet::direct>(range_type(share()), required()),
                                   row<&PcieSheet::staged>(range_type(share()), required()),
                                   row<&PcieSheet::host_memory>(range_type(bandwidth()), required()),
                                   row<&PcieSheet::inter_socket>(range_type(bandwidth()), required())}});
}

ValueType<CableSheet> cable_type() {
  return map_type(
      MapTable<CableSheet>{.form = "a map of one generation",
                           .rows = {row<&CableSheet::generation>(generation_type(), required()),
                                    row<&CableSheet::data_sheet>(number_type(bandwidth()), required()),
                                    row<&CableSheet::bandwidth>(range_type(bandwidth()), required())}});
}

ValueType<NetworkSheet> network_type() {
  const ValueType<InterKind> kind = choice_type<InterKind>(
      "network", {InterKind::infiniband, InterKind::roce, InterKind::efa, InterKind::tcpx, InterKind::tcpxo,
                  InterKind::ethernet, InterKind::slingshot});
  return map_type(MapTable<NetworkSheet>{
      .form = "a map of one kind",
      .rows = {row<&NetworkSheet::kind>(kind, required()), row<&NetworkSheet::up_to>(bandwidth_type()),
               row<&NetworkSheet::bandwidth>(range_type(share()), required()),
               row<&NetworkSheet::latency>(range_type(latency()), required())}});
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
      reader.fail(value, "the rows of {} need growing `up_to`, and none in the last", name(sheet.kind));
      return;
    }
  }
}

MapTable<LinkCatalog> catalog_table() {
  return {.form = "a map such as configs/catalog/links.yaml",
          .rows = {row<&LinkCatalog::pcie>(generations_type(pcie_type()), required()),
                   row<&LinkCatalog::pcie_latency>(range_type(latency()), required()),
                   row<&LinkCatalog::host_memory_latency>(range_type(latency()), required()),
                   row<&LinkCatalog::staged_both_ways>(range_type(share()), required()),
                   row<&LinkCatalog::inter_socket_latency>(range_type(latency()), required()),
                   row<&LinkCatalog::worst_host_bridge_share>(number_type(share()), required()),
                   row<&LinkCatalog::nvlink>(generations_type(cable_type()), required()),
                   row<&LinkCatalog::nvlink_ga102>(cable_type(), required()),
                   row<&LinkCatalog::nvlink_latency>(range_type(latency()), required()),
                   row<&LinkCatalog::nvswitch>(generations_type(cable_type()), required()),
                   row<&LinkCatalog::nvswitch_latency>(range_type(latency()), required()),
                   row<&LinkCatalog::xgmi>(generations_type(cable_type()), required()),
                   row<&LinkCatalog::xgmi_latency>(range_type(latency()), required()),
                   row<&LinkCatalog::networks>(list_type(network_type(), {.form = "a list of networks"}),
                                               required())},
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
