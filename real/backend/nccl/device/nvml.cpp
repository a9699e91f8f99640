#include "real/backend/nccl/device/nvml.hpp"

#include <array>

#include <dlfcn.h>

namespace ringside {
namespace {

// The part of NVML's stable C interface that is used; its header is a package that few build
// machines have. Source: NVML API Reference Guide, "Device Queries", "NvLink Methods" and "Enumerations".
using NvmlDevice = struct nvmlDevice_st*;
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kP2pCapsIndexNvlink = 2;
constexpr int kP2pStatusOk = 0;
constexpr int kTopologyMultiple = 20;    ///< Within PCIe switches.
constexpr int kTopologyHostBridge = 30;  ///< Through one host bridge.
constexpr int kTopologyNode = 40;        ///< Between host bridges of one NUMA node.

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device)(const char*, NvmlDevice*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*processes)(NvmlDevice, unsigned*, void*) = nullptr;
  int (*p2p_status)(NvmlDevice, NvmlDevice, int, int*) = nullptr;
  int (*common_ancestor)(NvmlDevice, NvmlDevice, int*) = nullptr;

  bool find_all() {
    return find(handle, "nvmlInit_v2", init) && find(handle, "nvmlShutdown", shutdown) &&
           find(handle, "nvmlSystemGetDriverVersion", driver_version) &&
           find(handle, "nvmlDeviceGetHandleByPciBusId_v2", device) &&
           find(handle, "nvmlDeviceGetMemoryInfo", memory) &&
           find(handle, "nvmlDeviceGetComputeRunningProcesses_v3", processes) &&
           find(handle, "nvmlDeviceGetP2PStatus", p2p_status) &&
           find(handle, "nvmlDeviceGetTopologyCommonAncestor", common_ancestor);
  }

  NvmlDevice device_at(const std::string& pci) const {
    NvmlDevice result = nullptr;
    return device(pci.c_str(), &result) == kSuccess ? result : nullptr;
  }
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Nvml::~Nvml() {
  library_->shutdown();
  ::dlclose(library_->handle);
}

std::unique_ptr<Nvml> Nvml::load() {
  auto library = std::make_unique<Library>();
  library->handle = ::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library->handle == nullptr) {
    return nullptr;
  }
  if (!library->find_all() || library->init() != kSuccess) {
    ::dlclose(library->handle);
    return nullptr;
  }
  return std::unique_ptr<Nvml>(new Nvml(std::move(library)));  // The constructor is private.
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  return library_->driver_version(text.data(), text.size()) == kSuccess ? text.data() : "";
}

std::optional<Bytes> Nvml::free_memory(const std::string& pci) const {
  NvmlMemory memory{};
  NvmlDevice device = library_->device_at(pci);
  if (device == nullptr || library_->memory(device, &memory) != kSuccess) {
    return std::nullopt;
  }
  return Bytes{static_cast<std::int64_t>(memory.free)};
}

int Nvml::computing_processes(const std::string& pci) const {
  NvmlDevice device = library_->device_at(pci);
  unsigned count = 0;
  // Asked without room for a list, it tells how long the list is.
  const int status = device == nullptr ? kSuccess : library_->processes(device, &count, nullptr);
  return status == kSuccess || status == kInsufficientSize ? static_cast<int>(count) : 0;
}

std::string Nvml::link(const std::string& first, const std::string& second) const {
  NvmlDevice a = library_->device_at(first);
  NvmlDevice b = library_->device_at(second);
  if (a == nullptr || b == nullptr) {
    return "";
  }
  int status = 0;
  if (library_->p2p_status(a, b, kP2pCapsIndexNvlink, &status) == kSuccess && status == kP2pStatusOk) {
    return "NVLink";
  }
  int level = 0;
  if (library_->common_ancestor(a, b, &level) != kSuccess) {
    return "";
  }
  if (level <= kTopologyMultiple) {
    return "PCIe switch";
  }
  if (level <= kTopologyHostBridge) {
    return "PCIe host bridge";
  }
  return level <= kTopologyNode ? "PCIe between host bridges" : "PCIe inter-socket link";
}

}  // namespace ringside
