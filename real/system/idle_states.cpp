#include "real/system/idle_states.hpp"

#include <atomic>
#include <system_error>
#include <thread>

#include <pthread.h>
#include <sched.h>

namespace ringside {

struct IdleStatePrevention::Shared {
  std::atomic<State> state = State::asleep;
};

namespace {

/// Whether `thread` now stands behind all others on `core`.
bool put_behind_others_on(std::size_t core, pthread_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  const sched_param priority = {};
  return ::pthread_setaffinity_np(thread, sizeof(set), &set) == 0 &&
         ::pthread_setschedparam(thread, SCHED_IDLE, &priority) == 0;
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

IdleStatePrevention::IdleStatePrevention(std::span<const std::size_t> cores)
    : shared_(std::make_shared<Shared>()), effective_(!cores.empty()) {
  for (const std::size_t core : cores) {
    try {
      std::thread thread(&IdleStatePrevention::spin, shared_);
      effective_ = put_behind_others_on(core, thread.native_handle()) && effective_;
      thread.detach();
    } catch (const std::system_error&) {
      effective_ = false;  // No more threads are granted.
    }
  }
  if (!effective_) {
    set(State::over);
  }
}

void IdleStatePrevention::spin(std::shared_ptr<Shared> shared) {
  // What a thread of this priority holds, others may wait for in vain; so it holds nothing, not even a mutex.
  while (true) {
    const State state = shared->state.load(std::memory_order_relaxed);
    if (state == State::over) {
      return;
    }
    if (state == State::asleep) {
      shared->state.wait(State::asleep, std::memory_order_relaxed);
    } else {
      relax();
    }
  }
}

IdleStatePrevention::~IdleStatePrevention() { set(State::over); }

void IdleStatePrevention::start() {
  if (effective_) {
    set(State::spinning);
  }
}

void IdleStatePrevention::stop() {
  if (effective_) {
    set(State::asleep);
  }
}

void IdleStatePrevention::set(State state) {
  shared_->state.store(state, std::memory_order_relaxed);
  shared_->state.notify_all();
}

}  // namespace ringside
