#pragma once

#include "common/units.hpp"

namespace ringside {

/// A predicted time with its 90 % interval: low ≤ typical ≤ high.
struct TimeRange {
  Seconds typical;
  Seconds low;
  Seconds high;

  static TimeRange exactly(Seconds time) { return {.typical = time, .low = time, .high = time}; }
};

constexpr TimeRange operator*(double factor, const TimeRange& range) {
  return {.typical = factor * range.typical, .low = factor * range.low, .high = factor * range.high};
}

}  // namespace ringside
