#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "scenario/yaml/map_table.hpp"

namespace ringside {

/// `points` in ascending order of what `place_of` returns, none twice: curves are read by interpolation.
template <typename V, typename PlaceOf>
ValueType<std::vector<V>> curve_type(const MapTable<V>& point, const std::string& form,
                                     const std::string& order, PlaceOf place_of) {
  ValueType<std::vector<V>> type = list_type(map_type(point), {.form = form});
  type.read = [any = type.read, order, place_of](Reader& reader, const Value& value) {
    auto points = any(reader, value);
    const auto descending = [&](const V& a, const V& b) { return !(place_of(a) < place_of(b)); };
    if (points && std::adjacent_find(points->begin(), points->end(), descending) != points->end()) {
      reader.fail(value, fmt::format("must ascend: {}", order));
      points.reset();
    }
    return points;
  };
  return type;
}

}  // namespace ringside
