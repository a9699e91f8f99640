#include "common/numbers.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "common/interval.hpp"
#include "common/units.hpp"

namespace ringside {
namespace {

TEST(Numbers, TheWholeTextIsTheNumber) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-3"), -3);
  EXPECT_EQ(parse_number<std::int64_t>("9000000000"), 9'000'000'000);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "x", "1,000", "0x10"}) {
    EXPECT_FALSE(parse_number<int>(text)) << text;
    EXPECT_FALSE(parse_number<double>(text)) << text;
  }
  EXPECT_FALSE(parse_number<int>("9000000000")) << "does not fit";
  EXPECT_FALSE(parse_number<int>("1.5"));
  for (const char* text : {"inf", "nan", "-inf", "1e999"}) {
    EXPECT_FALSE(parse_number<double>(text)) << text;
  }
}

TEST(Numbers, ANumberIsTakenOffTheFront) {
  std::string_view text = "12.5 GB/s";
  EXPECT_EQ(take_number<double>(text), 12.5);
  EXPECT_EQ(text, " GB/s");
  EXPECT_FALSE(take_number<double>(text));
  EXPECT_EQ(text, " GB/s") << "nothing taken";
}

TEST(Numbers, PercentagesHaveADecimalWhereItIsAllThereIs) {
  EXPECT_EQ(signed_percent(0.123), "+12 %");
  EXPECT_EQ(signed_percent(-0.5), "-50 %");
  EXPECT_EQ(percent(0.123), "12 %");
  EXPECT_EQ(percent(1.5), "150 %");
  EXPECT_EQ(percent(0.004), "0.4 %");
  EXPECT_EQ(percent(0.0002), "0 %");
  EXPECT_EQ(percent(0.0005), "0.1 %");
  EXPECT_EQ(percent(0.00049), "0 %");
  EXPECT_EQ(percent(0.0094), "0.9 %");
  EXPECT_EQ(percent(0.0096), "1 %");
  EXPECT_EQ(percent(0.004, 2), "0.40 %");
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(percent(0.1234, 1), "12.3 %");
}

TEST(Numbers, TheWidthOfAnIntervalIsAShareOfTheMedian) {
  const SampleSummary none;
  EXPECT_EQ(std::vector<double>({none.median, none.low, none.high, none.min, none.p95}),
            std::vector<double>(5, 0));
  EXPECT_EQ((SampleSummary{.median = 4, .low = 3, .high = 5}).relative_width(), 0.5);
  EXPECT_EQ((SampleSummary{.median = 0.5, .low = 0.25, .high = 0.75}).relative_width(), 1);
  EXPECT_EQ((SampleSummary{.median = 0, .low = 0, .high = 5}).relative_width(), 0);
}

TEST(Interval, IsScaledAsAWhole) {
  const Interval<double> twice = 2 * Interval<double>{.low = 1, .typical = 2, .high = 4};
  EXPECT_EQ(twice, (Interval<double>{.low = 2, .typical = 4, .high = 8}));
  EXPECT_EQ(Interval<double>::exactly(3), (Interval<double>{.low = 3, .typical = 3, .high = 3}));
  const Interval<Seconds> times = Interval<double>{.low = 1, .typical = 2, .high = 4} * Seconds{3};
  EXPECT_EQ(times, (Interval<Seconds>{.low = {3}, .typical = {6}, .high = {12}}));
  EXPECT_EQ(values_of(times), (Interval<double>{.low = 3, .typical = 6, .high = 12}));
}

}  // namespace
}  // namespace ringside
