#include <algorithm>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "common/error.hpp"
#include "common/mapped.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/mpi/parts.hpp"
#include "real/execute/coordination.hpp"
#include "real/execute/reduce.hpp"
#include "real/system/this_machine.hpp"
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

std::string alone(int num_ranks, MpiLibrary& library) {
  return fmt::format(
      "asked {0}, found {0} times 1: each rank was started alone; with srun use --mpi=pmix, otherwise the "
      "mpirun of {1}, which this ringside was built with",
      num_ranks, library.version());
}

/// Before MpiLibrary::init(), in which Open MPI ends a rank of srun that nobody brings together with others.
bool started_alone(int num_ranks) {
  // Whoever brings ranks together says so in variables: PMIX_NAMESPACE, PMI_RANK, PMI_JOBID and more.
  bool together = std::getenv("SLURM_STEP_ID") == nullptr || num_ranks == 1;
  for (char** variable = environ; *variable != nullptr && !together; ++variable) {
    together = std::string_view(*variable).starts_with("PMI");
  }
  return !together;
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
  std::optional<std::string> fault;
  if (!begun_by_others && started_alone(place.num_ranks)) {
    fault = alone(place.num_ranks, library);
  } else {
    require_done(deadline->within("MPI_Init", [&] { return library.init(); }), "MPI_Init failed", library);
    if (!begun_by_others) {
      ::on_exit(end_mpi, nullptr);
    }
    fault = launch_fault(place.num_ranks, library);
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
  const std::string own = this_machine().host;
  std::vector<bool> elsewhere = mapped(Coordination(*backend.library_transport).texts(own),
                                       [&](const std::string& host) { return host != own; });
  backend.transport = make_mpi_transport(library, std::move(elsewhere), place.timeout, place.progress);
  backend.progress = place.progress;
  backend.keeps_scheduling = true;
  backend.make_native = [&library, deadline](const CollectiveCall& call, std::span<std::byte> message) {
    return make_native(library, deadline, call, message);
  };
  return backend;
}

std::optional<std::string> unsupported_here(const PointKey& key) {
  if (buffer_of(key).value > INT_MAX) {
    return fmt::format("MPI counts up to {} bytes", INT_MAX);
  }
  return std::nullopt;
}

std::optional<std::string> native_unsupported(const PointKey& key) {
  const auto part = static_cast<std::int64_t>(size_of(key.dtype)) * key.ranks;
  if (key.collective == Collective::all_to_all && key.bytes.value % part != 0) {
    return fmt::format("parts of equal size are measured here, and {} ranks do not divide {}", key.ranks,
                       format(key.bytes));
  }
  return std::nullopt;
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

std::optional<std::string> launch_fault(int num_ranks, MpiLibrary& library) {
  const int found = library.num_ranks();
  if (found == num_ranks) {
    return std::nullopt;
  }
  return found == 1 ? alone(num_ranks, library)
                    : fmt::format("the launcher says that it started {} ranks, and MPI_COMM_WORLD has {}",
                                  num_ranks, found);
}

MpiDeadline::MpiDeadline(Rank rank, std::chrono::milliseconds timeout)
    : rank_(rank), timeout_(timeout), watcher_([this](const std::stop_token& over) { watch(over); }) {}

int MpiDeadline::within(const char* name, const std::function<int()>& call) {
  name_.store(name, std::memory_order_relaxed);
  end_.store(Clock::now() + timeout_, std::memory_order_release);
  const int result = call();
  end_.store(Clock::time_point::max(), std::memory_order_release);
  return result;
}

void MpiDeadline::watch(const std::stop_token& over) const {
  constexpr std::chrono::milliseconds kLook{250};  // Rare enough to disturb nothing that is measured.
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any changed;
  while (!changed.wait_for(lock, over, std::min(kLook, timeout_), [&] { return over.stop_requested(); })) {
    if (Clock::now() > end_.load(std::memory_order_acquire)) {
      const std::string sentence =
          fmt::format("ringside: rank {} waited {} in {} for the other ranks; one of them is gone or hangs\n",
                      rank_, text_of(timeout_), name_.load(std::memory_order_relaxed));
      // The rank's own thread is deep in MPI: nobody else can say it, and nobody can go on.
      [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, sentence.data(), sentence.size());
      ::_exit(exit_status(ErrorKind::peer_lost));
    }
  }
}

RegisteredBackend mpi_backend() {
  return {.backend = Backend::mpi,
          .unavailable = mpi_missing,
          .native_unsupported = native_unsupported,
          .unsupported = unsupported_here,
          .join = join,
          .describe = describe,
          .library_version = library_version,
          .needs_launcher = true,
          .library_transport = true,
          .software = &Software::mpi};
}

}  // namespace ringside
