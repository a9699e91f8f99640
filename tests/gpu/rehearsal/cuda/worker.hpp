#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>

namespace rehearsal {

/// May run more than once, when it is part of a graph.
using Work = std::function<void()>;

/// That something has happened, and when.
class Completion {
 public:
  using Clock = std::chrono::steady_clock;

  void complete();
  void wait();
  bool is_complete();
  Clock::time_point time();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool complete_ = false;
  Clock::time_point time_;
};

/// How one stream is held back before each of its works: never, always, or at random, which the seed decides;
/// never without a seed.
class Pauses {
 public:
  explicit Pauses(std::uint64_t seed);
  void pause();

 private:
  std::mt19937_64 random_;
  std::uint64_t style_;
};

/// A thread that does one work after another; what is left of it when the worker ends is still done.
class Worker {
 public:
  explicit Worker(std::uint64_t seed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void push(Work work);
  void wait_until_idle();

 private:
  struct Queue;
  std::shared_ptr<Queue> queue_;
};

/// A seed of one thing among those that share `seed`; 0 of 0.
std::uint64_t seed_of(std::uint64_t seed, std::uint64_t which);

}  // namespace rehearsal
