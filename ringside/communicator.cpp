#include "ringside/communicator.hpp"

#include <compare>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "real/backend/backends.hpp"
#include "real/execute/collective_values.hpp"
#include "real/execute/coordination.hpp"
#include "real/execute/executor.hpp"
#include "real/execute/transport.hpp"
#include "ringside/call_board.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/promise.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

/// Collectives are prepared once per message, as a training step repeats them; after so many different ones, anew.
constexpr std::size_t kMaxPrepared = 512;

/// All that a prepared collective depends on.
struct CallKey {
  Collective collective = Collective::all_reduce;
  std::string algorithm;
  Rank root = 0;
  ReduceOp op = ReduceOp::sum;
  DataType dtype = DataType::float32;
  std::int64_t num_elements = 0;
  const std::byte* memory = nullptr;  ///< Null: a message of its own.

  auto operator<=>(const CallKey&) const = default;
};

/// A collective that is ready to run, in place on `message`.
struct Prepared {
  std::unique_ptr<Executor> executor = {};  ///< Executor of a schedule …
  std::vector<std::byte> memory = {};       ///< … or, with a message of its own, …
  NativeCall native = {};                   ///< … of the backend's own.
  std::span<std::byte> message = {};
  std::int64_t bytes_sent = 0;
};

std::int64_t bytes_sent_by(const Program& program) {
  std::int64_t bytes = 0;
  for (const Step& step : program.steps) {
    bytes += step.kind == StepKind::send ? step.source.bytes : 0;
  }
  return bytes;
}

/// `elements` is part `part` of `num_parts` equal ones.
std::span<std::byte> part_of(std::span<std::byte> elements, Rank part, int num_parts) {
  const std::size_t size = elements.size() / static_cast<std::size_t>(num_parts);
  return elements.subspan(static_cast<std::size_t>(part) * size, size);
}

void copy(std::span<const std::byte> source, std::span<std::byte> target) {
  if (!source.empty() && source.data() != target.data()) {
    std::memmove(target.data(), source.data(), source.size());
  }
}

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
        sent_to_(static_cast<std::size_t>(num_ranks())),
        received_from_(static_cast<std::size_t>(num_ranks())) {}

  Rank rank() const { return backend_.transport->rank(); }
  int num_ranks() const { return backend_.transport->num_ranks(); }
  Backend backend() const { return backend_.backend; }
  std::int64_t bytes_sent() const { return bytes_sent_; }

  std::unique_ptr<Transfer> start_send(ConstElements message, Rank target) {
    check_peer(target, "send to");
    if (message.count() == 0) {
      return nullptr;
    }
    board_.enter_send(rank(), target, ++sent_to_[static_cast<std::size_t>(target)],
                      static_cast<std::int64_t>(message.bytes().size()));
    return start(backend_.transport->make_send(target, message.bytes()));
  }
  std::unique_ptr<Transfer> start_receive(Elements message, Rank source) {
    check_peer(source, "receive from");
    if (message.count() == 0) {
      return nullptr;
    }
    board_.enter_receive(source, rank(), ++received_from_[static_cast<std::size_t>(source)],
                         static_cast<std::int64_t>(message.bytes().size()));
    return start(backend_.transport->make_receive(source, message.bytes()));
  }
  void barrier() {
    board_.enter(rank(), ++num_calls_, {});
    coordination_.barrier();
  }
  void count_sent(std::int64_t bytes) { bytes_sent_ += bytes; }

  /// Sizes of gather, all_gather and reduce_scatter.
  void check_parts(ConstElements own, ConstElements all, Collective collective) const {
    if (own.dtype() != all.dtype() || all.count() != num_ranks() * own.count()) {
      throw Error(
          ErrorKind::bad_input,
          fmt::format("{} of {} ranks with {} {} elements each needs {} {} elements in all, not {} {}",
                      name(collective), num_ranks(), own.count(), name(own.dtype()),
                      num_ranks() * own.count(), name(own.dtype()), all.count(), name(all.dtype())));
    }
  }

  /// In place on borrowed memory.
  void run(CallKey key, Elements message) {
    key.dtype = message.dtype();
    key.num_elements = message.count();
    key.memory = message.bytes().data();
    if (message.count() == 0) {
      enter(key);
      return;
    }
    Prepared& call = prepared(key, message.bytes());
    enter(key);
    run(call);
  }

  /// A collective on a message of its own, `num_elements` long: `fill` it, run, and `take` the result.
  void run(const CallKey& key, const std::function<void(std::span<std::byte>)>& fill,
           const std::function<void(std::span<const std::byte>)>& take) {
    if (key.num_elements == 0) {
      enter(key);
      return;
    }
    Prepared& call = prepared(key, {});
    enter(key);
    fill(call.message);
    run(call);
    take(call.message);
  }

 private:
  static std::unique_ptr<Transfer> start(std::unique_ptr<Transfer> transfer) {
    transfer->start();
    return transfer;
  }

  void check_peer(Rank peer, std::string_view verb) const {
    if (peer < 0 || peer >= num_ranks()) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("rank {} cannot {} rank {}: there are {} ranks, from 0 on", rank(), verb, peer,
                              num_ranks()));
    }
    if (peer == rank()) {
      throw Error(ErrorKind::bad_input, fmt::format("rank {} cannot {} itself", rank(), verb));
    }
  }

  void enter(const CallKey& key) {
    GroupCall call{.collective = key.collective,
                   .dtype = key.dtype,
                   .op = key.op,
                   .root = key.root,
                   .num_elements = key.num_elements};
    call.set_algorithm(key.algorithm);
    board_.enter(rank(), ++num_calls_, call);
  }

  void run(Prepared& call) {
    if (call.executor) {
      call.executor->run();
    } else {
      call.native();
    }
    bytes_sent_ += call.bytes_sent;
  }

  Prepared& prepared(const CallKey& key, std::span<std::byte> message) {
    const auto known = prepared_.find(key);
    if (known != prepared_.end()) {
      return known->second;
    }
    Prepared call = key.algorithm == kNative ? prepare_native(key, message) : prepare(key, message);
    if (prepared_.size() >= kMaxPrepared) {
      prepared_.clear();
    }
    return prepared_.emplace(key, std::move(call)).first->second;
  }

  Prepared prepare(const CallKey& key, std::span<std::byte> message) {
    const Algorithm* algorithm = find_algorithm(key.collective, key.algorithm);
    if (algorithm == nullptr) {
      std::vector<std::string> known = algorithm_names(key.collective);
      known.emplace_back(kNative);
      throw Error(ErrorKind::bad_input,
                  unknown_name(fmt::format("{} algorithm", name(key.collective)), key.algorithm, known));
    }
    const Schedule schedule(*algorithm,
                            {.collective = key.collective, .num_ranks = num_ranks(), .root = key.root});
    // Equal parts are chunks, so that part r is what the schedule calls rank r's.
    RINGSIDE_CHECK(!scattered(key.collective) || schedule.num_chunks() == num_ranks(),
                   "a scattered collective has a chunk per rank");
    const Bytes size{key.num_elements * static_cast<std::int64_t>(size_of(key.dtype))};
    Program program = compile(schedule, {.num_elements = key.num_elements, .dtype = key.dtype, .op = key.op},
                              rank(), policy_for(schedule, size, backend_.rules()));
    Prepared call;
    call.bytes_sent = bytes_sent_by(program);
    call.executor = std::make_unique<Executor>(std::move(program), *backend_.transport, message);
    call.message = call.executor->message();
    return call;
  }

  Prepared prepare_native(const CallKey& key, std::span<std::byte> message) {
    const PointKey point = {.collective = key.collective,
                            .algorithm = key.algorithm,
                            .ranks = num_ranks(),
                            .bytes = {key.num_elements * static_cast<std::int64_t>(size_of(key.dtype))},
                            .dtype = key.dtype,
                            .op = key.op};
    if (const std::optional<std::string> reason = unsupported(point, backend())) {
      throw Error(ErrorKind::bad_input, *reason);
    }
    Prepared call;
    if (message.data() == nullptr) {
      call.memory.resize(static_cast<std::size_t>(point.bytes.value));
      message = call.memory;
    }
    call.message = message;
    CollectiveCall collective = {.collective = key.collective,
                                 .num_ranks = num_ranks(),
                                 .root = key.root,
                                 .dtype = key.dtype,
                                 .op = key.op,
                                 .num_elements = key.num_elements};
    for (Rank part = 0; scattered(key.collective) && part < num_ranks(); ++part) {
      const std::int64_t count = key.num_elements / num_ranks();
      collective.parts.push_back({.first = part * count, .count = count});
    }
    call.native = backend_.make_native(collective, message);
    return call;
  }

  RankBackend backend_;
  CallBoard& board_;
  Coordination coordination_;
  std::map<CallKey, Prepared> prepared_;
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
      [&](std::span<std::byte> message) { copy(own.bytes(), part_of(message, rank(), ranks())); },
      [&](std::span<const std::byte> message) {
        if (at_root) {
          copy(message, all.bytes());
        }
      });
}

void Communicator::all_gather(ConstElements own, Elements all, std::string_view algorithm) {
  body_->check_parts(own, all, Collective::all_gather);
  copy(own.bytes(), part_of(all.bytes(), rank(), ranks()));
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
      [&](std::span<std::byte> message) { copy(all.bytes(), message); },
      [&](std::span<const std::byte> message) {
        const std::size_t first = static_cast<std::size_t>(rank()) * own.bytes().size();
        copy(message.subspan(first, own.bytes().size()), own.bytes());
      });
}

}  // namespace ringside
