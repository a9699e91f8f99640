#pragma once

#include <csignal>
#include <functional>
#include <optional>

#include "common/file_descriptor.hpp"

namespace ringside {

/// While it lives, SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup) to this thread do not
/// end the process but become readable here, so that ranks can be ended and files removed first; and SIGCHLD
/// has its default effect, because of children that nobody waits for nobody learns how they ended.
class InterruptGuard {
 public:
  /// Throws Error{environment}.
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Readable when a signal has come.
  int descriptor() const { return descriptor_.number(); }
  /// The signal, if one has come.
  std::optional<int> take();

 private:
  sigset_t before_{};
  struct sigaction children_before_ {};
  FileDescriptor descriptor_;
};

/// Thrown where a signal was taken, so that everything is cleaned up on the way to with_interrupts().
struct Interrupted {
  int signal = 0;
};

/// Calls `body` with a guard. When it throws Interrupted, the signal then does what it would have done;
/// should the process live on, throws Error{failed}.
void with_interrupts(const std::function<void(InterruptGuard&)>& body);

}  // namespace ringside
