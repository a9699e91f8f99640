#pragma once

#include <cstdint>

/// The 16-bit floating types in plain C++20: only what is needed to make and check their values. Sources:
/// IEEE 754-2019, binary16; for bfloat16, the upper half of binary32.
namespace ringside {

/// Elements of DataType::float16 and bfloat16 as they lie in memory.
struct Float16 {
  std::uint16_t bits = 0;
};
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// Rounds to nearest, ties to even; what is too large becomes infinite.
Float16 to_float16(float value);
BFloat16 to_bfloat16(float value);

float to_float(Float16 value);
float to_float(BFloat16 value);

}  // namespace ringside
