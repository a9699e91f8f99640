#include "sim/topology/link_kinds.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "scenario/machine/catalog.hpp"

namespace ringside {
namespace {

constexpr int kSlotLanes = 16;

/// Shares of a rate in GB/s, as bytes per second.
Interval<double> shares_of(double gigabytes, const Interval<SourcedNumber>& shares) {
  return kGiga * (gigabytes * values_of(shares));
}

template <typename Sheet>
const Sheet& of_generation(const std::vector<Sheet>& sheets, std::string_view what, int generation) {
  const auto found = std::ranges::find(sheets, generation, &Sheet::generation);
  if (found == sheets.end()) {
    std::string known;
    for (const Sheet& sheet : sheets) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", sheet.generation);
    }
    throw bad_input("{} generation {} is not known; known: {}", what, generation, known);
  }
  return *found;
}

const PcieSheet& pcie_sheet(int generation) { return of_generation(link_catalog().pcie, "PCIe", generation); }

/// GB/s by the data sheet. Throws Error{bad_input} for lanes that no slot has.
double slot_rate(const PcieSheet& sheet, int lanes = kSlotLanes) {
  constexpr auto kLanes = std::to_array<int>({1, 2, 4, 8, kSlotLanes});
  if (std::ranges::find(kLanes, lanes) == kLanes.end()) {
    throw bad_input("a PCIe slot with {} lanes is not known; known: {}", lanes, fmt::join(kLanes, ", "));
  }
  return lanes * (sheet.lane.value / kGiga);
}

LinkSheet cable(std::string name, const CableSheet& sheet, const Interval<SourcedNumber>& latency) {
  return {.name = std::move(name),
          .data_sheet = {sheet.data_sheet.value},
          .bandwidth = values_of(sheet.bandwidth),
          .latency = values_of(latency)};
}

/// As its makers write it.
std::string_view spelt(InterKind kind) {
  using enum InterKind;
  constexpr auto kSpelt = std::to_array<Spelling<InterKind>>({{infiniband, "InfiniBand"},
                                                              {roce, "RoCE"},
                                                              {efa, "EFA"},
                                                              {tcpx, "GPUDirect-TCPX"},
                                                              {tcpxo, "GPUDirect-TCPXO"},
                                                              {ethernet, "Ethernet (TCP)"},
                                                              {slingshot, "Slingshot"}});
  return std::ranges::find(kSpelt, kind, &Spelling<InterKind>::first)->second;
}

}  // namespace

LinkNumbers choose(const LinkSheet& kind, SpecNumbers numbers) {
  const Interval<double>& time = kind.latency;
  return {.latency = {chosen_rate({.low = time.high, .typical = time.typical, .high = time.low}, numbers)},
          .capacity = {chosen_rate(kind.bandwidth, numbers)}};
}

double chosen_rate(const Interval<double>& range, SpecNumbers numbers) {
  return numbers == SpecNumbers::fastest   ? range.high
         : numbers == SpecNumbers::slowest ? range.low
                                           : range.typical;
}

double measured_speed(const LinkSheet& usual, int count, BytesPerSecond measured) {
  constexpr double kRounding = 1.05;
  const double most = count * usual.data_sheet.value;
  if (measured.value > kRounding * most) {
    throw bad_input(
        "{:.4g} GB/s is more than {}{} can carry in one direction ({:.4g} GB/s by the data "
        "sheet); is it of both directions, or of a wider link?",
        measured.value / kGiga, count == 1 ? "" : fmt::format("{} links of ", count),
        usual.name.substr(0, usual.name.find(',')), most / kGiga);
  }
  return measured.value / (count * usual.bandwidth.typical);
}

LinkSheet at_measured_speed(LinkSheet usual, double speed) {
  usual.bandwidth = Interval<double>::exactly(speed * usual.bandwidth.typical);
  return usual;
}

LinkSheet scaled(LinkSheet usual, double speed) {
  usual.bandwidth = speed * usual.bandwidth;
  return usual;
}

LinkSheet pcie_slot(int generation, int lanes, bool peer_to_peer) {
  const PcieSheet& sheet = pcie_sheet(generation);
  const double rate = slot_rate(sheet, lanes);
  return {.name = fmt::format("PCIe {}.0 x{}, {}", generation, lanes,
                              peer_to_peer ? "peer to peer" : "through host memory"),
          .data_sheet = {kGiga * rate},
          .bandwidth = shares_of(rate, peer_to_peer ? sheet.direct : sheet.staged),
          .latency = values_of(link_catalog().pcie_latency)};
}

LinkSheet host_bridge(int generation, int num_ports) {
  const PcieSheet& sheet = pcie_sheet(generation);
  const double slot = slot_rate(sheet);
  const double ports = num_ports;
  return {.name = fmt::format("host bridge, PCIe {}.0, {} ports", generation, num_ports),
          .data_sheet = {kGiga * (ports * slot)},
          .bandwidth = {.low = kGiga * (link_catalog().worst_host_bridge_share.value * slot),
                        .typical = kGiga * (ports * slot * sheet.direct.typical.value),
                        .high = kGiga * (ports * slot * sheet.direct.high.value)}};
}

LinkSheet card_staging(int generation, int lanes) {
  return {.name = fmt::format("staging of one card, both ways, PCIe {}.0 x{}", generation, lanes),
          .bandwidth = shares_of(slot_rate(pcie_sheet(generation), lanes), link_catalog().staged_both_ways)};
}

LinkSheet host_memory(int generation) {
  return {.name = fmt::format("host memory of one socket, PCIe {}.0", generation),
          .bandwidth = values_of(pcie_sheet(generation).host_memory),
          .latency = values_of(link_catalog().host_memory_latency)};
}

LinkSheet socket_link(int generation) {
  return {.name = fmt::format("socket to socket, PCIe {}.0", generation),
          .bandwidth = values_of(pcie_sheet(generation).inter_socket),
          .latency = values_of(link_catalog().inter_socket_latency)};
}

LinkSheet nvlink(int generation, BytesPerSecond data_sheet) {
  const LinkCatalog& catalog = link_catalog();
  const CableSheet& usual = of_generation(catalog.nvlink, "NVLink", generation);
  const bool ga102 = generation == catalog.nvlink_ga102.generation && data_sheet.value > 0 &&
                     data_sheet.value < 0.99 * usual.data_sheet.value;
  return cable(fmt::format("NVLink {}{}", generation, ga102 ? " bridge of GA102" : ""),
               ga102 ? catalog.nvlink_ga102 : usual, catalog.nvlink_latency);
}

LinkSheet nvswitch(int generation) {
  const LinkCatalog& catalog = link_catalog();
  return cable(fmt::format("NVLink {} into NVSwitch", generation),
               of_generation(catalog.nvswitch, "NVLink with a switch:", generation),
               catalog.nvswitch_latency);
}

LinkSheet xgmi(int generation) {
  const LinkCatalog& catalog = link_catalog();
  return cable(fmt::format("xGMI {}", generation), of_generation(catalog.xgmi, "xGMI", generation),
               catalog.xgmi_latency);
}

LinkSheet network_link(InterKind network, BytesPerSecond rate) {
  RINGSIDE_CHECK(network != InterKind::custom, "a custom network has no data-sheet numbers");
  // A NIC's rate is the one it is sold by, but for rounding.
  constexpr double kRounding = 1.001;
  const std::vector<NetworkSheet>& sheets = link_catalog().networks;
  const auto sheet = std::ranges::find_if(sheets, [&](const NetworkSheet& candidate) {
    return candidate.kind == network &&
           (!candidate.up_to || rate.value <= kRounding * candidate.up_to->value);
  });
  RINGSIDE_CHECK(sheet != sheets.end(), "a network kind has no row");
  const double gigabytes = rate.value / kGiga;
  return {.name = fmt::format("{} {:g} Gb/s", spelt(network), rate.value * 8 / kGiga),
          .data_sheet = {kGiga * gigabytes},
          .bandwidth = shares_of(gigabytes, sheet->bandwidth),
          .latency = values_of(sheet->latency)};
}

}  // namespace ringside
