#include "real/awake_cores.hpp"

#include <sched.h>

namespace ringside {
namespace {

/// Whether the calling thread now stands behind all others on `core`.
bool stand_behind_others_on(std::size_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  const sched_param priority = {};
  return ::sched_setaffinity(0, sizeof(set), &set) == 0 &&
         ::sched_setscheduler(0, SCHED_IDLE, &priority) == 0;
}

/// Tells the core that this is a loop of waiting, so that another hardware thread of it may work meanwhile.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

AwakeCores::AwakeCores(std::span<const std::size_t> cores) {
  for (const std::size_t core : cores) {
    threads_.emplace_back([this, core] {
      if (stand_behind_others_on(core)) {
        while (!over_.load(std::memory_order_relaxed)) {
          relax();
        }
      }
    });
  }
}

AwakeCores::~AwakeCores() {
  over_.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

}  // namespace ringside
