#include "sim/nccl/system.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "sim/topology/description.hpp"
#include "sim/topology/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"
#include "sim/topology/network.hpp"
#include "sim/topology/node.hpp"

namespace ringside {

namespace {

/// What `text` spells, however its letters are cased. NCCL takes lists (`Ring,Tree`) and exclusions as well;
/// those leave a choice, and of them `^NVLS` alone is modelled.
template <typename E>
E forced(std::string_view key, std::string_view text) {
  for (const auto& [value, spelt] : spellings_of(E{})) {
    if (lower(spelt) == lower(text)) {
      return value;
    }
  }
  throw Error(ErrorKind::bad_input, unknown_name(key, text, names_of<E>()));
}

/// GB/s of the slowest hop of a ring through a node's first `gpus` GPUs, all hops at once.
double ring_rate_inside(const Machine& machine, int gpus, bool peer_to_peer) {
  Machine node = machine;
  node.intra->peer_to_peer = peer_to_peer;
  double slowest = std::numeric_limits<double>::infinity();
  for (const RingHop& hop : ring_inside_node(node, gpus)) {
    slowest = std::min(slowest, hop.with_ring.value / kGiga);
  }
  return slowest;
}

/// What NCCL's behaviour depends on, from the description or else the GPU's data sheet.
class Description {
 public:
  Description(const Machine& machine, int ranks)
      : machine_(machine), ranks_(ranks), gpu_(gpu_model(machine)) {}

  std::variant<NcclSystem, std::string> read() {
    if (!gpu_.vendor || !gpu_.architecture) {
      return find_gpu_sheet(machine_.gpu->model)
                 ? fmt::format(
                       "the cards called {} differ too much; name one of them, or give vendor and "
                       "architecture",
                       machine_.gpu->model)
                 : fmt::format(
                       "NCCL's behaviour depends on the vendor of {}; add `vendor: nvidia` (or amd) and "
                       "`architecture: …` to `gpu`",
                       machine_.gpu->model);
    }
    system_.ranks = ranks_;
    system_.vendor = *gpu_.vendor;
    system_.architecture = *gpu_.architecture;
    system_.nodes = nodes();
    for (const std::string& reason : {read_intra(), read_inter()}) {
      if (!reason.empty()) {
        return reason;
      }
    }
    read_software();
    return system_;
  }

 private:
  int gpus_of_a_node() const {
    return machine_.gpus_per_node.value_or((ranks_ + machine_.nodes - 1) / machine_.nodes);
  }

  /// At the most.
  int ranks_of_a_node() const {
    return std::min(ranks_, std::min(machine_.ranks_per_node.value_or(gpus_of_a_node()), gpus_of_a_node()));
  }

  int nodes() const {
    const int per_node = ranks_of_a_node();
    const int needed = (ranks_ + per_node - 1) / per_node;
    if (needed > machine_.nodes) {
      throw bad_input("{} ranks need {} GPUs, but the machine has {} x {}", ranks_, ranks_, machine_.nodes,
                      per_node);
    }
    return needed;
  }

  std::string read_intra() {
    if (system_.nodes == ranks_) {
      return {};
    }
    if (!machine_.intra) {
      return "the machine does not say what connects its GPUs (intra)";
    }
    const IntraLink& intra = *machine_.intra;
    switch (intra.kind) {
      case IntraKind::nvlink:
        return read_nvlink(intra);
      case IntraKind::xgmi:
        system_.link = GpuLink::xgmi;
        return read_cables(intra);
      case IntraKind::pcie:
        return read_pcie(intra);
      case IntraKind::custom:
        break;
    }
    return "NCCL's own behaviour is known for nvlink, pcie and xgmi, not for a custom link";
  }

  std::string read_nvlink(const IntraLink& intra) {
    const bool pairs = intra.wiring == "bridge_pairs";
    if (pairs && system_.gpus_per_node() > 2) {
      system_.bridged_pairs = true;
      return read_pcie(intra);
    }
    system_.link = intra.nvswitch.value_or(false) ? GpuLink::nvswitch : GpuLink::nvlink;
    return read_cables(intra);
  }

  /// Links of a GPU that lead to other ranks of its node: without a switch the rest lie idle. NCCL's rings
  /// are as wide as the rank that has fewest.
  double links_in_use(const IntraLink& intra, int links) const {
    const int gpus = gpus_of_a_node();
    const int used = std::min(gpus, ranks_of_a_node());
    const bool cube_mesh = intra.wiring == "hybrid_cube_mesh";
    if (system_.link == GpuLink::nvswitch || intra.wiring == "bridge_pairs") {
      return links;
    }
    // There is no switch of xGMI; a description with NVLink may have left its switch out.
    if (system_.vendor == Vendor::amd && gpus > 1 && (links < gpus - 1 || links % (gpus - 1) != 0)) {
      throw bad_input(
          "intra.links_per_gpu: {} links per GPU cannot be divided over {} peers; `gpus_per_node` "
          "counts the whole board, also where fewer are used",
          links, gpus - 1);
    }
    if (used >= gpus && !cube_mesh) {
      return links;
    }
    if (!cube_mesh) {
      return static_cast<double>(links) * (used - 1) / (gpus - 1);
    }
    if (gpus > kCubeGpus) {
      throw bad_input("gpus_per_node: {} GPUs; a hybrid_cube_mesh has 8 or 4", gpus);
    }
    constexpr int kDoubleLinks = 6;  // Links per GPU where some pairs have two.
    int fewest = links;
    for (int gpu = 0; gpu < used; ++gpu) {
      int here = 0;
      for (int other = 0; other < used; ++other) {
        here += hybrid_cube_links(gpu, other, links >= kDoubleLinks);
      }
      fewest = std::min(fewest, here);
    }
    return fewest;
  }

  /// NVLink and xGMI: all links of a GPU together.
  std::string read_cables(const IntraLink& intra) {
    const std::optional<int> links = intra.links_per_gpu ? intra.links_per_gpu : gpu_.num_links;
    if (!links || (!gpu_.link_rate && !intra.generation)) {
      return fmt::format(
          "the catalogue does not know the {} links of {}; say their generation and links_per_gpu under "
          "`intra`",
          name(intra.kind), machine_.gpu->model);
    }
    const double in_use = links_in_use(intra, *links);
    const BytesPerSecond rate = gpu_.link_rate ? *gpu_.link_rate : usual_cable(intra).data_sheet;
    system_.link_rate = in_use * rate.value / kGiga;
    system_.bridge_links =
        intra.wiring == "bridge_pairs" && !intra.links_per_gpu && !intra.bandwidth ? *links : 0;
    if (intra.bandwidth) {
      system_.measured_rate = intra.bandwidth->value / kGiga * in_use / *links;
      system_.link_speed = cable_speed(intra, *links);
    }
    return {};
  }

  /// One link of a cable, at what the data sheet of the card says where it does.
  LinkSheet usual_cable(const IntraLink& intra) const {
    const bool is_xgmi = intra.kind == IntraKind::xgmi;
    const std::optional<int> known = is_xgmi ? gpu_.xgmi_generation : gpu_.nvlink_generation;
    const int generation = intra.generation.value_or(known.value_or(0));
    return is_xgmi ? xgmi(generation)
           : system_.link == GpuLink::nvswitch
               ? nvswitch(generation)
               : nvlink(generation, gpu_.link_rate.value_or(BytesPerSecond{}));
  }

  double cable_speed(const IntraLink& intra, int links) const {
    try {
      return measured_speed(usual_cable(intra), links, *intra.bandwidth);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("intra.bandwidth: {}", error.what()));
    }
  }

  std::string read_pcie(const IntraLink& intra) {
    const bool says_slot = intra.kind == IntraKind::pcie;
    const std::optional<int> generation =
        says_slot && intra.generation ? intra.generation : gpu_.pcie_generation;
    if (!generation) {
      return fmt::format("the catalogue does not know the PCIe generation of {}", machine_.gpu->model);
    }
    system_.link = GpuLink::pcie;
    const int gpus = ranks_of_a_node();
    system_.transport = pcie_transport({.gpus = gpus,
                                        .same_switch = intra.gpus_per_switch.value_or(1) >= gpus,
                                        .amd_gpus = system_.vendor == Vendor::amd,
                                        .stated = intra.peer_to_peer,
                                        .driver_allows = gpu_.peer_to_peer,
                                        .cpu = cpu_vendor(machine_),
                                        .version = machine_.software.nccl});
    system_.link_rate = pcie_slot(*generation, intra.lanes.value_or(16), true).data_sheet.value / kGiga;
    if (says_slot && intra.bandwidth) {
      system_.measured_rate = intra.bandwidth->value / kGiga;
    }
    system_.peer_ring_rate = ring_rate_inside(machine_, gpus, true);
    system_.host_ring_rate = ring_rate_inside(machine_, gpus, false);
    return {};
  }

  std::string read_inter() {
    if (system_.nodes == 1) {
      return {};
    }
    if (!machine_.inter) {
      return "the machine does not say what connects its nodes (inter)";
    }
    const InterLink& inter = *machine_.inter;
    if (inter.kind == InterKind::custom || !inter.rate) {
      return "NCCL's own behaviour is known for networks of a kind, not for a custom one";
    }
    system_.network = inter.kind;
    system_.nics = nics_in_use(inter);
    system_.network_rate =
        std::min(system_.nics * inter.rate->value / kGiga, slots_rate()) / inter.oversubscription;
    system_.gpudirect =
        inter.gpudirect.value_or(inter.kind != InterKind::ethernet && gpu_.peer_to_peer.value_or(true));
    if (inter.kind == InterKind::efa) {
      // Both first generations have 100 Gb/s; the first has one or four NICs a node, the second 32.
      constexpr int kManyNics = 16;
      const bool slow = inter.rate->value * 8 <= 100.1 * kGiga;
      system_.efa_generation = inter.generation.value_or(!slow ? 3 : inter.nics < kManyNics ? 1 : 2);
    }
    return {};
  }

  /// NCCL leaves a node through NICs next to its ranks: those of GPUs without a rank lie idle.
  int nics_in_use(const InterLink& inter) const {
    const int gpus = gpus_of_a_node();
    return inter.nics >= gpus ? inter.nics / gpus * ranks_of_a_node() : inter.nics;
  }

  /// GB/s of the PCIe slots of a node's ranks, one direction, by the data sheet: a slot feeds one NIC.
  double slots_rate() const {
    if (!gpu_.pcie_generation) {
      return std::numeric_limits<double>::infinity();
    }
    const bool says_slot = machine_.intra && machine_.intra->kind == IntraKind::pcie;
    const IntraLink slot = says_slot ? *machine_.intra : IntraLink{};
    const int lanes = slot.lanes.value_or(16);
    const int generation = slot.generation.value_or(*gpu_.pcie_generation);
    return ranks_of_a_node() * pcie_slot(generation, lanes, true).data_sheet.value / kGiga;
  }

  void read_software() {
    const Software& software = machine_.software;
    if (system_.nodes > 1 && software.nccl_algo && lower(*software.nccl_algo) == "nvlstree") {
      // That is what nvls is between nodes.
      system_.algorithm = NcclAlgorithm::nvls;
    } else if (software.nccl_algo && lower(*software.nccl_algo) == "^nvls") {
      system_.without_nvls = true;
    } else if (software.nccl_algo) {
      system_.algorithm = forced<NcclAlgorithm>("nccl_algo", *software.nccl_algo);
    }
    if (software.nccl_proto) {
      system_.protocol = forced<NcclProtocol>("nccl_proto", *software.nccl_proto);
    }
    system_.single_process = software.processes == Processes::single;
    system_.before_2_9 = system_.vendor == Vendor::nvidia && software.nccl &&
                         is_at_least(*software.nccl, 2, 9, 0) == std::optional(false);
  }

  const Machine& machine_;
  int ranks_;
  GpuModel gpu_;
  NcclSystem system_;
};

}  // namespace

bool NcclSystem::has_nvls() const {
  return link == GpuLink::nvswitch && gpus_per_node() >= 3 && !without_nvls &&
         (architecture == Architecture::hopper || architecture == Architecture::blackwell);
}

MachineClass NcclSystem::machine_class() const {
  if (nodes > 1) {
    return MachineClass::multi_node;
  }
  return link == GpuLink::pcie ? MachineClass::node_pcie : MachineClass::node_nvlink;
}

NcclKind NcclSystem::kind() const {
  if (nodes > 1) {
    const bool rdma = network == InterKind::infiniband || network == InterKind::roce;
    return rdma && gpus_per_node() >= 2 ? NcclKind::rdma : NcclKind::other_network;
  }
  // Left open, a description is about as far off as with peer to peer, less than with host memory.
  return link != GpuLink::pcie        ? NcclKind::nvlink
         : transport.peer_to_peer > 0 ? NcclKind::pcie_peer
                                      : NcclKind::pcie_host;
}

double NcclSystem::uncertainty() const {
  constexpr double kUnlikeOthers = 1.6;
  const bool unlike_others = kind() == NcclKind::nvlink && (link != GpuLink::nvswitch || before_2_9);
  const double doublings = std::log2(gpus_per_node());
  const double by_gpus = kind() == NcclKind::pcie_host && doublings > 1 ? std::sqrt(doublings) : 1;
  return unlike_others ? kUnlikeOthers : by_gpus;
}

std::variant<NcclSystem, std::string> nccl_system(const Machine& machine, int ranks) {
  if (!machine.gpu) {
    return "nccl runs on GPUs, and the machine names none";
  }
  return Description(machine, ranks).read();
}

}  // namespace ringside
