#include "ringside/communicator.hpp"

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/failures.hpp"
#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/execute/transport.hpp"
#include "ringside/call_board.hpp"
#include "ringside/ready_collectives.hpp"

namespace ringside {
namespace {

MemoryPiece piece(ConstElements elements) {
  // A source is only read.
  return {.data = const_cast<std::byte*>(elements.bytes().data()),
          .size = elements.bytes().size(),
          .on_device = elements.is_on_gpu()};
}

/// Part `part` of `num_parts` equal ones.
MemoryPiece part_of(const MemoryPiece& whole, Rank part, int num_parts) {
  const std::size_t size = whole.size / static_cast<std::size_t>(num_parts);
  return {
      .data = whole.data + static_cast<std::size_t>(part) * size, .size = size, .on_device = whole.on_device};
}

/// A message between memories of the host by way of the GPU's: `memory` is there, in place of `message`.
class StagedTransfer final : public Transfer {
 public:
  StagedTransfer(DeviceCalls& device, std::shared_ptr<std::byte> memory, std::unique_ptr<Transfer> transfer,
                 MemoryPiece received)
      : device_(device), memory_(std::move(memory)), transfer_(std::move(transfer)), received_(received) {}

  void start() override { transfer_->start(); }
  void wait() override {
    transfer_->wait();
    if (received_.size > 0) {
      device_.copy({.data = memory_.get(), .size = received_.size, .on_device = true}, received_);
    }
  }

 private:
  DeviceCalls& device_;
  std::shared_ptr<std::byte> memory_;
  std::unique_ptr<Transfer> transfer_;
  MemoryPiece received_;  ///< Empty of a send.
};

}  // namespace

Request::Request(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

class Communicator::Body {
 public:
  Body(RankBackend backend, CallBoard& board)
      : backend_(std::move(backend)),
        board_(board),
        coordination_(*backend_.transport),
        device_(backend_.device != nullptr ? backend_.device->make_calls() : nullptr),
        ready_(backend_, device_.get()),
        sent_to_(static_cast<std::size_t>(num_ranks())),
        received_from_(static_cast<std::size_t>(num_ranks())) {}

  Rank rank() const { return backend_.transport->rank(); }
  int num_ranks() const { return backend_.transport->num_ranks(); }
  Backend backend() const { return backend_.backend; }
  std::int64_t bytes_sent() const { return bytes_sent_; }

  std::unique_ptr<Transfer> start_send(ConstElements message, Rank target) {
    check_peer(target, "send to");
    check_place(message);
    if (message.count() == 0) {
      return nullptr;
    }
    board_.enter_send(rank(), target, ++sent_to_[static_cast<std::size_t>(target)],
                      static_cast<std::int64_t>(message.bytes().size()));
    return start(make_send(message, target));
  }
  std::unique_ptr<Transfer> start_receive(Elements message, Rank source) {
    check_peer(source, "receive from");
    check_place(message);
    if (message.count() == 0) {
      return nullptr;
    }
    board_.enter_receive(source, rank(), ++received_from_[static_cast<std::size_t>(source)],
                         static_cast<std::int64_t>(message.bytes().size()));
    return start(make_receive(message, source));
  }
  void barrier() {
    board_.enter(rank(), ++num_calls_, {});
    if (device_) {
      device_->start_messages();
    }
    coordination_.barrier();
  }
  void count_sent(std::int64_t bytes) { bytes_sent_ += bytes; }

  /// The device of this rank, for calls that have no meaning without one.
  DeviceCalls& device(std::string_view call) {
    if (!device_) {
      throw bad_input("{} needs ranks on GPUs, and these are on the CPU ({})", call, name(backend()));
    }
    return *device_;
  }
  std::optional<int> gpu() const { return device_ ? std::optional(device_->device()) : std::nullopt; }

  void check_place(ConstElements elements) const {
    if (elements.is_on_gpu() && !device_) {
      throw bad_input("elements in the memory of a GPU need ranks on GPUs, and these are on the CPU ({})",
                      name(backend()));
    }
  }

  /// Wherever they are.
  void copy(const MemoryPiece& source, const MemoryPiece& target) {
    if (source.size == 0 || source.data == target.data) {
      return;
    }
    if (source.on_device || target.on_device) {
      device_->copy(source, target);
    } else {
      std::memmove(target.data, source.data, source.size);
    }
  }

  /// Sizes of gather, all_gather and reduce_scatter.
  void check_parts(ConstElements own, ConstElements all, Collective collective) const {
    check_place(own);
    check_place(all);
    if (own.dtype() != all.dtype() || all.count() != num_ranks() * own.count()) {
      throw bad_input("{} of {} ranks with {} {} elements each needs {} {} elements in all, not {} {}",
                      name(collective), num_ranks(), own.count(), name(own.dtype()),
                      num_ranks() * own.count(), name(own.dtype()), all.count(), name(all.dtype()));
    }
  }

  /// In place on borrowed memory; where the backend works elsewhere, on a copy of it there.
  void run(CollectiveKey key, Elements message) {
    check_place(message);
    key.dtype = message.dtype();
    key.num_elements = message.count();
    if (message.is_on_gpu() != (device_ != nullptr)) {
      const MemoryPiece borrowed = piece(message);
      run(
          key, [&](const MemoryPiece& own) { copy(borrowed, own); },
          [&](const MemoryPiece& own) { copy(own, borrowed); });
      return;
    }
    key.memory = message.bytes().data();
    run(
        key, [](const MemoryPiece&) {}, [](const MemoryPiece&) {});
  }

  /// `fill` the message that the collective works on, run, and `take` the result.
  void run(const CollectiveKey& key, const std::function<void(const MemoryPiece&)>& fill,
           const std::function<void(const MemoryPiece&)>& take) {
    if (key.num_elements == 0) {
      enter(key);
      return;
    }
    ReadyCollective& collective = ready_.at(key);
    enter(key);
    fill(collective.message);
    collective.run();
    bytes_sent_ += collective.bytes_sent;
    take(collective.message);
  }

 private:
  static std::unique_ptr<Transfer> start(std::unique_ptr<Transfer> transfer) {
    transfer->start();
    return transfer;
  }

  std::unique_ptr<Transfer> make_send(ConstElements message, Rank target) {
    if (!device_) {
      return backend_.transport->make_send(target, message.bytes());
    }
    if (message.is_on_gpu()) {
      return device_->messages().make_send(target, message.bytes());
    }
    std::shared_ptr<std::byte> memory = staging(message);
    copy(piece(message), {.data = memory.get(), .size = message.bytes().size(), .on_device = true});
    auto transfer = device_->messages().make_send(target, std::span(memory.get(), message.bytes().size()));
    return std::make_unique<StagedTransfer>(*device_, std::move(memory), std::move(transfer), MemoryPiece{});
  }
  std::unique_ptr<Transfer> make_receive(Elements message, Rank source) {
    if (!device_) {
      return backend_.transport->make_receive(source, message.bytes());
    }
    if (message.is_on_gpu()) {
      return device_->messages().make_receive(source, message.bytes());
    }
    std::shared_ptr<std::byte> memory = staging(message);
    auto transfer = device_->messages().make_receive(source, std::span(memory.get(), message.bytes().size()));
    return std::make_unique<StagedTransfer>(*device_, std::move(memory), std::move(transfer), piece(message));
  }
  std::shared_ptr<std::byte> staging(ConstElements message) {
    return device_->allocate({static_cast<std::int64_t>(message.bytes().size())});
  }

  void check_peer(Rank peer, std::string_view verb) const {
    if (peer < 0 || peer >= num_ranks()) {
      throw bad_input("rank {} cannot {} rank {}: there are {} ranks, from 0 on", rank(), verb, peer,
                      num_ranks());
    }
    if (peer == rank()) {
      throw bad_input("rank {} cannot {} itself", rank(), verb);
    }
  }

  void enter(const CollectiveKey& key) {
    GroupCall call{.collective = key.collective,
                   .dtype = key.dtype,
                   .op = key.op,
                   .root = key.root,
                   .num_elements = key.num_elements};
    call.set_algorithm(key.algorithm);
    board_.enter(rank(), ++num_calls_, call);
  }

  RankBackend backend_;
  CallBoard& board_;
  Coordination coordination_;
  std::unique_ptr<DeviceCalls> device_;  ///< Null: the CPU.
  ReadyCollectives ready_;
  std::int64_t num_calls_ = 0;               ///< Collectives and barriers so far, …
  std::vector<std::int64_t> sent_to_;        ///< … messages to …
  std::vector<std::int64_t> received_from_;  ///< … and from each rank.
  std::int64_t bytes_sent_ = 0;
};

Communicator::Communicator(RankBackend backend, CallBoard& board)
    : body_(std::make_unique<Body>(std::move(backend), board)) {}
Communicator::~Communicator() = default;

Rank Communicator::rank() const { return body_->rank(); }
int Communicator::ranks() const { return body_->num_ranks(); }
Backend Communicator::backend() const { return body_->backend(); }
std::int64_t Communicator::bytes_sent() const { return body_->bytes_sent(); }

void Communicator::send(ConstElements message, Rank target) {
  Request request = isend(message, target);
  wait(request);
}

void Communicator::recv(Elements message, Rank source) {
  Request request = irecv(message, source);
  wait(request);
}

Request Communicator::isend(ConstElements message, Rank target) {
  Request request(body_->start_send(message, target));
  body_->count_sent(static_cast<std::int64_t>(message.bytes().size()));
  return request;
}

Request Communicator::irecv(Elements message, Rank source) {
  return Request(body_->start_receive(message, source));
}

void Communicator::wait(Request& request) {
  if (request.transfer_) {
    request.transfer_->wait();
    request.transfer_.reset();
  }
}

void Communicator::barrier() { body_->barrier(); }

std::optional<int> Communicator::gpu() const { return body_->gpu(); }

void Communicator::wait_for_stream(void* cuda_stream) {
  body_->device("wait_for_stream()").wait_for(cuda_stream);
}

std::shared_ptr<std::byte> Communicator::allocate_on_gpu(Bytes size) {
  return body_->device("allocate_on_gpu()").allocate(size);
}

void Communicator::copy(ConstElements source, Elements target) {
  body_->check_place(source);
  body_->check_place(target);
  if (source.count() != target.count() || source.dtype() != target.dtype()) {
    throw bad_input("{} {} elements cannot be copied to {} {} elements", source.count(), name(source.dtype()),
                    target.count(), name(target.dtype()));
  }
  body_->copy(piece(source), piece(target));
}

void Communicator::broadcast(Elements message, Rank root, std::string_view algorithm) {
  body_->run({.collective = Collective::broadcast, .algorithm = std::string(algorithm), .root = root},
             message);
}

void Communicator::reduce(Elements message, Rank root, ReduceOp op, std::string_view algorithm) {
  body_->run({.collective = Collective::reduce, .algorithm = std::string(algorithm), .root = root, .op = op},
             message);
}

void Communicator::all_reduce(Elements message, ReduceOp op, std::string_view algorithm) {
  body_->run({.collective = Collective::all_reduce, .algorithm = std::string(algorithm), .op = op}, message);
}

void Communicator::gather(ConstElements own, Elements all, Rank root, std::string_view algorithm) {
  const bool at_root = rank() == root;
  if (at_root) {
    body_->check_parts(own, all, Collective::gather);
  }
  body_->run(
      {.collective = Collective::gather,
       .algorithm = std::string(algorithm),
       .root = root,
       .dtype = own.dtype(),
       .num_elements = ranks() * own.count()},
      [&](const MemoryPiece& message) { body_->copy(piece(own), part_of(message, rank(), ranks())); },
      [&](const MemoryPiece& message) {
        if (at_root) {
          body_->copy(message, piece(all));
        }
      });
}

void Communicator::all_gather(ConstElements own, Elements all, std::string_view algorithm) {
  body_->check_parts(own, all, Collective::all_gather);
  body_->copy(piece(own), part_of(piece(all), rank(), ranks()));
  body_->run({.collective = Collective::all_gather, .algorithm = std::string(algorithm)}, all);
}

void Communicator::reduce_scatter(ConstElements all, Elements own, ReduceOp op, std::string_view algorithm) {
  body_->check_parts(own, all, Collective::reduce_scatter);
  body_->run(
      {.collective = Collective::reduce_scatter,
       .algorithm = std::string(algorithm),
       .op = op,
       .dtype = all.dtype(),
       .num_elements = all.count()},
      [&](const MemoryPiece& message) { body_->copy(piece(all), message); },
      [&](const MemoryPiece& message) { body_->copy(part_of(message, rank(), ranks()), piece(own)); });
}

}  // namespace ringside
