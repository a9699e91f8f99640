#include "real/backend/nccl/gpu_call.hpp"

#include <chrono>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "real/backend/nccl/device/kernels.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int multiprocessors_of(int gpu) {
  int number = 0;
  check_cuda(cudaDeviceGetAttribute(&number, cudaDevAttrMultiProcessorCount, gpu), gpu,
             "asking for its multiprocessors");
  return number;
}

}  // namespace

GpuStreams::GpuStreams(NcclCommunicator& communicator, std::string no_graph_because)
    : communicator_(communicator),
      multiprocessors_(multiprocessors_of(communicator.place().gpu)),
      communication_(gpu()),
      arithmetic_(gpu()),
      order_(CudaEvent::Use::order, gpu()),
      token_(static_cast<std::int64_t>(sizeof(float)), gpu()),
      no_graph_because_(std::move(no_graph_because)) {
  // The first time connects the ranks; only then can it be captured.
  enqueue_barrier();
  check_cuda(cudaEventRecord(order_.get(), communication()), gpu(), "connecting");
  communicator_.wait(order_.get(), "connecting the GPUs");
  communicator_.all_have_met();
  if (no_graph_because_.empty()) {
    try {
      barrier_ = capture([this] { enqueue_barrier(); });
    } catch (const Error& error) {
      // Then it is enqueued each time. A peer that is lost shows when the ranks agree on what to do.
      no_graph_because_ = error.what();
    }
  }
}

void GpuStreams::order(cudaStream_t waiting, cudaStream_t awaited) {
  check_cuda(cudaEventRecord(order_.get(), awaited), gpu(), "ordering its streams");
  check_cuda(cudaStreamWaitEvent(waiting, order_.get(), 0), gpu(), "ordering its streams");
}

void GpuStreams::barrier() {
  if (barrier_) {
    check_cuda(cudaGraphLaunch(barrier_.get(), communication()), gpu(), "starting a barrier");
  } else {
    enqueue_barrier();
  }
}

void GpuStreams::enqueue_barrier() {
  communicator_.group("starting a barrier", [this] {
    communicator_.check(communicator_.library().all_reduce(token_.data(), token_.data(), 1, ncclFloat,
                                                           ncclSum, communicator_.get(), communication()),
                        "starting a barrier");
  });
}

CudaGraph GpuStreams::capture(const std::function<void()>& enqueue) {
  // Relaxed: NCCL puts its part on the stream from a thread of its own.
  check_cuda(cudaStreamBeginCapture(communication(), cudaStreamCaptureModeRelaxed), gpu(),
             "capturing a graph");
  cudaGraph_t graph = nullptr;
  try {
    enqueue();
  } catch (...) {
    cudaStreamEndCapture(communication(), &graph);
    if (graph != nullptr) {
      cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    throw;
  }
  check_cuda(cudaStreamEndCapture(communication(), &graph), gpu(), "capturing a graph");
  return {graph, gpu()};
}

GpuCall::GpuCall(GpuStreams& streams, std::unique_ptr<GpuWork> work)
    : streams_(streams),
      work_(std::move(work)),
      what_(work_->what()),
      begin_(CudaEvent::Use::time, streams.gpu()),
      end_(CudaEvent::Use::time, streams.gpu()),
      first_wrong_(static_cast<std::int64_t>(sizeof(unsigned long long)), streams.gpu()) {}

void GpuCall::warm_up() {
  // NCCL connects a pair of ranks when they first talk to each other; that cannot be part of a graph.
  work_->enqueue();
  check_cuda(cudaEventRecord(end_.get(), streams_.communication()), streams_.gpu(), what_);
  streams_.communicator().wait(end_.get(), fmt::format("{} for the first time", what_));
  no_graph_because_ = streams_.no_graph_because();
  if (!no_graph_because_.empty()) {
    return;
  }
  try {
    graph_ = streams_.capture([this] { work_->enqueue(); });
  } catch (const Error& error) {
    // What NCCL refuses ends its communicator; then there is nothing to go on with.
    if (!streams_.communicator().usable()) {
      throw Error(error.kind(),
                  fmt::format("{}; RINGSIDE_CUDA_GRAPH=0 does without CUDA graphs", error.what()));
    }
    no_graph_because_ = error.what();
  }
}

double GpuCall::run() {
  const int gpu = streams_.gpu();
  streams_.barrier();
  check_cuda(cudaEventRecord(begin_.get(), streams_.communication()), gpu, what_);
  const Clock::time_point start = Clock::now();
  if (graph_) {
    check_cuda(cudaGraphLaunch(graph_.get(), streams_.communication()), gpu, what_);
  } else {
    work_->enqueue();
  }
  host_seconds_.push_back(seconds_since(start));
  check_cuda(cudaEventRecord(end_.get(), streams_.communication()), gpu, what_);
  streams_.communicator().wait(end_.get(), what_);
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), gpu, what_);
  return static_cast<double>(milliseconds) * 1e-3;
}

std::optional<CallLaunch> GpuCall::launch() const {
  return CallLaunch{
      .device = {.mode = graph_ ? LaunchMode::cuda_graph : LaunchMode::stream,
                 .host_seconds = {host_seconds_.empty() ? 0 : summarize(host_seconds_).median}},
      .note = graph_ ? "" : fmt::format("launched call by call, not as a CUDA graph: {}", no_graph_because_)};
}

void GpuCall::write_input(const CollectiveValues& values) {
  upload(values);
  for (const UploadedRange& range : input_) {
    check_cuda(launch_write_pattern({.message = work_->message(),
                                     .elements = range.elements,
                                     .pattern = range.pattern.data(),
                                     .period = CollectiveValues::period(),
                                     .dtype = values.call().dtype},
                                    streams_.multiprocessors(), streams_.communication()),
               streams_.gpu(), "writing the input");
  }
}

std::optional<WrongElement> GpuCall::first_wrong(const CollectiveValues& values) {
  upload(values);
  const int gpu = streams_.gpu();
  cudaStream_t stream = streams_.communication();
  auto* const place = reinterpret_cast<unsigned long long*>(first_wrong_.data());
  check_cuda(cudaMemsetAsync(place, 0xff, sizeof(*place), stream), gpu, "checking the result");
  for (const UploadedRange& range : promise_) {
    check_cuda(launch_find_wrong({.message = work_->message(),
                                  .elements = range.elements,
                                  .pattern = range.pattern.data(),
                                  .period = CollectiveValues::period(),
                                  .dtype = values.call().dtype},
                                 work_->tolerance(), place, streams_.multiprocessors(), stream),
               gpu, "checking the result");
  }
  unsigned long long element = 0;
  check_cuda(cudaMemcpyAsync(&element, place, sizeof(element), cudaMemcpyDeviceToHost, stream), gpu,
             "checking the result");
  check_cuda(cudaStreamSynchronize(stream), gpu, "checking the result");
  if (element == std::numeric_limits<unsigned long long>::max()) {
    return std::nullopt;
  }
  const std::size_t size = size_of(values.call().dtype);
  std::vector<std::byte> bytes(size);
  check_cuda(cudaMemcpy(bytes.data(), work_->message() + element * size, size, cudaMemcpyDeviceToHost), gpu,
             "reading the result");
  return WrongElement{.element = static_cast<std::int64_t>(element), .found = values.value_at(bytes, 0)};
}

void GpuCall::upload(const CollectiveValues& values) {
  if (uploaded_ == &values) {
    return;
  }
  const Rank rank = streams_.communicator().place().rank;
  const auto uploaded = [this](const std::vector<PatternRange>& ranges) {
    std::vector<UploadedRange> result;
    for (const PatternRange& range : ranges) {
      if (range.elements.count > 0) {
        result.push_back({.elements = range.elements, .pattern = to_device(range.pattern)});
      }
    }
    return result;
  };
  input_ = uploaded(values.input(rank));
  promise_ = uploaded(values.promise(rank));
  uploaded_ = &values;
}

DeviceMemory GpuCall::to_device(std::span<const std::byte> pattern) const {
  DeviceMemory memory(static_cast<std::int64_t>(pattern.size()), streams_.gpu());
  check_cuda(cudaMemcpyAsync(memory.data(), pattern.data(), pattern.size(), cudaMemcpyHostToDevice,
                             streams_.communication()),
             streams_.gpu(), "bringing the input");
  check_cuda(cudaStreamSynchronize(streams_.communication()), streams_.gpu(), "bringing the input");
  return memory;
}

}  // namespace ringside
