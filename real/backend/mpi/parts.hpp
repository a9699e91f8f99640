#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "real/backend/mpi/library.hpp"
#include "real/execute/progress.hpp"
#include "real/execute/transport.hpp"

/// What the backend is made of, apart from the library that it loads.
namespace ringside {

/// After MpiLibrary::init(): what is wrong with how the ranks were started, which are `num_ranks` as their
/// launcher says, in a sentence that is the same at all of them; nothing where they are together.
std::optional<std::string> launch_fault(int num_ranks, MpiLibrary& library);

/// Over MPI_Isend and MPI_Irecv. `library` is active and outlives the transport; `progress` may be null.
/// Long messages to and from ranks that are `elsewhere` travel in pieces (transport.cpp says why).
std::unique_ptr<Transport> make_mpi_transport(MpiLibrary& library, std::vector<bool> elsewhere,
                                              std::chrono::milliseconds timeout, Progress* progress);

/// Calls of MPI that wait for other ranks cannot be interrupted: one that takes longer than `timeout` ends
/// this process, with a sentence on standard error. Its launcher then ends the others.
class MpiDeadline {
 public:
  MpiDeadline(Rank rank, std::chrono::milliseconds timeout);

  /// Returns what `call` returns. `name` completes "rank 1 waited 60 s in …" and lives as long as this.
  int within(const char* name, const std::function<int()>& call);

 private:
  using Clock = std::chrono::steady_clock;

  void watch(const std::stop_token& over) const;

  Rank rank_;
  std::chrono::milliseconds timeout_;
  std::atomic<const char*> name_ = nullptr;
  std::atomic<Clock::time_point> end_ = Clock::time_point::max();
  std::jthread watcher_;  // Last, so that it starts when all else is there.
};

}  // namespace ringside
