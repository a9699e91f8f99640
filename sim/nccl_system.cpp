#include "sim/nccl_system.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/names.hpp"
#include "sim/gpu_models.hpp"
#include "sim/link_kinds.hpp"
#include "sim/network.hpp"
#include "sim/prefixes.hpp"
#include "sim/topology_description.hpp"

namespace ringside {

namespace {

constexpr std::array<std::string_view, 3> kAlgorithmNames = {"Ring", "Tree", "NVLS"};
constexpr std::array<std::string_view, 3> kProtocolNames = {"LL", "LL128", "Simple"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

/// The one of `names` that `text` spells, however its letters are cased. NCCL takes lists (`Ring,Tree`) and exclusions
/// (`^NVLS`) as well; those leave a choice and are not modelled.
template <typename E, std::size_t N>
E forced(std::string_view key, std::string_view text, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (lower(names[i]) == lower(text)) {
      return static_cast<E>(i);
    }
  }
  const std::vector<std::string> known(names.begin(), names.end());
  throw Error(ErrorKind::bad_input, unknown_name(key, text, known));
}

/// Whether a version such as `2.8.4` is before 2.9; no for one that does not read so.
bool is_before_2_9(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.') {
    return false;
  }
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  return second.ec == std::errc{} && (major < 2 || (major == 2 && minor < 9));
}

/// GB/s that the slowest hop gets when a ring goes through the first `gpus` GPUs of one node and all hops go at once.
double ring_rate_inside(const Machine& machine, int gpus) {
  Machine node = machine;
  node.nodes = 1;
  node.gpus_per_node = machine.gpus_per_node.value_or(gpus);
  node.inter.reset();
  node.calibrated.reset();
  node.ring_order.reset();
  node.stragglers.clear();
  double slowest = std::numeric_limits<double>::infinity();
  for (const RingHop& hop : describe(build_network(node, gpus)).ring) {
    slowest = std::min(slowest, hop.with_ring.value / kGiga);
  }
  return slowest;
}

/// The words that NCCL's own behaviour depends on and that the GPU's data sheet supplies where the machine says
/// nothing.
class Words {
 public:
  Words(const Machine& machine, int ranks)
      : machine_(machine), ranks_(ranks), gpu_(gpu_model(*machine.gpu)) {}

  std::variant<NcclSystem, std::string> read() {
    if (!gpu_.vendor || !gpu_.architecture) {
      return find_gpu_sheet(machine_.gpu->model)
                 ? fmt::format(
                       "the cards called {} differ too much; name one of them, or give vendor and "
                       "architecture",
                       machine_.gpu->model)
                 : fmt::format(
                       "NCCL's own behaviour depends on who makes {}; add `vendor: nvidia` (or amd) and "
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

  int nodes() const {
    const int per_node = gpus_of_a_node();
    const int needed = (ranks_ + per_node - 1) / per_node;
    if (needed > machine_.nodes) {
      throw Error(ErrorKind::bad_input, fmt::format("{} ranks need {} GPUs, but the machine has {} x {}",
                                                    ranks_, ranks_, machine_.nodes, per_node));
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

  /// NVLink and xGMI: all links of a GPU together.
  std::string read_cables(const IntraLink& intra) {
    const std::optional<int> links = intra.links_per_gpu ? intra.links_per_gpu : gpu_.num_links;
    if (!links || !gpu_.link_rate) {
      return fmt::format("the catalogue does not know the {} links of {}", name(intra.kind),
                         machine_.gpu->model);
    }
    system_.link_rate = *links * gpu_.link_rate->value / kGiga;
    return {};
  }

  std::string read_pcie(const IntraLink& intra) {
    const bool says_slot = intra.kind == IntraKind::pcie;
    const std::optional<int> generation =
        says_slot && intra.generation ? intra.generation : gpu_.pcie_generation;
    if (!generation) {
      return fmt::format("the catalogue does not know the PCIe generation of {}", machine_.gpu->model);
    }
    system_.link = GpuLink::pcie;
    system_.peer_to_peer = intra.peer_to_peer.value_or(gpu_.peer_to_peer.value_or(true));
    system_.link_rate =
        pcie_slot(*generation, intra.lanes.value_or(16), system_.peer_to_peer).data_sheet.value / kGiga;
    system_.ring_rate = ring_rate_inside(machine_, std::min(ranks_, gpus_of_a_node()));
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
    system_.nics = inter.nics;
    system_.network_rate = inter.nics * inter.rate->value / kGiga / inter.oversubscription;
    system_.gpudirect =
        inter.gpudirect.value_or(inter.kind != InterKind::ethernet && gpu_.peer_to_peer.value_or(true));
    if (inter.kind == InterKind::efa) {
      // Both first generations have 100 Gb/s; nodes of the first have one or four such NICs, of the second 32.
      constexpr int kManyNics = 16;
      const bool slow = inter.rate->value * 8 <= 100.1 * kGiga;
      system_.efa_generation = inter.generation.value_or(!slow ? 3 : inter.nics < kManyNics ? 1 : 2);
    }
    return {};
  }

  void read_software() {
    const Software& software = machine_.software;
    if (system_.nodes > 1 && software.nccl_algo && lower(*software.nccl_algo) == "nvlstree") {
      // That is what nvls is priced as between nodes.
      system_.algorithm = NcclAlgorithm::nvls;
    } else if (software.nccl_algo) {
      system_.algorithm = forced<NcclAlgorithm>("nccl_algo", *software.nccl_algo, kAlgorithmNames);
    }
    if (software.nccl_proto) {
      system_.protocol = forced<NcclProtocol>("nccl_proto", *software.nccl_proto, kProtocolNames);
    }
    system_.single_process = software.processes == Processes::single;
    system_.before_2_9 = system_.vendor == Vendor::nvidia && software.nccl && is_before_2_9(*software.nccl);
  }

  const Machine& machine_;
  int ranks_;
  GpuModel gpu_;
  NcclSystem system_;
};

}  // namespace

std::string_view name(NcclAlgorithm value) { return kAlgorithmNames[static_cast<std::size_t>(value)]; }
std::string_view name(NcclProtocol value) { return kProtocolNames[static_cast<std::size_t>(value)]; }

MachineClass NcclSystem::machine_class() const {
  if (nodes > 1) {
    return MachineClass::multi_node;
  }
  return link == GpuLink::pcie ? MachineClass::node_pcie : MachineClass::node_nvlink;
}

std::variant<NcclSystem, std::string> nccl_system(const Machine& machine, int ranks) {
  if (!machine.gpu) {
    return "nccl runs on GPUs, and the machine names none";
  }
  return Words(machine, ranks).read();
}

}  // namespace ringside
