#pragma once

#include <cstdint>
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
  std::optional<std::int64_t> series = {};  ///< In which table or run of a log it was, from 1.
};

FieldTable<Point> table_of(const Point* any);

}  // namespace ringside
