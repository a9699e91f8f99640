// What a call of NCCL moves, and its own collectives: to the root in rank order, then to all.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/gpu/rehearsal/elements.hpp"
#include "tests/gpu/rehearsal/nccl/communicator.hpp"

namespace rehearsal {
namespace {

using ringside::BFloat16;
using ringside::Float16;
using ringside::ReduceOp;

/// What both sides must have asked for. The root of an all_gather is nobody.
std::string words_of(const Call& call) {
  return std::string(call.name) + " of " + std::to_string(call.count) + " of type " +
         std::to_string(call.type) + ", op " + std::to_string(call.op) + ", root " +
         std::to_string(call.peer);
}

ringside::DataType dtype_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt32:
      return ringside::DataType::int32;
    case ncclInt64:
      return ringside::DataType::int64;
    case ncclFloat16:
      return ringside::DataType::float16;
    case ncclFloat64:
      return ringside::DataType::float64;
    case ncclBfloat16:
      return ringside::DataType::bfloat16;
    default:
      return ringside::DataType::float32;
  }
}

ReduceOp op_of(ncclRedOp_t op) {
  switch (op) {
    case ncclProd:
      return ReduceOp::prod;
    case ncclMax:
      return ReduceOp::max;
    case ncclMin:
      return ReduceOp::min;
    default:
      return ReduceOp::sum;
  }
}

/// An average of floating values multiplies each by 1/N before it adds; one of integers divides the sum.
void prepare(std::byte* data, const Call& call, int num_ranks) {
  if (call.op != ncclAvg) {
    return;
  }
  ringside::with_element(dtype_of(call.type), [&](auto type) {
    using T = decltype(type);
    using W = ringside::Wide<T>;
    if constexpr (!std::is_integral_v<W>) {
      const W part = ringside::widen(ringside::narrow<T>(W{1} / static_cast<W>(num_ranks)));
      auto* const values = reinterpret_cast<T*>(data);
      for (std::size_t i = 0; i < call.count; ++i) {
        values[i] = ringside::narrow<T>(ringside::widen(values[i]) * part);
      }
    }
  });
}

void add(std::byte* sum, const std::byte* more, const Call& call) {
  ringside::with_element(dtype_of(call.type), [&](auto type) {
    using T = decltype(type);
    ringside::with_op(op_of(call.op), [&](auto op) {
      auto* const sums = reinterpret_cast<T*>(sum);
      const auto* const values = reinterpret_cast<const T*>(more);
      for (std::size_t i = 0; i < call.count; ++i) {
        sums[i] = ringside::narrow<T>(
            ringside::combine<decltype(op)::value>(ringside::widen(sums[i]), ringside::widen(values[i])));
      }
    });
  });
}

void finish(std::byte* sum, const Call& call, int num_ranks) {
  if (call.op != ncclAvg) {
    return;
  }
  ringside::with_element(dtype_of(call.type), [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      auto* const sums = reinterpret_cast<T*>(sum);
      for (std::size_t i = 0; i < call.count; ++i) {
        sums[i] /= static_cast<T>(num_ranks);
      }
    }
  });
}

class Collective {
 public:
  Collective(Mesh& mesh, const Call& call, int rank, int num_ranks)
      : mesh_(mesh),
        call_(call),
        rank_(rank),
        num_ranks_(num_ranks),
        words_(words_of(call)),
        size_(call.count * size_of(call.type)) {}

  /// Everybody's input, reduced into `target` at the root. Input of rank r lies at `input`.
  Outcome reduce(int root, const std::byte* input, std::byte* target) {
    std::vector<std::byte> own(input, input + size_);
    prepare(own.data(), call_, num_ranks_);
    if (rank_ != root) {
      return mesh_.exchange(
          {{.peer = root, .sends = true, .data = own.data(), .bytes = size_, .call = words_}});
    }
    std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(num_ranks_));
    std::vector<Transfer> transfers;
    for (int peer = 0; peer < num_ranks_; ++peer) {
      auto& part = all[static_cast<std::size_t>(peer)];
      part = own;
      if (peer != rank_) {
        transfers.push_back({.peer = peer, .data = part.data(), .bytes = size_, .call = words_});
      }
    }
    const Outcome outcome = mesh_.exchange(std::move(transfers));
    for (std::size_t peer = 1; peer < all.size(); ++peer) {
      add(all.front().data(), all[peer].data(), call_);
    }
    finish(all.front().data(), call_, num_ranks_);
    std::copy(all.front().begin(), all.front().end(), target);
    return outcome;
  }

  Outcome broadcast(int root, std::byte* data) {
    std::vector<Transfer> transfers;
    for (int peer = 0; peer < num_ranks_; ++peer) {
      if (peer != rank_ && (rank_ == root || peer == root)) {
        transfers.push_back(
            {.peer = peer, .sends = rank_ == root, .data = data, .bytes = size_, .call = words_});
      }
    }
    return mesh_.exchange(std::move(transfers));
  }

  Outcome run() {
    auto* const input = static_cast<std::byte*>(const_cast<void*>(call_.input));
    auto* const output = static_cast<std::byte*>(call_.output);
    const std::string name = call_.name;
    if (name == "ncclReduce") {
      return reduce(call_.peer, input, output);
    }
    if (name == "ncclBroadcast") {
      if (rank_ == call_.peer && input != output) {
        std::memcpy(output, input, size_);
      }
      return broadcast(call_.peer, output);
    }
    if (name == "ncclAllReduce") {
      const Outcome outcome = reduce(0, input, output);
      return outcome.result == ncclSuccess ? broadcast(0, output) : outcome;
    }
    if (name == "ncclReduceScatter") {
      return reduce_scatter(input, output);
    }
    return all_gather(input, output);
  }

 private:
  Outcome reduce_scatter(const std::byte* input, std::byte* output) {
    const std::vector<std::byte> all(input, input + size_ * static_cast<std::size_t>(num_ranks_));
    Outcome outcome;
    for (int root = 0; root < num_ranks_ && outcome.result == ncclSuccess; ++root) {
      outcome = reduce(root, all.data() + size_ * static_cast<std::size_t>(root), output);
    }
    return outcome;
  }

  Outcome all_gather(const std::byte* input, std::byte* output) {
    std::byte* const own = output + size_ * static_cast<std::size_t>(rank_);
    std::memmove(own, input, size_);
    Outcome outcome;
    for (int root = 0; root < num_ranks_ && outcome.result == ncclSuccess; ++root) {
      outcome = broadcast(root, output + size_ * static_cast<std::size_t>(root));
    }
    return outcome;
  }

  Mesh& mesh_;
  const Call& call_;
  int rank_;
  int num_ranks_;
  std::string words_;
  std::size_t size_;
};

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  std::size_t size = 1;
  if (type != ncclInt8) {
    ringside::with_element(dtype_of(type), [&](auto value) { size = sizeof(value); });
  }
  return size;
}

bool is_collective(const Call& call) {
  const std::string name = call.name;
  return name != "ncclSend" && name != "ncclRecv";
}

std::vector<Transfer> transfers_of(const Call& call, int rank, int num_ranks) {
  std::vector<Transfer> transfers;
  if (!is_collective(call)) {
    const bool sends = std::string(call.name) == "ncclSend";
    auto* const data = static_cast<std::byte*>(sends ? const_cast<void*>(call.input) : call.output);
    const std::size_t bytes = call.count * size_of(call.type);
    return {{.peer = call.peer,
             .sends = sends,
             .data = data,
             .bytes = bytes,
             .call = "ncclSend and ncclRecv of " + std::to_string(bytes) + " bytes"}};
  }
  for (int peer = 0; peer < num_ranks; ++peer) {
    if (peer != rank) {
      transfers.push_back({.peer = peer, .sends = true});
      transfers.push_back({.peer = peer});
    }
  }
  return transfers;
}

Outcome run_collective(Mesh& mesh, const Call& call, int rank, int num_ranks) {
  return Collective(mesh, call, rank, num_ranks).run();
}

}  // namespace rehearsal
