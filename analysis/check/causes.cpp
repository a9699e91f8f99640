#include "analysis/check/causes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "analysis/check/expected_times.hpp"
#include "common/mapped.hpp"
#include "sim/nccl/system.hpp"
#include "sim/topology/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {
namespace {

bool has_slots(const Machine& machine) { return machine.intra && machine.intra->kind == IntraKind::pcie; }

void copy_through_host(Machine& machine) {
  machine.intra = has_slots(machine) ? machine.intra : IntraLink{.kind = IntraKind::pcie};
  machine.intra->peer_to_peer = false;
}

/// A GPU has this part of the lanes of its slot.
void share_slots(IntraLink& intra, int parts) {
  intra.lanes = intra.lanes.value_or(16) / parts;
  if (intra.bandwidth) {
    intra.bandwidth->value /= parts;
  }
}

void halve_slots(Machine& machine) {
  if (has_slots(machine)) {
    share_slots(*machine.intra, 2);
  }
}

void halve_links(Machine& machine) {
  const bool cabled = machine.intra && machine.gpu && machine.intra->kind != IntraKind::pcie &&
                      machine.intra->kind != IntraKind::custom;
  const auto known = cabled ? gpu_model(machine).num_links : std::nullopt;
  const int links = cabled ? machine.intra->links_per_gpu.value_or(known.value_or(0)) : 0;
  if (links > 1) {
    machine.intra->links_per_gpu = links / 2;
    machine.intra->bandwidth.reset();
  }
}

void use_sockets(Machine& machine) {
  // NCCL's sockets use one interface of the host, as a rule of at most 100 Gb/s.
  constexpr BytesPerSecond kHostInterface{100e9 / 8};
  if (machine.inter && machine.inter->kind != InterKind::ethernet && machine.inter->rate) {
    machine.inter = InterLink{.kind = InterKind::ethernet,
                              .rate = std::min(*machine.inter->rate, kHostInterface),
                              .nics = 1,
                              .gpudirect = false};
  }
}

/// A switch with ACS sends what goes from device to device up its link to the host bridge, and down again.
void cross_host_bridge(Machine& machine) {
  const bool slots = has_slots(machine);
  const int on_switch = slots ? machine.intra->gpus_per_switch.value_or(1) : 1;
  const int lanes = slots ? machine.intra->lanes.value_or(16) : 16;
  if (on_switch > 1 && lanes >= on_switch && machine.intra->peer_to_peer != false) {
    // The GPUs of a switch share its link.
    machine.intra->gpus_per_switch.reset();
    share_slots(*machine.intra, on_switch);
  }
  const auto generation = !machine.gpu                         ? std::nullopt
                          : slots && machine.intra->generation ? machine.intra->generation
                                                               : gpu_model(machine).pcie_generation;
  if (generation && machine.inter && machine.inter->rate && machine.inter->kind != InterKind::ethernet &&
      machine.inter->gpudirect != false) {
    // Each direction of the link carries what the NIC sends and what it receives.
    const double half = pcie_slot(*generation, lanes, true).data_sheet.value / 2;
    machine.inter->rate->value = std::min(machine.inter->rate->value, half);
  }
}

/// A cause. `change` turns the description into that of a machine with the cause, where it can apply.
struct CauseRow {
  Cause cause;
  std::string_view sentence;
  std::string_view command;
  void (*change)(Machine& machine) = nullptr;
  bool forced = false;  ///< A setting forces an algorithm or a protocol.
};

constexpr std::string_view kNetworkCommand =
    "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET: `NET/IB : Using` lists the NICs; ibstat shows their rate "
    "and state";
constexpr std::string_view kEnvironmentCommand = "env | grep NCCL_, also in /etc/nccl.conf and ~/.nccl.conf";

constexpr auto kCauses = std::to_array<CauseRow>({
    {Cause::none, "the description fits", ""},
    {Cause::something_else, "none of the causes that ringside knows fits well", ""},
    {Cause::peer_to_peer_off, "GPUs do not reach each other's memory: copies go through host memory",
     "nvidia-smi topo -p2p r; p2pBandwidthLatencyTest; NCCL_DEBUG=INFO shows `via SHM`", copy_through_host},
    {Cause::slots_half, "PCIe slots at half their rate: 8 lanes of 16, or one generation less",
     "nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.width.current --format=csv, while copies run",
     halve_slots},
    {Cause::links_half, "half of the links between GPUs are down", "nvidia-smi nvlink --status", halve_links},
    {Cause::nvls_off, "NVLS (reduction in the NVSwitches) is not used",
     "NCCL_DEBUG=INFO: `NVLS multicast support is available`; systemctl status nvidia-fabricmanager",
     [](Machine& machine) { machine.software.nccl_algo = "^NVLS"; }},
    {Cause::half_nics, "half of the NICs are used", kNetworkCommand,
     [](Machine& machine) {
       if (machine.inter && machine.inter->nics > 1) {
         machine.inter->nics /= 2;
       }
     }},
    {Cause::one_nic, "one NIC is used for the whole node", kNetworkCommand,
     [](Machine& machine) {
       if (machine.inter && machine.inter->nics > 2) {
         machine.inter->nics = 1;
       }
     }},
    {Cause::shared_nic, "half of the ranks use one NIC, which carries half of the node's traffic",
     kNetworkCommand,
     [](Machine& machine) {
       // The node passes twice what that NIC does.
       if (machine.inter && machine.inter->nics > 4) {
         machine.inter->nics = 2;
       }
     }},
    {Cause::nics_half_rate, "one NIC, or every NIC, at half its rate", kNetworkCommand,
     [](Machine& machine) {
       if (machine.inter && machine.inter->rate) {
         machine.inter->rate->value /= 2;
       }
     }},
    {Cause::tcp, "TCP sockets instead of RDMA",
     "NCCL_DEBUG=INFO: `Using network Socket` instead of IB or a plugin; ls /sys/class/infiniband",
     use_sockets},
    {Cause::gpudirect_off, "NICs do not reach the GPUs' memory (no GPUDirect RDMA)",
     "NCCL_DEBUG=INFO: no `GDRDMA` behind `via NET`; lsmod | grep -E 'nvidia_peermem|nv_peer_mem'",
     [](Machine& machine) {
       if (machine.inter && machine.inter->kind != InterKind::ethernet) {
         machine.inter->gpudirect = false;
       }
     }},
    {Cause::acs, "PCIe switches send traffic between GPUs and NICs through the host bridge (ACS or IOMMU)",
     "sudo lspci -vvv | grep ACSCtl: `SrcValid+` is on; cat /proc/cmdline: iommu", cross_host_bridge},
    {Cause::algorithm_ring, "the algorithm Ring is forced", kEnvironmentCommand,
     [](Machine& machine) { machine.software.nccl_algo = "Ring"; }, true},
    {Cause::algorithm_tree, "the algorithm Tree is forced", kEnvironmentCommand,
     [](Machine& machine) { machine.software.nccl_algo = "Tree"; }, true},
    {Cause::protocol_ll, "the protocol LL is forced", kEnvironmentCommand,
     [](Machine& machine) { machine.software.nccl_proto = "LL"; }, true},
    {Cause::protocol_ll128, "the protocol LL128 is forced", kEnvironmentCommand,
     [](Machine& machine) { machine.software.nccl_proto = "LL128"; }, true},
    {Cause::protocol_simple, "the protocol Simple is forced", kEnvironmentCommand,
     [](Machine& machine) { machine.software.nccl_proto = "Simple"; }, true},
    {Cause::one_process, "one process starts the kernels of all GPUs of a node in turn",
     "mpirun with one process per GPU and -g 1",
     [](Machine& machine) { machine.software.processes = Processes::single; }},
});

const CauseRow& cause_row(Cause cause) { return *std::ranges::find(kCauses, cause, &CauseRow::cause); }

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
  std::ranges::transform(a, b, result.begin(), std::minus<>());
  return result;
}

/// Most probable first.
std::vector<SuspectedCause> by_probability(std::vector<Candidate> candidates) {
  const double most = std::ranges::max_element(candidates, {}, &Candidate::weight)->weight;
  double total = 0;
  for (const Candidate& candidate : candidates) {
    total += std::exp(candidate.weight - most);
  }
  std::vector<SuspectedCause> result;
  for (Candidate& candidate : candidates) {
    candidate.suspected.probability = std::exp(candidate.weight - most) / total;
    result.push_back(std::move(candidate.suspected));
  }
  std::ranges::stable_sort(result, std::greater<>(), &SuspectedCause::probability);
  return result;
}

}  // namespace

std::string_view sentence(Cause cause) { return cause_row(cause).sentence; }
std::string_view telling_command(Cause cause) { return cause_row(cause).command; }

Machine with_cause(const Machine& machine, Cause cause) {
  Machine changed = machine;
  if (const auto change = cause_row(cause).change) {
    change(changed);
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
  const std::vector<double> measured =
      mapped(points, [](const Point& point) { return std::log(point.measured->seconds.value); });
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
    if (std::ranges::none_of(slowdown, [](double by) { return by > kNoticedSlowdown; })) {
      continue;
    }
    const double mean =
        std::accumulate(slowdown.begin(), slowdown.end(), 0.0) / static_cast<double>(slowdown.size());
    Candidate candidate{.suspected = {.cause = change.cause, .ratio = std::exp(-mean)},
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
