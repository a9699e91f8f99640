#pragma once

#include <optional>

#include "common/point_key.hpp"
#include "real/measurement.hpp"
#include "sim/prediction.hpp"

namespace ringside {

/// The record that both sides fill.
struct Point {
  PointKey key;
  std::optional<Prediction> predicted = {};
  std::optional<Measurement> measured = {};
};

}  // namespace ringside
