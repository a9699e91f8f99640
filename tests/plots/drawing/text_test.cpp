#include "plots/drawing/text.hpp"

#include <gtest/gtest.h>

namespace ringside::plots {
namespace {

TEST(Text, WidthIsTheSumOfAdvanceWidths) {
  EXPECT_NEAR(text_width("MM", {.size = 1000}), 2 * 863, 1);
  EXPECT_NEAR(text_width("i", {.size = 1000}), 278, 1);
  EXPECT_GT(text_width("naive", {.size = 15, .bold = true}), text_width("naive", {.size = 15}));
  EXPECT_EQ(text_width("", {}), 0);
}

TEST(Text, CharactersOfSeveralBytesCountOnce) {
  EXPECT_DOUBLE_EQ(text_width("→", {.size = 15}), 15);
  EXPECT_DOUBLE_EQ(text_width("×→", {.size = 15}), 30);
}

TEST(Text, ShortTextStaysAsItIs) { EXPECT_EQ(shortened("ring", {}, 200), "ring"); }

TEST(Text, WhatJustFitsStaysAsItIs) {
  EXPECT_EQ(shortened("double_binary_tree", {}, text_width("double_binary_tree", {})), "double_binary_tree");
}

TEST(Text, LongTextKeepsBothEndsAndFits) {
  const std::string path = "/a/very/long/path/to/a/directory/with/results.jsonl";
  const std::string text = shortened(path, {.size = 12}, 160);
  EXPECT_LE(text_width(text, {.size = 12}), 160);
  EXPECT_TRUE(text.starts_with("/a/")) << text;
  EXPECT_TRUE(text.ends_with(".jsonl")) << text;
  EXPECT_NE(text.find("…"), std::string::npos);
}

TEST(Text, ShorteningNeverCutsACharacter) {
  const std::string text = shortened("→→→→→→→→→→", {.size = 10}, 55);
  EXPECT_EQ(text, "→→…→→");
}

}  // namespace
}  // namespace ringside::plots
