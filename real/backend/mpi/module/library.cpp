// libringside_mpi.so: the only part of ringside that sees mpi.h. It links the MPI library and nothing of ringside.
#include "real/backend/mpi/library.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

#include "real/backend/mpi/module/collectives.hpp"

namespace ringside {
namespace {

constexpr int kTag = 0;

static_assert(sizeof(MPI_Request) <= sizeof(MpiLibrary::Request));

MPI_Request request_of(MpiLibrary::Request value) {
  MPI_Request request{};
  std::memcpy(&request, &value, sizeof(request));
  return request;
}

MpiLibrary::Request value_of(MPI_Request request) {
  MpiLibrary::Request value = 0;
  std::memcpy(&value, &request, sizeof(request));
  return value;
}

class LinkedMpi final : public MpiLibrary {
 public:
  std::string version() override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string all(text.data());
    // "Open MPI v4.1.4, package: …" and "MPICH Version:\t4.0.2\nMPICH Release date: …"
    const std::string first = all.substr(0, all.find_first_of(",\n"));
    const std::size_t tab = first.find_last_of('\t');
    return tab == std::string::npos ? first : "MPICH " + first.substr(tab + 1);
  }

  std::string text_of(int error) override {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(error, text.data(), &length);
    return text.data();
  }

  int init() override {
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun == 0) {
      int provided = 0;
      if (const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)) {
        return error;
      }
      begun_here_ = true;
    }
    if (ours_ == MPI_COMM_NULL) {
      // Messages of ours never meet those of the program.
      if (const int error = MPI_Comm_dup(MPI_COMM_WORLD, &ours_)) {
        return error;
      }
      // Errors are returned, not the end of all ranks.
      return MPI_Comm_set_errhandler(ours_, MPI_ERRORS_RETURN);
    }
    return MPI_SUCCESS;
  }

  bool active() override {
    int begun = 0;
    int over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    return begun != 0 && over == 0;
  }

  int finalize() override { return begun_here_ && active() ? MPI_Finalize() : MPI_SUCCESS; }
  void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    ::_Exit(status);
  }

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
  int all_gather(std::span<const char> own, std::span<char> all) override {
    const int count = static_cast<int>(own.size());
    return MPI_Allgather(own.data(), count, MPI_CHAR, all.data(), count, MPI_CHAR, ours_);
  }

  int start_send(Rank target, std::span<const std::byte> memory, Request& request) override {
    MPI_Request started{};
    const int error =
        MPI_Isend(memory.data(), static_cast<int>(memory.size()), MPI_BYTE, target, kTag, ours_, &started);
    request = value_of(started);
    return error;
  }
  int start_receive(Rank source, std::span<std::byte> memory, Request& request) override {
    MPI_Request started{};
    const int error =
        MPI_Irecv(memory.data(), static_cast<int>(memory.size()), MPI_BYTE, source, kTag, ours_, &started);
    request = value_of(started);
    return error;
  }
  int test(Request& request, bool& finished) override {
    MPI_Request started = request_of(request);
    int flag = 0;
    const int error = MPI_Test(&started, &flag, MPI_STATUS_IGNORE);
    request = value_of(started);
    finished = flag != 0;
    return error;
  }
  void forget(Request& request) override {
    MPI_Request started = request_of(request);
    MPI_Cancel(&started);
    MPI_Request_free(&started);
    request = value_of(started);
  }

  std::function<int()> collective(const CollectiveCall& call, std::span<std::byte> message) override {
    return mpi_collective(call, {.communicator = ours_, .rank = rank(), .message = message});
  }

 private:
  MPI_Comm ours_ = MPI_COMM_NULL;
  bool begun_here_ = false;
};

}  // namespace
}  // namespace ringside

extern "C" ringside::MpiLibrary* ringside_mpi_library() {
  static ringside::LinkedMpi library;
  return &library;
}
