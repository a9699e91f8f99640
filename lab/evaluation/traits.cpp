#include "lab/evaluation/traits.hpp"

#include <fmt/format.h>

#include "common/names.hpp"

namespace ringside {

std::vector<std::string> traits_of(const NcclSystem& system) {
  struct Trait {
    bool holds;
    std::string text;
  };
  const bool many = system.nodes > 1;
  const bool on_pcie = !many && system.link == GpuLink::pcie;
  constexpr int kManyNodes = 8;
  constexpr int kFullNode = 8;
  const double share = system.transport.peer_to_peer;
  const std::vector<Trait> all = {
      {true, fmt::format("GPUs of {}", name(system.architecture))},
      {many, fmt::format("network {}", name(system.network))},
      {many && system.gpus_per_node() <= 1, "one GPU per node"},
      {many && system.gpus_per_node() > system.nics, "GPUs share NICs"},
      {system.nodes >= kManyNodes, fmt::format("{} nodes or more", kManyNodes)},
      {!many && system.ranks < kFullNode, fmt::format("fewer than {} GPUs", kFullNode)},
      {!many && system.ranks >= kFullNode, fmt::format("{} GPUs or more", kFullNode)},
      {!many && system.link == GpuLink::nvlink, "cables without a switch"},
      {system.link == GpuLink::xgmi, "xGMI"},
      {on_pcie && share <= 0, "host memory by NCCL's rule"},
      {on_pcie && share > 0 && share < 1, "transport left open"},
      {on_pcie && share >= 1, "peer to peer"},
      {system.single_process, "one process for all GPUs"},
      {system.before_2_9, "NCCL before 2.9"},
      {system.algorithm || system.protocol, "algorithm or protocol forced"},
  };
  std::vector<std::string> texts;
  for (const Trait& trait : all) {
    if (trait.holds) {
      texts.push_back(trait.text);
    }
  }
  return texts;
}

}  // namespace ringside
