#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include <sys/types.h>

namespace ringside {

/// For how long threads of a process that could go on have waited for a core.
class CoreWait {
 public:
  /// Counts from now on.
  explicit CoreWait(pid_t process);

  /// The kernel counts a wait when it is over; one that goes on counts from the last look before which the
  /// thread ran; a little too much where it slept until then.
  void look();
  std::chrono::milliseconds elapsed() const;
  /// By the last look: the longest wait of any one thread, all its waits together; 0 where the kernel does
  /// not say (/proc/PID/task/TID/schedstat).
  std::chrono::milliseconds longest() const { return longest_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Thread {
    std::chrono::nanoseconds waited_before{0};
    std::int64_t ran = -1;    ///< For how long, ns.
    std::int64_t turns = -1;  ///< How often it was given a core.
    Clock::time_point seen = {};
    std::optional<Clock::time_point> waits_since = {};  ///< For its next turn.
  };

  pid_t process_;
  Clock::time_point began_ = Clock::now();
  std::map<pid_t, Thread> threads_;
  std::chrono::milliseconds longest_{0};
};

}  // namespace ringside
