#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/mpi/parts.hpp"
#include "real/execute/coordination.hpp"
#include "real/execute/reduce.hpp"
#include "real/system/this_machine.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside {
namespace {

/// For so long the other ranks leave the word to rank 0, whose launcher then ends them.
constexpr std::chrono::milliseconds kWordOfRankZero{500};

/// A process that fails must take the other ranks along, which would wait for it in MPI_Finalize.
void end_mpi(int status, void* /*unused*/) {
  MpiLibrary& library = mpi_library();
  if (!library.active()) {
    return;
  }
  std::fflush(nullptr);
  library.end(library.num_ranks() > 1 ? status : EXIT_SUCCESS);
}

void require_done(int error, const char* doing, MpiLibrary& library) {
  if (error != 0) {
    throw Error(ErrorKind::peer_lost, fmt::format("{}: {}", doing, library.text_of(error)));
  }
}

NativeCall make_native(MpiLibrary& library, const std::shared_ptr<MpiDeadline>& deadline,
                       const CollectiveCall& call, std::span<std::byte> message) {
  if (call.num_elements == 0) {
    return [] {};
  }
  std::function<int()> own = library.collective(call, message);
  RINGSIDE_CHECK(own != nullptr, "points are checked before they are measured");
  ElementRange averaged = {.count = call.num_elements};
  if (call.collective == Collective::reduce_scatter) {
    averaged = call.parts[static_cast<std::size_t>(library.rank())];
  }
  // MPI has no average: sum, then divide.
  const bool divides = call.op == ReduceOp::avg && reduces(call.collective) &&
                       (call.collective != Collective::reduce || library.rank() == call.root);
  std::byte* memory = message.data() + averaged.first * static_cast<std::int64_t>(size_of(call.dtype));
  return [&library, deadline, own = std::move(own), divides, memory, averaged, dtype = call.dtype,
          ranks = call.num_ranks] {
    require_done(deadline->within("MPI's own collective", own), "MPI's own collective failed", library);
    if (divides) {
      divide(memory, averaged.count, dtype, ranks);
    }
  };
}

RankBackend join(const RankPlace& place) {
  MpiLibrary& library = mpi_library();
  const auto deadline = std::make_shared<MpiDeadline>(place.rank, place.timeout);
  const bool begun_by_others = library.active();
  const StartedAs started = {.rank = place.rank, .num_ranks = place.num_ranks};
  std::optional<std::string> fault = begun_by_others ? std::nullopt : started_alone(started, library);
  if (!fault) {
    require_done(deadline->within("MPI_Init", [&] { return library.init(); }), "MPI_Init failed", library);
    if (!begun_by_others) {
      ::on_exit(end_mpi, nullptr);
    }
    fault = launch_fault(started, library);
  }
  if (fault) {
    if (place.rank != 0) {
      std::this_thread::sleep_for(kWordOfRankZero);
    }
    throw Error(ErrorKind::environment, *fault);
  }
  RankBackend backend;
  backend.backend = Backend::mpi;
  backend.library_transport = make_mpi_transport(library, {}, place.timeout, place.progress);
  std::vector<bool> elsewhere;
  const std::string own = this_machine().host;
  for (const std::string& host : Coordination(*backend.library_transport).texts(own)) {
    elsewhere.push_back(host != own);
  }
  backend.transport = make_mpi_transport(library, std::move(elsewhere), place.timeout, place.progress);
  backend.progress = place.progress;
  backend.waits_awake = true;
  backend.make_native = [&library, deadline](const CollectiveCall& call, std::span<std::byte> message) {
    return make_native(library, deadline, call, message);
  };
  return backend;
}

std::optional<std::string> unsupported_here(const PointKey& key) {
  if (buffer_of(key).value > INT_MAX) {
    return fmt::format("MPI counts up to {} bytes", INT_MAX);
  }
  const auto part = static_cast<std::int64_t>(size_of(key.dtype)) * key.ranks;
  if (key.algorithm == kNative && key.collective == Collective::all_to_all && key.bytes.value % part != 0) {
    return fmt::format("parts of equal size are measured here, and {} ranks do not divide {}", key.ranks,
                       format(key.bytes));
  }
  return unsupported_on_cpu(key.dtype);
}

/// What is true of memory, whether GPUs are there or not.
std::string describe() {
  const std::optional<bool> aware = mpi_library().cuda_aware();
  return fmt::format("CPU ranks of mpirun or srun, buffers in host memory; {}, which {}",
                     mpi_library().version(),
                     !aware   ? "does not say whether it is CUDA-aware"
                     : *aware ? "is CUDA-aware"
                              : "is not CUDA-aware");
}

/// The first variable by which somebody takes the library's own choice of algorithms out of force, as
/// `mpirun --mca coll_…` does; empty where nobody does.
std::string forced_choice() {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const bool mpich = text.starts_with("MPIR_CVAR_") && text.find("_ALGORITHM=") != std::string_view::npos;
    if (text.starts_with("OMPI_MCA_coll") || mpich) {
      return std::string(text);
    }
  }
  return {};
}

std::string library_version() {
  const std::string forced = forced_choice();
  return mpi_library().version() + (forced.empty() ? "" : " with " + forced);
}

}  // namespace

RegisteredBackend mpi_backend() {
  return {.backend = Backend::mpi,
          .unavailable = mpi_missing,
          .unsupported = unsupported_here,
          .join = join,
          .describe = describe,
          .library_version = library_version,
          .needs_launcher = true,
          .cuts_messages = true,
          .software = &Software::mpi};
}

}  // namespace ringside
