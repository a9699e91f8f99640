#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "results/prediction.hpp"
#include "scenario/machine/machine.hpp"

/// A machine as the simulator sees it: links with a capacity, and which of them a message crosses.
namespace ringside {

enum class VertexKind { rank, switching, host_bridge, nic, fabric, medium };

/// Something that links meet at. Only drawings read it.
struct Vertex {
  std::string label;  ///< Within its node.
  VertexKind kind = VertexKind::rank;
  std::int32_t attached_to = -1;  ///< Sits on this vertex without a link that is modelled; -1 = on none.
  std::int32_t node = -1;         ///< -1 = there is one node, or it belongs to none.
};

/// One direction of a cable, or a medium that everything on it shares.
struct Link {
  std::string name;  ///< Within its node: `GPU 3 PCIe up`.
  LinkKind kind = LinkKind::other;
  std::int32_t node = -1;  ///< -1 = there is one node, or it belongs to none.
  Seconds latency;
  BytesPerSecond capacity;
  /// Vertices of the network that it joins; both the same = a medium at that vertex; -1 = not drawn.
  std::int32_t from = -1;
  std::int32_t to = -1;
};

/// For people, with the node where there are several: `node 1: GPU 3 PCIe up`. Thousands of links never have
/// theirs made.
std::string name_of(const Link& link);
std::string name_of(const Vertex& vertex);

/// Ranks of which point-to-point probes have measured what one activity takes alone, and what each takes
/// while several go on. On one machine they share CPU cores, which send, receive and reduce for all of them.
struct SharedProcessor {
  std::optional<int> cores;  ///< none = every rank has its own
  /// What each kind of probe found among this many ranks, with one message each or several; where these were
  /// not probed, among other numbers of ranks.
  std::vector<Curve> curves;
};

/// The shape of a network. Routes are computed on demand, so that 65,536 ranks need no table of pairs.
class Topology {
 public:
  virtual ~Topology() = default;
  virtual std::span<const Link> links() const = 0;
  /// Replaces `route` by the ids of the links that a message crosses, in order; a link that is crossed twice
  /// (host memory, when peer-to-peer is off) stands there twice and is used twice. Empty = no route.
  virtual void route(Rank source, Rank target, std::vector<std::int32_t>& route) const = 0;
};

struct Network {
  int num_ranks = 1;
  std::unique_ptr<Topology> topology;
  std::vector<SecondsPerByte> reduction;  ///< γ per rank
  std::vector<double> slowdown;           ///< per rank, 1 = none (stragglers)
  std::vector<Rank> order;                ///< position → rank, chosen or forced; empty = identity
  int ranks_per_node = 0;                 ///< 0 = one node
  int gpus_per_node = 0;                  ///< GPUs of a node, with and without a rank; 0 = not told.
  int nics_per_node = 0;                  ///< 0 = one node, or the machine does not say
  std::optional<SharedProcessor> processor;
  CostSource source = CostSource::given;
  std::vector<Vertex> vertices;  ///< What the links join, for drawings.
  /// Set when every two ranks have a private full-duplex link of this α and β, and all the same γ. Then
  /// the closed form is exact unless `slowdown` or `processor` add to it, and the topology may be null.
  struct Uniform {
    Seconds latency;
    SecondsPerByte inverse_bandwidth;
    SecondsPerByte reduction;
    /// What a rank sends at once shares one port, and so does what it receives: the closed form is then exact
    /// for schedules that never send or receive several messages at once (Schedule::several_at_once).
    bool single_port = false;
  };
  std::optional<Uniform> uniform;
};

/// Which of a specification's numbers to predict with. A data sheet says what a link could do; what machines
/// achieve spreads (sim/topology/link_kinds.hpp). `fastest` and `slowest` take the ends of that spread for
/// every link at once. Numbers that the user gave or `calibrate` wrote do not change.
enum class SpecNumbers { typical, fastest, slowest };

/// Builds what `num_ranks` ranks on this machine see (docs/topology.md), whose single keys are as machine
/// files take them. Throws Error{bad_input} that names the YAML line where keys do not go together: too few
/// GPUs for the ranks, a rank without a route, links that cannot be divided.
Network build_network(const Machine& machine, int num_ranks, SpecNumbers numbers = SpecNumbers::typical);

}  // namespace ringside
