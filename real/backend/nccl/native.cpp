#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "common/error.hpp"
#include "real/backend/nccl/gpu_call.hpp"

namespace ringside {
namespace {

struct ElementType {
  DataType dtype;
  ncclDataType_t nccl;
  double epsilon;  ///< The distance from 1 to the next number.
};
constexpr auto kElementTypes = std::to_array<ElementType>({{DataType::float32, ncclFloat32, 0x1p-23},
                                                           {DataType::float64, ncclFloat64, 0x1p-52},
                                                           {DataType::float16, ncclFloat16, 0x1p-10},
                                                           {DataType::bfloat16, ncclBfloat16, 0x1p-7},
                                                           {DataType::int32, ncclInt32, 0},
                                                           {DataType::int64, ncclInt64, 0}});
static_assert(kElementTypes.size() == num_declared<DataType>());

const ElementType& type_of(DataType dtype) {
  return *std::ranges::find(kElementTypes, dtype, &ElementType::dtype);
}

ncclRedOp_t nccl_op(ReduceOp op) {
  constexpr auto kOps = std::to_array<std::pair<ReduceOp, ncclRedOp_t>>({{ReduceOp::sum, ncclSum},
                                                                         {ReduceOp::prod, ncclProd},
                                                                         {ReduceOp::min, ncclMin},
                                                                         {ReduceOp::max, ncclMax},
                                                                         {ReduceOp::avg, ncclAvg}});
  static_assert(kOps.size() == num_declared<ReduceOp>());
  return std::ranges::find(kOps, op, &std::pair<ReduceOp, ncclRedOp_t>::first)->second;
}

class NativeWork final : public GpuWork {
 public:
  NativeWork(GpuStreams& streams, const CollectiveCall& call, std::byte* message)
      : streams_(streams),
        call_(call),
        memory_(message != nullptr ? 0 : call.num_elements * static_cast<std::int64_t>(size_of(call.dtype)),
                streams.gpu()),
        message_(message != nullptr ? message : memory_.data()) {}

  std::string what() const override { return "running NCCL's own collective"; }
  std::byte* message() const override { return message_; }

  /// NCCL multiplies contributions by 1/N before adding; if 1/N is not exact, nor is the result.
  double tolerance() const override {
    const bool exact = call_.op != ReduceOp::avg || (call_.num_ranks & (call_.num_ranks - 1)) == 0;
    return exact ? 0 : call_.num_ranks * type_of(call_.dtype).epsilon;
  }

  void enqueue() override {
    if (call_.num_elements > 0) {
      NcclCommunicator& communicator = streams_.communicator();
      communicator.group("starting NCCL's own collective",
                         [&] { communicator.check(start(), "starting NCCL's own collective"); });
    }
  }

 private:
  ncclResult_t start() {
    const NcclCommunicator& communicator = streams_.communicator();
    const NcclLibrary& nccl = communicator.library();
    ncclComm_t comm = communicator.get();
    cudaStream_t stream = streams_.communication();
    std::byte* all = message_;
    const auto count = static_cast<std::size_t>(call_.num_elements);
    const std::size_t part = count / static_cast<std::size_t>(call_.num_ranks);
    std::byte* own = all + static_cast<std::size_t>(communicator.place().rank) * part * size_of(call_.dtype);
    const ncclDataType_t type = type_of(call_.dtype).nccl;
    switch (call_.collective) {
      case Collective::all_reduce:
        return nccl.all_reduce(all, all, count, type, nccl_op(call_.op), comm, stream);
      case Collective::broadcast:
        return nccl.broadcast(all, all, count, type, call_.root, comm, stream);
      case Collective::reduce:
        return nccl.reduce(all, all, count, type, nccl_op(call_.op), call_.root, comm, stream);
      case Collective::all_gather:
        return nccl.all_gather(own, all, part, type, comm, stream);
      case Collective::reduce_scatter:
        return nccl.reduce_scatter(all, own, part, type, nccl_op(call_.op), comm, stream);
      case Collective::all_to_all:
        return start_all_to_all(part / static_cast<std::size_t>(call_.num_ranks));
      case Collective::send_recv: {
        const Rank rank = communicator.place().rank;
        const Rank previous = (rank + call_.num_ranks - 1) % call_.num_ranks;
        return exchange((rank + 1) % call_.num_ranks, rank, previous, previous, part);
      }
      default:  // native_support.cpp has no row of it.
        break;
    }
    throw_bug("a supported collective", __FILE__, __LINE__, "points are checked before they are measured");
  }

  /// A send to every other rank and a receive from it in one group, as alltoall_perf of nccl-tests does:
  /// chunk i·n + j of the buffer goes from rank i to rank j. What a rank keeps for itself is there already.
  ncclResult_t start_all_to_all(std::size_t count) {
    const Rank rank = streams_.communicator().place().rank;
    ncclResult_t result = ncclSuccess;
    for (Rank peer = 0; peer < call_.num_ranks && result == ncclSuccess; ++peer) {
      if (peer != rank) {
        result = exchange(peer, rank * call_.num_ranks + peer, peer, peer * call_.num_ranks + rank, count);
      }
    }
    return result;
  }

  /// Sends part `sent` of `count` elements to `target`, and receives part `received` from `source`.
  ncclResult_t exchange(Rank target, Rank sent, Rank source, Rank received, std::size_t count) {
    const NcclCommunicator& communicator = streams_.communicator();
    if (target == communicator.place().rank) {
      return ncclSuccess;
    }
    const NcclLibrary& nccl = communicator.library();
    const ncclDataType_t type = type_of(call_.dtype).nccl;
    const std::size_t bytes = count * size_of(call_.dtype);
    const ncclResult_t result = nccl.send(message_ + static_cast<std::size_t>(sent) * bytes, count, type,
                                          target, communicator.get(), streams_.communication());
    return result != ncclSuccess ? result
                                 : nccl.receive(message_ + static_cast<std::size_t>(received) * bytes, count,
                                                type, source, communicator.get(), streams_.communication());
  }

  GpuStreams& streams_;
  CollectiveCall call_;
  DeviceMemory memory_;
  std::byte* message_;
};

}  // namespace

std::unique_ptr<GpuWork> make_native_work(GpuStreams& streams, const CollectiveCall& call,
                                          std::byte* message) {
  return std::make_unique<NativeWork>(streams, call, message);
}

}  // namespace ringside
