#include "real/measure/timing.hpp"

#include <algorithm>
#include <cstddef>

#include "common/numbers.hpp"
#include "real/execute/executor.hpp"

namespace ringside {
namespace {

/// Calls that are dropped come to an end after so many, or so much of the budget.
constexpr int kMaxWarmUpCalls = 10;
constexpr double kWarmUpShare = 0.1;
constexpr double kMaxWarmUpShare = 0.5;

class Timing {
 public:
  Timing(const TimedCall& call, const TimingLimits& limits, Coordination& coordination, Progress* progress)
      : call_(call), limits_(limits), coordination_(coordination), progress_(progress) {}

  std::vector<double> run() {
    warm_up();
    std::vector<double> samples;
    double elapsed = 0;
    int count = std::min(limits_.min_calls, limits_.max_calls);
    while (count > 0) {
      elapsed += run_batch(count, &samples);
      count = next_batch(samples, elapsed);
    }
    return samples;
  }

 private:
  /// Connections, caches and the library's own buffers are made by the first calls.
  void warm_up() {
    double elapsed = run_batch(1, nullptr);
    const double budget = kWarmUpShare * limits_.budget.value;
    const int more =
        elapsed > 0 ? static_cast<int>(std::min<double>(budget / elapsed, kMaxWarmUpCalls - 1)) : 0;
    if (more > 0) {
      elapsed += run_batch(more, nullptr);
    }
    const double longest = std::min(limits_.min_warm_up.value, kMaxWarmUpShare * limits_.budget.value);
    while (elapsed > 0 && elapsed < longest) {
      elapsed += run_batch(kMaxWarmUpCalls, nullptr);
    }
  }

  /// Makes `count` calls and appends the slowest rank's seconds of each. Returns the seconds that all of it
  /// took, with restored input and barriers, at the rank for which it took longest.
  double run_batch(int count, std::vector<double>* samples) {
    const Seconds start = steady_now();
    std::vector<double> own;
    own.reserve(static_cast<std::size_t>(count) + 1);
    for (int i = 0; i < count; ++i) {
      call_.before();
      coordination_.barrier();
      const double seconds = call_.run();
      own.push_back(call_.counts ? seconds : 0);
      // Who is done early must not take a shared core for its next input from those who still receive.
      coordination_.barrier();
      call_.after();
      if (progress_ != nullptr) {
        progress_->step();
      }
    }
    own.push_back((steady_now() - start).value);
    const std::vector<double> slowest = coordination_.maximum(own);
    if (samples != nullptr) {
      samples->insert(samples->end(), slowest.begin(), slowest.end() - 1);
    }
    return slowest.back();
  }

  /// How many more calls; the same at every rank because all of them know the same numbers.
  int next_batch(const std::vector<double>& samples, double elapsed) const {
    const int done = static_cast<int>(samples.size());
    const int left = limits_.max_calls - done;
    const double budget_left = limits_.budget.value - elapsed;
    if (left <= 0 || budget_left <= 0) {
      return 0;
    }
    if (done >= kMinSamplesOfInterval && summarize(samples).relative_width() < limits_.target_interval) {
      return 0;
    }
    const double affordable = elapsed > 0 ? budget_left / (elapsed / done) : done;
    return std::clamp(static_cast<int>(std::min<double>(affordable, done)), 1, left);
  }

  const TimedCall& call_;
  const TimingLimits& limits_;
  Coordination& coordination_;
  Progress* progress_;
};

}  // namespace

std::vector<double> time_calls(const TimedCall& call, const TimingLimits& limits, Coordination& coordination,
                               Progress* progress) {
  return Timing(call, limits, coordination, progress).run();
}

}  // namespace ringside
