#include "real/execute/half.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Half, EveryFloat16ComesBack) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Float16 half = {static_cast<std::uint16_t>(bits)};
    const float value = to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_float16(value))));
    } else {
      ASSERT_EQ(to_float16(value).bits, half.bits) << value;
    }
  }
}

TEST(Half, EveryBFloat16ComesBack) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const BFloat16 half = {static_cast<std::uint16_t>(bits)};
    const float value = to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_bfloat16(value))));
    } else {
      ASSERT_EQ(to_bfloat16(value).bits, half.bits) << value;
    }
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(to_float(Float16{0x3c00}), 1.0F);
  EXPECT_EQ(to_float(Float16{0x7bff}), 65504.0F);
  EXPECT_EQ(to_float(Float16{0x0001}), std::ldexp(1.0F, -24));
  EXPECT_EQ(to_float(BFloat16{0x3f80}), 1.0F);
  EXPECT_EQ(to_float(BFloat16{0xc000}), -2.0F);
  EXPECT_EQ(to_float(Float16{}), 0.0F);
  EXPECT_EQ(to_float(BFloat16{}), 0.0F);
}

TEST(Half, TiesGoToTheEvenNeighbour) {
  // 2048 … 4096 are apart by 2 in float16; 256 … 512 in bfloat16.
  EXPECT_EQ(to_float(to_float16(2049)), 2048);
  EXPECT_EQ(to_float(to_float16(2051)), 2052);
  EXPECT_EQ(to_float(to_bfloat16(257)), 256);
  EXPECT_EQ(to_float(to_bfloat16(259)), 260);
  EXPECT_EQ(to_float(to_float16(2049.01F)), 2050);
}

TEST(Half, WhatIsNoNumberStaysNone) {
  // The only bits of its mantissa are among those that are cut off.
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7f800001U)))));
  EXPECT_TRUE(std::isnan(to_float(to_float16(std::bit_cast<float>(0x7f800001U)))));
  EXPECT_EQ(to_float16(std::bit_cast<float>(0xff800001U)).bits, 0xfe00) << "a quiet one, with its sign";
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0xff800001U)).bits, 0xffc0);
}

TEST(Half, TooLargeBecomesInfinite) {
  EXPECT_EQ(to_float(to_float16(65519)), 65504);
  EXPECT_TRUE(std::isinf(to_float(to_float16(65520))));
  EXPECT_TRUE(std::isinf(to_float(to_bfloat16(std::numeric_limits<float>::max()))));
  EXPECT_EQ(to_float(to_float16(-std::numeric_limits<float>::infinity())),
            -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace ringside
