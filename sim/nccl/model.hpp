#pragma once

#include "common/names.hpp"
#include "common/units.hpp"
#include "sim/nccl/parameters.hpp"
#include "sim/nccl/system.hpp"

/// What NCCL's own all_reduce takes, from a machine's description: docs/accuracy.md says how well.
namespace ringside {

enum class NcclLimit { latency, gpu_links, network };

struct NcclEstimate {
  double seconds = 0;
  NcclAlgorithm algorithm = NcclAlgorithm::ring;  ///< The one that takes least.
  NcclProtocol protocol = NcclProtocol::simple;
  NcclLimit limit = NcclLimit::latency;
};

/// For each algorithm a and protocol p that the machine allows, with S = bytes,
///     T(a,p) = L + 2κ √(F·W) + W,
/// L = launch + steps · step latency, F = L (a ring in a node: the launch, of LL a step), W = the slower of
/// S·w/(rate inside the node) and S·w/(rate of the node's NICs): a pipeline runs at its slowest stage. κ > 0
/// as chunks must fill it. NCCL takes the fastest; near ties do better: T = (Σ T(a,p)⁻⁸)^(−1/8). Steps and
/// bytes (n ranks, N nodes, g = n/N): ring 2(n−N) inside + 2(N−1) between nodes, w = 2(n−1)/n, of which
/// (g−1)/g cross the cables inside where a node's g-th edge is the network; tree 2(g−1) + 2 log₂N, w = 2/0.92
/// inside, 2(N−1)/N at the NICs (NVIDIA/nccl src/graph/tuning.cc counts the same steps); NVLS one step and 2
/// log₂N, w = (g+1)/g on Hopper (reads reduced in the switch), 2(g−1)/g as fitted on Blackwell. Rates are
/// data-sheet rates times efficiencies of the parameters. Which (a,p) exist: NVLS from 3 GPUs on an NVSwitch
/// of Hopper or later; tree between nodes or when forced; LL128 over NVLink only, or when forced; no LL over
/// EFA, which keeps 128 bytes in order at best, and Simple alone on its first. W between nodes grows with
/// each doubling of the nodes beyond two (fabric_growth). Over PCIe the rate is that of peer to peer or of
/// host memory, or where the description leaves the transport open their geometric mean by its probability.
NcclEstimate nccl_all_reduce(const NcclParameters& parameters, const NcclSystem& system, double bytes);

/// Phases of an all_reduce: all_gather and reduce_scatter are half of its ring ((n−1) steps, w = (n−1)/n of
/// the whole buffer, as `bytes` and nccl-tests count), over Slingshot at least launch + (n−1) hops: 66 us on
/// two and 250 us on eight nodes of four GPUs (argonne-lcf/alcf-nccl-tests). broadcast and reduce are chains
/// (w = 1), whose calls follow one another: L is launch and a step, F the chain's. all_to_all, gather and
/// send_recv are sends from rank to rank: a step for each peer in the node, a hop for each beyond it, w =
/// (g−1)/n inside and g·(n−g)/n at a node's NICs (gather: (n−g)/n; send_recv: the next rank, w = 1 inside and
/// at its NICs), LL and Simple.
NcclEstimate nccl_collective(const NcclParameters& parameters, const NcclSystem& system,
                             Collective collective, double bytes);

/// Less it cannot take: what the links of a rank, and the NICs of a node, pass by the data sheet (where a
/// switch may reduce, once the message). 0 where no data sheet tells.
double nccl_least_seconds(const NcclSystem& system, Collective collective, double bytes);

}  // namespace ringside
