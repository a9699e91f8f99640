#include "real/execute/half.hpp"

#include <bit>
#include <cmath>

namespace ringside {

Float16 to_float16(float value) { return {std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))}; }

float to_float(Float16 value) { return static_cast<float>(std::bit_cast<_Float16>(value.bits)); }

// GCC 12 has no type for it.
BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40)};
  }
  const std::uint32_t tie_to_even = 0x7fff + ((bits >> 16) & 1);
  return {static_cast<std::uint16_t>((bits + tie_to_even) >> 16)};
}

float to_float(BFloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

}  // namespace ringside
