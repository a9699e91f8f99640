#pragma once

#include <string>

#include "common/interval.hpp"
#include "common/units.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/topology/network.hpp"

/// What kinds of links can do: the data sheet, what machines achieve, and how far that spreads. The numbers
/// and their sources are those of configs/catalog/links.yaml; lab/docs/links.md shows the same table.
namespace ringside {

/// Latency and capacity of one crossing.
struct LinkNumbers {
  Seconds latency = {};
  BytesPerSecond capacity = {};
};

/// So many such links side by side.
inline LinkNumbers bundle(int links, LinkNumbers link) {
  link.capacity.value *= links;
  return link;
}

/// One of two crossings on a way with these numbers.
inline LinkNumbers half_latency(LinkNumbers numbers) {
  numbers.latency = 0.5 * numbers.latency;
  return numbers;
}

struct LinkSheet {
  std::string name;                ///< `PCIe 4.0 x16, peer to peer`
  BytesPerSecond data_sheet = {};  ///< One direction; 0 = no data sheet says.
  Interval<double> bandwidth;      ///< Achieved, bytes per second.
  /// Seconds per message from GPU to GPU, unless the function says otherwise.
  Interval<double> latency = {};
};

LinkNumbers choose(const LinkSheet& kind, SpecNumbers numbers);
/// The end of a range of rates, where more is faster.
double chosen_rate(const Interval<double>& range, SpecNumbers numbers);

/// How fast `count` links together are beside what such links usually reach, by what somebody measured of
/// them: 1 = as usual. Throws Error{bad_input} for more than 1.05 times what the data sheet says.
double measured_speed(const LinkSheet& usual, int count, BytesPerSecond measured);
/// That very link: its bandwidth is no longer a range.
LinkSheet at_measured_speed(LinkSheet usual, double speed);
/// A link that nobody measured, beside one that was: staging scales with its slot.
LinkSheet scaled(LinkSheet usual, double speed);

// All of these throw Error{bad_input} that lists what is known when there is no such link.

/// A slot, GPU to GPU through its links up and down. Without peer-to-peer, host memory stages.
LinkSheet pcie_slot(int generation, int lanes, bool peer_to_peer);
/// What a socket passes between its own PCIe ports, both directions together, for peer-to-peer traffic.
LinkSheet host_bridge(int generation, int num_ports);
/// What one card in such a slot passes through host memory, sending and receiving together.
LinkSheet card_staging(int generation, int lanes);
/// Memory of one socket with PCIe of this generation, reading and writing together; latency per crossing.
LinkSheet host_memory(int generation);
/// The inter-socket link beside PCIe of this generation, one direction; latency added to the slots'.
LinkSheet socket_link(int generation);
/// One link of a cable from GPU to GPU. `data_sheet` tells the bridges of GA102 (RTX 3090, A40, A6000) from
/// the links of A100, which are of the same generation; 0 = the generation's usual rate.
LinkSheet nvlink(int generation, BytesPerSecond data_sheet = {});
/// One link of a GPU into an NVSwitch.
LinkSheet nvswitch(int generation);
/// One Infinity Fabric link between two GPUs.
LinkSheet xgmi(int generation);
/// NIC to NIC. Not for InterKind::custom.
LinkSheet network_link(InterKind kind, BytesPerSecond rate);

}  // namespace ringside
