#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/backend/mpi/parts.hpp"

namespace ringside {

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

}  // namespace ringside
