#include "common/text.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Text, ACountAgreesWithItsNoun) {
  EXPECT_EQ(count_of(0, "rank"), "0 ranks");
  EXPECT_EQ(count_of(1, "rank"), "1 rank");
  EXPECT_EQ(count_of(std::size_t{2}, "process", "processes"), "2 processes");
}

TEST(Text, WhatIsNumberedWithoutGapsIsOneOrARange) {
  EXPECT_EQ(consecutive("chunk", 3, 3), "chunk 3");
  EXPECT_EQ(consecutive("chunk", 3, 5), "chunks 3–5");
  EXPECT_EQ(consecutive("NIC", 0, 1, " to "), "NICs 0 to 1");
  EXPECT_EQ(consecutive("", 7, 7) + ", " + consecutive("", 7, 8), "7, 7–8");
}

TEST(Text, ARangeWhoseEndsReadAlikeIsSaidOnce) {
  EXPECT_EQ(from_to(Bytes{4096}, Bytes{8192}), "4 KiB to 8 KiB");
  EXPECT_EQ(from_to(Bytes{4096}, Bytes{4096}), "4 KiB");
}

TEST(Text, TheFirstFewAreNamedAndTheOthersCounted) {
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  EXPECT_EQ(first_few(names, 2), "a, b and 2 more");
  EXPECT_EQ(first_few(names, 4, "; "), "a; b; c; d");
  EXPECT_EQ(first_few({}, 4), "");
}

TEST(Text, NumbersKeepTheDigitsThatPeopleRead) {
  EXPECT_EQ(factor_text(1.254), "1.25×");
  EXPECT_EQ(factor_text(12.34, 1), "12.3×");
  EXPECT_EQ(in_gb(Bytes{13'456'000'000}), "13.5 GB");
  EXPECT_EQ(money_text(0.1254), "0.125");
  EXPECT_EQ(money_text(12.5), "12.50");
  EXPECT_EQ(money_text(1), "1.00");
}

TEST(Text, WordsAreWhatStandsBetweenBlanks) {
  const auto is_comma = [](char c) { return c == ','; };
  EXPECT_THAT(words_of(",a,,bc,", is_comma), ElementsAre("a", "bc"));
  EXPECT_THAT(words_of("a b", is_comma), ElementsAre("a b"));
  EXPECT_THAT(words_of(",,", is_comma), IsEmpty());
  EXPECT_TRUE(is_one_of("a", {"b", "a"}));
  EXPECT_FALSE(is_one_of("ab", {"b", "a"}));
}

TEST(Text, PartsBetweenSeparatorsMayBeEmpty) {
  EXPECT_THAT(split("a,,bc,", ','), ElementsAre("a", "", "bc", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, BlanksAtTheEndsAreTakenOff) {
  EXPECT_EQ(trimmed("  8x H100\t\n"), "8x H100");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed("\"a b\" ", " \""), "a b");
}

TEST(Text, OnlyAsciiLettersChangeCase) {
  EXPECT_EQ(lower("DGX-H100 µ"), "dgx-h100 µ");
  EXPECT_EQ(upper("sxm5 µ"), "SXM5 µ");
  EXPECT_EQ(lower("@AZ[`az{"), "@az[`az{");
  EXPECT_EQ(upper("@AZ[`az{"), "@AZ[`AZ{");
}

TEST(Text, WhatIsNoUtf8BecomesTheReplacementCharacter) {
  EXPECT_EQ(valid_utf8(""), "");
  EXPECT_EQ(valid_utf8("µ–€𝛼"), "µ–€𝛼");
  EXPECT_EQ(valid_utf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(valid_utf8("\xC3"), "\uFFFD") << "a character that is cut";
  EXPECT_EQ(valid_utf8("\xE2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\uFFFD\uFFFD") << "longer than needed";
  EXPECT_EQ(valid_utf8("\xE0\x9F\xBF"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "half of a UTF-16 pair";
  EXPECT_EQ(valid_utf8("\xED\x9F\xBF"), "\xED\x9F\xBF");
  EXPECT_EQ(valid_utf8("\xF0\x8F\xBF\xBF"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(valid_utf8("\xF4\x8F\xBF\xBF"), "\xF4\x8F\xBF\xBF") << "U+10FFFF";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80 ok"), "\uFFFD\uFFFD\uFFFD\uFFFD ok");
}

TEST(Text, CharactersThatTurnTextAroundAreSpelt) {
  EXPECT_EQ(with_directions_spelt("a\u202Ab\u202Ec"), "a\\u202ab\\u202ec");
  EXPECT_EQ(with_directions_spelt("\u2066\u2069"), "\\u2066\\u2069");
  EXPECT_EQ(with_directions_spelt("\u2029\u202F\u2065\u206A\u2013"), "\u2029\u202F\u2065\u206A\u2013");
  EXPECT_EQ(with_directions_spelt("\xE2\x80"), "\xE2\x80") << "cut";
  EXPECT_EQ(with_directions_spelt("\u202A"), "\\u202a") << "the last character";
}

TEST(Text, ControlCharactersAreSpelt) {
  const std::string with_zero("a\0z", 3);
  EXPECT_EQ(printable(with_zero), "a\\u0000z");
  EXPECT_EQ(printable("\x1B[1m\x1F \x7E\x7F"), "\\u001b[1m\\u001f ~\\u007f");
  EXPECT_EQ(printable("a\tb\nc\r"), "a\tb\nc\\u000d");
  EXPECT_EQ(printable("\u0080\u009F\u00A0\u00C0"), "\\u0080\\u009f\u00A0\u00C0") << "orders of eight bits";
  EXPECT_EQ(printable("\xC2\u202E"), "\uFFFD\\u202e");
}

TEST(Text, ACharacterIsAsLongAsItsFirstByteSays) {
  EXPECT_EQ(character_length(""), 0U);
  EXPECT_EQ(character_length("az"), 1U);
  EXPECT_EQ(character_length("\x7F"), 1U);
  EXPECT_EQ(character_length("\u0080z"), 2U);
  EXPECT_EQ(character_length("\u07FF"), 2U);
  EXPECT_EQ(character_length("\u0800"), 3U);
  EXPECT_EQ(character_length("\uFFFFz"), 3U);
  EXPECT_EQ(character_length("\U00010000"), 4U);
  EXPECT_EQ(character_length("\U0010FFFF"), 4U);
  for (const char* text :
       {"\x80", "\xBF", "\xC1\x80", "\xF5\x80\x80\x80", "\xC3(", "\xE2\x82(", "\xE2(\x82"}) {
    EXPECT_EQ(character_length(text), 0U) << text;
  }
}

}  // namespace
}  // namespace ringside
