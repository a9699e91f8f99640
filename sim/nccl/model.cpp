#include "sim/nccl/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {

namespace {

using enum NcclParameter;

constexpr double kPcieGap = 0.1;    ///< κ over PCIe and in nodes of AMD: not to be told from 0, and not 0.
constexpr double kLl128Rate = 0.9;  ///< 120 of 128 bytes are data, and flags cost a little more.
constexpr double kTreeRate = 0.92;  ///< Share of a ring's inside a node, as in NCCL's src/graph/tuning.cc.
constexpr double kNetworkLlRate = 0.5;  ///< Half of LL is flags.
constexpr double kNetworkLl128Rate = 120.0 / 128;
constexpr double kWithoutGpudirect = 0.9;
/// GB/s of a NIC over TCP, however fast its line: one core copies a connection's bytes, about 40 Gb/s.
constexpr double kTcpRate = 5;
constexpr double kSlingshotEager = 2048;  ///< Bytes: what is longer receivers fetch (libfabric's cxi).
/// Share of a ring's rate for sends between nodes, in 128 KiB (NCCL_P2P_NET_CHUNKSIZE): from thomaslie210
/// that configs/evaluation excludes; alcf's, which it holds, say 0.7 to 0.8 over Slingshot.
constexpr double kNetworkSends = 0.76;

double power8(double x) {
  const double x4 = (x * x) * (x * x);
  return x4 * x4;
}
double root8(double x) { return std::sqrt(std::sqrt(std::sqrt(x))); }
/// The larger of two stages' times, rounded off where they are alike.
double slower(double a, double b) {
  const double most = std::max(a, b);
  return most > 0 ? most * root8(power8(a / most) + power8(b / most)) : 0;
}

/// Microseconds and their make-up for one algorithm and protocol.
struct Candidate {
  double time = std::numeric_limits<double>::infinity();
  double latency = 0;
  double inside = 0;   ///< The bytes inside the node.
  double between = 0;  ///< The bytes between nodes.
};

class Model {
 public:
  Model(const NcclParameters& parameters, const NcclSystem& system, Collective collective, double bytes)
      : parameter_(parameters),
        system_(system),
        collective_(collective),
        n_(system.ranks),
        num_nodes_(system.nodes),
        g_(system.gpus_per_node()),
        bytes_(bytes) {}

  bool allows(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    if ((system_.algorithm && *system_.algorithm != algorithm) ||
        (system_.protocol && *system_.protocol != protocol)) {
      return false;
    }
    if (row_of(collective_).nccl_sends) {
      // Sends and receives have LL for what is short, and Simple, which alone uses the buffers that
      // connections between nodes share (NVIDIA/nccl src/transport/net.cc).
      const bool exists = num_nodes_ > 1 ? protocol == NcclProtocol::simple : protocol != NcclProtocol::ll128;
      return algorithm == NcclAlgorithm::ring && exists && allows(protocol);
    }
    if (collective_ != Collective::all_reduce) {
      return algorithm == NcclAlgorithm::ring && allows(protocol);
    }
    switch (algorithm) {
      case NcclAlgorithm::nvls:
        return protocol == NcclProtocol::simple && system_.has_nvls();
      case NcclAlgorithm::tree:
        return (num_nodes_ > 1 || system_.algorithm) && allows(protocol);
      case NcclAlgorithm::ring:
        break;
    }
    return allows(protocol);
  }

  Candidate predict(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    if (algorithm != NcclAlgorithm::ring) {
      return algorithm == NcclAlgorithm::tree ? tree(protocol) : nvls();
    }
    return row_of(collective_).nccl_sends ? direct(protocol) : ring(protocol);
  }

  /// What one process per node pays on top for driving all its GPUs.
  double driving_alone() const { return system_.single_process ? g_ * parameter_[single_process] : 0; }

 private:
  bool is_nvlink() const { return system_.link == GpuLink::nvlink || system_.link == GpuLink::nvswitch; }
  bool is_amd() const { return system_.vendor == Vendor::amd; }

  bool allows(NcclProtocol protocol) const {
    const bool first_efa = system_.efa_generation == 1;
    switch (protocol) {
      case NcclProtocol::ll:
        return system_.efa_generation == 0 || (system_.protocol.has_value() && !first_efa);
      case NcclProtocol::ll128:
        return system_.protocol.has_value() || (!first_efa && !is_amd() && is_nvlink());
      case NcclProtocol::simple:
        break;
    }
    return true;
  }

  double of(NcclProtocol protocol, NcclParameter ll, NcclParameter ll128, NcclParameter simple) const {
    return parameter_[std::array{ll, ll128, simple}.at(static_cast<std::size_t>(protocol))];
  }

  double generation() const {
    if (system_.architecture == Architecture::hopper) {
      return parameter_[hopper_latency];
    }
    const bool blackwell =
        system_.architecture == Architecture::blackwell && system_.link == GpuLink::nvswitch;
    return blackwell ? parameter_[blackwell_latency] : 1;
  }

  double launch(NcclProtocol protocol) const {
    return of(protocol, launch_ll, launch_ll128, launch_simple) * generation() *
           (is_amd() ? parameter_[amd_launch] : 1);
  }

  double step(NcclProtocol protocol) const {
    if (system_.link == GpuLink::pcie) {
      return of(protocol, pcie_step_ll, pcie_step_ll128, pcie_step_simple);
    }
    return of(protocol, nvlink_step_ll, nvlink_step_ll128, nvlink_step_simple) * generation();
  }

  /// Bytes that a rank sends at once: of a ring, or where every rank has its own, one rank's part.
  double part() const { return row_of(collective_).bus_factor > 0 ? bytes_ / n_ : bytes_; }

  double network_factor(double message) const {
    switch (system_.network) {
      case InterKind::slingshot:
        return parameter_[slingshot_hop] *
               (message > kSlingshotEager && !is_amd() ? parameter_[slingshot_long_hop] : 1);
      case InterKind::efa:
        return parameter_[system_.efa_generation == 1 ? efa_first_hop : efa_hop];
      case InterKind::tcpx:
        return parameter_[tcpx_hop];
      case InterKind::tcpxo:
      case InterKind::ethernet:  // TCP as well; no fair measurement over plain sockets is published.
        return parameter_[tcpxo_hop];
      case InterKind::infiniband:
      case InterKind::roce:
      case InterKind::custom:
        break;
    }
    return 1;
  }

  double hop(NcclProtocol protocol, double message) const {
    return of(protocol, network_hop_ll, network_hop_ll128, network_hop_simple) * network_factor(message);
  }

  /// GB/s of Simple inside the node.
  double inside_rate() const {
    switch (system_.link) {
      case GpuLink::none:
        return 0;
      case GpuLink::nvswitch:
      case GpuLink::nvlink:
        return system_.link_speed * system_.link_rate * parameter_[nvlink_rate];
      case GpuLink::xgmi:
        return system_.link_speed * system_.link_rate * parameter_[xgmi_rate];
      case GpuLink::pcie:
        break;
    }
    const double peer = std::log(system_.peer_ring_rate * parameter_[pcie_rate]);
    const double host = std::log(system_.host_ring_rate * parameter_[host_rate]);
    return std::exp(std::lerp(host, peer, system_.transport.peer_to_peer)) *
           (system_.bridged_pairs ? parameter_[bridge_gain] : 1);
  }

  double inside_share(NcclProtocol protocol) const {
    const double ll = parameter_[system_.link == GpuLink::pcie ? pcie_ll_rate : nvlink_ll_rate];
    return std::array{ll, kLl128Rate, 1.0}.at(static_cast<std::size_t>(protocol));
  }

  /// GB/s of Simple between nodes.
  double between_rate() const {
    const bool shared = system_.nics < g_ || g_ <= 1;
    double rate = system_.network_rate * parameter_[nic_rate] * (shared ? parameter_[shared_nic_rate] : 1) *
                  (system_.gpudirect ? 1 : kWithoutGpudirect);
    if (system_.network == InterKind::ethernet) {
      // What TCP reaches of the line rate, beside what is lost anyway.
      const LinkSheet link = network_link(InterKind::ethernet, {system_.network_rate / system_.nics * kGiga});
      rate = std::min(rate * link.bandwidth.typical / link.data_sheet.value, kTcpRate * system_.nics);
    }
    return rate;
  }

  static double between_share(NcclProtocol protocol) {
    return std::array{kNetworkLlRate, kNetworkLl128Rate, 1.0}.at(static_cast<std::size_t>(protocol));
  }

  double gap(NcclProtocol protocol) const {
    const double factor = num_nodes_ > 1 && protocol == NcclProtocol::ll ? parameter_[ll_gap] : 1;
    if (system_.before_2_9 && system_.link != GpuLink::pcie) {
      return factor * parameter_[old_gap];
    }
    if (num_nodes_ > 1) {
      // RCCL's bus bandwidth between nodes is flat from 1 GiB on: MI300X of oci-hpc-oke and hisohara.
      return factor * parameter_[is_amd() ? nvlink_gap : network_gap];
    }
    return is_nvlink() && !is_amd() ? parameter_[nvlink_gap] : kPcieGap;
  }

  /// Microseconds of `weight` messages' bytes at `rate` GB/s.
  double bytes_time(double weight, double rate) const {
    return rate > 0 ? weight * bytes_ / (kMicro * kGiga * rate) : 0;
  }

  Candidate finish(double latency, double inside, double between, double kappa) const {
    const double growth = num_nodes_ > 2 ? 1 + parameter_[fabric_growth] * (std::log2(num_nodes_) - 1) : 1;
    Candidate result = {.latency = latency, .inside = inside, .between = between * growth};
    const double wire = slower(result.inside, result.between);
    result.time = result.latency + 2 * kappa * std::sqrt(result.latency * wire) + wire;
    return result;
  }

  Candidate ring(NcclProtocol protocol) const {
    const double rounds = std::max(1, row_of(collective_).bus_factor);
    const double start = launch(protocol);
    const double latency = start + rounds * (n_ - num_nodes_) * step(protocol) +
                           rounds * (num_nodes_ - 1) * hop(protocol, part());
    const double weight = bus_share(collective_, n_);
    // One of a node's g edges is the network's. Host memory passes what goes there as well.
    const double edges = num_nodes_ > 1 && system_.link != GpuLink::pcie ? (g_ - 1) / g_ : 1;
    const double inside = bytes_time(weight * edges, inside_rate() * inside_share(protocol));
    const double between = bytes_time(weight, between_rate() * between_share(protocol));
    if (has_root(collective_)) {
      // A chain: a rank goes on to the next call when its neighbour has its part. The chain's latency shows
      // as far as chunks must fill it, inside a node once at the most.
      const double own = start + step(protocol);
      Candidate chain = finish(own, inside, between, parameter_[network_gap] * std::sqrt(latency / own));
      chain.time = num_nodes_ > 1 ? chain.time : std::min(chain.time, own + latency + inside);
      return chain;
    }
    // Inside a node every step sends a rank's share of the bytes at once: nothing but the launch fills, and
    // of LL, whose flags stand beside the data, a step.
    const double filled = protocol == NcclProtocol::ll ? step(protocol) : start;
    const double filling = num_nodes_ > 1 ? 1 : std::sqrt(filled / latency);
    Candidate result = finish(latency, inside, between, filling * gap(protocol));
    if (rounds == 1 && system_.network == InterKind::slingshot) {
      // No tree spares short messages the edge between nodes, which passes one after another.
      result.time = slower(result.time, start + (n_ - 1) * hop(protocol, part()));
    }
    return result;
  }

  /// Sends and receives. A kernel starts those inside a node side by side, twice as many for each step. A CPU
  /// thread starts those to other nodes one by one: after the first only the driving library's latency
  /// counts, Slingshot's at most. No chain of chunks fills, so bytes overlap with what is started.
  Candidate direct(NcclProtocol protocol) const {
    const Sends sends = sends_of_busiest();
    const double next =
        parameter_[network_hop_simple] * std::min(network_factor(part()), parameter_[slingshot_hop]);
    const double far = sends.far > 0 ? hop(protocol, part()) + (sends.far - 1) * next : 0;
    const double latency = launch(protocol) + std::log2(sends.near + 1) * step(protocol) + far;
    const double inside = bytes_time(sends.inside, inside_rate() * inside_share(protocol));
    const double between = bytes_time(sends.between, between_rate() * kNetworkSends);
    return finish(latency, inside, between, num_nodes_ > 1 ? 0 : gap(protocol));
  }

  /// Messages of the busiest rank (a gather's root: received) inside its node, and of its node's NICs.
  struct Sends {
    double near = 0;  ///< Peers in the node.
    double far = 0;   ///< Peers beyond it.
    double inside = 0;
    double between = 0;
  };

  Sends sends_of_busiest() const {
    if (collective_ == Collective::send_recv) {
      // The next rank alone: by the cables that lead to it, and beyond the node through one rank's NICs.
      const double near = std::min(1.0, g_ - 1);
      const bool cables = system_.link == GpuLink::nvlink || system_.link == GpuLink::xgmi;
      return {.near = near,
              .far = num_nodes_ > 1 ? 1.0 : 0.0,
              .inside = cables ? g_ - 1 : near,
              .between = std::min(g_, static_cast<double>(system_.nics))};
    }
    const double far = (n_ - g_) / n_;
    return {.near = g_ - 1,
            .far = n_ - g_,
            .inside = (g_ - 1) / n_,
            .between = collective_ == Collective::all_to_all ? g_ * far : far};
  }

  Candidate tree(NcclProtocol protocol) const {
    const double levels = std::log2(num_nodes_);
    const double latency = launch(protocol) + 2 * (g_ - 1) * step(protocol) +
                           2 * levels * parameter_[tree_hop] * hop(protocol, bytes_);
    // A rank in the middle of a chain sends to both neighbours; of two ranks each sends once.
    const double weight = (n_ == 2 ? 1 : 2) / kTreeRate;
    const double node_weight = 2 * (num_nodes_ - 1) / num_nodes_;
    return finish(latency, bytes_time(weight, inside_rate() * inside_share(protocol)),
                  bytes_time(node_weight, between_rate() * between_share(protocol)), gap(protocol));
  }

  Candidate nvls() const {
    const bool hopper = system_.architecture == Architecture::hopper;
    const double latency =
        parameter_[nvls_latency] + 2 * std::log2(num_nodes_) * parameter_[nvls_hop] * network_factor(bytes_);
    const double weight = hopper ? (g_ + 1) / g_ : 2 * (g_ - 1) / g_;
    const double rate =
        system_.link_speed * system_.link_rate * parameter_[hopper ? nvls_rate_hopper : nvls_rate_blackwell];
    // The NICs' share is not reduced here: what GPUs would lose in a ring, the switch does for them.
    const double between = bytes_time(2 * (num_nodes_ - 1) / num_nodes_, system_.network_rate);
    return finish(latency, bytes_time(weight, rate), between,
                  parameter_[num_nodes_ > 1 ? network_gap : nvls_gap]);
  }

  const NcclParameters& parameter_;
  const NcclSystem& system_;
  Collective collective_;
  double n_;
  double num_nodes_;
  double g_;
  double bytes_;
};

NcclLimit limit_of(const Candidate& candidate) {
  if (candidate.latency > std::max(candidate.inside, candidate.between)) {
    return NcclLimit::latency;
  }
  return candidate.between > candidate.inside ? NcclLimit::network : NcclLimit::gpu_links;
}

}  // namespace

NcclEstimate nccl_all_reduce(const NcclParameters& parameters, const NcclSystem& system, double bytes) {
  return nccl_collective(parameters, system, Collective::all_reduce, bytes);
}

NcclEstimate nccl_collective(const NcclParameters& parameters, const NcclSystem& system,
                             Collective collective, double bytes) {
  const Model model(parameters, system, collective, bytes);
  NcclEstimate best;
  Candidate fastest;
  std::array<double, 9> times = {};
  std::size_t num_times = 0;
  for (const auto algorithm : {NcclAlgorithm::ring, NcclAlgorithm::tree, NcclAlgorithm::nvls}) {
    for (const auto protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
      if (!model.allows(algorithm, protocol)) {
        continue;
      }
      const Candidate candidate = model.predict(algorithm, protocol);
      times.at(num_times++) = candidate.time;
      if (candidate.time < fastest.time) {
        fastest = candidate;
        best.algorithm = algorithm;
        best.protocol = protocol;
      }
    }
  }
  if (num_times == 0) {
    throw Error(ErrorKind::bad_input,
                "the forced nccl_algo and nccl_proto do not exist together on this machine");
  }
  double sum = 0;
  for (std::size_t i = 0; i < num_times; ++i) {
    sum += power8(fastest.time / times.at(i));
  }
  best.seconds = kMicro * (fastest.time / root8(sum) + model.driving_alone());
  best.limit = limit_of(fastest);
  return best;
}

}  // namespace ringside
