// MPI's own collectives on ringside's buffers, in which every rank's part has one place.
#include "real/backend/mpi/module/collectives.hpp"

#include <cstring>
#include <memory>
#include <vector>

namespace ringside {
namespace {

MPI_Datatype type_of(DataType dtype) {
  switch (dtype) {
    case DataType::float32:
      return MPI_FLOAT;
    case DataType::float64:
      return MPI_DOUBLE;
    case DataType::int32:
      return MPI_INT32_T;
    case DataType::int64:
      return MPI_INT64_T;
    case DataType::float16:
    case DataType::bfloat16:
      break;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op operation_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return MPI_SUM;
    case ReduceOp::prod:
      return MPI_PROD;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
  }
  return MPI_OP_NULL;
}

/// Elements of each rank, and where they begin.
struct Parts {
  std::vector<int> counts;
  std::vector<int> offsets;
  bool equal = true;
};

Parts parts_of(const CollectiveCall& call) {
  Parts parts;
  for (const ElementRange& part : call.parts) {
    parts.counts.push_back(static_cast<int>(part.count));
    parts.offsets.push_back(static_cast<int>(part.first));
    parts.equal = parts.equal && part.count == call.parts.front().count;
  }
  return parts;
}

/// One collective with all that its calls share.
struct Prepared {
  MPI_Comm communicator;
  MPI_Datatype type;
  MPI_Op op;
  int rank;
  int root;
  int num_ranks;
  int count;            ///< Elements of the whole message.
  std::size_t element;  /// Bytes.
  std::byte* message;
  Parts parts;
  std::vector<std::byte> result = {};  ///< Where MPI wants another place than ours.

  std::byte* at(int first_element) const {
    return message + static_cast<std::size_t>(first_element) * element;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(count) * element; }
  int own_count() const { return parts.counts[static_cast<std::size_t>(rank)]; }
  std::byte* own() const { return at(parts.offsets[static_cast<std::size_t>(rank)]); }
};

int all_reduce(Prepared& call) {
  return MPI_Allreduce(MPI_IN_PLACE, call.message, call.count, call.type, call.op, call.communicator);
}

int reduce(Prepared& call) {
  const bool at_root = call.rank == call.root;
  return MPI_Reduce(at_root ? MPI_IN_PLACE : call.message, at_root ? call.message : nullptr, call.count,
                    call.type, call.op, call.root, call.communicator);
}

int broadcast(Prepared& call) {
  return MPI_Bcast(call.message, call.count, call.type, call.root, call.communicator);
}

int all_gather(Prepared& call) {
  return call.parts.equal ? MPI_Allgather(MPI_IN_PLACE, 0, call.type, call.message, call.own_count(),
                                          call.type, call.communicator)
                          : MPI_Allgatherv(MPI_IN_PLACE, 0, call.type, call.message, call.parts.counts.data(),
                                           call.parts.offsets.data(), call.type, call.communicator);
}

int gather(Prepared& call) {
  const void* own = call.rank == call.root ? MPI_IN_PLACE : call.own();
  return call.parts.equal
             ? MPI_Gather(own, call.own_count(), call.type, call.message, call.own_count(), call.type,
                          call.root, call.communicator)
             : MPI_Gatherv(own, call.own_count(), call.type, call.message, call.parts.counts.data(),
                           call.parts.offsets.data(), call.type, call.root, call.communicator);
}

/// MPI writes a rank's part to a buffer that is no part of the message: one copy more, within the call.
int reduce_scatter(Prepared& call) {
  const int error = call.parts.equal
                        ? MPI_Reduce_scatter_block(call.message, call.result.data(), call.own_count(),
                                                   call.type, call.op, call.communicator)
                        : MPI_Reduce_scatter(call.message, call.result.data(), call.parts.counts.data(),
                                             call.type, call.op, call.communicator);
  if (call.own_count() > 0) {
    std::memcpy(call.own(), call.result.data(), static_cast<std::size_t>(call.own_count()) * call.element);
  }
  return error;
}

/// What a rank keeps has its place already, and MPI wants no memory in both buffers: MPI_Alltoallv without it.
/// The buffers begin at different places, since MPICH looks only there.
std::function<int()> all_to_all_call(const std::shared_ptr<Prepared>& call) {
  const int n = call->num_ranks;
  const int part = call->count / n / n;
  std::vector<int> counts(static_cast<std::size_t>(n), part);
  counts[static_cast<std::size_t>(call->rank)] = 0;
  std::vector<int> from;
  std::vector<int> to;
  for (int other = 0; other < n; ++other) {
    from.push_back(other * part);
    to.push_back((other * n + call->rank) * part - call->count);
  }
  return [=] {
    return MPI_Alltoallv(call->own(), counts.data(), from.data(), call->type, call->message + call->bytes(),
                         counts.data(), to.data(), call->type, call->communicator);
  };
}

int send_recv(Prepared& call) {
  const auto n = static_cast<int>(call.parts.counts.size());
  const int previous = (call.rank + n - 1) % n;
  const auto source = static_cast<std::size_t>(previous);
  return n == 1 ? MPI_SUCCESS
                : MPI_Sendrecv(call.own(), call.own_count(), call.type, (call.rank + 1) % n, 0,
                               call.at(call.parts.offsets[source]), call.parts.counts[source], call.type,
                               previous, 0, call.communicator, MPI_STATUS_IGNORE);
}

using Body = int (*)(Prepared& call);

Body body_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return &all_reduce;
    case Collective::reduce_scatter:
      return &reduce_scatter;
    case Collective::all_gather:
      return &all_gather;
    case Collective::broadcast:
      return &broadcast;
    case Collective::reduce:
      return &reduce;
    case Collective::gather:
      return &gather;
    case Collective::send_recv:
      return &send_recv;
    case Collective::all_to_all:
      break;
  }
  return nullptr;
}

}  // namespace

std::function<int()> mpi_collective(const CollectiveCall& call, const MpiPlace& place) {
  const MPI_Datatype type = type_of(call.dtype);
  if (type == MPI_DATATYPE_NULL) {
    return {};
  }
  int element = 0;
  MPI_Type_size(type, &element);
  const auto prepared = std::make_shared<Prepared>(Prepared{.communicator = place.communicator,
                                                            .type = type,
                                                            .op = operation_of(call.op),
                                                            .rank = place.rank,
                                                            .root = call.root,
                                                            .num_ranks = call.num_ranks,
                                                            .count = static_cast<int>(call.num_elements),
                                                            .element = static_cast<std::size_t>(element),
                                                            .message = place.message.data(),
                                                            .parts = parts_of(call)});
  if (call.collective == Collective::reduce_scatter) {
    // Never null, however short.
    prepared->result.resize(static_cast<std::size_t>(prepared->own_count()) * prepared->element + 1);
  }
  if (call.collective == Collective::all_to_all) {
    return all_to_all_call(prepared);
  }
  return [prepared, body = body_of(call.collective)] { return body(*prepared); };
}

}  // namespace ringside
