// A program on a GPU: its plan of group calls, interpreted.
#include "common/error.hpp"
#include "real/backend/nccl/device/kernels.hpp"
#include "real/backend/nccl/gpu_call.hpp"
#include "real/backend/nccl/group_plan.hpp"

namespace ringside {
namespace {

class ProgramWork final : public GpuWork {
 public:
  ProgramWork(GpuStreams& streams, const Program& program, std::byte* message)
      : streams_(streams),
        plan_(plan_group_calls(program, kMaxReductionSources)),
        dtype_(program.dtype),
        op_(program.op),
        num_ranks_(program.num_ranks) {
    for (const std::int64_t size : program.buffer_bytes) {
      const bool borrowed = buffers_.empty() && message != nullptr;  // The first buffer is the message.
      memory_.emplace_back(borrowed ? 0 : size, streams.gpu());
      buffers_.push_back(borrowed ? message : memory_.back().data());
    }
  }

  std::string what() const override { return "running the schedule"; }
  std::byte* message() const override { return buffers_.front(); }

  void enqueue() override {
    // The arithmetic stream starts with the communication stream and is joined to it at the end.
    streams().order(streams().arithmetic(), streams().communication());
    for (const StreamOp& op : plan_) {
      enqueue(op);
    }
    streams().order(streams().communication(), streams().arithmetic());
  }

 private:
  GpuStreams& streams() const { return streams_; }

  void enqueue(const StreamOp& op) {
    switch (op.kind) {
      case StreamOpKind::group:
        return enqueue_group(op);
      case StreamOpKind::await_arrivals:
        return streams().order(streams().arithmetic(), streams().communication());
      case StreamOpKind::await_arithmetic:
        return streams().order(streams().communication(), streams().arithmetic());
      case StreamOpKind::copy:
        return check_cuda(
            cudaMemcpyAsync(at(op.target), at(op.sources.front()), static_cast<std::size_t>(op.target.bytes),
                            cudaMemcpyDeviceToDevice, streams().arithmetic()),
            streams().gpu(), "copying");
      case StreamOpKind::reduce:
        return enqueue_reduction(op);
      case StreamOpKind::divide:
        return check_cuda(launch_divide({.target = at(op.target),
                                         .count = elements(op.target),
                                         .dtype = dtype_,
                                         .divisor = num_ranks_},
                                        streams().multiprocessors(), streams().arithmetic()),
                          streams().gpu(), "dividing");
    }
  }

  void enqueue_group(const StreamOp& op) {
    NcclCommunicator& communicator = streams().communicator();
    communicator.group("starting a round", [&] {
      for (const GroupTransfer& transfer : op.transfers) {
        const std::span memory(at(transfer.region), static_cast<std::size_t>(transfer.region.bytes));
        communicator.move(transfer.sends, transfer.peer, memory, streams().communication());
      }
    });
  }

  void enqueue_reduction(const StreamOp& op) {
    KernelReduction reduction = {.target = at(op.target),
                                 .num_sources = static_cast<int>(op.sources.size()),
                                 .count = elements(op.target),
                                 .dtype = dtype_,
                                 .op = op_};
    for (std::size_t i = 0; i < op.sources.size(); ++i) {
      reduction.sources.at(i) = at(op.sources[i]);
    }
    check_cuda(launch_reduce(reduction, streams().multiprocessors(), streams().arithmetic()), streams().gpu(),
               "reducing");
  }

  std::byte* at(const Region& region) const {
    return buffers_[static_cast<std::size_t>(region.buffer)] + region.offset;
  }
  std::int64_t elements(const Region& region) const {
    return region.bytes / static_cast<std::int64_t>(size_of(dtype_));
  }

  GpuStreams& streams_;
  std::vector<StreamOp> plan_;
  DataType dtype_;
  ReduceOp op_;
  int num_ranks_;
  std::vector<DeviceMemory> memory_;  ///< What is its own of …
  std::vector<std::byte*> buffers_;   ///< … the program's buffers.
};

}  // namespace

std::unique_ptr<GpuWork> make_program_work(GpuStreams& streams, const Program& program, std::byte* message) {
  RINGSIDE_CHECK(program.rank == streams.communicator().place().rank,
                 "a program runs at the rank for which it was compiled");
  return std::make_unique<ProgramWork>(streams, program, message);
}

}  // namespace ringside
