#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/units.hpp"

/// The GPUs of this machine and all that ranks on them need, as far as this build can see it.
namespace ringside {

struct RankBackend;
struct RankPlace;

struct GpuFacts {
  std::string model = {};          ///< "NVIDIA H200"
  std::string capability = {};     ///< "9.0"
  std::string pci = {};            ///< "0000:19:00.0"
  Bytes memory = {};               ///< Memory of the device.
  std::optional<Bytes> free = {};  ///< None where the driver does not tell.
  int multiprocessors = 0;
  int processes = 0;  ///< That compute on it now, as far as the driver tells.
};

/// How two GPUs reach each other.
struct GpuPair {
  int first = 0;
  int second = 0;
  std::string kind =
      {};  ///< "NVLink", "PCIe switch", "PCIe host bridge", "inter-socket link"; empty = unknown
  bool peer_access = false;  ///< One reads and writes the other's memory without the host's.
};

struct GpuMachine {
  bool built = false;           ///< This build has the nccl backend.
  std::string cuda_built = {};  ///< CUDA of this build: "13.0".
  std::string nccl_built = {};  ///< NCCL whose header this build saw.
  bool driver_loaded = false;
  std::string driver = {};               ///< "580.159.03"; empty where nobody tells.
  std::string cuda_of_driver = {};       ///< The newest CUDA that the driver runs.
  std::optional<int> nccl_version = {};  ///< Version of the library found, as ncclGetVersion() writes it.
  std::string nccl_library = {};         ///< Where it was found, or, without a version, why it is of no use.
  std::string trouble = {};              ///< What the CUDA runtime said instead of listing GPUs.
  std::vector<GpuFacts> gpus = {};
  std::vector<GpuPair> links = {};  ///< Each pair once.
};

/// Never throws; makes no context on any GPU.
GpuMachine gpu_machine();

/// As in GpuPair::kind, for the common ancestor of two GPUs as NVML numbers it (nvmlGpuTopologyLevel_t).
std::string pcie_kind(int nvml_level);

/// One sentence that says what is missing to run ranks on GPUs here: the build, the driver, a GPU, or NCCL.
/// Nothing when all is there.
std::optional<std::string> missing_for_nccl(const GpuMachine& machine);

/// Why so many ranks do not find GPUs here; nothing when they do.
std::optional<std::string> too_few_gpus(int num_gpus, int num_ranks, int ranks_per_gpu);

/// In builds with the nccl backend: takes this rank's GPU and connects to all other ranks by NCCL. They meet
/// through Gloo, and agree over it on the next step. Throws as RegisteredBackend::join.
RankBackend join_nccl(const RankPlace& place);

}  // namespace ringside
