#include <utility>
#include <vector>

#include <fmt/format.h>

#include "real/backend/nccl/gpu_call.hpp"

namespace ringside {
namespace {

/// What is current is each thread's own affair in CUDA, and threads of others come here.
void take_gpu(const GpuStreams& streams) {
  check_cuda(cudaSetDevice(streams.gpu()), streams.gpu(), "being taken");
}

/// Waits for what is on `stream` so far.
void finish(GpuStreams& streams, const CudaEvent& event, cudaStream_t stream, std::string_view doing) {
  check_cuda(cudaEventRecord(event.get(), stream), streams.gpu(), doing);
  streams.communicator().wait(event.get(), doing);
}

/// One side of a message; started by its rank, and under way as part of a group.
struct Message {
  Rank peer = 0;
  bool sends = false;
  std::span<std::byte> memory = {};
  std::shared_ptr<CudaEvent> done = nullptr;  ///< When its group is; null until it is under way.
};

class GpuMessages final : public Transport {
 public:
  explicit GpuMessages(GpuStreams& streams) : streams_(streams) {}

  Rank rank() const override { return streams_.communicator().place().rank; }
  int num_ranks() const override { return streams_.communicator().place().num_ranks; }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    // A send only reads.
    return make(target, true, std::span(const_cast<std::byte*>(memory.data()), memory.size()));
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return make(source, false, memory);
  }

  /// All that is started and not yet under way, as one group: one after another, two ranks that both send
  /// first would wait for each other on their streams.
  void start_all() {
    const std::vector<std::shared_ptr<Message>> messages = std::exchange(started_, {});
    if (messages.empty()) {
      return;
    }
    take_gpu(streams_);
    NcclCommunicator& communicator = streams_.communicator();
    communicator.group("starting messages", [&] {
      for (const std::shared_ptr<Message>& message : messages) {
        communicator.move(message->sends, message->peer, message->memory, streams_.communication());
      }
    });
    const auto done = std::make_shared<CudaEvent>(CudaEvent::Use::order, streams_.gpu());
    check_cuda(cudaEventRecord(done->get(), streams_.communication()), streams_.gpu(), "starting messages");
    for (const std::shared_ptr<Message>& message : messages) {
      message->done = done;
    }
  }

 private:
  class GpuTransfer final : public Transfer {
   public:
    GpuTransfer(GpuMessages& messages, const Message& message)
        : messages_(messages), message_(std::make_shared<Message>(message)) {}
    // Nobody may touch its memory any more.
    ~GpuTransfer() override { std::erase(messages_.started_, message_); }
    GpuTransfer(const GpuTransfer&) = delete;
    GpuTransfer& operator=(const GpuTransfer&) = delete;

    void start() override {
      message_->done = nullptr;
      messages_.started_.push_back(message_);
    }
    void wait() override {
      messages_.start_all();
      messages_.streams_.communicator().wait(
          message_->done->get(),
          fmt::format("{} rank {}", message_->sends ? "sending to" : "receiving from", message_->peer));
    }

   private:
    GpuMessages& messages_;
    std::shared_ptr<Message> message_;
  };

  std::unique_ptr<Transfer> make(Rank peer, bool sends, std::span<std::byte> memory) {
    return std::make_unique<GpuTransfer>(*this, Message{.peer = peer, .sends = sends, .memory = memory});
  }

  GpuStreams& streams_;
  std::vector<std::shared_ptr<Message>> started_;  ///< And not yet under way.
};

class BorrowedCalls final : public DeviceCalls {
 public:
  explicit BorrowedCalls(GpuStreams& streams)
      : streams_(streams), copied_(CudaEvent::Use::order, streams.gpu()), messages_(streams) {}

  int device() const override { return streams_.gpu(); }

  std::shared_ptr<std::byte> allocate(Bytes size) override {
    take_gpu(streams_);
    const auto memory = std::make_shared<DeviceMemory>(size.value, streams_.gpu());
    return {memory, memory->data()};
  }

  void copy(const MemoryPiece& source, const MemoryPiece& target) override {
    take_gpu(streams_);
    const cudaMemcpyKind from_device = target.on_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
    // Not behind messages, which may wait for others.
    check_cuda(
        cudaMemcpyAsync(target.data, source.data, source.size,
                        source.on_device ? from_device : cudaMemcpyHostToDevice, streams_.arithmetic()),
        streams_.gpu(), "copying a message");
    finish(streams_, copied_, streams_.arithmetic(), "copying a message");
  }

  void wait_for(void* stream) override {
    take_gpu(streams_);
    auto* const awaited = static_cast<cudaStream_t>(stream);
    streams_.order(streams_.communication(), awaited);
    streams_.order(streams_.arithmetic(), awaited);
  }

  NativeCall make_call(const Program& program, std::byte* message) override {
    take_gpu(streams_);
    return call_of(make_program_work(streams_, program, message));
  }
  NativeCall make_call(const CollectiveCall& call, std::byte* message) override {
    take_gpu(streams_);
    return call_of(make_native_work(streams_, call, message));
  }

  Transport& messages() override { return messages_; }
  void start_messages() override { messages_.start_all(); }

 private:
  /// Put on its streams call by call. All ranks must launch a graph alike (NCCL user guide, "Using NCCL with
  /// CUDA Graphs"), and each rank alone knows which calls it repeats in the same memory.
  NativeCall call_of(std::shared_ptr<GpuWork> work) {
    auto done = std::make_shared<CudaEvent>(CudaEvent::Use::order, streams_.gpu());
    return [this, work = std::move(work), done = std::move(done)] {
      messages_.start_all();
      take_gpu(streams_);
      work->enqueue();
      finish(streams_, *done, streams_.communication(), work->what());
    };
  }

  GpuStreams& streams_;
  CudaEvent copied_;
  GpuMessages messages_;
};

}  // namespace

std::unique_ptr<DeviceCalls> make_borrowed_calls(GpuStreams& streams) {
  return std::make_unique<BorrowedCalls>(streams);
}

}  // namespace ringside
