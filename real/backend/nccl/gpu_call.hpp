#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "real/backend/nccl/communicator.hpp"
#include "real/backend/nccl/device/cuda.hpp"
#include "real/execute/device_calls.hpp"
#include "real/execute/ready_call.hpp"

namespace ringside {

/// What all calls of one rank share: its two streams, what ties them together, and a barrier that the GPUs
/// keep among themselves.
class GpuStreams {
 public:
  /// `no_graph_because`: why nothing is to be captured; empty = what can be is. Where NCCL refuses to be
  /// captured, it is of no more use (usable() of the communicator), and no_graph_because() says why.
  GpuStreams(NcclCommunicator& communicator, std::string no_graph_because);

  NcclCommunicator& communicator() const { return communicator_; }
  int gpu() const { return communicator_.place().gpu; }
  int multiprocessors() const { return multiprocessors_; }
  cudaStream_t communication() const { return communication_.get(); }
  cudaStream_t arithmetic() const { return arithmetic_.get(); }
  const std::string& no_graph_because() const { return no_graph_because_; }

  /// What comes next on `waiting` waits for what is on `awaited` so far.
  void order(cudaStream_t waiting, cudaStream_t awaited);

  /// Puts a barrier of all ranks on the communication stream: a sum of one element. Behind it, ranks start
  /// within microseconds of each other, other than behind a barrier of their hosts.
  void barrier();

  /// Captures what `enqueue` puts on the streams, from a start on the communication stream to its end.
  CudaGraph capture(const std::function<void()>& enqueue);

 private:
  void enqueue_barrier();

  NcclCommunicator& communicator_;
  int multiprocessors_ = 1;
  CudaStream communication_;
  CudaStream arithmetic_;
  CudaEvent order_;
  DeviceMemory token_;
  CudaGraph barrier_;
  std::string no_graph_because_;
};

/// A collective of one rank as it goes onto the streams.
class GpuWork {
 public:
  virtual ~GpuWork() = default;
  /// For messages: "running the schedule".
  virtual std::string what() const = 0;
  /// Puts all of it on the streams and waits for nothing; it begins and ends on the communication stream.
  virtual void enqueue() = 0;
  /// The message in the GPU's memory.
  virtual std::byte* message() const = 0;
  /// How far floating results may be off, relative to what they should be.
  virtual double tolerance() const { return 0; }
};

/// Work as it is measured: as a CUDA graph where it can be captured, and timed by events of the GPU.
class GpuCall final : public ReadyCall {
 public:
  GpuCall(GpuStreams& streams, std::unique_ptr<GpuWork> work);
  void warm_up() override;
  void write_input(const CollectiveValues& values) override;
  double run() override;
  std::optional<WrongElement> first_wrong(const CollectiveValues& values) override;
  std::optional<CallLaunch> launch() const override;
  Executor* executor() override { return nullptr; }

 private:
  void upload(const CollectiveValues& values);
  DeviceMemory to_device(std::span<const std::byte> pattern) const;

  GpuStreams& streams_;
  std::unique_ptr<GpuWork> work_;
  std::string what_;
  CudaEvent begin_;
  CudaEvent end_;
  CudaGraph graph_;
  std::string no_graph_because_;
  std::vector<double> host_seconds_;

  /// A range of the message and, on the GPU, what it holds.
  struct UploadedRange {
    ElementRange elements;
    DeviceMemory pattern;
  };
  const CollectiveValues* uploaded_ = nullptr;
  std::vector<UploadedRange> input_;
  std::vector<UploadedRange> promise_;
  DeviceMemory first_wrong_;
};

/// A program, as group calls and kernels; in place on `message`, or with its own where that is null.
std::unique_ptr<GpuWork> make_program_work(GpuStreams& streams, const Program& program,
                                           std::byte* message = nullptr);

/// NCCL's own collective, likewise.
std::unique_ptr<GpuWork> make_native_work(GpuStreams& streams, const CollectiveCall& call,
                                          std::byte* message = nullptr);

/// Collectives and messages on GPU memory that others own.
std::unique_ptr<DeviceCalls> make_borrowed_calls(GpuStreams& streams);

}  // namespace ringside
