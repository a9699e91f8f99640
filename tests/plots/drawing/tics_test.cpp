#include "plots/drawing/tics.hpp"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

using testing::Contains;
using testing::ElementsAre;

std::vector<std::string> labels(const std::vector<Tic>& tics) {
  std::vector<std::string> result;
  for (const Tic& tic : tics) {
    if (!tic.label.empty()) {
      result.push_back(tic.label);
    }
  }
  return result;
}

constexpr double kKiB = 1024;
constexpr double kGiB = kKiB * kKiB * kKiB;

TEST(SizeTics, ArePowersOfTwoUnderBinaryPrefixes) {
  EXPECT_THAT(labels(size_tics({kKiB, 256 * kKiB * kKiB}, 340)),
              ElementsAre("1 KiB", "32 KiB", "1 MiB", "32 MiB"));
  EXPECT_THAT(labels(size_tics({1, 64 * kGiB}, 300)), ElementsAre("1 B", "1 KiB", "1 MiB", "1 GiB"));
  EXPECT_THAT(labels(size_tics({4 * kKiB, 32 * kKiB}, 900)),
              ElementsAre("4 KiB", "8 KiB", "16 KiB", "32 KiB"));
}

TEST(SizeTics, AreDecadesWhereSizesAreDecimal) {
  EXPECT_THAT(labels(decimal_size_tics({1e3, 1e8}, 700)),
              ElementsAre("1 KB", "10 KB", "100 KB", "1 MB", "10 MB", "100 MB"));
  EXPECT_THAT(labels(decimal_size_tics({1, 1e9}, 250)), ElementsAre("1 B", "1 KB", "1 MB", "1 GB"));
}

TEST(SizeTics, EveryPowerInTheRangeHasATicAndNothingBeyond) {
  const std::vector<Tic> tics = size_tics({1000, 5000}, 100);
  std::vector<double> places;
  for (const Tic& tic : tics) {
    places.push_back(tic.at);
  }
  EXPECT_THAT(places, ElementsAre(1024, 2048, 4096));
}

TEST(SizeTics, LabelsNeverTouch) {
  for (const double pixels : {200.0, 340.0, 520.0, 1050.0}) {
    for (double max = 4 * kKiB; max < 1e13; max *= 3) {
      const Range range{kKiB, max};
      double free_from = -1e9;
      for (const Tic& tic : size_tics(range, pixels)) {
        if (tic.label.empty()) {
          continue;
        }
        const double at = std::log(tic.at / range.min) / std::log(range.max / range.min) * pixels;
        const double half = text_width(tic.label, {}) / 2;
        EXPECT_GT(at - half, free_from) << tic.label << " on " << pixels << " pixels up to " << max;
        free_from = at + half;
      }
    }
  }
}

TEST(TimeTics, ArePowersOfTenWithUnits) {
  EXPECT_THAT(labels(time_tics({8e-6, 0.3}, 480)), ElementsAre("10 µs", "100 µs", "1 ms", "10 ms", "100 ms"));
}

TEST(TimeTics, AShortAxisHasTwoAndFiveToo) {
  EXPECT_THAT(labels(time_tics({9e-3, 60e-3}, 400)), ElementsAre("10 ms", "20 ms", "50 ms"));
}

TEST(TimeTics, AVeryLongAxisSkipsDecades) {
  EXPECT_THAT(labels(time_tics({1e-9, 1e6}, 300)),
              ElementsAre("1 ns", "1 µs", "1 ms", "1 s", "1000 s", "1000000 s"));
}

TEST(RatioTics, OneIsAlwaysThere) {
  for (const double reach : {1.3, 2.0, 5.0, 30.0, 1e4, 1e9}) {
    EXPECT_THAT(labels(ratio_tics({1 / reach, reach}, 400)), Contains("1")) << reach;
  }
}

TEST(RatioTics, AreFineOnANarrowRangeAndCoarseOnAWideOne) {
  EXPECT_THAT(labels(ratio_tics({0.74, 1.35}, 500)), ElementsAre("0.8", "0.9", "1", "1.1", "1.25"));
  EXPECT_THAT(labels(ratio_tics({0.01, 100}, 500)), ElementsAre("0.01", "0.02", "0.05", "0.1", "0.2", "0.5",
                                                                "1", "2", "5", "10", "20", "50", "100"));
  EXPECT_THAT(labels(ratio_tics({1e-4, 1e4}, 200)), ElementsAre("0.0001", "0.01", "1", "100", "1e+04"));
}

TEST(LinearTics, AreMultiplesInTheUnit) {
  EXPECT_THAT(labels(linear_tics({0, 13.5e9}, 1e9, 500)), ElementsAre("0", "2", "4", "6", "8", "10", "12"));
  EXPECT_THAT(labels(linear_tics({0, 0.35e-3}, 1e-3, 280)), ElementsAre("0", "0.1", "0.2", "0.3"));
}

TEST(Units, FollowTheLargestValue) {
  EXPECT_EQ(time_unit({2.5}).name, "s");
  EXPECT_EQ(time_unit({2.5e-3}).name, "ms");
  EXPECT_EQ(time_unit({40e-6}).name, "µs");
  EXPECT_EQ(time_unit({40e-9}).name, "ns");
  EXPECT_EQ(bandwidth_unit({12e9}).name, "GB/s");
  EXPECT_EQ(bandwidth_unit({12e6}).name, "MB/s");
  EXPECT_EQ(bandwidth_unit({12e3}).name, "KB/s");
}

}  // namespace
}  // namespace ringside::plots
