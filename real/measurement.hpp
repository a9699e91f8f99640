#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"

namespace ringside {

/// How calls get onto a device, and what that costs the host.
struct DeviceLaunch {
  bool graph = false;    ///< The whole call is one launch of a CUDA graph; otherwise call by call.
  Seconds host_seconds;  ///< Median of the host's time to put one call onto its stream, at the slowest rank.
  std::string note = {};
};

/// What was measured of one point. `seconds` is the median over iterations of the slowest rank's time; low and
/// high are the 95 % confidence interval of that median (order statistics), and reach over the medians of all passes.
/// Only `outcome == ok` has times.
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
  /// The median of each pass over all points, seconds; empty when there was one.
  std::vector<double> passes = {};
  Backend backend = Backend::gloo;
  std::optional<DeviceLaunch> launch = {};  ///< Of GPU ranks.
  /// Several ranks shared a GPU: a trial of the path, not a measurement of any link.
  bool oversubscribed = false;
  /// Why there is no time, or what a reader must know about it.
  std::string note = {};
};

/// `pass` is one more pass of what `earlier` measured: their samples together. Of an outcome that is not ok nothing
/// is left but that outcome.
Measurement with_pass(const Measurement& earlier, const Measurement& pass);

}  // namespace ringside
