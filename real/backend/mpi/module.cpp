// libringside_mpi.so: the only part of ringside that sees mpi.h. It links MPI and nothing of ringside.
#include <cstring>
#include <memory>
#include <vector>

// Both would otherwise bring their C++ bindings, which MPI has dropped.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include "real/backend/mpi/library.hpp"

namespace ringside {
namespace {

constexpr int kTag = static_cast<int>(MpiTag::whole);

MPI_Request& of(MpiLibrary::Request& request) {
  static_assert(sizeof(MPI_Request) <= sizeof(request.room) &&
                alignof(MPI_Request) <= alignof(decltype(request)));
  return *reinterpret_cast<MPI_Request*>(request.room.data());
}

MPI_Datatype type_of(DataType dtype) {
  const bool eight = dtype == DataType::float64 || dtype == DataType::int64;
  return dtype == DataType::float32 || dtype == DataType::float64 ? (eight ? MPI_DOUBLE : MPI_FLOAT)
                                                                  : (eight ? MPI_INT64_T : MPI_INT32_T);
}

MPI_Op operation_of(ReduceOp op) {
  return op == ReduceOp::prod  ? MPI_PROD
         : op == ReduceOp::min ? MPI_MIN
         : op == ReduceOp::max ? MPI_MAX
                               : MPI_SUM;
}

/// A collective on buffers in which every rank's part has one place.
std::function<int()> collective_on(MPI_Comm comm, int rank, const CollectiveCall& call, std::byte* message) {
  const MPI_Datatype type = type_of(call.dtype);
  const MPI_Op op = operation_of(call.op);
  int element = 0;
  MPI_Type_size(type, &element);
  const int count = static_cast<int>(call.num_elements);
  const int n = call.num_ranks;
  const int root = call.root;
  std::vector<int> counts;
  std::vector<int> offsets;
  bool equal = true;
  for (const ElementRange& part : call.parts) {
    counts.push_back(static_cast<int>(part.count));
    offsets.push_back(static_cast<int>(part.first));
    equal = equal && part.count == call.parts.front().count;
  }
  const auto at = [=](int first) { return message + std::ptrdiff_t{first} * element; };
  const auto self = static_cast<std::size_t>(rank);
  const int own_count = counts.empty() ? 0 : counts[self];
  std::byte* own = counts.empty() ? message : at(offsets[self]);
  switch (call.collective) {
    case Collective::all_reduce:
      return [=] { return MPI_Allreduce(MPI_IN_PLACE, message, count, type, op, comm); };
    case Collective::reduce:
      return [=, from = rank == root ? MPI_IN_PLACE : message] {
        return MPI_Reduce(from, message, count, type, op, root, comm);
      };
    case Collective::broadcast:
      return [=] { return MPI_Bcast(message, count, type, root, comm); };
    case Collective::all_gather:
      return [=] {
        return equal ? MPI_Allgather(MPI_IN_PLACE, 0, type, message, own_count, type, comm)
                     : MPI_Allgatherv(MPI_IN_PLACE, 0, type, message, counts.data(), offsets.data(), type,
                                      comm);
      };
    case Collective::gather:
      return [=, from = rank == root ? MPI_IN_PLACE : own] {
        return equal ? MPI_Gather(from, own_count, type, message, own_count, type, root, comm)
                     : MPI_Gatherv(from, own_count, type, message, counts.data(), offsets.data(), type, root,
                                   comm);
      };
    case Collective::reduce_scatter: {
      // MPI writes a rank's part to a buffer that is no part of the message: one copy more, within the call.
      const std::size_t bytes = static_cast<std::size_t>(own_count) * static_cast<std::size_t>(element);
      const auto result = std::make_shared<std::vector<std::byte>>(bytes + 1);
      return [=] {
        std::byte* part = result->data();
        const int error = equal ? MPI_Reduce_scatter_block(message, part, own_count, type, op, comm)
                                : MPI_Reduce_scatter(message, part, counts.data(), type, op, comm);
        std::memcpy(own, part, bytes);
        return error;
      };
    }
    case Collective::all_to_all: {
      // What a rank keeps has its place already, and MPI wants no memory in both buffers: MPI_Alltoallv
      // without it. The buffers begin at different places, since MPICH looks only there.
      const int part = count / n / n;
      for (int other = 0; other < n; ++other) {
        counts[static_cast<std::size_t>(other)] = other == rank ? 0 : part;
        offsets[static_cast<std::size_t>(other)] = other * part;
      }
      std::vector<int> places;
      for (int other = 0; other < n; ++other) {
        places.push_back((other * n + rank) * part - count);
      }
      return [=] {
        return MPI_Alltoallv(own, counts.data(), offsets.data(), type, at(count), counts.data(),
                             places.data(), type, comm);
      };
    }
    case Collective::send_recv: {
      const int previous = (rank + n - 1) % n;
      const auto source = static_cast<std::size_t>(previous);
      return [=, place = at(offsets[source]), arriving = counts[source]] {
        return n == 1 ? MPI_SUCCESS
                      : MPI_Sendrecv(own, own_count, type, (rank + 1) % n, kTag, place, arriving, type,
                                     previous, kTag, comm, MPI_STATUS_IGNORE);
      };
    }
  }
  return {};
}

class LinkedMpi final : public MpiLibrary {
 public:
  std::string version() override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    // "Open MPI v4.1.4, package: …" and "MPICH Version:\t4.0.2\n … MPICH Device:\tch4:ucx\n …", whose rules
    // depend on the device.
    const std::string all(text.data());
    const auto of_line = [&all](const std::string& title) {
      const std::size_t begin = all.find(title);
      const std::size_t value =
          begin == std::string::npos ? begin : all.find_first_not_of(" \t", begin + title.size());
      return value == std::string::npos ? std::string() : all.substr(value, all.find('\n', value) - value);
    };
    const std::string mpich = of_line("MPICH Version:");
    return mpich.empty() ? all.substr(0, all.find_first_of(",\n"))
                         : "MPICH " + mpich + ' ' + of_line("MPICH Device:");
  }
  std::string text_of(int error) override {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(error, text.data(), &length);
    return text.data();
  }

  std::optional<bool> cuda_aware() override {
    // Open MPI has it, and MPICH where it is built with GPUs: looked up, so that others will do.
    auto* const query = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    return query == nullptr ? std::nullopt : std::optional(query() == 1);
  }

  int init() override {
    int provided = 0;
    int error = active() ? MPI_SUCCESS : MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (error == MPI_SUCCESS && ours_ == MPI_COMM_NULL) {
      // Messages of ours never meet those of the program, and errors are returned.
      error = MPI_Comm_dup(MPI_COMM_WORLD, &ours_);
      MPI_Comm_set_errhandler(ours_, MPI_ERRORS_RETURN);
    }
    return error;
  }
  bool active() override {
    int begun = 0;
    int over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    return begun != 0 && over == 0;
  }
  void end(int status) override { status == 0 ? MPI_Finalize() : MPI_Abort(MPI_COMM_WORLD, status); }

  Rank rank() override {
    int rank = 0;
    MPI_Comm_rank(ours_, &rank);
    return rank;
  }
  int num_ranks() override {
    int size = 0;
    MPI_Comm_size(ours_, &size);
    return size;
  }

  int start(MpiSide side, Rank peer, MpiTag tag, std::span<std::byte> memory, Request& request) override {
    const int bytes = static_cast<int>(memory.size());
    const int number = static_cast<int>(tag);
    return side == MpiSide::send
               ? MPI_Isend(memory.data(), bytes, MPI_BYTE, peer, number, ours_, &of(request))
               : MPI_Irecv(memory.data(), bytes, MPI_BYTE, peer, number, ours_, &of(request));
  }
  int test(Request& request, bool& finished) override {
    int flag = 0;
    const int error = MPI_Test(&of(request), &flag, MPI_STATUS_IGNORE);
    finished = flag != 0;
    return error;
  }
  void forget(Request& request) override {
    MPI_Cancel(&of(request));
    MPI_Request_free(&of(request));
  }
  std::function<int()> collective(const CollectiveCall& call, std::span<std::byte> message) override {
    return collective_on(ours_, rank(), call, message.data());
  }

 private:
  MPI_Comm ours_ = MPI_COMM_NULL;
};

}  // namespace
}  // namespace ringside

extern "C" ringside::MpiLibrary* ringside_mpi_library() {
  static ringside::LinkedMpi library;
  return &library;
}
