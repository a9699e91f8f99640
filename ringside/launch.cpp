#include "ringside/launch.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/launch/external/external_rank.hpp"
#include "real/launch/rank_limits.hpp"
#include "real/launch/rank_messages.hpp"
#include "real/launch/rank_watch.hpp"
#include "real/system/interrupt.hpp"
#include "real/system/posix.hpp"
#include "ringside/call_board.hpp"

namespace ringside {
namespace {

/// A short deadline is meant for what ranks do, not for how fast a busy machine starts processes; one that
/// dies while it starts is noticed at once anyway.
constexpr std::chrono::milliseconds kLeastMeetingTimeout{30'000};

/// Completes "rank 2 was killed by signal 9 (Killed) while …".
std::string doing(const RankGroup& group) { return fmt::format("running as one of {} ranks", group.ranks); }

/// What `function` throws may be anything; it is its author's failure, not a bug of ours.
Answer answer_of_function() {
  Answer answer = answer_of_current_exception();
  try {
    throw;
  } catch (const Bug&) {
  } catch (...) {
    answer.error = answer.error.value_or(ErrorKind::failed);
  }
  return answer;
}

/// The parent ends all ranks at once, so that none sees another one go.
void wait_for_goodbye(int control) {
  char byte = 0;
  while (::read(control, &byte, 1) > 0) {
  }
}

/// The last that a process of ours has to say. Returns its exit status.
int answer_and_end(const Answer& answer, int control) {
  std::fflush(nullptr);
  const std::string line = to_line(answer);
  ::send(control, line.data(), line.size(), MSG_NOSIGNAL);
  wait_for_goodbye(control);
  return answer.kind == AnswerKind::done ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// The life of a rank process. Returns its exit status.
int be_rank(const RankPlace& place, CallBoard& board, const RankFunction& function, int control) {
  // A lost peer is an error to report, not a reason to die.
  ::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<Communicator> communicator;
  Answer answer;
  try {
    communicator = std::make_unique<Communicator>(join_ranks(place), board);
    function(*communicator);
  } catch (...) {
    answer = answer_of_function();
  }
  return answer_and_end(answer, control);
}

void launch_processes(const RankGroup& group, const RankFunction& function, InterruptGuard& interrupts) {
  const TemporaryDirectory directory;
  CallBoard board(group.ranks);
  RankWatch watch({.timeout = group.timeout, .heartbeat = false}, interrupts);
  for (Rank rank = 0; rank < group.ranks; ++rank) {
    const RankPlace place = {.backend = group.backend,
                             .rank = rank,
                             .num_ranks = group.ranks,
                             .local_rank = rank,
                             .gpu = {.ranks_per_gpu = group.ranks_per_gpu},
                             .timeout = group.timeout,
                             .interface = group.interface,
                             .rendezvous = "file://" + directory.path().string(),
                             .group = "launch",
                             .meeting_timeout = std::max(group.timeout, kLeastMeetingTimeout)};
    watch.start([&](int control) { return be_rank(place, board, function, control); });
  }
  watch.wait_for_answers(doing(group));
}

/// One rank's failure as launch() reports it.
[[noreturn]] void rethrow_failure(Rank rank, const RankGroup& group) {
  const Answer answer = answer_of_function();
  if (!answer.error || answer.error == ErrorKind::peer_lost) {
    throw;  // A bug, or a sentence that names the ranks already.
  }
  throw Error(*answer.error, fmt::format("rank {} failed while {}: {}", rank, doing(group), answer.text));
}

void launch_threads(const RankGroup& group, const RankFunction& function) {
  CallBoard board(group.ranks);
  run_as_threads(group.ranks, group.timeout, [&](std::unique_ptr<Transport> transport) {
    const Rank rank = transport->rank();
    try {
      Communicator communicator(threads_rank(std::move(transport)), board);
      function(communicator);
    } catch (...) {
      rethrow_failure(rank, group);
    }
  });
}

/// Why ranks on GPUs cannot be had here; empty where they can.
std::string missing_gpus(const RankGroup& group) {
  try {
    const auto reason = registered(group.backend).unavailable();
    const int num_gpus = static_cast<int>(gpu_machine().gpus.size());
    return reason.value_or(too_few_gpus(num_gpus, group.ranks, group.ranks_per_gpu).value_or(""));
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Why these ranks cannot be had here.
std::optional<std::string> missing_for(const RankGroup& group) {
  const RegisteredBackend& row = registered(group.backend);
  if (row.needs_launcher) {
    return fmt::format("ranks of {} are started by mpirun or srun, not by launch()", name(group.backend));
  }
  if (!row.on_gpus) {
    return row.unavailable();
  }
  // CUDA cannot be used in copies of a process that has used it: a copy looks.
  std::string reason;
  with_interrupts([&](InterruptGuard& interrupts) {
    RankWatch watch({.timeout = group.timeout, .heartbeat = false}, interrupts);
    watch.start([&](int control) { return answer_and_end({.result = missing_gpus(group)}, control); });
    reason = watch.wait_for_answers("looking for GPUs").result;
  });
  return reason.empty() ? std::nullopt : std::optional(reason);
}

}  // namespace

std::optional<std::string> cannot_launch(Backend backend) {
  return missing_for({.ranks = 1, .backend = backend});
}

void launch(const RankGroup& group, const RankFunction& function) {
  if (group.ranks < 1) {
    throw bad_input("at least one rank is needed, not {}", group.ranks);
  }
  require_ranks(group.ranks);
  if (const std::optional<ExternalRank> external = external_rank()) {
    throw bad_input(
        "{} started this process as rank {} of {}, and launch() would start ranks of its own in each of "
        "them; run the program without it",
        external->launcher, external->rank, external->num_ranks);
  }
  if (group.ranks_per_gpu < 1) {
    throw bad_input("a GPU takes at least one rank, not {}", group.ranks_per_gpu);
  }
  if (const std::optional<std::string> reason = missing_for(group)) {
    throw Error(ErrorKind::environment, *reason);
  }
  if (registered(group.backend).ranks_are_threads) {
    launch_threads(group, function);
  } else {
    with_interrupts([&](InterruptGuard& interrupts) { launch_processes(group, function, interrupts); });
  }
}

}  // namespace ringside
