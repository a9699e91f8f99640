#include "real/system/interrupt.hpp"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

/// Whether SIGHUP is ignored, as under nohup. Once it is blocked it would be read here all the same.
bool outlives_its_terminal() {
  struct sigaction now {};
  return ::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (!outlives_its_terminal()) {
    sigaddset(&set, SIGHUP);
  }
  return set;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  const sigset_t set = interrupts();
  descriptor_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_.open()) {
    throw lacking("signals cannot be watched: {}", errno_text());
  }
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &usual, &children_before_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGCHLD, &children_before_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> InterruptGuard::take() {
  signalfd_siginfo information{};
  if (::read(descriptor_.number(), &information, sizeof(information)) != sizeof(information)) {
    return std::nullopt;
  }
  return static_cast<int>(information.ssi_signo);
}

void with_interrupts(const std::function<void(InterruptGuard&)>& body) {
  int signal = 0;
  try {
    InterruptGuard guard;
    body(guard);
    return;
  } catch (const Interrupted& interrupted) {
    signal = interrupted.signal;
  }
  ::raise(signal);
  throw Error(ErrorKind::failed, fmt::format("interrupted by signal {}", signal));
}

}  // namespace ringside
