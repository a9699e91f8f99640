#pragma once

#include <atomic>
#include <cstdint>

namespace ringside {

/// Counts what a rank gets done, so that another thread can tell a long run from a hang.
class Progress {
 public:
  void step() { steps_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> steps_{0};
};

}  // namespace ringside
