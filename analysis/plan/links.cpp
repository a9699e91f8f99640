#include "analysis/plan/links.hpp"

#include <fmt/format.h>

#include "sim/topology/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {

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
  if (intra.bandwidth) {
    return intra.bandwidth;
  }
  const auto sheet = machine.gpu ? find_gpu_sheet(machine.gpu->model) : std::nullopt;
  const auto stated_or = [](const std::optional<int>& stated, std::optional<int> known) {
    return stated ? stated : known;
  };
  const auto rate = [](const LinkSheet& kind, int links) {
    return BytesPerSecond{links * kind.bandwidth.typical};
  };
  switch (intra.kind) {
    case IntraKind::custom:
      return std::nullopt;
    case IntraKind::pcie: {
      const auto generation =
          stated_or(intra.generation, sheet ? std::optional(sheet->pcie_generation) : std::nullopt);
      return generation ? std::optional(rate(pcie_slot(*generation, intra.lanes.value_or(16), true), 1))
                        : std::nullopt;
    }
    case IntraKind::nvlink: {
      const auto generation = stated_or(intra.generation, sheet ? sheet->nvlink_generation : std::nullopt);
      const auto links = stated_or(intra.links_per_gpu, sheet ? sheet->links : std::nullopt);
      return generation && links ? std::optional(rate(nvlink(*generation), *links)) : std::nullopt;
    }
    case IntraKind::xgmi: {
      const auto generation = stated_or(intra.generation, sheet ? sheet->xgmi_generation : std::nullopt);
      const auto links = stated_or(intra.links_per_gpu, sheet ? sheet->links : std::nullopt);
      return generation && links ? std::optional(rate(xgmi(*generation), *links)) : std::nullopt;
    }
  }
  return std::nullopt;
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
  const auto sheet = machine.gpu ? find_gpu_sheet(machine.gpu->model) : std::nullopt;
  switch (intra.kind) {
    case IntraKind::custom:
      return intra.shared ? "shared medium" : "link";
    case IntraKind::pcie:
      return fmt::format("PCIe {}.0 x{}", intra.generation.value_or(sheet ? sheet->pcie_generation : 0),
                         intra.lanes.value_or(16));
    case IntraKind::nvlink:
      return fmt::format("NVLink {}",
                         intra.generation.value_or(sheet ? sheet->nvlink_generation.value_or(0) : 0));
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
