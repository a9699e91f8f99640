#include "sim/topology/link_kinds.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/units.hpp"
#include "scenario/machine/catalog.hpp"
#include "sim/topology/description.hpp"
#include "tests/paths.hpp"
#include "tests/sim/topology/machines.hpp"

namespace ringside {
namespace {

std::string page() {
  std::ifstream file(RINGSIDE_SOURCE_DIR "/lab/docs/links.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Everything that there is once, at usual rates.
std::vector<LinkSheet> all_link_kinds() {
  const LinkCatalog& catalog = link_catalog();
  std::vector<LinkSheet> kinds;
  for (const bool peer_to_peer : {true, false}) {
    for (const PcieSheet& sheet : catalog.pcie) {
      kinds.push_back(pcie_slot(sheet.generation, 16, peer_to_peer));
    }
  }
  for (const PcieSheet& sheet : catalog.pcie) {
    kinds.push_back(card_staging(sheet.generation, 16));
  }
  for (const PcieSheet& sheet : catalog.pcie) {
    kinds.push_back(host_memory(sheet.generation));
  }
  for (const PcieSheet& sheet : catalog.pcie) {
    kinds.push_back(host_bridge(sheet.generation, 4));
  }
  for (const PcieSheet& sheet : catalog.pcie) {
    kinds.push_back(socket_link(sheet.generation));
  }
  for (const CableSheet& sheet : catalog.nvlink) {
    kinds.push_back(nvlink(sheet.generation));
  }
  kinds.push_back(nvlink(catalog.nvlink_ga102.generation, {catalog.nvlink_ga102.data_sheet.value}));
  for (const CableSheet& sheet : catalog.nvswitch) {
    kinds.push_back(nvswitch(sheet.generation));
  }
  for (const CableSheet& sheet : catalog.xgmi) {
    kinds.push_back(xgmi(sheet.generation));
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

std::string row_of(const LinkSheet& kind) {
  const auto three = [](const Interval<double>& range, double unit) {
    return fmt::format("{:.3g} | {:.3g} | {:.3g}", range.low / unit, range.typical / unit, range.high / unit);
  };
  const double sheet = kind.data_sheet.value / 1e9;
  return fmt::format("| {} | {} | {} | {} |", kind.name, sheet > 0 ? fmt::format("{:.4g}", sheet) : "",
                     three(kind.bandwidth, 1e9), three(kind.latency, 1e-6));
}

TEST(LinkKinds, StayWithinWhatTheDataSheetAllows) {
  for (const LinkSheet& kind : all_link_kinds()) {
    EXPECT_GT(kind.bandwidth.low, 0) << kind.name;
    EXPECT_LE(kind.bandwidth.low, kind.bandwidth.typical) << kind.name;
    EXPECT_LE(kind.bandwidth.typical, kind.bandwidth.high) << kind.name;
    EXPECT_LE(kind.latency.low, kind.latency.typical) << kind.name;
    EXPECT_LE(kind.latency.typical, kind.latency.high) << kind.name;
    EXPECT_GE(kind.latency.low, 0) << kind.name;
    if (kind.data_sheet.value > 0) {
      EXPECT_LE(kind.bandwidth.high, kind.data_sheet.value) << kind.name;
    }
  }
}

TEST(LinkKinds, AreTheOnesThatThePageShows) {
  const std::string text = page();
  for (const LinkSheet& kind : all_link_kinds()) {
    EXPECT_NE(text.find(row_of(kind)), std::string::npos) << "lab/docs/links.md lacks the row\n"
                                                          << row_of(kind);
  }
}

TEST(LinkKinds, NetworksScaleWithTheirRate) {
  const LinkSheet slow = network_link(InterKind::roce, {12.5e9});
  const LinkSheet fast = network_link(InterKind::roce, {50e9});
  EXPECT_DOUBLE_EQ(fast.bandwidth.typical, 4 * slow.bandwidth.typical);
  EXPECT_GT(network_link(InterKind::efa, {12.5e9}).latency.typical,
            network_link(InterKind::efa, {25e9}).latency.typical);
}

TEST(LinkKinds, HaveASpreadWithWhichMachinesAreBuilt) {
  for (const Machine& machine : {test::pcie_machine(), test::nvswitch_machine(), test::dgx1_machine()}) {
    const Network slow = build_network(machine, 8, SpecNumbers::slowest);
    const Network typical = build_network(machine, 8);
    const Network fast = build_network(machine, 8, SpecNumbers::fastest);
    ASSERT_EQ(slow.topology->links().size(), fast.topology->links().size());
    for (std::size_t id = 0; id < fast.topology->links().size(); ++id) {
      const Link& middle = typical.topology->links()[id];
      EXPECT_LE(slow.topology->links()[id].capacity, middle.capacity) << middle.name;
      EXPECT_LE(middle.capacity, fast.topology->links()[id].capacity) << middle.name;
      EXPECT_GE(slow.topology->links()[id].latency, middle.latency) << middle.name;
      EXPECT_GE(middle.latency, fast.topology->links()[id].latency) << middle.name;
    }
    EXPECT_GT(test::latency_us(slow, 0, 7), test::latency_us(fast, 0, 7));
    EXPECT_LT(test::bandwidth_gb(slow, 0, 7), test::bandwidth_gb(fast, 0, 7));
    EXPECT_GE(slow.reduction.at(0), fast.reduction.at(0));
  }
}

TEST(LinkKinds, GivenAndCalibratedNumbersHaveNoSpread) {
  Machine machine = test::custom_machine();
  EXPECT_DOUBLE_EQ(build_network(machine, 2, SpecNumbers::slowest).uniform->latency.value, 6e-6);
  machine.calibrated = Calibrated{.latency = {9e-6}, .bandwidth = {3e9}, .reduction = {}};
  EXPECT_DOUBLE_EQ(build_network(machine, 2, SpecNumbers::slowest).uniform->latency.value, 9e-6);
}

/// What the hop of the ring gets that gets least, in GB/s: the bus bandwidth of one ring with large messages.
double ring_bandwidth(const Network& network) {
  double least = 1e9;
  for (const RingHop& hop : describe(network).ring) {
    least = std::min(least, hop.with_ring.value / 1e9);
  }
  return least;
}

// The page says what the topology alone gives for hosts of L40S, beside what was measured there.
TEST(LinkKinds, ThePageSaysWhatTheTopologyGivesForL40s) {
  const std::string text = page();
  const auto busbw = [](bool peer_to_peer, int sockets, int gpus, SpecNumbers numbers) {
    Machine machine = test::pcie_machine();
    machine.gpus_per_node = gpus;
    machine.gpu = Gpu{"L40S"};
    machine.intra->peer_to_peer = peer_to_peer;
    machine.intra->sockets = sockets;
    return ring_bandwidth(build_network(machine, gpus, numbers));
  };
  for (const auto& [words, peer_to_peer, sockets] :
       {std::tuple{"peer to peer, one socket", true, 1}, std::tuple{"peer to peer, two sockets", true, 2},
        std::tuple{"through host memory, one socket", false, 1},
        std::tuple{"through host memory, two sockets", false, 2}}) {
    std::string row = fmt::format("| {} |", words);
    for (const int gpus : {2, 4, 8}) {
      row += fmt::format(" {:.3g} ({:.3g} to {:.3g}) |",
                         busbw(peer_to_peer, sockets, gpus, SpecNumbers::typical),
                         busbw(peer_to_peer, sockets, gpus, SpecNumbers::slowest),
                         busbw(peer_to_peer, sockets, gpus, SpecNumbers::fastest));
    }
    EXPECT_NE(text.find(row), std::string::npos) << "lab/docs/links.md lacks the row\n" << row;
  }
}

TEST(LinkKinds, ThePageSaysWhatTheTopologyGivesElsewhere) {
  const std::string text = page();
  const auto expect_row = [&](const char* what, const Machine& machine, int num_ranks) {
    const std::string row =
        fmt::format("| {} | {:.3g} |", what, ring_bandwidth(build_network(machine, num_ranks)));
    EXPECT_NE(text.find(row), std::string::npos) << "lab/docs/links.md lacks the row\n" << row;
  };
  expect_row("8 A100, NVSwitch", test::nvswitch_machine(), 8);
  expect_row("2 × 8 A100, NVSwitch, 8 HDR NICs per node", test::two_node_machine(8), 16);
  expect_row("8 V100, hybrid cube mesh", test::dgx1_machine(), 8);
  Machine box = test::pcie_machine();
  expect_row("4 RTX 4090, driver patched for peer to peer, one socket", box, 4);
  box.intra->sockets = 2;
  expect_row("8 RTX 4090, driver patched for peer to peer, two sockets", box, 8);
  box = test::pcie_machine();
  box.intra->peer_to_peer = false;
  expect_row("2 MI100, PCIe 4.0, through host memory", box, 2);
  expect_row("4 RTX 4090, through host memory, one socket", box, 4);
  expect_row("8 A800, PCIe 4.0, through host memory, one socket", box, 8);
  box.intra->generation = 3;
  expect_row("2 V100, PCIe 3.0, through host memory", box, 2);
  expect_row("2 T4, PCIe 3.0, through host memory", box, 2);
  box.intra->generation = 5;
  expect_row("4 RTX 5090, through host memory, one socket", box, 4);
}

}  // namespace
}  // namespace ringside
