#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/interval.hpp"
#include "common/names.hpp"
#include "common/units.hpp"
#include "results/probe_kind.hpp"

/// A machine as a person states it (configs/machines/*.yaml) and as `calibrate` writes it.
namespace ringside {

enum class IntraKind { nvlink, pcie, xgmi, custom };
enum class InterKind { infiniband, roce, efa, tcpx, tcpxo, ethernet, slingshot, custom };
/// How many messages of a rank a custom link carries at full bandwidth, in each direction.
enum class Ports {
  one,  ///< spelt `1`; several share it
  all,  ///< a link of its own to every other rank
};
enum class Processes { per_gpu, single };
enum class Vendor { nvidia, amd };
enum class CpuVendor { amd, intel, arm, other };
enum class Architecture { kepler, pascal, volta, turing, ampere, ada, hopper, blackwell, cdna, rdna };

constexpr auto spellings_of(Ports /*any*/) {
  using enum Ports;
  return std::to_array<Spelling<Ports>>({{one, "1"}, {all, "all"}});
}

/// The catalogue knows what a model's data sheet says (scenario/machine/catalog.hpp); what stands beside the
/// model describes one that it does not know.
struct Gpu {
  std::string model = {};
  std::optional<Vendor> vendor = {};
  std::optional<Architecture> architecture = {};
  std::optional<BytesPerSecond> memory_bandwidth = {};  ///< Given: the model need not be in the catalogue.

  bool operator==(const Gpu&) const = default;
};

/// The CPUs of a node: NCCL's way over PCIe depends on their maker (sim/nccl/transport.hpp).
struct Cpu {
  std::optional<CpuVendor> vendor = {};
  std::optional<std::string> model = {};

  bool operator==(const Cpu&) const = default;
};

/// How the ranks of one node reach each other.
struct IntraLink {
  IntraKind kind = IntraKind::custom;
  // nvlink, pcie, xgmi
  std::optional<int> generation = {};
  std::optional<int> links_per_gpu = {};  ///< nvlink, xgmi
  std::optional<bool> nvswitch = {};      ///< nvlink: spelt `switch`; false = links go from GPU to GPU
  std::optional<std::string> wiring =
      {};  ///< nvlink without a switch: full_mesh (default) | hybrid_cube_mesh | bridge_pairs
  std::optional<int> lanes = {};            ///< pcie
  std::optional<bool> peer_to_peer = {};    ///< pcie; false = every byte crosses host memory twice
  std::optional<int> gpus_per_switch = {};  ///< pcie; left out = each GPU hangs on the host bridge itself
  std::optional<int> sockets = {};          ///< pcie; left out = 1
  // custom
  std::optional<Seconds> latency = {};
  /// One direction; of the other kinds as measured, of a GPU's slot or of all its links together.
  std::optional<BytesPerSecond> bandwidth = {};
  std::optional<SecondsPerByte> reduction = {};
  bool shared = false;              ///< one medium for all ranks
  std::optional<Ports> ports = {};  ///< left out = one

  bool operator==(const IntraLink&) const = default;
};

/// How nodes reach each other.
/// Switches that join nodes into groups, and how wide a group's way out is.
struct FabricLevel {
  int nodes = 1;                        ///< per group; a multiple of the level below
  double oversubscription = 1;          ///< NICs of a group : its uplinks; 1 = non-blocking
  std::optional<Seconds> latency = {};  ///< that a message between two groups takes more
  bool pairwise = false;                ///< every two groups have a link of their own, as in a dragonfly

  bool operator==(const FabricLevel&) const = default;
};

struct InterLink {
  InterKind kind = InterKind::custom;
  std::optional<int> generation = {};       ///< efa
  std::optional<BytesPerSecond> rate = {};  ///< of one NIC, one direction; data-sheet rate
  int nics = 1;                             ///< per node
  std::optional<bool> gpudirect = {};
  double oversubscription = 1;           ///< node uplinks : fabric; 1 = non-blocking
  std::vector<FabricLevel> levels = {};  ///< smallest groups first; empty = all nodes are one group
  // custom
  std::optional<Seconds> latency = {};
  std::optional<BytesPerSecond> bandwidth = {};

  bool operator==(const InterLink&) const = default;
};

/// An explicit link for anything the words above cannot say. Ends are `rank 3` or any other name, which is
/// then a switch.
struct LinkSpec {
  std::string from = {};
  std::string to = {};
  Seconds latency;
  BytesPerSecond bandwidth;
  bool duplex = true;  ///< false: both directions share the bandwidth
  int line = 0;        ///< of the YAML file, for messages

  bool operator==(const LinkSpec&) const = default;
};

struct Straggler {
  Rank rank = 0;
  double slowdown = 1;  ///< its links and reductions take this many times longer

  bool operator==(const Straggler&) const = default;
};

/// How far the median of probes of this size differs from one time to the next.
struct SpreadPoint {
  Bytes bytes;
  double deviation = 0;  ///< standard deviation of its logarithm
  std::optional<double> slow_deviation =
      {};  ///< of those that took longer; none = `deviation`, and that is of both sides

  bool operator==(const SpreadPoint&) const = default;
};

/// How much slower a machine was while it was probed than it can be, and for how much of that time.
struct Disturbance {
  double share = 0;       ///< Share of the probes; 0 … 1.
  double slower = 1;      ///< Factor by which these took longer than the fast ones, the middle one of them.
  double other_load = 0;  ///< Cores that other processes used meanwhile.
  double stolen = 0;      ///< Cores that the hypervisor gave to other machines meanwhile.
  double throttled = 0;   ///< Cores' worth of time for which the control group had used up its share.

  bool operator==(const Disturbance&) const = default;
};

/// What two ranks can do between them, with nothing else going on.
struct PairPoint {
  Rank from = 0;
  Rank to = 0;
  Seconds latency;           ///< Latency of a small message, half the round trip.
  BytesPerSecond bandwidth;  ///< Bandwidth of large messages in this direction.
  BytesPerSecond both_ways;  ///< In this direction while the other one is busy, too.

  bool operator==(const PairPoint&) const = default;
};

/// What ranks on two nodes can do between them, where several ranks of each node were probed.
struct BetweenNodes {
  Seconds latency;                                          ///< α
  BytesPerSecond bandwidth;                                 ///< 1/β of one message.
  std::optional<Interval<double>> latency_interval = {};    ///< 95 %, seconds; typical = latency
  std::optional<Interval<double>> bandwidth_interval = {};  ///< 95 %, bytes per second; likewise
  int messages = 1;  ///< A node's, that travel at this bandwidth at once; more share it.
  /// How many times as long two ranks exchange long messages where the library sends them for its own
  /// collectives: over TCP, Open MPI's permission to send waits behind the receiver's own data.
  double native_exchange = 1;
  std::optional<Interval<double>> native_exchange_interval = {};  ///< From probe to probe; likewise.

  bool operator==(const BetweenNodes&) const = default;
};

/// What `calibrate` measured with point-to-point probes; never from a collective.
struct Calibrated {
  Seconds latency;                                          ///< α
  BytesPerSecond bandwidth;                                 ///< 1/β
  SecondsPerByte reduction;                                 ///< γ
  std::optional<Interval<double>> latency_interval = {};    ///< 95 %, seconds; typical = latency
  std::optional<Interval<double>> bandwidth_interval = {};  ///< 95 %, bytes per second; likewise
  std::optional<Interval<double>> reduction_interval = {};  ///< 95 %, seconds; typical = latency per byte
  std::optional<int> cores = {};         ///< CPU cores that all ranks share; none = nothing is shared
  std::vector<Curve> curves = {};        ///< what each kind of probe found; may be empty
  std::vector<SpreadPoint> spread = {};  ///< by size, ascending; may be empty
  std::vector<SpreadPoint> reduction_spread = {};  ///< likewise, of reductions; empty = `spread`
  /// none: three repetitions were not made, or the probes differed as little as on a quiet machine
  std::optional<Disturbance> disturbance = {};
  /// Given: the numbers above are those within a node, nothing is predicted from the curves, and there are as
  /// many nodes as a scenario's ranks need.
  std::optional<BetweenNodes> between_nodes = {};
  std::vector<PairPoint> pairs = {};  ///< the matrix, for people; not predicted from; may be empty
  std::string backend = {};           ///< transport probed, such as `gloo`
  /// Whether ringside placed the probed ranks on this machine's cores, which decides how they run schedules.
  bool machine_tuning = true;

  bool operator==(const Calibrated&) const = default;
};

/// A number that somebody measured on this very machine.
struct Known {
  Collective collective = Collective::all_reduce;
  std::optional<std::string> algorithm = {};  ///< `native` or an algorithm's name; none: p2p
  std::optional<int> ranks = {};
  std::optional<Bytes> bytes = {};
  std::optional<Seconds> seconds = {};
  std::optional<BytesPerSecond> bandwidth = {};  ///< p2p
  std::optional<Seconds> latency = {};           ///< p2p

  bool operator==(const Known&) const = default;
};

struct Software {
  std::optional<std::string> nccl = {};
  std::optional<std::string> rccl = {};
  std::optional<std::string> mpi = {};  ///< Its name, too: "Open MPI 4.1.4".
  std::optional<std::string> nccl_algo = {};
  std::optional<std::string> nccl_proto = {};
  std::optional<Processes> processes = {};

  bool operator==(const Software&) const = default;
};

/// The price of the whole machine: all nodes together.
struct Price {
  double per_hour = 0;
  std::string currency = {};
  std::optional<std::string> as_of = {};

  bool operator==(const Price&) const = default;
};

/// Where a description comes from.
struct Described {
  std::string by = {};  ///< What says so: a page, a file at a revision.
  std::string as_of = {};

  bool operator==(const Described&) const = default;
};

struct Machine {
  std::string name = {};
  int nodes = 1;
  std::optional<int> gpus_per_node = {};  ///< none: as many as the scenario's ranks need
  /// Fewer ranks on a node than GPUs: on the first so many of each. No key of machine files.
  std::optional<int> ranks_per_node = {};
  std::optional<Gpu> gpu = {};
  std::optional<Cpu> cpu = {};
  std::optional<IntraLink> intra = {};
  std::optional<InterLink> inter = {};
  std::vector<LinkSpec> links = {};
  std::optional<std::vector<Rank>> ring_order = {};  ///< forced order; none = sim chooses
  std::vector<Straggler> stragglers = {};
  std::optional<Calibrated> calibrated = {};
  std::vector<Known> known = {};
  Software software = {};
  std::optional<Price> price = {};
  std::optional<Described> described = {};
  std::string origin = {};  ///< file it came from, for messages; empty when built in code

  bool operator==(const Machine&) const = default;
};

}  // namespace ringside
