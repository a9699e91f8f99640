#include <array>
#include <memory>
#include <optional>
#include <string>

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nccl.h>

#include "common/error.hpp"
#include "common/units.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/nccl/device/cuda.hpp"
#include "real/backend/nccl/library.hpp"

namespace ringside {
namespace {

// The part of NVML's stable C interface that is used; its header is a package that few build
// machines have. Source: NVML API Reference Guide, "Device Queries", "NvLink Methods" and "Enumerations".
using NvmlDevice = struct nvmlDevice_st*;
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kP2pCapsIndexNvlink = 2;
constexpr int kP2pStatusOk = 0;

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// What only the driver's management library (libnvidia-ml.so.1, part of every driver) tells. Everything is
/// optional: a container may lack it.
class Nvml {
 public:
  /// Null when the library is not there or does not work.
  static std::unique_ptr<Nvml> load() {
    std::unique_ptr<Nvml> nvml(new Nvml);  // The constructor is private.
    return nvml->begin() ? std::move(nvml) : nullptr;
  }
  ~Nvml() {
    if (begun_) {
      shutdown_();
    }
    if (library_ != nullptr) {
      ::dlclose(library_);
    }
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// "580.159.03"; empty when it does not tell.
  std::string driver_version() const {
    std::array<char, 96> text{};
    return driver_version_(text.data(), text.size()) == kSuccess ? text.data() : "";
  }

  // GPUs are named by their PCI address, "0000:19:00.0".

  std::optional<Bytes> free_memory(const std::string& pci) const {
    NvmlMemory memory{};
    NvmlDevice device = device_at(pci);
    if (device == nullptr || memory_(device, &memory) != kSuccess) {
      return std::nullopt;
    }
    return Bytes{static_cast<std::int64_t>(memory.free)};
  }

  int computing_processes(const std::string& pci) const {
    NvmlDevice device = device_at(pci);
    unsigned count = 0;
    // Asked without room for a list, it tells how long the list is.
    const int status = device == nullptr ? kSuccess : processes_(device, &count, nullptr);
    return status == kSuccess || status == kInsufficientSize ? static_cast<int>(count) : 0;
  }

  /// As in GpuPair::kind.
  std::string link(const std::string& first, const std::string& second) const {
    NvmlDevice a = device_at(first);
    NvmlDevice b = device_at(second);
    if (a == nullptr || b == nullptr) {
      return "";
    }
    int status = 0;
    if (p2p_status_(a, b, kP2pCapsIndexNvlink, &status) == kSuccess && status == kP2pStatusOk) {
      return "NVLink";
    }
    int level = 0;
    if (common_ancestor_(a, b, &level) != kSuccess) {
      return "";
    }
    return pcie_kind(level);
  }

 private:
  Nvml() = default;

  bool begin() {
    library_ = ::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    begun_ = library_ != nullptr && find("nvmlInit_v2", init_) && find("nvmlShutdown", shutdown_) &&
             find("nvmlSystemGetDriverVersion", driver_version_) &&
             find("nvmlDeviceGetHandleByPciBusId_v2", device_) && find("nvmlDeviceGetMemoryInfo", memory_) &&
             find("nvmlDeviceGetComputeRunningProcesses_v3", processes_) &&
             find("nvmlDeviceGetP2PStatus", p2p_status_) &&
             find("nvmlDeviceGetTopologyCommonAncestor", common_ancestor_) && init_() == kSuccess;
    return begun_;
  }
  template <typename Function>
  bool find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    return function != nullptr;
  }
  NvmlDevice device_at(const std::string& pci) const {
    NvmlDevice result = nullptr;
    return device_(pci.c_str(), &result) == kSuccess ? result : nullptr;
  }

  void* library_ = nullptr;
  bool begun_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*driver_version_)(char*, unsigned) = nullptr;
  int (*device_)(const char*, NvmlDevice*) = nullptr;
  int (*memory_)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*processes_)(NvmlDevice, unsigned*, void*) = nullptr;
  int (*p2p_status_)(NvmlDevice, NvmlDevice, int, int*) = nullptr;
  int (*common_ancestor_)(NvmlDevice, NvmlDevice, int*) = nullptr;
};

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

GpuFacts facts_of(int gpu, const Nvml* nvml) {
  GpuFacts facts;
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, gpu) == cudaSuccess) {
    facts.model = properties.name;
    facts.capability = fmt::format("{}.{}", properties.major, properties.minor);
    facts.memory = {static_cast<std::int64_t>(properties.totalGlobalMem)};
    facts.multiprocessors = properties.multiProcessorCount;
  }
  std::array<char, 32> pci{};
  if (cudaDeviceGetPCIBusId(pci.data(), pci.size(), gpu) == cudaSuccess) {
    facts.pci = pci.data();
  }
  if (nvml != nullptr) {
    facts.free = nvml->free_memory(facts.pci);
    facts.processes = nvml->computing_processes(facts.pci);
  }
  return facts;
}

GpuPair link_of(int first, int second, const GpuMachine& machine, const Nvml* nvml) {
  int access = 0;
  cudaDeviceCanAccessPeer(&access, first, second);
  const auto pci = [&](int gpu) { return machine.gpus[static_cast<std::size_t>(gpu)].pci; };
  return {.first = first,
          .second = second,
          .kind = nvml != nullptr ? nvml->link(pci(first), pci(second)) : "",
          .peer_access = access != 0};
}

void find_nccl(GpuMachine& machine) {
  try {
    const std::shared_ptr<const NcclLibrary> library = NcclLibrary::load();
    machine.nccl_version = library->version();
    machine.nccl_library = library->path();
  } catch (const Error& error) {
    machine.nccl_library = error.what();
  }
}

}  // namespace

GpuMachine gpu_machine() {
  GpuMachine machine = {.built = true,
                        .cuda_built = cuda_version_text(CUDART_VERSION),
                        .nccl_built = fmt::format("{}.{}.{}", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)};
  const std::unique_ptr<Nvml> nvml = Nvml::load();
  int cuda_of_driver = 0;
  cudaDriverGetVersion(&cuda_of_driver);  // 0 without a driver.
  machine.driver_loaded = cuda_of_driver > 0;
  if (machine.driver_loaded) {
    machine.cuda_of_driver = cuda_version_text(cuda_of_driver);
    machine.driver = nvml ? nvml->driver_version() : "";
  }
  int num_gpus = 0;
  const cudaError_t status = cudaGetDeviceCount(&num_gpus);
  if (status != cudaSuccess && status != cudaErrorNoDevice) {
    machine.trouble = cuda_explanation(status);
    num_gpus = 0;
  }
  cudaGetLastError();  // It is reported here; later calls must not report it again.
  for (int gpu = 0; gpu < num_gpus; ++gpu) {
    machine.gpus.push_back(facts_of(gpu, nvml.get()));
  }
  for (int first = 0; first < num_gpus; ++first) {
    for (int second = first + 1; second < num_gpus; ++second) {
      machine.links.push_back(link_of(first, second, machine, nvml.get()));
    }
  }
  find_nccl(machine);
  return machine;
}

}  // namespace ringside
