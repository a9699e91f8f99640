// libnvidia-ml.so.1 of the rehearsal device: what real/backend/nccl/device/gpu_inventory.cpp asks of it.
// GPUs 2k and 2k+1 have NVLink between them; others are the farther apart the higher the numbers.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/gpu/rehearsal/cuda/settings.hpp"

namespace {

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
using Device = struct nvmlDevice_st*;

constexpr int kInvalidArgument = 2;
constexpr int kInsufficientSize = 7;

/// A device is its number and one.
std::size_t number(Device device) { return reinterpret_cast<std::size_t>(device) - 1; }

}  // namespace

extern "C" {
int nvmlInit_v2() { return rehearsal::settings().driver == 0 ? 9 : 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "rehearsal");
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, Device* device) {
  unsigned bus = 0;
  if (std::sscanf(pci, "0000:%x:00.0", &bus) != 1 || bus == 0 ||
      bus > static_cast<unsigned>(rehearsal::settings().gpus)) {
    return kInvalidArgument;
  }
  *device = reinterpret_cast<Device>(static_cast<std::size_t>(bus));
  return 0;
}
int nvmlDeviceGetMemoryInfo(Device, Memory* memory) {
  const auto all = static_cast<unsigned long long>(rehearsal::settings().memory);
  *memory = {.total = all, .free = all, .used = 0};
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device, unsigned* count, void*) {
  *count = static_cast<unsigned>(rehearsal::settings().others);
  return *count == 0 ? 0 : kInsufficientSize;
}
int nvmlDeviceGetP2PStatus(Device first, Device second, int, int* status) {
  *status = rehearsal::settings().peers && number(first) / 2 == number(second) / 2 ? 0 : 1;
  return 0;
}
int nvmlDeviceGetTopologyCommonAncestor(Device first, Device second, int* level) {
  const std::size_t apart =
      number(first) < number(second) ? number(second) - number(first) : number(first) - number(second);
  *level = apart <= 1 ? 10 : apart == 2 ? 30 : apart == 3 ? 40 : 50;
  return 0;
}
}
