#pragma once

#include <compare>
#include <string>

#include "common/names.hpp"
#include "common/units.hpp"
#include "results/codec/fields.hpp"

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

}  // namespace ringside
