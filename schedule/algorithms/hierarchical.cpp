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

struct Nodes {
  int count = 1;
  int size = 1;
};

/// No more ranks than fit into one node make one node; so does an unknown size.
Nodes nodes(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const bool one_node = request.ranks_per_node == 0 || request.ranks_per_node >= n;
  const int size = one_node ? n : request.ranks_per_node;
  return {.count = n / size, .size = size};
}

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  const Nodes node = nodes(request);
  if (node.count * node.size != request.num_ranks) {
    return fmt::format("hierarchical needs equally full nodes: {} ranks do not divide into nodes of {}",
                       request.num_ranks, node.size);
  }
  return std::nullopt;
}

ScheduleShape shape(const ScheduleRequest& request) {
  const Nodes node = nodes(request);
  return {.num_chunks = request.num_ranks, .num_rounds = 2 * (node.size - 1) + 2 * (node.count - 1)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const Nodes node = nodes(request);
  const std::int64_t inside = node.size - 1;
  const std::int64_t across = node.count - 1;
  if (round < inside || round >= inside + 2 * across) {
    for (int index = 0; index < node.count; ++index) {
      const Ring ring = {.size = node.size,
                         .first = index * node.size,
                         .chunk_stride = node.count,
                         .num_chunks = node.count};
      if (round < inside) {
        write_ring_reduce_scatter(ring, round, writer);
      } else {
        write_ring_all_gather(ring, round - inside - 2 * across, writer);
      }
    }
  } else {
    for (int place = 0; place < node.size; ++place) {
      const Ring ring = {
          .size = node.count, .first = place, .stride = node.size, .first_chunk = place * node.count};
      if (round < inside + across) {
        write_ring_reduce_scatter(ring, round - inside, writer);
      } else {
        write_ring_all_gather(ring, round - inside - across, writer);
      }
    }
  }
}

std::vector<RepeatedRounds> repeats(const ScheduleRequest& request) {
  const Nodes node = nodes(request);
  const std::int64_t inside = node.size - 1;
  const std::int64_t across = node.count - 1;
  return {{.first = 0, .times = inside, .passes_on = true},
          {.first = inside, .times = across, .passes_on = true},
          {.first = inside + across, .times = across, .passes_on = true},
          {.first = inside + 2 * across, .times = inside, .passes_on = true}};
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const Nodes node = nodes(request);
  const double n = request.num_ranks;
  const double inside = node.size - 1;
  const double across = node.count - 1;
  return {.messages = 2 * inside + 2 * across,
          .bytes = 2 * inside / node.size + 2 * across / n,
          .reduced_bytes = inside / node.size + across / n};
}

}  // namespace

Algorithm hierarchical_all_reduce() {
  return {.name = "hierarchical",
          .summary = "reduce_scatter inside each node, rings across nodes, all_gather inside each node",
          .wins_when = "links between nodes are much slower than those inside",
          .unsupported = unsupported,
          .shape = shape,
          .write_round = write_round,
          .critical_path = critical_path,
          .repeats = repeats};
}

}  // namespace ringside
