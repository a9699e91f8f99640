// hierarchical all_reduce: a ring reduce_scatter inside each node, a ring all_reduce across nodes among the
// ranks with the same place in their nodes (each group on its own part of the message), a ring all_gather
// inside each node. g ranks per node, m = n/g nodes.
//
//   messages in sequence   2(g−1) + 2(m−1)
//   bytes in sequence      (2(g−1)/g + 2(m−1)/n)·S; of these only 2(m−1)/n·S leave a node per rank
//   reduced in sequence    ((g−1)/g + (m−1)/n)·S
//   sent per rank          the same as in sequence
//   restriction            g must divide n, unless all ranks fit into one node
//
// Source: the BlueConnect decomposition, M. Cho, U. Finkler, D. Kung, H. Hunter, "BlueConnect: decomposing
// all-reduce for deep learning on heterogeneous network hierarchy", MLSys 2019.

#include <fmt/format.h>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

/// Ranks of a node. No more than fit into one node make one node; so does an unknown size.
int node_size(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  return request.ranks_per_node == 0 || request.ranks_per_node >= n ? n : request.ranks_per_node;
}

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  if (request.num_ranks % node_size(request) != 0) {
    return fmt::format("hierarchical needs equally full nodes: {} ranks do not divide into nodes of {}",
                       request.num_ranks, node_size(request));
  }
  return std::nullopt;
}

Outline outline(const ScheduleRequest& request) {
  const int size = node_size(request);
  const int nodes = request.num_ranks / size;
  const Ring inside = {
      .size = size, .chunk_stride = nodes, .num_chunks = nodes, .count = nodes, .next_first = size};
  const Ring across = {.size = nodes, .stride = size, .count = size, .next_first = 1, .next_chunk = nodes};
  return {.num_chunks = request.num_ranks,
          .phases = {ring_reduce_scatter(inside), ring_reduce_scatter(across), ring_all_gather(across),
                     ring_all_gather(inside)}};
}

}  // namespace

Algorithm hierarchical_all_reduce() {
  return {.name = "hierarchical",
          .summary = "reduce_scatter inside each node, rings across nodes, all_gather inside each node",
          .wins_when = "links between nodes are much slower than those inside",
          .unsupported = unsupported,
          .outline = outline};
}

}  // namespace ringside
