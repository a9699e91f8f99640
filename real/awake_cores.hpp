#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace ringside {

/// Keeps cores from falling asleep while it lives: on each spins a thread of the lowest priority (SCHED_IDLE), which
/// gives way to any other at once. A core that sleeps wakes late, in a virtual machine by tens of microseconds, because
/// the host must wake it. Ranks that wait for messages sleep at every one of them, and what is measured then is the
/// sleep. (MPI and NCCL spin themselves while they wait, for the same reason.)
///
/// Only for cores that nobody else needs. Does nothing where the system refuses the priority.
class AwakeCores {
 public:
  explicit AwakeCores(std::span<const std::size_t> cores);
  ~AwakeCores();
  AwakeCores(const AwakeCores&) = delete;
  AwakeCores& operator=(const AwakeCores&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ringside
