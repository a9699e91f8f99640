#include "common/units.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

template <typename Parse>
std::string error_of(Parse parse, const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return {};
}

TEST(Units, AQuantityIsNothingAtFirst) {
  EXPECT_EQ(Bytes{}.value, 0);
  EXPECT_EQ(Seconds{}.value, 0);
  EXPECT_EQ(BytesPerSecond{}.value, 0);
  EXPECT_EQ(SecondsPerByte{}.value, 0);
}

TEST(Units, DecimalAndBinarySizesAreNotTheSame) {
  EXPECT_EQ(parse_bytes("1 B").value, 1);
  EXPECT_EQ(parse_bytes("1 KB").value, 1000);
  EXPECT_EQ(parse_bytes("1 KiB").value, 1024);
  EXPECT_EQ(parse_bytes("1 MB").value, 1000000);
  EXPECT_EQ(parse_bytes("1 MiB").value, 1048576);
  EXPECT_EQ(parse_bytes("1 GB").value, 1000000000);
  EXPECT_EQ(parse_bytes("1 GiB").value, 1073741824);
}

TEST(Units, BitsAreEighthsOfBytes) {
  EXPECT_EQ(parse_bandwidth("200 Gb/s").value, 25e9);
  EXPECT_EQ(parse_bandwidth("25 GB/s").value, 25e9);
  EXPECT_EQ(parse_bandwidth("8 Mb/s").value, 1e6);
  EXPECT_EQ(parse_bandwidth("8 Kb/s").value, 1e3);
  EXPECT_EQ(parse_bandwidth("1.5 TB/s").value, 1.5e12);
  EXPECT_EQ(parse_bandwidth("3 MB/s").value, 3e6);
  EXPECT_EQ(parse_bandwidth("3 KB/s").value, 3e3);
  EXPECT_EQ(parse_bandwidth("3 B/s").value, 3);
}

TEST(Units, TimesAreTheNearestDoubles) {
  // 10 times the double that is nearest to 1e-6 is not the double that is nearest to 1e-5.
  EXPECT_EQ(parse_seconds("10 us").value, 1e-5);
  EXPECT_EQ(parse_seconds("3 ns").value, 3e-9);
  EXPECT_EQ(parse_seconds("95 ms").value, 0.095);
  EXPECT_EQ(parse_seconds("1.5 s").value, 1.5);
  EXPECT_EQ(parse_seconds("1e-05 s").value, 1e-5);
  for (int number = 0; number < 2000; ++number) {
    EXPECT_EQ(parse_seconds(std::to_string(number) + " us").value, std::stod(std::to_string(number) + "e-6"));
    EXPECT_EQ(parse_seconds(std::to_string(number) + " ns").value, std::stod(std::to_string(number) + "e-9"));
  }
}

TEST(Units, WhatPeopleWriteIsRead) {
  EXPECT_EQ(parse_seconds("10 \u00b5s").value, 1e-5) << "the micro sign";
  EXPECT_EQ(parse_seconds("10\u03bcs").value, 1e-5) << "the Greek letter";
  EXPECT_EQ(parse_seconds("1 min").value, 60);
  EXPECT_EQ(parse_seconds("2 h").value, 7200);
  EXPECT_EQ(parse_bandwidth("20 GiB/s").value, 20.0 * 1073741824);
  EXPECT_EQ(parse_bandwidth("3 MiB/s").value, 3.0 * 1048576);
  EXPECT_EQ(parse_bandwidth("3 KiB/s").value, 3072);
}

TEST(Units, ReductionCostIsATimePerByteOrARate) {
  EXPECT_EQ(parse_seconds_per_byte("0.1 ns/B").value, 0.1e-9);
  EXPECT_EQ(parse_seconds_per_byte("7 ps/B").value, 7e-12);
  EXPECT_EQ(parse_seconds_per_byte("0 s/B").value, 0);
  EXPECT_EQ(parse_seconds_per_byte("10 GB/s").value, 1e-10);
  EXPECT_EQ(parse_seconds_per_byte("80 Gb/s").value, 1e-10);
  EXPECT_THAT(error_of(parse_seconds_per_byte, "10"), AllOf(HasSubstr("has no unit"), HasSubstr("0.1 ns/B")));
  EXPECT_EQ(parse_seconds_per_byte("1 GiB/s").value, 1.0 / 1073741824);
  EXPECT_THAT(error_of(parse_seconds_per_byte, "10 Gib/s"), HasSubstr("'Gib/s'"));
}

TEST(Units, SpacesAroundAndBetweenDoNotMatter) {
  EXPECT_EQ(parse_bytes("4KiB").value, 4096);
  EXPECT_EQ(parse_bytes("  4  KiB ").value, 4096);
  EXPECT_EQ(parse_bytes("4\tKiB").value, 4096);
  EXPECT_EQ(parse_bytes(".5 KiB").value, 512);
  EXPECT_EQ(parse_bytes("1e3 B").value, 1000);
}

TEST(Units, TabsAreSpaces) { EXPECT_EQ(parse_seconds("\t10\tus\t").value, 10e-6); }

TEST(Units, ANumberWithoutAUnitSaysSoAndShowsOne) {
  EXPECT_THAT(error_of(parse_bytes, "4096"),
              AllOf(HasSubstr("'4096' has no unit"), HasSubstr("4 KiB"), HasSubstr("GiB")));
  EXPECT_THAT(error_of(parse_seconds, "10"), AllOf(HasSubstr("has no unit"), HasSubstr("10 us")));
  EXPECT_THAT(error_of(parse_bandwidth, "10"), AllOf(HasSubstr("has no unit"), HasSubstr("20 GB/s")));
}

TEST(Units, AUnitOfAnotherQuantityOrInOtherLettersIsRefused) {
  for (const char* text : {"4 kib", "4 kb", "4 us", "4 GB/s", "4 KiB B", "4 Ki B", "0x10 B"}) {
    EXPECT_THAT(error_of(parse_bytes, text),
                AllOf(HasSubstr("has the unit"), HasSubstr("B KiB MiB GiB KB MB GB")))
        << text;
  }
  EXPECT_THAT(error_of(parse_seconds, "4 \u00b5"), HasSubstr("ns us ms s min h"));
  EXPECT_THAT(error_of(parse_seconds, "4 B"), HasSubstr("ns us ms s"));
  EXPECT_THAT(error_of(parse_bandwidth, "4 GB"), HasSubstr("GB/s"));
}

TEST(Units, AUnitInAnotherSpellingIsAnsweredWithOurs) {
  EXPECT_THAT(error_of(parse_bandwidth, "10 Gbps"), HasSubstr("did you mean 'Gb/s'?"));
  EXPECT_THAT(error_of(parse_bandwidth, "10 GBps"), HasSubstr("did you mean 'GB/s'?"));
  EXPECT_THAT(error_of(parse_bytes, "1G"), HasSubstr("did you mean 'GiB'?"));
  EXPECT_THAT(error_of(parse_bandwidth, "10 Gbs"), Not(HasSubstr("did you mean")));
  for (const auto& [theirs, ours] : {std::pair("Mbps", "Mb/s"),
                                     {"Kbps", "Kb/s"},
                                     {"Gbit/s", "Gb/s"},
                                     {"Mbit/s", "Mb/s"},
                                     {"MBps", "MB/s"}}) {
    EXPECT_THAT(error_of(parse_bandwidth, fmt::format("1 {}", theirs)),
                HasSubstr(fmt::format("mean '{}'", ours)));
  }
  EXPECT_THAT(error_of(parse_bytes, "1 K"), HasSubstr("mean 'KiB'"));
  EXPECT_THAT(error_of(parse_bytes, "1 M"), HasSubstr("mean 'MiB'"));
}

TEST(Units, AnotherSpellingIsNoAnswerWhereItsUnitDoesNotFit) {
  EXPECT_THAT(error_of(parse_seconds, "5 Gbps"), AllOf(HasSubstr("Gbps"), Not(HasSubstr("did you mean"))));
}

TEST(Units, WhatNoMachineCouldHaveIsRefused) {
  for (const char* text : {"1e300 s", "1e31 s", "1e-30 ns"}) {
    EXPECT_THAT(error_of(parse_seconds, text), HasSubstr("no time that any machine could have")) << text;
  }
  EXPECT_THAT(error_of(parse_bandwidth, "1e-300 B/s"), HasSubstr("no bandwidth that any machine could have"));
  EXPECT_EQ(parse_seconds("0 s").value, 0);
  EXPECT_EQ(parse_seconds("1e30 s").value, 1e30);
  EXPECT_EQ(parse_seconds("1e-30 s").value, 1e-30);
  EXPECT_THAT(error_of(parse_seconds, "1.1e30 s"), HasSubstr("no time"));
  EXPECT_THAT(error_of(parse_seconds, "9e-31 s"), HasSubstr("no time"));
}

TEST(Units, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", " ", "B", "x", "KiB 4", "--4 B", "+4 B", "1e999 B"}) {
    EXPECT_THAT(error_of(parse_bytes, text), HasSubstr("is not a size; write a number and a unit")) << text;
  }
  for (const char* text : {"-4 B", "inf B", "nan B", "-inf B"}) {
    EXPECT_THAT(error_of(parse_bytes, text), HasSubstr("finite and not negative")) << text;
  }
}

TEST(Units, SizesAreWholeBytesThatFitTheirType) {
  EXPECT_THAT(error_of(parse_bytes, "0.3 B"), HasSubstr("not a whole number of bytes"));
  EXPECT_THAT(error_of(parse_bytes, "0.1 KiB"), HasSubstr("not a whole number of bytes"));
  EXPECT_EQ(parse_bytes("0.1 KB").value, 100);
  EXPECT_EQ(parse_bytes("88.3 MB").value, 88300000);
  EXPECT_THAT(error_of(parse_bytes, "1e19 B"), HasSubstr("larger than any message"));
  EXPECT_THAT(error_of(parse_bytes, "9.21e18 B"), HasSubstr("larger than any message"));
  EXPECT_EQ(parse_bytes("9.2e18 B").value, 9'200'000'000'000'000'000);
  EXPECT_THAT(error_of(parse_bytes, "1.00001 B"), HasSubstr("not a whole number of bytes"));
  EXPECT_EQ(parse_bytes("0.0000001 B").value, 0);
}

TEST(Units, SizesAreShownExactlyWhereTheyAreRound) {
  EXPECT_EQ(format(Bytes{0}), "0 B");
  EXPECT_EQ(format(Bytes{512}), "512 B");
  EXPECT_EQ(format(Bytes{4096}), "4 KiB");
  EXPECT_EQ(format(Bytes{88'000'000}), "88 MB");
  EXPECT_EQ(format(Bytes{1 << 30}), "1 GiB");
  EXPECT_EQ(format(Bytes{1'000'000'000}), "1 GB");
  EXPECT_EQ(format(Bytes{1'500'001}), "1.43 MiB");
  EXPECT_EQ(format(Bytes{1000}), "1 KB");
  EXPECT_EQ(format(Bytes{1024}), "1 KiB");
  EXPECT_EQ(format(Bytes{1025}), "1 KiB");
  EXPECT_EQ(format(Bytes{1'000'000}), "1 MB");
  EXPECT_EQ(format(Bytes{9'999LL << 10}), "9999 KiB");
  EXPECT_EQ(format(Bytes{10'001LL << 10}), "9.77 MiB");
}

TEST(Units, TimesAndRatesAreShownInThreeDigits) {
  EXPECT_EQ(format(Seconds{0}), "0 µs");
  EXPECT_EQ(format(Seconds{12.34e-6}), "12.3 µs");
  EXPECT_EQ(format(Seconds{4.5678e-3}), "4.57 ms");
  EXPECT_EQ(format(Seconds{1.2}), "1.2 s");
  EXPECT_EQ(format(Seconds{7e-9}), "7 ns");
  EXPECT_EQ(format(BytesPerSecond{9.8765e9}), "9.88 GB/s");
  EXPECT_EQ(format(BytesPerSecond{50e6}), "50 MB/s");
  EXPECT_EQ(format(SecondsPerByte{0.1234e-9}), "0.123 ns/B");
}

TEST(Units, RoundingNeverShowsAThousandOfASmallerUnit) {
  EXPECT_EQ(format(Seconds{0.9999e-3}), "1 ms");
  EXPECT_EQ(format(Seconds{0.99996}), "1 s");
  EXPECT_EQ(format(Seconds{999.9e-9}), "1 µs");
  EXPECT_EQ(format(BytesPerSecond{999.9e6}), "1 GB/s");
  EXPECT_EQ(format(BytesPerSecond{999.9e3}), "1 MB/s");
  EXPECT_EQ(format(Seconds{0.9989e-3}), "999 µs");
  EXPECT_EQ(format(Seconds{0.9994}), "999 ms");
  EXPECT_EQ(format(Seconds{0.9995}), "1 s");
  EXPECT_EQ(format(Bytes{(1 << 20) - 1}), "1 MiB");
  EXPECT_EQ(format(Bytes{(1 << 30) - 1}), "1 GiB");
}

TEST(Units, WhatIsLongIsRoundedAndWholeNumbersKeepTheirZeros) {
  EXPECT_EQ(format(Bytes{10'000LL << 20}), "9.77 GiB");
  EXPECT_EQ(format(Bytes{1023}), "1023 B");
  EXPECT_EQ(format(Bytes{1001}), "1001 B");
  EXPECT_EQ(format(Seconds{100e-6}), "100 µs");
}

TEST(Units, SmallCostsAreNotShownAsNothing) {
  EXPECT_EQ(format(SecondsPerByte{0}), "0 ns/B");
  EXPECT_EQ(format(SecondsPerByte{1.25e-12}), "0.00125 ns/B");
  EXPECT_EQ(format(SecondsPerByte{1.25e-16}), "0.000000125 ns/B");
  EXPECT_EQ(format(SecondsPerByte{1.25e-22}), "0.000000000000125 ns/B");
  EXPECT_EQ(format(SecondsPerByte{1.25e-24}), "0.000000000000001 ns/B") << "15 decimals at most";
  EXPECT_EQ(format(Seconds{-0.002}), "-2 ms");
  EXPECT_EQ(format(BytesPerSecond{2.5}), "0.0025 KB/s");
}

TEST(Units, ArithmeticKeepsTheUnits) {
  EXPECT_EQ((Seconds{1} + Seconds{2} - Seconds{0.5}).value, 2.5);
  EXPECT_EQ((3 * Seconds{2}).value, 6);
  EXPECT_EQ((SecondsPerByte{0.5} * Bytes{8}).value, 4);
  EXPECT_EQ((Bytes{8} / BytesPerSecond{2}).value, 4);
  EXPECT_EQ(inverse(BytesPerSecond{4}).value, 0.25);
  EXPECT_EQ(inverse(BytesPerSecond{0}).value, 0);
  EXPECT_EQ(inverse(BytesPerSecond{0.5}).value, 2);
  EXPECT_EQ(inverse(SecondsPerByte{0}).value, 0);
  EXPECT_EQ(inverse(SecondsPerByte{0.5}).value, 2);
  EXPECT_EQ(inverse(SecondsPerByte{4}).value, 0.25);
  EXPECT_EQ(kGiga, 1e9);
  EXPECT_EQ(kMicro, 1e-6);
}

}  // namespace
}  // namespace ringside
