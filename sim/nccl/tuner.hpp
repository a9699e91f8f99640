#pragma once

#include <optional>

#include "common/names.hpp"
#include "sim/nccl/system.hpp"

/// Two other answers for NCCL's all_reduce: NCCL's cost table and the textbook's alpha-beta model.
namespace ringside {

/// What NCCL's topology search hands to its cost table.
struct NcclGraph {
  int channels = 1;
  double intra = 0;  ///< GB/s per channel inside a node.
  double inter = 0;  ///< GB/s per channel between nodes; 0 on one node.
  bool plain_tree =
      false;  ///< A plain tree of the GPUs in a node, rather than a balanced one; costs trees 15 %.
  int nvls_channels = 0;  ///< 0 = no NVLS.
  double nvls = 0;        ///< GB/s per channel.
};

/// The graph that the search would find, from the link rates it assumes.
NcclGraph nccl_graph(const NcclSystem& system);

/// Seconds by NCCL 2.30.7's own model: for every algorithm and protocol that is enabled, latency + bytes /
/// bandwidth, and the least of them. Source: NVIDIA/nccl@5067397c src/graph/tuning.cc, src/enqueue.cc. CPU:
/// not AMD. None for AMD's GPUs, for which RCCL has its own table.
std::optional<double> nccl_tuner_seconds(const NcclSystem& system, const NcclGraph& graph, double bytes);

/// Seconds of a ring by α·2(n−1) + 2(n−1)/n·bytes/B after the launch, with B the slower of the data-sheet
/// rates inside the node and of its NICs, and α NCCL's own step latency for small messages.
/// Half of both for all_gather and reduce_scatter; broadcast and reduce move all bytes once.
double alpha_beta_seconds(const NcclSystem& system, Collective collective, double bytes);

}  // namespace ringside
