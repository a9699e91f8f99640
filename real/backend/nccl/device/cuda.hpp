#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <cuda_runtime_api.h>

#include "common/error.hpp"

/// Owners of what the CUDA runtime hands out, and its errors as ours. Everything is of the current device.
namespace ringside {

/// What a status means, as a clause that goes on after "GPU 0 failed: ".
std::string cuda_explanation(cudaError_t status);

/// What went wrong on a GPU while `doing`, as an error of the right kind: too little memory, a GPU that
/// another process has for itself, a driver that does not fit are `environment`; everything else is `failed`.
Error cuda_error(cudaError_t status, int gpu, std::string_view doing);

/// Throws cuda_error() unless all is well.
void check_cuda(cudaError_t status, int gpu, std::string_view doing);

/// From now on this process frees no memory of GPUs: that waits for what runs there, which may never end.
void give_up_gpu();

/// Memory of a GPU, zero at first.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws Error{environment} with how much was asked for and how much is free.
  DeviceMemory(std::int64_t bytes, int gpu);
  DeviceMemory(DeviceMemory&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceMemory();

  /// Aligned to 256 bytes, as cudaMalloc() promises. Null when empty.
  std::byte* data() const { return bytes_; }
  std::int64_t size() const { return size_; }

 private:
  std::byte* bytes_ = nullptr;
  std::int64_t size_ = 0;
};

class CudaStream {
 public:
  explicit CudaStream(int gpu);
  ~CudaStream() { cudaStreamDestroy(stream_); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class CudaEvent {
 public:
  enum class Use { order, time };  ///< Events that keep no time are cheaper.
  CudaEvent(Use use, int gpu);
  ~CudaEvent() { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A graph that can be launched; empty at first.
class CudaGraph {
 public:
  CudaGraph() = default;
  /// Takes `graph`, which must have been captured.
  CudaGraph(cudaGraph_t graph, int gpu);
  CudaGraph(CudaGraph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
  CudaGraph& operator=(CudaGraph&& other) noexcept {
    std::swap(executable_, other.executable_);
    return *this;
  }
  ~CudaGraph();

  explicit operator bool() const { return executable_ != nullptr; }
  cudaGraphExec_t get() const { return executable_; }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace ringside
