#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/gpu/rehearsal/cuda/worker.hpp"

/// What of the rehearsal device its runtime, its kernels and its NCCL share. A process has one GPU's memory,
/// that of its host, whichever GPU it takes; nothing here is timed as a GPU would be.
namespace rehearsal {

/// Part of a graph: the nodes before it, and on which captured stream it was put.
struct Node {
  Work work;
  std::vector<std::size_t> behind;
  std::size_t lane = 0;
};

/// What streams are putting into one graph.
struct Capture {
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::vector<Node> nodes = {};
  std::vector<cudaStream_t> streams = {};
  bool invalidated = false;
};

/// Puts work at the end of a stream, or into the graph that is captured from it. `call` is for messages.
cudaError_t put(const char* call, cudaStream_t stream, Work work);

/// The capture that a stream is part of, or null.
std::shared_ptr<const Capture> capture_of(cudaStream_t stream);

/// The GPU of the calling thread, and the one that this process took last.
int current_gpu();
int chosen_gpu();
/// Makes it that of the calling thread.
void use_gpu(int gpu);

/// Whether work may touch this memory of the device; otherwise says so and disables the device, as CUDA does.
bool accessible(const char* call, const void* memory, std::size_t bytes);

/// From now on every call answers with this error.
void spoil(cudaError_t error);

/// What every call of the runtime does first and last: asked-for faults, sticky errors, the last error.
cudaError_t begin(const char* call, bool& skipped);
cudaError_t finish(cudaError_t error);

template <typename Body>
cudaError_t runtime_call(const char* call, const Body& body) {
  bool skipped = false;
  const cudaError_t fault = begin(call, skipped);
  return finish(fault != cudaSuccess || skipped ? fault : body());
}

}  // namespace rehearsal
