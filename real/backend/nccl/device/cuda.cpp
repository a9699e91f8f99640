#include "real/backend/nccl/device/cuda.hpp"

#include <atomic>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/units.hpp"

namespace ringside {
namespace {

std::atomic<bool> gpu_is_given_up = false;

/// Whether this machine lacks something, rather than something having gone wrong.
bool is_lack(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
    case cudaErrorInitializationError:
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string cuda_explanation(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "it has not enough free memory";
    case cudaErrorInitializationError:
      return "CUDA cannot be used here; where this process is a copy (fork) of another one, that one must "
             "not have used CUDA before";
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
      return "it is busy: another process has it for itself";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "this build has no kernels for it; build with CMAKE_CUDA_ARCHITECTURES set to its architecture";
    case cudaErrorSystemNotReady:
      return "its driver is not ready; on machines with NVSwitch the fabric manager must run";
    default:
      return fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
  }
}

Error cuda_error(cudaError_t status, int gpu, std::string_view doing) {
  return Error(is_lack(status) ? ErrorKind::environment : ErrorKind::failed,
               fmt::format("GPU {} failed while {}: {}", gpu, doing, cuda_explanation(status)));
}

void check_cuda(cudaError_t status, int gpu, std::string_view doing) {
  if (status != cudaSuccess) {
    cudaGetLastError();  // It is reported here; later calls must not report it again.
    throw cuda_error(status, gpu, doing);
  }
}

void give_up_gpu() { gpu_is_given_up = true; }

DeviceMemory::DeviceMemory(std::int64_t bytes, int gpu) : size_(bytes) {
  if (bytes == 0) {
    return;
  }
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    throw lacking("GPU {} has {} of {} free, but {} more are needed", gpu,
                  format(Bytes{static_cast<std::int64_t>(free)}),
                  format(Bytes{static_cast<std::int64_t>(total)}), format(Bytes{bytes}));
  }
  check_cuda(status, gpu, "taking memory");
  bytes_ = static_cast<std::byte*>(memory);
  // The default stream, which clears it, and the streams of ranks do not wait for each other.
  cudaError_t cleared = cudaMemset(memory, 0, static_cast<std::size_t>(bytes));
  if (cleared == cudaSuccess) {
    cleared = cudaStreamSynchronize(nullptr);
  }
  if (cleared != cudaSuccess) {
    cudaFree(memory);
    check_cuda(cleared, gpu, "clearing memory");
  }
}

DeviceMemory::~DeviceMemory() {
  if (!gpu_is_given_up) {
    cudaFree(bytes_);
  }
}

CudaStream::CudaStream(int gpu) {
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), gpu, "making a stream");
}

CudaEvent::CudaEvent(Use use, int gpu) {
  const unsigned flags = use == Use::time ? cudaEventDefault : cudaEventDisableTiming;
  check_cuda(cudaEventCreateWithFlags(&event_, flags), gpu, "making an event");
}

CudaGraph::CudaGraph(cudaGraph_t graph, int gpu) {
  const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status, gpu, "making a graph");
}

CudaGraph::~CudaGraph() {
  if (executable_ != nullptr) {
    cudaGraphExecDestroy(executable_);
  }
}

}  // namespace ringside
