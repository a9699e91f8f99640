#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "ringside/communicator.hpp"

namespace ringside {

/// Which ranks to start, and how they meet.
struct RankGroup {
  int ranks = 4;
  /// gloo: a process per rank. shm: the same, through memory that all see, for programs that bring every
  /// message to its end: a long one moves while its receiver waits. nccl: a process per rank and a GPU for
  /// each. threads: a thread per rank, in this process. automatic: gloo.
  Backend backend = Backend::automatic;
  std::chrono::milliseconds timeout{60'000};  ///< For every single wait; to meet, ranks have at least 30 s.
  std::optional<std::string> interface = {};  ///< Network interface to bind; none = loopback.
  int ranks_per_gpu = 1;  ///< More than one is for trying a program where GPUs are few; of nccl alone.
};

/// What a rank does.
using RankFunction = std::function<void(Communicator&)>;

/// Starts the ranks, runs `function` in each, and returns when all have come to its end.
///
/// Processes are copies of this one (fork) that live for `function` alone: each has its own copy of all
/// variables, and none of its changes reach the caller. So this process must have no other threads when it
/// calls launch(), and what ranks find out they print, write to a file, or send to rank 0. Threads share
/// everything. With nccl, this process must not have used CUDA before: copies of one that has cannot use it.
///
/// Throws Error{bad_input} for less than one rank, and in a process that mpirun, srun or torchrun started as
/// one of several ranks; Error{environment} with the reason where the backend, the interface or so many ranks
/// are not to be had here; Error{peer_lost} that names the rank that died, stopped or did not answer, with
/// its signal or exit status; what a rank threw as Error{failed} with its number, or as an Error of the kind
/// that it threw. All other ranks have been ended then. While processes run, SIGINT, SIGTERM and SIGHUP end
/// them first and then do what they would have done.
void launch(const RankGroup& group, const RankFunction& function);

/// With the defaults of everything else.
inline void launch(int ranks, const RankFunction& function) { launch(RankGroup{.ranks = ranks}, function); }

/// Why ranks of `backend` cannot be launched here, in one sentence; nothing when they can.
std::optional<std::string> cannot_launch(Backend backend);

}  // namespace ringside
