#include "lab/nccl/nccl_meanings.hpp"

#include <array>

#include <fmt/format.h>

#include "common/names.hpp"

namespace ringside {

namespace {

using enum NcclParameter;

// Guesses are NCCL 2.30.7's own constants where it has one (NVIDIA/nccl@5067397c src/graph/tuning.cc: launch
// 6.6/14/8.4 us, step over NVLink 0.6/1.9/3.4 us, over PCIe 1/2.5/5.7 us, over a network 2.7/4/14 us, NVLS 25
// us, LL at half the rate), and what copies reach of data-sheet rates elsewhere. The fit moves them. Of PCIe
// they are 0.6 (peer to peer) and 0.4 (through host memory) of the slot's data-sheet rate, and 1.6 times that
// with bridges on a host of two sockets, over what
// sim/topology/pcie.hpp gives a ring there: 0.78, 0.35 and 0.63 of it with PCIe 4.0.
constexpr auto kMeanings = std::to_array<NcclParameterMeaning>({
    {launch_ll, "us", "an all_reduce with protocol LL, before anything moves", 6.8, 0.4},
    {launch_ll128, "us", "likewise LL128", 14, 0.4},
    {launch_simple, "us", "likewise Simple", 13, 0.4},
    {nvlink_step_ll, "us", "one step to the next GPU over NVLink or xGMI, LL", 0.7, 0.4},
    {nvlink_step_ll128, "us", "likewise LL128", 1.7, 0.4},
    {nvlink_step_simple, "us", "likewise Simple", 3, 0.4},
    {pcie_step_ll, "us", "one step to the next GPU over PCIe, LL", 1.3, 0.4},
    {pcie_step_ll128, "us", "likewise LL128", 2, 0.4},
    {pcie_step_simple, "us", "likewise Simple", 3.5, 0.4},
    {network_hop_ll, "us", "one step to the next node over InfiniBand or RoCE, LL", 4, 0.5},
    {network_hop_ll128, "us", "likewise LL128", 6, 0.5},
    {network_hop_simple, "us", "likewise Simple", 8, 0.5},
    {hopper_latency, "1", "launch and steps on Hopper, relative to earlier GPUs", 0.75, 0.2},
    {blackwell_latency, "1", "likewise on Blackwell with NVSwitch", 1.1, 0.2},
    {amd_launch, "1", "launch of RCCL on AMD, relative to NCCL's", 3, 0.5},
    {single_process, "us", "added for each GPU that one process drives", 3, 0.5},
    {slingshot_hop, "1", "hop over Slingshot, relative to InfiniBand", 1.6, 0.5},
    {efa_first_hop, "1", "hop over EFA of the first generation", 6, 0.7},
    {efa_hop, "1", "hop over EFA of later generations", 4, 0.7},
    {tcpxo_hop, "1", "hop over GPUDirect-TCPXO", 8, 1},
    {tcpx_hop, "1", "hop over GPUDirect-TCPX", 60, 1.5},
    {tree_hop, "1", "hop of a tree between nodes, relative to a ring's", 1.3, 0.3},
    {nvls_latency, "us", "an all_reduce inside the NVSwitch (NVLS), before the bytes", 25, 0.3},
    {nvls_hop, "us", "one level of the tree between nodes that use NVLS", 25, 0.4},
    {nvlink_rate, "1", "rate of a ring over NVLink, as a share of the data-sheet rate", 0.77, 0.1},
    {xgmi_rate, "1", "rate of a ring over xGMI, as a share of the data-sheet rate", 0.75, 0.2},
    {nvlink_ll_rate, "1", "rate of LL over NVLink or xGMI, as a share of Simple's", 0.5, 0.3},
    {pcie_rate, "1",
     "rate of a ring of two over PCIe peer to peer, relative to a ring of copies over its links", 0.77, 0.4},
    {host_rate, "1", "likewise through host memory, where peer to peer is off", 1.14, 0.4},
    {bridge_gain, "1", "what NVLink bridges between pairs add to a ring over PCIe", 1.97, 0.4},
    {pcie_ll_rate, "1", "rate of LL over PCIe, as a share of Simple's", 0.5, 0.3},
    {nvls_rate_hopper, "1", "rate of NVLS on Hopper, as a share of NVLink's data-sheet rate", 0.7, 0.15},
    {nvls_rate_blackwell, "1", "likewise on Blackwell", 0.85, 0.15},
    {nic_rate, "1", "rate of a node's NICs together, as a share of the data-sheet rate", 0.92, 0.1},
    {shared_nic_rate, "1", "likewise where GPUs share NICs, or a node has one GPU", 0.75, 0.2},
    {nvlink_gap, "1", "kappa over NVLink, and of AMD between nodes: how far latency and bytes do not overlap",
     0.3, 0.7},
    {nvls_gap, "1", "kappa of NVLS on one node", 0.6, 0.7},
    {network_gap, "1", "kappa between nodes", 0.6, 0.7},
    {old_gap, "1", "kappa of NCCL before 2.9, except over PCIe", 0.6, 0.5},
    {ll_gap, "1", "kappa of LL between nodes, relative to the other protocols", 2, 0.5},
    {slingshot_long_hop, "1", "hop over Slingshot above 2 KiB, relative to below it, between NVIDIA's GPUs",
     1.5, 0.7},
    {fabric_growth, "1", "what each doubling of the nodes beyond two adds to the bytes between them", 0.03,
     1},
});
static_assert(kMeanings.size() == kNumNcclParameters);

/// Digits that read back as the same number.
std::string exact(double value) { return fmt::format("{}", value); }

}  // namespace

std::span<const NcclParameterMeaning> nccl_parameter_meanings() { return kMeanings; }

NcclParameters nccl_guesses() {
  NcclParameters parameters;
  for (std::size_t i = 0; i < kNumNcclParameters; ++i) {
    parameters.values[i] = kMeanings[i].guess;
  }
  return parameters;
}

std::string to_yaml(const NcclFit& fit) {
  std::string text = "parameters:\n";
  for (std::size_t i = 0; i < kNumNcclParameters; ++i) {
    const std::string number = exact(fit.parameters.values[i]);
    text += fmt::format("  {}: {:<24}# {}: {}\n", name(kMeanings[i].parameter), number, kMeanings[i].unit,
                        kMeanings[i].meaning);
  }
  text +=
      "# How machines of a kind differ from the model: standard deviations of the logarithm of time, and the "
      "5 % and\n"
      "# 95 % quantiles of log(measured / predicted) by size, on machines of sources that were held out.\n"
      "spreads:\n";
  for (std::size_t i = 0; i < kNumNcclKinds; ++i) {
    const NcclSpread& spread = fit.spreads[i];
    text += fmt::format(
        "  {}:\n    latency: {}\n    bytes: {}\n    shape: {}\n    doublings: {}\n    quantiles:\n",
        name(static_cast<NcclKind>(i)), exact(spread.latency), exact(spread.bytes), exact(spread.shape),
        exact(spread.doublings));
    for (std::size_t band = 0; band < kNumSizeBands; ++band) {
      text += fmt::format("      {}: [{}, {}]\n", name(static_cast<SizeBand>(band)),
                          exact(spread.quantiles[band].low), exact(spread.quantiles[band].high));
    }
  }
  text += fmt::format("data:\n  hash: {}\n  systems: {}\n  points: {}\n  groups:\n", fit.data_hash,
                      fit.systems, fit.points);
  for (const std::string& group : fit.groups) {
    text += fmt::format("    - \"{}\"\n", group);
  }
  return text;
}

}  // namespace ringside
