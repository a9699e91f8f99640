#include "real/backend/mpi/deadline.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/execute/transport.hpp"

namespace ringside {
namespace {

/// Rare enough to disturb nothing that is measured.
constexpr std::chrono::milliseconds kLook{250};

}  // namespace

MpiDeadline::MpiDeadline(Rank rank, std::chrono::milliseconds timeout)
    : rank_(rank), timeout_(timeout), watcher_([this] { watch(); }) {}

MpiDeadline::~MpiDeadline() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  watcher_.join();
}

int MpiDeadline::within(const char* name, const std::function<int()>& call) {
  name_.store(name, std::memory_order_relaxed);
  end_.store(Clock::now() + timeout_, std::memory_order_release);
  const int result = call();
  end_.store(Clock::time_point::max(), std::memory_order_release);
  return result;
}

void MpiDeadline::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::min(kLook, timeout_), [this] { return over_; })) {
    if (Clock::now() > end_.load(std::memory_order_acquire)) {
      give_up();
    }
  }
}

void MpiDeadline::give_up() const {
  const std::string sentence =
      fmt::format("ringside: rank {} waited {} in {} for the other ranks; one of them is gone or hangs\n",
                  rank_, text_of(timeout_), name_.load(std::memory_order_relaxed));
  // The rank's own thread is deep in MPI: nobody else can say it, and nobody can go on.
  [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  ::_exit(exit_status(ErrorKind::peer_lost));
}

}  // namespace ringside
