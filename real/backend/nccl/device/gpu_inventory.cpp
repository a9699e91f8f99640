#include "real/backend/nccl/device/gpu_inventory.hpp"

#include <array>
#include <memory>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>

#include "common/error.hpp"
#include "real/backend/nccl/device/cuda.hpp"
#include "real/backend/nccl/device/nvml.hpp"
#include "real/backend/nccl/library.hpp"

namespace ringside {
namespace {

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

GpuMachine gpu_inventory() {
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
