#pragma once

#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"

namespace ringside {

/// What was measured of one point. `seconds` is the median over iterations of the slowest rank's time; low and
/// high are the 95 % confidence interval of that median (order statistics). Only `outcome == ok` has times.
struct Measurement {
  Outcome outcome = Outcome::ok;
  Seconds seconds = {};
  Seconds low = {};
  Seconds high = {};
  Seconds min = {};
  Seconds p95 = {};
  int iterations = 0;
  /// Per iteration, the slowest rank's seconds.
  std::vector<double> samples = {};
  Backend backend = Backend::gloo;
  /// Why there is no time, or what a reader must know about it.
  std::string note = {};
};

}  // namespace ringside
