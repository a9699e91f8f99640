#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scenario/plan/plan.hpp"

/// From what a listing says to a machine description; shared by its readers.
namespace ringside {

/// What a listing says of the GPUs; what is absent is assumed.
struct ListedGpus {
  std::string name;                       ///< As the listing spells it.
  std::optional<double> memory_mib = {};  ///< Memory of one GPU.
  int rented = 1;
  int in_machine = 1;
  std::optional<int> pcie_generation = {};
  std::optional<int> pcie_lanes = {};
  std::optional<double> pcie_rate = {};    ///< Host to GPU, measured, bytes per second.
  std::optional<double> nvlink_rate = {};  ///< One direction, as the listing has it; 0 = none.
};

/// Fills in the machine, its assumptions and, where the GPU is not in the catalogue, the problem.
void describe_machine(const ListedGpus& gpus, Offer& offer);

/// As the catalogue's data sheets would spell what a listing calls a GPU: `RTX 6000Ada`, `4080S`,
/// `RTX_3090Ti`, `RTX PRO 6000 WS`, `RTXA6000`. What it does not know stays as it is.
std::string catalogue_gpu_name(std::string_view listed);

}  // namespace ringside
