#pragma once

#include <functional>
#include <vector>

#include "common/units.hpp"
#include "real/execute/coordination.hpp"
#include "real/execute/progress.hpp"

namespace ringside {

/// How long calls are repeated. Timed calls end when the 95 % interval of their median is narrower than
/// `target_interval` (relative; none is narrower than 0), or when `budget` is spent, but not before
/// `min_calls`.
struct TimingLimits {
  Seconds budget{1.0};
  Seconds min_warm_up{0};  ///< Calls that are dropped go on for so long at least, within half of the budget.
  double target_interval = 0.05;
  int min_calls = 5;
  int max_calls = 10'000;
};

struct TimedCall {
  std::function<void()> before;  ///< Not timed, before each call: restores the input.
  std::function<double()>
      run;  ///< Returns the seconds that it took at this rank, by the clock of its device.
  std::function<void()> after = [] {};  ///< Not timed, after each call: looks at the result.
  bool counts = true;  ///< Whether this rank's time is among those of which the slowest counts.
};

/// Repeats a call that all ranks make together: each time, ranks leave a barrier, time their own call, and
/// meet again before anything else is done; the slowest counts. The first calls are dropped. Returns seconds
/// per call, in order; the same at every rank. `progress` may be null.
std::vector<double> time_calls(const TimedCall& call, const TimingLimits& limits, Coordination& coordination,
                               Progress* progress);

}  // namespace ringside
