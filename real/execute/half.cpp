#include "real/execute/half.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace ringside {
namespace {

constexpr std::uint32_t kSign16 = 0x8000;
constexpr std::uint32_t kInfinity16 = 0x7c00;
constexpr int kMantissaBits16 = 10;
constexpr int kExponentBias16 = 15;
/// 2^-24, the smallest float16 above zero: subnormal ones are its multiples.
constexpr int kSmallestExponent16 = -24;

}  // namespace

Float16 to_float16(float value) {
  const std::uint32_t sign = (std::bit_cast<std::uint32_t>(value) >> 16) & kSign16;
  const float magnitude = std::fabs(value);
  std::uint32_t bits = 0;
  if (std::isnan(value)) {
    bits = kInfinity16 | 0x200;
  } else if (magnitude >=
             65520.0F) {  // Halfway between the largest float16, 65504, and the next power of two.
    bits = kInfinity16;
  } else if (magnitude < std::ldexp(1.0F, -14)) {
    bits = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -kSmallestExponent16)));
  } else {
    int exponent = 0;
    const float mantissa = std::frexp(magnitude, &exponent);  // 0.5 … 1
    // The leading one of the mantissa adds to the exponent, as does a mantissa that is rounded up to 2.
    const auto whole = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(mantissa, kMantissaBits16 + 1)));
    bits = (static_cast<std::uint32_t>(exponent - 2 + kExponentBias16) << kMantissaBits16) + whole;
  }
  return {static_cast<std::uint16_t>(sign | bits)};
}

BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40)};
  }
  const std::uint32_t tie_to_even = 0x7fff + ((bits >> 16) & 1);
  return {static_cast<std::uint16_t>((bits + tie_to_even) >> 16)};
}

float to_float(Float16 value) {
  const float sign = (value.bits & kSign16) != 0 ? -1.0F : 1.0F;
  const auto exponent = static_cast<int>((value.bits & kInfinity16) >> kMantissaBits16);
  const int mantissa = value.bits & 0x3ff;
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  if (exponent == 0) {
    return sign * std::ldexp(static_cast<float>(mantissa), kSmallestExponent16);
  }
  return sign *
         std::ldexp(static_cast<float>(mantissa + 0x400), exponent - kExponentBias16 - kMantissaBits16);
}

float to_float(BFloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

}  // namespace ringside
