#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.hpp"
#include "scenario/machine/catalog.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {

/// What a data sheet (configs/catalog/gpus.yaml) says of a GPU, as far as links and reductions need it.
struct GpuModel {
  std::string name = {};
  Interval<double> memory_bandwidth =
      {};  ///< Data sheet, bytes per second; a range where a name stands for several cards.
  // Absent where the cards of one name differ, and where there is none.
  std::optional<Vendor> vendor = {};
  std::optional<Architecture> architecture = {};
  std::optional<int> pcie_generation = {};
  std::optional<int> nvlink_generation = {};
  std::optional<int> xgmi_generation = {};
  std::optional<int> num_links = {};             ///< NVLink or xGMI, per GPU.
  std::optional<BytesPerSecond> link_rate = {};  ///< Per NVLink or xGMI link, one direction.
  std::optional<bool> peer_to_peer = {};         ///< Over PCIe, with the vendor's driver.
  int taken_from = 0;  ///< Sheets of others that it is taken from; 0 = it has its own, or a person says all.
  bool alike = false;  ///< Those have such links or architecture; else they are all that there are.
};

/// Finds a model by any spelling: `RTX 3090`, `NVIDIA GeForce RTX 3090`, `H100-SXM5-80GB`; a family (`A100`)
/// stands for all its cards. Throws Error{bad_input} with the nearest names for a model that is not known.
GpuModel gpu_model(std::string_view text);

/// What the catalogue says of the GPU of a machine, with what its description says of it instead. An unknown
/// model is taken for one with such links (NVLink or xGMI of a stated generation) or architecture. Throws
/// Error{bad_input} where neither is said, nor memory bandwidth, or for a slip of the pen.
GpuModel gpu_model(const Machine& machine);

/// The data sheet of a model, however it is spelt; of a family (`A100`) that of its first card. Nothing for a
/// model that is not in the catalogue.
std::optional<GpuSheet> find_gpu_sheet(std::string_view text);
/// That of the GPU that a machine names.
std::optional<GpuSheet> find_gpu_sheet(const Machine& machine);

std::vector<std::string> gpu_model_names();
/// Those that a name may mean, the one that it is taken for first.
std::vector<std::string> gpu_models_called(std::string_view text);

/// γ: reducing a byte reads two and writes one, in memory of the GPU.
SecondsPerByte reduction_cost_of(const GpuModel& gpu, SpecNumbers numbers);

}  // namespace ringside
