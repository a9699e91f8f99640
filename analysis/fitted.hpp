#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "results/point.hpp"

namespace ringside {

/// The line α + β·S through the measured times of one algorithm, at one number of ranks: what the best line
/// *could* say. It has seen what it is compared with, so it is no prediction.
struct FittedCurve {
  PointKey key;  ///< The point of the curve; its message size has no meaning.
  Seconds latency = {};
  SecondsPerByte inverse_bandwidth = {};
  double error = 0;            ///< Mean relative error of the line at the measured sizes.
  double predicted_error = 0;  ///< Mean error of the predictions at the same sizes.

  Seconds at(Bytes bytes) const { return latency + inverse_bandwidth * bytes; }
};

/// One for each algorithm and number of ranks with a prediction and a measurement at three sizes or more. The
/// line has the least squares of the relative error, α and β not negative.
std::vector<FittedCurve> fitted_curves(std::span<const Point> points);

/// For people, one sentence per curve.
std::vector<std::string> fitted_sentences(std::span<const FittedCurve> curves);

}  // namespace ringside
