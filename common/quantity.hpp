#pragma once

#include <span>
#include <string_view>

/// Numbers with units that are not those of common/units.hpp.
namespace ringside {

/// A unit is `multiplier` / `divisor` of the base unit: 1e-6 itself is no double, so that 10 · 1e-6 is not
/// 1e-5, but 10 / 1e6 is.
struct Unit {
  std::string_view text;
  double multiplier = 1;
  double divisor = 1;
};

/// In base units. Throws as parse_bytes() does, whose text calls the quantity `what`, such as `example`.
double parse_quantity(std::string_view text, std::string_view what, std::string_view example,
                      std::span<const Unit> units);

}  // namespace ringside
