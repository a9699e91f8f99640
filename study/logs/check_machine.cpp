// What a log says of the machine it was made on, and of what slows it.

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/failures.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
#include "sim/topology/gpu_models.hpp"
#include "study/inputs/shipped_files.hpp"
#include "study/logs/check.hpp"

namespace ringside::study {
namespace {

[[noreturn]] void ask(const std::string& name, const std::string& what, const std::string& machines) {
  throw bad_key("machine: {}: the log does not say {}; say which machine it is: {}", name, what, machines);
}

/// Links between the GPUs of a node, as boards with such GPUs are built.
IntraLink usual_links(const GpuSheet& sheet, int gpus_per_node, std::vector<std::string>& assumptions) {
  constexpr int kMeshed = 4;
  const bool module =
      sheet.links && (sheet.model.find("PCI") == std::string::npos) &&
      (sheet.model.find("SXM") != std::string::npos || sheet.architecture >= Architecture::hopper) &&
      sheet.model.find("NVL") == std::string::npos && sheet.vendor == Vendor::nvidia &&
      sheet.nvlink_generation;
  if (sheet.vendor == Vendor::amd && sheet.xgmi_generation) {
    return {.kind = IntraKind::xgmi};
  }
  if (!module) {
    assumptions.push_back(
        fmt::format("The {} are taken to sit in PCIe {} slots of {} lanes, without NVLink bridges.",
                    sheet.model, sheet.pcie_generation, sheet.pcie_lanes));
    return {.kind = IntraKind::pcie, .generation = sheet.pcie_generation, .lanes = sheet.pcie_lanes};
  }
  IntraLink intra{.kind = IntraKind::nvlink};
  const bool grace = sheet.model == "GH200";
  const bool old = sheet.architecture == Architecture::volta || sheet.architecture == Architecture::pascal;
  const bool meshed =
      grace || (gpus_per_node <= kMeshed && (old || sheet.architecture == Architecture::ampere));
  if (old && gpus_per_node > kMeshed) {
    intra.nvswitch = false;
    intra.wiring = "hybrid_cube_mesh";
  } else {
    intra.nvswitch = !meshed;
  }
  assumptions.push_back(
      fmt::format("Their NVLinks are taken to go {}.", intra.nvswitch.value_or(false) ? "through NVSwitches"
                                                       : intra.wiring ? "in a hybrid cube mesh"
                                                                      : "from GPU to GPU"));
  return intra;
}

struct SettingCause {
  std::string_view key;
  std::string_view value;  ///< In small letters.
  Cause cause;
};
constexpr auto kSettings = std::to_array<SettingCause>({
    {"NCCL_P2P_DISABLE", "1", Cause::peer_to_peer_off},
    {"NCCL_NVLS_ENABLE", "0", Cause::nvls_off},
    {"NCCL_IB_DISABLE", "1", Cause::tcp},
    {"NCCL_NET", "socket", Cause::tcp},
    {"NCCL_NET_GDR_LEVEL", "0", Cause::gpudirect_off},
    {"NCCL_NET_GDR_LEVEL", "loc", Cause::gpudirect_off},
    {"NCCL_ALGO", "ring", Cause::algorithm_ring},
    {"NCCL_ALGO", "ring", Cause::nvls_off},
    {"NCCL_ALGO", "^nvls", Cause::nvls_off},
    {"NCCL_ALGO", "^nvls,nvlstree", Cause::nvls_off},
    {"NCCL_ALGO", "tree", Cause::algorithm_tree},
    {"NCCL_PROTO", "ll", Cause::protocol_ll},
    {"NCCL_PROTO", "ll128", Cause::protocol_ll128},
    {"NCCL_PROTO", "simple", Cause::protocol_simple},
});

using Evidence = std::vector<CauseEvidence>;

void add(Evidence& list, Cause cause, bool speaks_for, std::size_t line, const std::string& text) {
  list.push_back(
      {.cause = cause, .sentence = fmt::format("line {}: {}", line, text), .speaks_for = speaks_for});
}

/// Hosts of the list, or nodes by NCCL's own count; 0 where the log says neither.
int nodes_in(const RunFacts& facts) { return facts.nodes.value_or(static_cast<int>(facts.hosts.size())); }

void evidence_of_network(const RunFacts& facts, const Machine& machine, Evidence& list) {
  if (nodes_in(facts) == 1 || !machine.inter) {
    return;  // Nothing goes through a network.
  }
  if (facts.network) {
    const bool sockets = *facts.network == "Socket";
    add(list, Cause::tcp, sockets, facts.network_line,
        fmt::format("NCCL uses the network {}", *facts.network));
  } else if (facts.sockets.count > 0) {
    add(list, Cause::tcp, true, facts.sockets.line, "channels go via NET/Socket");
  } else if (facts.gpudirect.count > 0) {
    add(list, Cause::tcp, false, facts.gpudirect.line, "channels go via GPUDirect RDMA");
  }
  if (facts.gpudirect.count > 0) {
    add(list, Cause::gpudirect_off, false, facts.gpudirect.line, "channels go via GDRDMA");
  } else if (facts.without_gpudirect.count > 0 && facts.sockets.count == 0) {
    add(list, Cause::gpudirect_off, true, facts.without_gpudirect.line,
        "channels go via the network without GDRDMA");
  }
  if (facts.nics.empty()) {
    return;
  }
  const int seen = static_cast<int>(facts.nics.size());
  const int described = machine.inter->nics;
  const std::string text = fmt::format("NCCL uses {} ({}), the description has {}", count_of(seen, "NIC"),
                                       fmt::join(facts.nics, " "), described);
  add(list, Cause::one_nic, seen == 1 && described > 1, facts.nics_line, text);
  add(list, Cause::half_nics, seen < described && seen > 1, facts.nics_line, text);
}

/// Those that ship with as many of these GPUs a node and a network, for a question: `one of a, b, or a file`.
std::string shipped_like(const std::string& gpu_model, int gpus_per_node) {
  std::vector<std::string> names;
  for (const ShippedMachine& shipped : shipped_machines()) {
    if (shipped.gpu && shipped.gpu->model == gpu_model && shipped.machine.inter &&
        shipped.machine.gpus_per_node == gpus_per_node) {
      names.push_back(shipped.name);
    }
  }
  constexpr std::size_t kShown = 6;
  names.resize(std::min(names.size(), kShown));
  return names.empty() ? std::string("a file") : fmt::format("one of {}, or a file", fmt::join(names, ", "));
}

/// What joins the nodes, where NCCL's own topology says it.
std::optional<InterLink> network_of(const RunFacts& facts) {
  if (facts.nic_rates.empty() || !facts.network || (*facts.network != "IB" && *facts.network != "Socket")) {
    return std::nullopt;
  }
  const bool roce =
      std::ranges::any_of(facts.nics, [](const std::string& nic) { return nic.ends_with("/RoCE"); });
  const auto& nics = facts.nic_rates.begin()->second;
  const auto slowest = std::ranges::min_element(nics, {}, [](const auto& nic) { return nic.second; });
  return InterLink{.kind = *facts.network == "Socket" ? InterKind::ethernet
                           : roce                     ? InterKind::roce
                                                      : InterKind::infiniband,
                   .rate = BytesPerSecond{slowest->second * 1e9},
                   .nics = static_cast<int>(nics.size())};
}

/// How many nodes the ranks stand on, alike on each.
int nodes_of(const RunFacts& facts, int ranks, const std::string& name, const SaidOfMachine& said) {
  const int listed = nodes_in(facts);
  if (listed == 0 && said.network && !said.gpus_per_node) {
    throw bad_key(
        "gpu: {}: the log does not say on how many nodes its {} ranks stand; say GPUs of a node and "
        "their model, such as '8 x B200'",
        name, ranks);
  }
  const int gpus = std::min(said.gpus_per_node.value_or(ranks), ranks);
  const int nodes = listed > 0 ? listed : ranks / gpus;
  if (ranks % nodes != 0 || ranks / nodes > gpus || (listed == 0 && ranks % gpus != 0) ||
      (facts.ranks && facts.ranks != ranks)) {
    ask(name, fmt::format("how {} ranks stand on {} hosts", ranks, nodes), "a file");
  }
  return nodes;
}

/// The data sheet of a GPU as drivers call it: they print memory (`NVIDIA GH200 120GB`) that the catalogue
/// does not tell models apart by.
std::optional<GpuSheet> sheet_of_driver(const std::string& gpu) {
  const auto sheet = find_gpu_sheet(gpu);
  return !sheet && gpu.ends_with("GB") ? find_gpu_sheet(gpu.substr(0, gpu.rfind(' '))) : sheet;
}

}  // namespace

void require_gpu_sheet(const std::string& gpu) {
  if (!sheet_of_driver(gpu)) {
    const auto near = nearest_name(gpu, gpu_model_names());
    throw bad_key("gpu: unknown GPU '{}'{}; a machine file describes others", gpu,
                  near ? fmt::format(" (did you mean '{}'?)", *near) : "");
  }
}

RecognisedMachine recognise_machine(const RunFacts& facts, int ranks, const std::string& name,
                                    const SaidOfMachine& said) {
  if (facts.gpus.empty()) {
    throw bad_key(
        "gpu: {}: the log does not say which GPUs these are; give their model, such as "
        "'8 x B200' of nodes of eight, or a machine of `ringside list machines`",
        name);
  }
  const std::string& gpu = facts.gpus.front();
  if (std::ranges::any_of(facts.gpus, [&](const std::string& other) { return other != gpu; })) {
    ask(name, "how GPUs of several models are joined", "a file with `links`");
  }
  const auto sheet = sheet_of_driver(gpu);
  if (!sheet) {
    throw bad_key("machine: {}: the catalogue does not know the GPU '{}'; describe the machine in a file",
                  name, gpu);
  }
  const int nodes = nodes_of(facts, ranks, name, said);
  RecognisedMachine result;
  Machine& machine = result.machine;
  machine.gpus_per_node = said.gpus_per_node.value_or(ranks / nodes);
  machine.name = fmt::format("{}{}x {}", nodes > 1 ? fmt::format("{} x ", nodes) : "", *machine.gpus_per_node,
                             sheet->model);
  machine.gpu = Gpu{.model = sheet->model};
  if (ranks > nodes) {
    machine.intra = usual_links(*sheet, *machine.gpus_per_node, result.assumptions);
  }
  if (nodes > 1) {
    machine.inter = said.network ? said.network : network_of(facts);
  }
  if (nodes > 1 && machine.inter && !said.network) {
    result.assumptions.push_back(fmt::format("NCCL's topology in the log has {} of {} in a node.",
                                             count_of(machine.inter->nics, "NIC"),
                                             format(*machine.inter->rate)));
  } else if (nodes > 1 && !said.network) {
    throw bad_key(
        "network: {}: the log does not say how fast the network between its {} nodes is ({} x {} each); give "
        "NICs of a node, rate and kind, such as '4 x 200 Gb/s infiniband', or the machine: {}",
        name, nodes, ranks / nodes, sheet->model, shipped_like(sheet->model, ranks / nodes));
  }
  return result;
}

void place_ranks(const RunFacts& facts, int ranks, const std::string& name, RecognisedMachine& described) {
  Machine& machine = described.machine;
  const int hosts = nodes_in(facts);
  std::set<std::size_t> sizes;
  std::size_t listed = 0;
  for (const auto& [host, of_host] : facts.ranks_of_host) {
    listed += of_host.size();
    sizes.insert(of_host.size());
  }
  // A list of several runs may have a rank on several hosts, one that was cut not all.
  const bool whole = listed == static_cast<std::size_t>(ranks);
  if (hosts > 0 && (ranks % hosts != 0 || (whole && sizes.size() > 1))) {
    throw bad_key("machine: {}: its {} ranks are not spread evenly over its {} hosts, which is not modelled",
                  name, ranks, hosts);
  }
  const int per_node = hosts > 0 ? ranks / hosts : ranks;
  const int gpus = machine.gpus_per_node.value_or(per_node);
  const auto say = [&](std::string sentence) { described.assumptions.push_back(std::move(sentence)); };
  if (hosts == 0 || per_node > gpus) {
    machine.nodes = std::max(machine.nodes, (ranks + gpus - 1) / gpus);
    if (whole) {
      say(fmt::format(
          "The log has {} ranks on a host, the description {} GPUs on a node: {} nodes were taken.", per_node,
          gpus, machine.nodes));
    }
    return;
  }
  if (machine.nodes > 1 && hosts > 1 && machine.nodes != hosts) {
    say(fmt::format("The log has {} hosts, the description {} nodes: {} were taken.", hosts, machine.nodes,
                    hosts));
  }
  machine.nodes = hosts > 1 ? hosts : machine.nodes;
  if (per_node < gpus) {
    machine.ranks_per_node = per_node;
    say(fmt::format("The log has {} on each host of {} GPUs.", count_of(per_node, "rank"), gpus));
  }
}

InterLink parse_network(const std::string& text) {
  const Counted nics = counted(text);
  const std::size_t blank = std::min(nics.what.rfind(' '), nics.what.size());
  const std::string kind = lower(nics.what.substr(std::min(blank + 1, nics.what.size())));
  try {
    const auto known = parse_name<InterKind>(kind);
    const BytesPerSecond rate = parse_bandwidth(nics.what.substr(0, blank));
    if (!known || !(rate.value > 0)) {
      throw Error(ErrorKind::bad_input,
                  known ? "a rate is above 0" : unknown_name("kind of network", kind, names_of<InterKind>()));
    }
    return InterLink{.kind = *known, .rate = rate, .nics = nics.count};
  } catch (const Error& error) {
    throw bad_key("network: {}: {}; write NICs of a node, rate and kind: '4 x 200 Gb/s infiniband'",
                  in_quotes(text), error.what());
  }
}

std::vector<CauseEvidence> evidence_of(const RunFacts& facts, const Machine& machine) {
  Evidence list;
  for (const SettingCause& known : kSettings) {
    const auto found = facts.settings.find(std::string(known.key));
    if (found != facts.settings.end() && lower(found->second.value) == known.value) {
      add(list, known.cause, true, found->second.line,
          fmt::format("{} is {}", known.key, found->second.value));
    }
  }
  if (facts.shared_memory.count > 0 && facts.peer_to_peer.count == 0) {
    add(list, Cause::peer_to_peer_off, true, facts.shared_memory.line,
        "channels go via shared memory, none via P2P");
  } else if (facts.peer_to_peer.count > 0 && facts.shared_memory.count == 0) {
    add(list, Cause::peer_to_peer_off, false, facts.peer_to_peer.line,
        "channels go via P2P, none via shared memory");
  }
  if (facts.no_nvls.count > 0) {
    add(list, Cause::nvls_off, true, facts.no_nvls.line, "NVLS multicast support is not available");
  } else if (facts.nvls.count > 0) {
    add(list, Cause::nvls_off, false, facts.nvls.line, "NVLS multicast support is available");
  }
  const std::size_t ranks_listed = facts.gpus.size();
  if (ranks_listed > facts.hosts.size() && !facts.processes.empty()) {
    const bool single = facts.processes.size() == facts.hosts.size();
    list.push_back({.cause = Cause::one_process,
                    .sentence = single ? "the list of ranks shows one process per node"
                                       : "the list of ranks shows a process per GPU",
                    .speaks_for = single});
  }
  evidence_of_network(facts, machine, list);
  return list;
}

}  // namespace ringside::study
