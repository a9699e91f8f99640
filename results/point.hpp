#pragma once

#include <optional>

#include "results/codec/fields.hpp"
#include "results/measurement.hpp"
#include "results/point_key.hpp"
#include "results/prediction.hpp"

namespace ringside {

/// The record that both sides fill.
struct Point {
  PointKey key;
  std::optional<Prediction> predicted = {};
  std::optional<Measurement> measured = {};
};

FieldTable<Point> table_of(const Point* any);

}  // namespace ringside
