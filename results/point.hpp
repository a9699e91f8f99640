#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "common/names.hpp"
#include "common/units.hpp"
#include "results/codec/fields.hpp"
#include "results/measurement.hpp"
#include "results/prediction.hpp"

namespace ringside {

/// Names one cell of a comparison: what is predicted, measured and written down under one name.
struct PointKey {
  Collective collective = Collective::all_reduce;
  std::string algorithm;  ///< A registry name or `native`.
  int ranks = 1;
  Bytes bytes;  ///< S, the message size; for all_gather and reduce_scatter that of the whole vector.
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;

  auto operator<=>(const PointKey&) const = default;
};

FieldTable<PointKey> table_of(const PointKey* any);

/// The record that both sides fill.
struct Point {
  PointKey key;
  std::optional<Prediction> predicted = {};
  std::optional<Measurement> measured = {};
  std::optional<std::int64_t> series = {};  ///< In which table or run of a log it was, from 1.
};

FieldTable<Point> table_of(const Point* any);

}  // namespace ringside
