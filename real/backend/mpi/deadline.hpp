#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "common/units.hpp"

namespace ringside {

/// Calls of MPI that wait for other ranks cannot be interrupted: one that takes longer than `timeout` ends
/// this process, with a sentence on standard error. Its launcher then ends the others.
class MpiDeadline {
 public:
  MpiDeadline(Rank rank, std::chrono::milliseconds timeout);
  ~MpiDeadline();
  MpiDeadline(const MpiDeadline&) = delete;
  MpiDeadline& operator=(const MpiDeadline&) = delete;

  /// Returns what `call` returns. `name` completes "rank 1 waited 60 s in …" and lives as long as this.
  int within(const char* name, const std::function<int()>& call);

 private:
  using Clock = std::chrono::steady_clock;

  void watch();
  void give_up() const;

  Rank rank_;
  std::chrono::milliseconds timeout_;
  std::atomic<const char*> name_ = nullptr;
  std::atomic<Clock::time_point> end_ = Clock::time_point::max();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread watcher_;  // Last, so that it starts when all else is there.
};

}  // namespace ringside
