#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace ringside {

/// Prevents the idle states of cores while it is active: on each core spins a thread of the lowest priority
/// (SCHED_IDLE), which gives way to any other at once. A core in an idle state wakes late, in a virtual
/// machine by tens of microseconds. Ranks that wait for messages let their cores sleep each time, and what is
/// measured then is the sleep. (MPI and NCCL spin themselves while they wait, for the same reason.)
///
/// Only for cores that nobody else needs. On a core that is busy all the same, the thread may not run for a
/// second; nobody ever waits for it: neither stop() nor the destructor do.
class IdleStatePrevention {
 public:
  /// Starts the threads, which sleep until start(). Does nothing where the system refuses the priority.
  explicit IdleStatePrevention(std::span<const std::size_t> cores);
  ~IdleStatePrevention();
  IdleStatePrevention(const IdleStatePrevention&) = delete;
  IdleStatePrevention& operator=(const IdleStatePrevention&) = delete;

  /// Whether there is a thread on each core, and there are cores.
  bool effective() const { return effective_; }

  void start();
  void stop();

 private:
  enum class State { asleep, spinning, over };
  struct Shared;

  static void spin(std::shared_ptr<Shared> shared);
  void set(State state);

  std::shared_ptr<Shared> shared_;  ///< With the threads, which may outlive this object.
  bool effective_ = false;
};

}  // namespace ringside
