// Streams, captures and memory of the rehearsal device.
#include <algorithm>
#include <string_view>

#include <unistd.h>

#include "tests/gpu/rehearsal/cuda/state.hpp"

namespace rehearsal {

State& state() {
  // Never destroyed: streams work until the process ends.
  static auto* const state = new State;
  return *state;
}

namespace {

thread_local int this_threads_gpu = 0;
thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

int current_gpu() { return this_threads_gpu; }
int chosen_gpu() { return state().chosen_gpu; }

void use_gpu(int gpu) { this_threads_gpu = gpu; }

void choose_gpu(int gpu) {
  use_gpu(gpu);
  state().chosen_gpu = gpu;
}

cudaError_t take_last_error() { return std::exchange(last_error, cudaSuccess); }

void spoil(cudaError_t error) { state().spoilt = error; }

namespace {

/// Whether this process is a copy of one that has used the device: then, as with CUDA, nothing works.
bool used_before_the_fork(const char* call) {
  static std::atomic<pid_t> user = 0;
  if (std::string_view(call) == "cudaDriverGetVersion") {
    return false;  // It needs no device.
  }
  pid_t nobody = 0;
  const pid_t own = ::getpid();
  if (user.compare_exchange_strong(nobody, own) || nobody == own) {
    return false;
  }
  complain(call, "this process was forked from one that has used CUDA");
  return true;
}

}  // namespace

cudaError_t begin(const char* call, bool& skipped) {
  if (used_before_the_fork(call)) {
    return cudaErrorInitializationError;
  }
  if (const auto fault = fault_at(call, chosen_gpu())) {
    const auto error = static_cast<cudaError_t>(fault->code);
    switch (fault->kind) {
      case FaultKind::returns:
        return error;
      case FaultKind::skipped:
        skipped = true;
        return cudaSuccess;
      case FaultKind::late:
        spoil(error);
        return cudaSuccess;
    }
  }
  return state().spoilt;
}

cudaError_t finish(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) {
    last_error = error;
  }
  return error;
}

CUstream_st* find_stream(const char* call, cudaStream_t stream) {
  State& all = state();
  if (stream == nullptr) {
    CUstream_st*& usual = all.default_streams[current_gpu()];
    if (usual == nullptr) {
      usual = new CUstream_st(current_gpu(), seed_of(settings().seed, 1'000));
    }
    return usual;
  }
  if (!all.streams.contains(stream)) {
    complain(call, "this is no stream, or it was destroyed");
    return nullptr;
  }
  if (stream->gpu != current_gpu()) {
    complain(call, "the stream is of another GPU than this thread's");
    return nullptr;
  }
  return stream;
}

std::size_t add_node(CUstream_st& stream, Work work) {
  Capture& capture = *stream.capture;
  const auto lane =
      std::find(capture.streams.begin(), capture.streams.end(), &stream) - capture.streams.begin();
  capture.nodes.push_back(
      {.work = std::move(work), .behind = stream.frontier, .lane = static_cast<std::size_t>(lane)});
  stream.frontier = {capture.nodes.size() - 1};
  return capture.nodes.size() - 1;
}

cudaError_t put(const char* call, cudaStream_t stream, Work work) {
  const std::lock_guard lock(state().mutex);
  CUstream_st* const found = find_stream(call, stream);
  if (found == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (found->capture == nullptr) {
    found->worker->push(std::move(work));
    return cudaSuccess;
  }
  if (found->capture->invalidated) {
    return cudaErrorStreamCaptureInvalidated;
  }
  add_node(*found, std::move(work));
  return cudaSuccess;
}

std::shared_ptr<const Capture> capture_of(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  return stream == nullptr || !state().streams.contains(stream) ? nullptr : stream->capture;
}

bool accessible(const char* call, const void* memory, std::size_t bytes) {
  if (bytes == 0) {
    return true;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  const std::lock_guard lock(state().mutex);
  const auto& allocations = state().allocations;
  auto above = allocations.upper_bound(first);
  if (above != allocations.begin()) {
    const auto& [start, size] = *std::prev(above);
    if (first + bytes <= start + size) {
      return true;
    }
  }
  complain(call, "it touches memory that is not the device's, or was freed");
  spoil(cudaErrorIllegalAddress);
  return false;
}

void wait_until_idle() {
  std::vector<std::shared_ptr<Worker>> workers;
  {
    const std::lock_guard lock(state().mutex);
    for (CUstream_st* stream : state().streams) {
      workers.push_back(stream->worker);
    }
    for (const auto& [gpu, stream] : state().default_streams) {
      workers.push_back(stream->worker);
    }
  }
  for (const std::shared_ptr<Worker>& worker : workers) {
    worker->wait_until_idle();
  }
}

}  // namespace rehearsal
