#include "analysis/plan/links.hpp"

#include <fmt/format.h>

#include "sim/topology/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {
namespace {

/// As the machine says it, else as the data sheet of its GPU.
std::optional<int> generation_of(const IntraLink& intra, const std::optional<GpuSheet>& sheet) {
  if (intra.generation || !sheet) {
    return intra.generation;
  }
  return intra.kind == IntraKind::pcie     ? sheet->pcie_generation
         : intra.kind == IntraKind::nvlink ? sheet->nvlink_generation
                                           : sheet->xgmi_generation;
}

}  // namespace

std::optional<BytesPerSecond> link_bandwidth(const Machine& machine) {
  if (machine.calibrated) {
    return machine.calibrated->bandwidth;
  }
  if (machine.nodes > 1 && machine.inter) {
    const InterLink& inter = *machine.inter;
    if (inter.kind == InterKind::custom) {
      return inter.bandwidth;
    }
    return inter.rate ? std::optional(BytesPerSecond{inter.nics *
                                                     network_link(inter.kind, *inter.rate).bandwidth.typical})
                      : std::nullopt;
  }
  if (!machine.intra) {
    return std::nullopt;
  }
  const IntraLink& intra = *machine.intra;
  if (intra.bandwidth || intra.kind == IntraKind::custom) {
    return intra.bandwidth;
  }
  const auto sheet = find_gpu_sheet(machine);
  const std::optional<int> generation = generation_of(intra, sheet);
  const auto known = sheet ? sheet->links : std::nullopt;
  const auto links = intra.kind == IntraKind::pcie ? 1 : intra.links_per_gpu ? intra.links_per_gpu : known;
  if (!generation || !links) {
    return std::nullopt;
  }
  const LinkSheet link = intra.kind == IntraKind::pcie
                             ? pcie_slot(*generation, intra.lanes.value_or(16), true)
                         : intra.kind == IntraKind::nvlink ? nvlink(*generation)
                                                           : xgmi(*generation);
  return BytesPerSecond{*links * link.bandwidth.typical};
}

std::string link_name(const Machine& machine) {
  if (machine.calibrated) {
    return "calibrated link";
  }
  if (machine.nodes > 1 && machine.inter) {
    return fmt::format("{} of a node", name(machine.inter->kind));
  }
  if (!machine.intra) {
    return "link";
  }
  const IntraLink& intra = *machine.intra;
  const int generation = generation_of(intra, find_gpu_sheet(machine)).value_or(0);
  switch (intra.kind) {
    case IntraKind::custom:
      return intra.shared ? "shared medium" : "link";
    case IntraKind::pcie:
      return fmt::format("PCIe {}.0 x{}", generation, intra.lanes.value_or(16));
    case IntraKind::nvlink:
      return fmt::format("NVLink {}", generation);
    case IntraKind::xgmi:
      return "xGMI";
  }
  return "link";
}

std::string link_words(const Machine& machine, bool per_gpu) {
  const auto rate = link_bandwidth(machine);
  return rate ? fmt::format("{} at {}{}", link_name(machine), format(*rate), per_gpu ? " per GPU" : "")
              : link_name(machine);
}

}  // namespace ringside
