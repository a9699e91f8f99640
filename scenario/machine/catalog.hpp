#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "scenario/machine/machine.hpp"

/// What data sheets say: configs/catalog/, built into the program and so the same everywhere.
namespace ringside {

/// A GPU of configs/catalog/gpus.yaml. What is absent is not there (no NVLink) or not published.
struct GpuSheet {
  std::string model = {};
  Vendor vendor = Vendor::nvidia;
  Architecture architecture = Architecture::ampere;
  Bytes memory = {};
  BytesPerSecond memory_bandwidth = {};
  // Dense rates, 10^12 operations per second.
  std::optional<double> fp32 = {};
  std::optional<double> tf32 = {};
  std::optional<double> bf16 = {};
  std::optional<double> fp16 = {};
  int pcie_generation = 0;
  int pcie_lanes = 16;
  std::optional<int> nvlink_generation = {};
  std::optional<int> xgmi_generation = {};
  std::optional<int> links = {};  ///< NVLink or xGMI.
  std::optional<BytesPerSecond> links_bandwidth =
      {};                                 ///< All links, both directions, as data sheets print it.
  std::optional<bool> peer_to_peer = {};  ///< Over PCIe, with the vendor's driver.
  std::vector<std::string> sources = {};
  std::vector<std::string> unverified = {};  ///< Keys that no source above confirms.

  bool operator==(const GpuSheet&) const = default;
};

/// In the order of the file.
const std::vector<GpuSheet>& gpu_sheets();

}  // namespace ringside
