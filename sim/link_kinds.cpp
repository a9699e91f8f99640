#include "sim/link_kinds.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {

namespace {

constexpr double kGiga = 1e9;
constexpr double kMicro = 1e-6;

/// As people print them: GB/s and microseconds.
LinkKind kind(std::string name, double data_sheet, const Range& bandwidth, const Range& latency) {
  const auto scaled = [](const Range& range, double factor) {
    return Range{.low = factor * range.low, .typical = factor * range.typical, .high = factor * range.high};
  };
  return {.name = std::move(name),
          .data_sheet = {kGiga * data_sheet},
          .bandwidth = scaled(bandwidth, kGiga),
          .latency = scaled(latency, kMicro)};
}

Range times(double factor, const Range& range) {
  return {.low = factor * range.low, .typical = factor * range.typical, .high = factor * range.high};
}

template <typename Row>
const Row& of_generation(std::span<const Row> rows, std::string_view what, int generation) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.generation == generation; });
  if (found == rows.end()) {
    std::string known;
    for (const Row& row : rows) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", row.generation);
    }
    throw Error(ErrorKind::bad_input,
                fmt::format("{} generation {} is not known; known: {}", what, generation, known));
  }
  return *found;
}

// --- PCIe ---------------------------------------------------------------------------------------------------------

/// Fractions of the data sheet's rate, one direction of one GPU pair, by p2pBandwidthLatencyTest unless it says otherwise.
struct PcieRow {
  int generation;
  double lane;  ///< GB/s: transfers per second · 128/130 / 8; generation 6: 64 GT/s · 242/256 / 8 (flits).
  Range direct;
  Range staged;
  Range socket_link;  ///< GB/s, between CPUs of the time of this generation.
};

constexpr auto kPcie = std::to_array<PcieRow>({
    // direct: no copy with peer-to-peer on is published; 12.0 of 15.75 is NCCL's constant (src/graph/topo.h), 10 and 13.2
    //   what people expect and what host copies reach.
    // staged: 5.7 (2x RTX 2080 Ti), 9.4-9.6 (4x V100, ABCI), 9.9 and 11.4 (8x TITAN RTX) of 15.75.
    // sockets: 6.0 (Broadwell) and 10.0 (Skylake) in NCCL's topo.h; 10.6-11.2 (ABCI V100, other socket, staged).
    {3, 0.984375, {0.63, 0.76, 0.84}, {0.36, 0.61, 0.72}, {6.0, 10.0, 11.2}},
    // direct: 10.3 (4x A100-PCIe in a virtual machine), 24.2-25.2 (8x A100-class, dual socket), 25.5-26.0 (8x RTX 4090).
    // staged: 15.5-20.5 (8x A100, ABCI), 17.6-21.0 (8x A100-class), 18.4-20.6 (8x RTX 4090).
    // sockets: 7.7-8.7 (A100-PCIe in a virtual machine), 18.5 (8x A100-class), 20.6-22.5 (8x RTX 4090, EPYC 7542);
    //   NCCL's constant for AMD is 16.
    {4, 1.96923, {0.33, 0.78, 0.83}, {0.49, 0.62, 0.67}, {7.7, 20.0, 22.5}},
    // direct: 48 is NCCL's constant; 53-56.6 (RTX PRO 6000, RTX 5090; voipmonitor/rtx6kpro).
    // staged: 36.3-38.1 (H100), 38.2-38.9 (2x RTX 5090), 42.7-43.9 (8x RTX 5090).
    // sockets: 39-51 (RTX PRO 6000 across NUMA nodes); NCCL: 22 Sapphire Rapids, 40 Emerald Rapids.
    {5, 3.93846, {0.76, 0.87, 0.90}, {0.57, 0.61, 0.70}, {22.0, 45.0, 51.0}},
    // No measurement is published; the fractions of generation 5.
    {6, 7.5625, {0.76, 0.87, 0.90}, {0.57, 0.61, 0.70}, {22.0, 45.0, 51.0}},
});

const PcieRow& pcie_row(int generation) {
  return of_generation(std::span<const PcieRow>(kPcie), "PCIe", generation);
}

// Peer to peer, GPU to GPU: 1.7-2.5 us (8x A100-class), 1.2-1.7 (8x RTX 4090), 0.36-0.52 (RTX 5090, PRO 6000);
// a step of NCCL's ring over PCIe costs 1.0 (LL), 2.5 (LL128) or 5.7 us (Simple) (NCCL 2.30 src/graph/tuning.cc).
constexpr Range kPcieLatency{.low = 0.36, .typical = 2.0, .high = 5.7};
// Staged, GPU to GPU: 11.4-23.7 us, one pair 25 (all generations). A staged message crosses host memory twice:
// (14 − 2)/2, (25 − 5.7)/2. The low end is NCCL's LL step again, which writes to host memory without a copy.
constexpr Range kHostMemoryLatency{.low = 0.32, .typical = 6.0, .high = 9.65};
// Across sockets, peer to peer, 8x RTX 4090: 1.69 us against 1.17 within one.
constexpr Range kSocketLatency{.low = 0, .typical = 0.5, .high = 1.0};

// What host memory passes, counting each crossing, of the data-sheet rate of one x16 slot. A pair that stages both ways
// at once makes four crossings and gets 9.5-14.9 GB/s in all (gen 3: ABCI V100, TITAN RTX 11.4), 20-29.7 (gen 4: A100-class,
// 8x RTX 4090, 3x RTX 4090), 43 (gen 5: RTX 5090): twice that over 15.75, 31.5, 63 = 1.2-1.9, middle 1.4 in each generation.
// The ends are whole machines: 0.66 from 4x RTX 4090 whose ring all_reduce ends at 2.59 GB/s (kalavai-net), 3.46 from
// 4x RTX 5090 at 27.3 GB/s (NVIDIA/nccl), 8 crossings each.
constexpr Range kHostMemoryShare{.low = 0.66, .typical = 1.4, .high = 3.46};

// A root complex switches its ports without blocking as far as anybody publishes; NCCL's model gives it no limit either.
// The low end, of one x16 slot: 8x L40S whose all_reduce ends at 1.45 GB/s for each of 8 flows (ai-dynamo/aiconfigurator).
constexpr double kWorstHostBridgeShare = 0.37;

// --- NVLink, xGMI ---------------------------------------------------------------------------------------------------

/// GB/s of one link, one direction.
struct LinkRow {
  int generation;
  double data_sheet;
  Range bandwidth;
};

// Low ends: NCCL's constants SM60/70/80/86/90/100_NVLINK_BW (src/graph/topo.h).
constexpr auto kNvlink = std::to_array<LinkRow>({
    {1, 20, {18, 18, 18}},        // Only NCCL's constant.
    {2, 25, {20, 24.2, 24.24}},   // 4x V100-SXM2, 48.48 over 2 links (ABCI).
    {3, 25, {20, 22.9, 22.9}},    // 275 over 12 links (A100, through NVSwitch).
    {4, 25, {20.6, 20.9, 22.0}},  // 363-396 over 18 links, typically 376 (H100, H200).
    {5, 50, {40.1, 41.5, 41.7}},  // 744-750 over 18 links (GB200).
});
// RTX 3090, A40, A6000: 112.5 GB/s for 4 links both ways.
constexpr LinkRow kNvlinkGa102{3, 14.0625, {12, 12, 12}};

// Links into an NVSwitch, p2pBandwidthLatencyTest or nvbandwidth of any pair: 263-277 over 12 links (DGX A100), 363-396
// over 18 (H100, H200), 744-750 over 18 (GB200). For V100 nothing is published but the links themselves.
constexpr auto kNvswitch = std::to_array<LinkRow>({{2, 25, {20, 22.7, 24.2}},
                                                   {3, 25, {20, 22.7, 23.1}},
                                                   {4, 25, {20.2, 20.9, 22.0}},
                                                   {5, 50, {40.1, 41.5, 41.7}}});

// A step of NCCL's ring over NVLink: 0.6 (LL), 1.9 (LL128), 3.4 us (Simple), src/graph/tuning.cc; p2pBandwidthLatencyTest
// sees 1.8-2.0 us on direct links (V100) and 2.8-3.4 through NVSwitch (A100).
constexpr Range kNvlinkLatency{.low = 0.6, .typical = 1.9, .high = 3.4};
constexpr Range kNvswitchLatency{.low = 0.6, .typical = 3.1, .high = 3.4};

// MI300X: 47.7 is a 2-GPU all_reduce, 44.7 = 312.9/7 an 8-GPU one (stas00/ml-engineering), 51.2 = 358.4/7 over two nodes
// (oracle-quickstart/oci-hpc-oke): no copy between two GPUs is published. MI250X: the same fractions of its 50.
constexpr auto kXgmi = std::to_array<LinkRow>({{3, 50, {34.9, 37.3, 40.0}}, {4, 64, {44.7, 47.7, 51.2}}});
// Not published; NVLink's, with the high end of NCCL's slowest step.
constexpr Range kXgmiLatency{.low = 0.6, .typical = 1.9, .high = 5.7};

// --- Between nodes --------------------------------------------------------------------------------------------------

/// For rates up to `up_to` Gb/s; bandwidth as a fraction of the rate.
struct NetworkRow {
  InterKind kind;
  double up_to;
  Range bandwidth;
  Range latency;
};

constexpr double kAnyRate = 1e9;
constexpr auto kNetworks = std::to_array<NetworkRow>({
    // 9.75-12.1 of 12.5 (EDR), 15.3-24.1 of 25 (HDR; GPUDirect acceptance 22.5), 45-48.75 of 50 (NDR): ABCI's OSU runs,
    // Azure/azurehpc-health-checks. GPU to GPU 2.5 (EDR) and 3.3 us (HDR); NCCL's network step is 2.7-14 us.
    {InterKind::infiniband, kAnyRate, {0.61, 0.92, 0.975}, {2.5, 3.3, 14}},
    // 11.55-12.25 of 12.5 (DGX-1, OCI), >= 24.0 of 25, >= 48.0 of 50 (OCI); ib_write_lat <= 5 us accepted (oci-hpc).
    {InterKind::roce, kAnyRate, {0.92, 0.96, 0.98}, {2.5, 5, 14}},
    // 340 of 400 Gb/s per p4d node, 24.2 of 25 (p5en), 36.5-37 of 50 (p6-b200) (stas00/ml-engineering). Latency: what
    // aws-ofi-nccl models, 75 us up to EFA v2 (150 on p3dn), 35 us after; its tuner uses 18-20.
    {InterKind::efa, 100, {0.74, 0.85, 0.97}, {20, 75, 150}},
    {InterKind::efa, kAnyRate, {0.73, 0.85, 0.97}, {18, 35, 75}},
    // Google's stacks over TCP. No point-to-point run is published. Bandwidth: all_reduce on two nodes ends at 89.5 of 100 GB/s
    // (TCPX), and TCPXO is assumed to reach as much. Latency: small all_reduces of two nodes take 1.7 ms and 123 us (GCP's TCPX
    // benchmark page, lessizzmore/create-a3mega-ztan-fork); a tenth of that for each step is a guess.
    {InterKind::tcpx, kAnyRate, {0.50, 0.90, 0.95}, {50, 170, 500}},
    {InterKind::tcpxo, kAnyRate, {0.50, 0.90, 0.95}, {6, 12, 60}},
    // TCP. A single flow on AWS gets 5-10 Gb/s; NCCL opens several; 2.0 of 6.25 GB/s over 50 Gb/s (aws-do-eks). 85-95 %
    // up to 25 Gb/s, 50-80 % at 100 Gb/s and 15-50 us are what people expect; nobody published them.
    {InterKind::ethernet, 25, {0.40, 0.90, 0.95}, {15, 30, 50}},
    {InterKind::ethernet, kAnyRate, {0.32, 0.65, 0.80}, {15, 30, 50}},
    // No table of ours holds a point-to-point run; RoCE's bandwidth, InfiniBand's latency times 1.6, the ratio of NCCL's
    // network steps over the two (two sites).
    {InterKind::slingshot, kAnyRate, {0.80, 0.92, 0.98}, {2.5, 5.3, 22}},
});

std::string_view spelt(InterKind kind) {
  switch (kind) {
    case InterKind::infiniband:
      return "InfiniBand";
    case InterKind::roce:
      return "RoCE";
    case InterKind::efa:
      return "EFA";
    case InterKind::tcpx:
      return "GPUDirect-TCPX";
    case InterKind::tcpxo:
      return "GPUDirect-TCPXO";
    case InterKind::ethernet:
      return "Ethernet (TCP)";
    case InterKind::slingshot:
      return "Slingshot";
    case InterKind::custom:
      break;
  }
  return "custom";
}

}  // namespace

LinkNumbers choose(const LinkKind& kind, SpecNumbers numbers) {
  switch (numbers) {
    case SpecNumbers::fastest:
      return {.latency = {kind.latency.low}, .capacity = {kind.bandwidth.high}};
    case SpecNumbers::slowest:
      return {.latency = {kind.latency.high}, .capacity = {kind.bandwidth.low}};
    case SpecNumbers::typical:
      break;
  }
  return {.latency = {kind.latency.typical}, .capacity = {kind.bandwidth.typical}};
}

LinkKind pcie_slot(int generation, int lanes, bool peer_to_peer) {
  const PcieRow& row = pcie_row(generation);
  constexpr auto kLanes = std::to_array<int>({1, 2, 4, 8, 16});
  if (std::find(kLanes.begin(), kLanes.end(), lanes) == kLanes.end()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("a PCIe slot with {} lanes is not known; known: 1, 2, 4, 8, 16", lanes));
  }
  const double data_sheet = row.lane * lanes;
  return kind(fmt::format("PCIe {}.0 x{}, {}", generation, lanes,
                          peer_to_peer ? "peer to peer" : "through host memory"),
              data_sheet, times(data_sheet, peer_to_peer ? row.direct : row.staged), kPcieLatency);
}

LinkKind host_bridge(int generation, int num_ports) {
  const PcieRow& row = pcie_row(generation);
  const double slot = 16 * row.lane;
  const double ports = num_ports;
  return kind(fmt::format("host bridge, PCIe {}.0, {} ports", generation, num_ports), ports * slot,
              {.low = kWorstHostBridgeShare * slot,
               .typical = ports * slot * row.direct.typical,
               .high = ports * slot * row.direct.high},
              {});
}

LinkKind host_memory(int generation) {
  const double slot = 16 * pcie_row(generation).lane;
  return kind(fmt::format("host memory, PCIe {}.0", generation), 0, times(slot, kHostMemoryShare),
              kHostMemoryLatency);
}

LinkKind socket_link(int generation) {
  return kind(fmt::format("socket to socket, PCIe {}.0", generation), 0, pcie_row(generation).socket_link,
              kSocketLatency);
}

LinkKind nvlink(int generation, BytesPerSecond data_sheet) {
  const LinkRow& usual = of_generation(std::span<const LinkRow>(kNvlink), "NVLink", generation);
  const bool ga102 = generation == kNvlinkGa102.generation && data_sheet.value > 0 &&
                     data_sheet.value < 0.99 * kGiga * usual.data_sheet;
  const LinkRow& row = ga102 ? kNvlinkGa102 : usual;
  return kind(fmt::format("NVLink {}{}", generation, ga102 ? " bridge of GA102" : ""), row.data_sheet,
              row.bandwidth, kNvlinkLatency);
}

LinkKind nvswitch(int generation) {
  const LinkRow& row =
      of_generation(std::span<const LinkRow>(kNvswitch), "NVLink with a switch:", generation);
  return kind(fmt::format("NVLink {} into NVSwitch", generation), row.data_sheet, row.bandwidth,
              kNvswitchLatency);
}

LinkKind xgmi(int generation) {
  const LinkRow& row = of_generation(std::span<const LinkRow>(kXgmi), "xGMI", generation);
  return kind(fmt::format("xGMI {}", generation), row.data_sheet, row.bandwidth, kXgmiLatency);
}

LinkKind network_link(InterKind network, BytesPerSecond rate) {
  RINGSIDE_CHECK(network != InterKind::custom, "a custom network has numbers of its own");
  const double gigabits = rate.value * 8 / kGiga;
  const auto row = std::find_if(kNetworks.begin(), kNetworks.end(), [&](const NetworkRow& candidate) {
    return candidate.kind == network && gigabits <= candidate.up_to * 1.001;
  });
  RINGSIDE_CHECK(row != kNetworks.end(), "a network kind has no row");
  const double data_sheet = rate.value / kGiga;
  return kind(fmt::format("{} {:g} Gb/s", spelt(network), gigabits), data_sheet,
              times(data_sheet, row->bandwidth), row->latency);
}

std::vector<LinkKind> all_link_kinds() {
  std::vector<LinkKind> kinds;
  for (const bool peer_to_peer : {true, false}) {
    for (const PcieRow& row : kPcie) {
      kinds.push_back(pcie_slot(row.generation, 16, peer_to_peer));
    }
  }
  for (const PcieRow& row : kPcie) {
    kinds.push_back(host_memory(row.generation));
  }
  for (const PcieRow& row : kPcie) {
    kinds.push_back(host_bridge(row.generation, 4));
  }
  for (const PcieRow& row : kPcie) {
    kinds.push_back(socket_link(row.generation));
  }
  for (const LinkRow& row : kNvlink) {
    kinds.push_back(nvlink(row.generation));
  }
  kinds.push_back(nvlink(kNvlinkGa102.generation, {kNvlinkGa102.data_sheet * kGiga}));
  for (const LinkRow& row : kNvswitch) {
    kinds.push_back(nvswitch(row.generation));
  }
  for (const LinkRow& row : kXgmi) {
    kinds.push_back(xgmi(row.generation));
  }
  const auto gigabits = [](double rate) { return BytesPerSecond{rate * kGiga / 8}; };
  for (const double rate : {100.0, 200.0, 400.0}) {
    for (const InterKind network : {InterKind::infiniband, InterKind::roce, InterKind::efa}) {
      kinds.push_back(network_link(network, gigabits(rate)));
    }
  }
  for (const double rate : {10.0, 25.0, 100.0}) {
    kinds.push_back(network_link(InterKind::ethernet, gigabits(rate)));
  }
  kinds.push_back(network_link(InterKind::slingshot, gigabits(200)));
  return kinds;
}

}  // namespace ringside
