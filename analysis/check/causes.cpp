#include "analysis/check/causes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analysis/check/expected_times.hpp"
#include "sim/nccl/system.hpp"
#include "sim/topology/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {
namespace {

IntraLink through_host(const Machine& machine) {
  IntraLink intra = machine.intra && machine.intra->kind == IntraKind::pcie
                        ? *machine.intra
                        : IntraLink{.kind = IntraKind::pcie};
  intra.peer_to_peer = false;
  return intra;
}

void halve_slots(const Machine& machine, Machine& changed) {
  if (machine.intra && machine.intra->kind == IntraKind::pcie) {
    changed.intra->lanes = machine.intra->lanes.value_or(16) / 2;
    if (machine.intra->bandwidth) {
      changed.intra->bandwidth = BytesPerSecond{machine.intra->bandwidth->value / 2};
    }
  }
}

void halve_links(const Machine& machine, Machine& changed) {
  const bool cabled = machine.intra && machine.gpu && machine.intra->kind != IntraKind::pcie &&
                      machine.intra->kind != IntraKind::custom;
  const auto known = cabled ? gpu_model(machine).num_links : std::nullopt;
  const int links = cabled ? machine.intra->links_per_gpu.value_or(known.value_or(0)) : 0;
  if (links > 1) {
    changed.intra->links_per_gpu = links / 2;
    changed.intra->bandwidth.reset();
  }
}

void use_sockets(const Machine& machine, Machine& changed) {
  // NCCL's sockets use one interface of the host, as a rule of at most 100 Gb/s.
  constexpr double kHostInterface = 100e9 / 8;
  if (machine.inter && machine.inter->kind != InterKind::ethernet && machine.inter->rate) {
    changed.inter = InterLink{.kind = InterKind::ethernet,
                              .rate = BytesPerSecond{std::min(machine.inter->rate->value, kHostInterface)},
                              .nics = 1,
                              .gpudirect = false};
  }
}

/// A switch with ACS sends what goes from device to device up its link to the host bridge, and down again.
void cross_host_bridge(const Machine& machine, Machine& changed) {
  const bool slots = machine.intra && machine.intra->kind == IntraKind::pcie;
  const int on_switch = slots ? machine.intra->gpus_per_switch.value_or(1) : 1;
  const int lanes = slots ? machine.intra->lanes.value_or(16) : 16;
  if (on_switch > 1 && lanes >= on_switch && machine.intra->peer_to_peer != false) {
    // The GPUs of a switch share its link.
    changed.intra->gpus_per_switch.reset();
    changed.intra->lanes = lanes / on_switch;
    if (machine.intra->bandwidth) {
      changed.intra->bandwidth = BytesPerSecond{machine.intra->bandwidth->value / on_switch};
    }
  }
  const auto generation = !machine.gpu                         ? std::nullopt
                          : slots && machine.intra->generation ? machine.intra->generation
                                                               : gpu_model(machine).pcie_generation;
  if (generation && machine.inter && machine.inter->rate && machine.inter->kind != InterKind::ethernet &&
      machine.inter->gpudirect != false) {
    // Each direction of the link carries what the NIC sends and what it receives.
    const double half = pcie_slot(*generation, lanes, true).data_sheet.value / 2;
    changed.inter->rate = BytesPerSecond{std::min(machine.inter->rate->value, half)};
  }
}

using Change = void (*)(const Machine& machine, Machine& changed);

/// A cause. `change` turns the description into that of a machine with the cause, where it can apply.
struct CauseRow {
  Cause cause;
  std::string_view name;
  std::string_view sentence;
  std::string_view command;
  Change change = nullptr;
  bool forced = false;  ///< A setting forces an algorithm or a protocol.
};

constexpr std::string_view kNetworkCommand =
    "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET: `NET/IB : Using` lists the NICs; ibstat shows their rate "
    "and state";
constexpr std::string_view kEnvironmentCommand = "env | grep NCCL_, also in /etc/nccl.conf and ~/.nccl.conf";

constexpr auto kCauses = std::to_array<CauseRow>({
    {Cause::none, "none", "the description fits", ""},
    {Cause::something_else, "something_else", "none of the causes that ringside knows fits well", ""},
    {Cause::peer_to_peer_off, "peer_to_peer_off",
     "GPUs do not reach each other's memory: copies go through host memory",
     "nvidia-smi topo -p2p r; p2pBandwidthLatencyTest; NCCL_DEBUG=INFO shows `via SHM`",
     [](const Machine& m, Machine& to) { to.intra = through_host(m); }},
    {Cause::slots_half, "slots_half", "PCIe slots at half their rate: 8 lanes of 16, or one generation less",
     "nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.width.current --format=csv, while copies run",
     halve_slots},
    {Cause::links_half, "links_half", "half of the links between GPUs are down", "nvidia-smi nvlink --status",
     halve_links},
    {Cause::nvls_off, "nvls_off", "NVLS (reduction in the NVSwitches) is not used",
     "NCCL_DEBUG=INFO: `NVLS multicast support is available`; systemctl status nvidia-fabricmanager",
     [](const Machine&, Machine& to) { to.software.nccl_algo = "^NVLS"; }},
    {Cause::half_nics, "half_nics", "half of the NICs are used", kNetworkCommand,
     [](const Machine& m, Machine& to) {
       if (m.inter && m.inter->nics > 1) {
         to.inter->nics = m.inter->nics / 2;
       }
     }},
    {Cause::one_nic, "one_nic", "one NIC is used for the whole node", kNetworkCommand,
     [](const Machine& m, Machine& to) {
       if (m.inter && m.inter->nics > 2) {
         to.inter->nics = 1;
       }
     }},
    {Cause::shared_nic, "shared_nic",
     "half of the ranks use one NIC, which carries half of the node's traffic", kNetworkCommand,
     [](const Machine& m, Machine& to) {
       // The node passes twice what that NIC does.
       if (m.inter && m.inter->nics > 4) {
         to.inter->nics = 2;
       }
     }},
    {Cause::nics_half_rate, "nics_half_rate", "one NIC, or every NIC, at half its rate", kNetworkCommand,
     [](const Machine& m, Machine& to) {
       if (m.inter && m.inter->rate) {
         to.inter->rate = BytesPerSecond{m.inter->rate->value / 2};
       }
     }},
    {Cause::tcp, "tcp", "TCP sockets instead of RDMA",
     "NCCL_DEBUG=INFO: `Using network Socket` instead of IB or a plugin; ls /sys/class/infiniband",
     use_sockets},
    {Cause::gpudirect_off, "gpudirect_off", "NICs do not reach the GPUs' memory (no GPUDirect RDMA)",
     "NCCL_DEBUG=INFO: no `GDRDMA` behind `via NET`; lsmod | grep -E 'nvidia_peermem|nv_peer_mem'",
     [](const Machine& m, Machine& to) {
       if (m.inter && m.inter->kind != InterKind::ethernet) {
         to.inter->gpudirect = false;
       }
     }},
    {Cause::acs, "acs",
     "PCIe switches send traffic between GPUs and NICs through the host bridge (ACS or IOMMU)",
     "sudo lspci -vvv | grep ACSCtl: `SrcValid+` is on; cat /proc/cmdline: iommu", cross_host_bridge},
    {Cause::algorithm_ring, "algorithm_ring", "the algorithm Ring is forced", kEnvironmentCommand,
     [](const Machine&, Machine& to) { to.software.nccl_algo = "Ring"; }, true},
    {Cause::algorithm_tree, "algorithm_tree", "the algorithm Tree is forced", kEnvironmentCommand,
     [](const Machine&, Machine& to) { to.software.nccl_algo = "Tree"; }, true},
    {Cause::protocol_ll, "protocol_ll", "the protocol LL is forced", kEnvironmentCommand,
     [](const Machine&, Machine& to) { to.software.nccl_proto = "LL"; }, true},
    {Cause::protocol_ll128, "protocol_ll128", "the protocol LL128 is forced", kEnvironmentCommand,
     [](const Machine&, Machine& to) { to.software.nccl_proto = "LL128"; }, true},
    {Cause::protocol_simple, "protocol_simple", "the protocol Simple is forced", kEnvironmentCommand,
     [](const Machine&, Machine& to) { to.software.nccl_proto = "Simple"; }, true},
    {Cause::one_process, "one_process", "one process starts the kernels of all GPUs of a node in turn",
     "mpirun with one process per GPU and -g 1",
     [](const Machine&, Machine& to) { to.software.processes = Processes::single; }},
});

const CauseRow& cause_row(Cause cause) {
  return *std::find_if(kCauses.begin(), kCauses.end(),
                       [&](const CauseRow& row) { return row.cause == cause; });
}

/// log of the times that are expected with a cause; nothing where it cannot apply.
std::optional<std::vector<double>> log_times(ExpectedTimes& expected, Cause cause,
                                             std::span<const Point> points) {
  std::vector<double> result;
  for (const Point& point : points) {
    const auto time = expected.log_seconds(cause, point.key);
    if (!time) {
      return std::nullopt;
    }
    result.push_back(*time);
  }
  return result;
}

struct Candidate {
  SuspectedCause suspected = {};
  double weight = 0;  ///< Logarithm of prior times likelihood.
};

void weigh_evidence(Candidate& candidate, std::span<const CauseEvidence> evidence) {
  constexpr double kHundredfold = 4.605;
  for (const CauseEvidence& one : evidence) {
    if (one.cause == candidate.suspected.cause) {
      candidate.weight += one.speaks_for ? kHundredfold : -kHundredfold;
      candidate.suspected.evidence.push_back(one.sentence);
    }
  }
}

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::minus<>());
  return result;
}

double mean_over(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Most probable first.
std::vector<SuspectedCause> by_probability(std::vector<Candidate> candidates) {
  const auto lighter = [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; };
  const double most = std::max_element(candidates.begin(), candidates.end(), lighter)->weight;
  double total = 0;
  for (const Candidate& candidate : candidates) {
    total += std::exp(candidate.weight - most);
  }
  std::vector<SuspectedCause> result;
  for (Candidate& candidate : candidates) {
    candidate.suspected.probability = std::exp(candidate.weight - most) / total;
    result.push_back(std::move(candidate.suspected));
  }
  std::stable_sort(result.begin(), result.end(), [](const SuspectedCause& a, const SuspectedCause& b) {
    return a.probability > b.probability;
  });
  return result;
}

}  // namespace

std::string_view name(Cause cause) { return cause_row(cause).name; }
std::string_view sentence(Cause cause) { return cause_row(cause).sentence; }
std::string_view telling_command(Cause cause) { return cause_row(cause).command; }

Machine with_cause(const Machine& machine, Cause cause) {
  Machine changed = machine;
  if (const Change change = cause_row(cause).change) {
    change(machine, changed);
  }
  return changed;
}

std::vector<SuspectedCause> suspected_causes(ExpectedTimes& expected, std::span<const Point> points,
                                             std::span<const CauseEvidence> evidence) {
  const int ranks = points.empty() ? 0 : points.front().key.ranks;
  const auto system = points.empty() ? std::nullopt : expected.system(Cause::none, ranks);
  if (!system) {
    return {};
  }
  const NcclFit& fit = expected.fit();
  std::vector<double> measured;
  for (const Point& point : points) {
    measured.push_back(std::log(point.measured->seconds.value));
  }
  /// Only a setting keeps GPUs from using the cables between them, or forces an algorithm or a protocol.
  constexpr double kNeedsASetting = 0.15;
  /// Standard deviation of the logarithm where the cause is none of the list.
  constexpr double kAnySpread = 1.2;
  const auto as_described = log_times(expected, Cause::none, points);
  if (!as_described) {
    return {};
  }
  const std::vector<double>& described = *as_described;
  std::vector<Candidate> candidates;
  candidates.push_back({.suspected = {.cause = Cause::none},
                        .weight = std::log(kNoneBeforehand) +
                                  expected.likelihood().log_of(differences(measured, described), points,
                                                               fit.spread(system->kind()))});
  NcclSpread any = fit.spread(system->kind());
  any.latency = any.bytes = kAnySpread;
  candidates.push_back(
      {.suspected = {.cause = Cause::something_else},
       .weight = expected.likelihood().log_of(differences(measured, described), points, any)});
  for (const CauseRow& change : kCauses) {
    // Ring forced and NVLS off are one on a node where NVLS is what would be taken.
    if (change.change == nullptr || (change.cause == Cause::nvls_off && !system->has_nvls()) ||
        (change.cause == Cause::algorithm_ring && system->has_nvls() && system->nodes == 1)) {
      continue;
    }
    const std::optional<NcclSystem>& other = expected.system(change.cause, ranks);
    const auto times = other ? log_times(expected, change.cause, points) : std::nullopt;
    if (!times) {
      continue;
    }
    const std::vector<double> slowdown = differences(*times, described);
    if (std::none_of(slowdown.begin(), slowdown.end(), [](double by) { return by > kNoticedSlowdown; })) {
      continue;
    }
    Candidate candidate{.suspected = {.cause = change.cause, .ratio = std::exp(-mean_over(slowdown))},
                        .weight = expected.likelihood().log_of(differences(measured, *times), points,
                                                               fit.spread(other->kind()))};
    if (change.forced || (change.cause == Cause::peer_to_peer_off && system->link != GpuLink::pcie)) {
      candidate.weight += std::log(kNeedsASetting);
    }
    weigh_evidence(candidate, evidence);
    candidates.push_back(std::move(candidate));
  }
  return by_probability(std::move(candidates));
}

std::vector<CauseEvidence> ruled_out_by(ExpectedTimes& alone, std::span<const Point> points,
                                        const std::string& sentence) {
  std::vector<CauseEvidence> against;
  for (const CauseRow& row : kCauses) {
    double by = 0;
    double slower = 0;
    for (const Point& point : points) {
      const double of_cause = alone.log_slowdown(row.cause, point.key).value_or(0);
      if (of_cause > kNoticedSlowdown) {
        by += of_cause;
        slower += std::log(point.measured->seconds.value) - *alone.log_seconds(Cause::none, point.key);
      }
    }
    // Nearer the description than the cause, at the sizes that it slows.
    if (by > 0 && slower < by / 2) {
      against.push_back({.cause = row.cause, .sentence = sentence, .speaks_for = false});
    }
  }
  return against;
}

}  // namespace ringside
