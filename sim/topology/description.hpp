#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/topology/network.hpp"

/// What people want to see of a network: its ring hop by hop, and a picture of it. Data only.
namespace ringside {

struct CrossedLink {
  std::int32_t link = 0;  ///< Id in the topology.
  std::string name;
  Seconds latency = {};  ///< Latency of one crossing.
  BytesPerSecond capacity = {};
  int times = 1;           ///< How often this hop crosses it.
  int ring_flows = 0;      ///< Hops of the ring that cross it.
  int ring_crossings = 0;  ///< All their crossings; more than flows where a flow crosses it twice.
};

/// One rank sending to the next in the ring. A straggler's slowdown is not part of the numbers.
struct RingHop {
  Rank source = 0;
  Rank target = 0;
  /// In the order of the first crossing; empty where every two ranks have a private link.
  std::vector<CrossedLink> links = {};
  Seconds latency = {};
  BytesPerSecond alone = {};  ///< When nothing else is going on.
  /// When every rank sends to the next at once: its part of the link that has least per crossing.
  BytesPerSecond with_ring = {};
};

struct DrawnVertex {
  std::string label;
  VertexKind kind = VertexKind::rank;
  std::optional<Rank> rank = {};
  int level = 0;                 ///< Steps to the nearest rank; GPUs without a rank are at level 0 too.
  std::optional<int> node = {};  ///< Whose it is; none = there is one node, or it belongs to none.
};

struct DrawnEdge {
  std::int32_t from = 0;  ///< Index of a vertex; from = to: a medium that is at this vertex.
  std::int32_t to = 0;
  std::string label = {};                       ///< `GPU 0 PCIe up`; empty where no link is modelled.
  std::optional<BytesPerSecond> capacity = {};  ///< Per direction; of both together when not duplex.
  bool duplex = false;                          ///< There is a link of the same capacity back.
  LinkKind kind = LinkKind::other;
  bool limits_ring = false;  ///< It, or the link back, is among TopologyDescription::limiting.
};

struct TopologyDescription {
  std::vector<RingHop> ring = {};  ///< One per rank, from position 0 on; empty for a single rank.
  std::vector<DrawnVertex> vertices = {};
  std::vector<DrawnEdge> edges = {};
  /// The links that give the slowest hop its `with_ring`, in the order of the first hop that crosses them.
  std::vector<CrossedLink> limiting = {};
};

/// Takes time and memory in proportion to links and ranks.
TopologyDescription describe(const Network& network);

/// The ring through the first `gpus` GPUs of one node of the machine, by its description alone.
std::vector<RingHop> ring_inside_node(Machine machine, int gpus);

}  // namespace ringside
