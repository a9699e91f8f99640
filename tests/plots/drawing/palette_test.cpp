#include "plots/drawing/palette.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/registry.hpp"

namespace ringside::plots {
namespace {

/// Everything that a chart of all_reduce can show.
const std::vector<std::string> kKnown = [] {
  std::vector<std::string> names = algorithm_names(Collective::all_reduce);
  names.emplace_back(kNative);
  return names;
}();

TEST(Palette, KnownAlgorithmsLookTheSameInAnyCompany) {
  const auto all = series_styles(kKnown);
  for (const std::string& name : kKnown) {
    EXPECT_EQ(series_styles({name}).at(name), all.at(name)) << name;
    EXPECT_EQ(series_styles({"something", name, "else"}).at(name), all.at(name)) << name;
  }
  EXPECT_EQ(all.at("ring").color, kBlue);
  EXPECT_EQ(all.at("naive").color, kVermillion);
}

TEST(Palette, NoTwoKnownAlgorithmsLookAlike) {
  const auto all = series_styles(kKnown);
  for (const std::string& one : kKnown) {
    for (const std::string& other : kKnown) {
      if (one != other) {
        EXPECT_FALSE(all.at(one) == all.at(other)) << one << " and " << other;
        EXPECT_FALSE(all.at(one).color == all.at(other).color && all.at(one).dash == all.at(other).dash)
            << "lines of " << one << " and " << other;
      }
    }
  }
}

TEST(Palette, AreasOfDifferentKindsNeverLookAlike) {
  const auto colors = category_colors(kKnown);
  for (const std::string& one : kKnown) {
    for (const std::string& other : kKnown) {
      EXPECT_EQ(one == other, colors.at(one) == colors.at(other)) << one << " and " << other;
    }
  }
  EXPECT_EQ(colors.at("naive"), kVermillion);
  EXPECT_EQ(colors.at("ring"), kBlue);
}

TEST(Palette, UnknownNamesDoNotDependOnTheirOrder) {
  const auto one = series_styles({"ring", "mine", "yours"});
  const auto other = series_styles({"yours", "mine", "ring"});
  EXPECT_EQ(one, other);
  EXPECT_FALSE(one.at("mine") == one.at("yours"));
  EXPECT_FALSE(one.at("mine") == one.at("ring"));
}

TEST(Palette, ManyUnknownNamesStillGetAStyle) {
  std::vector<std::string> names;
  for (int index = 0; index < 30; ++index) {
    names.push_back("algorithm " + std::to_string(index));
  }
  EXPECT_EQ(series_styles(names).size(), 30U);
}

TEST(Palette, AreasBeyondTheColoursAreTheirHalfTones) {
  std::vector<std::string> names;
  for (int index = 0; index < 11; ++index) {
    names.push_back("kind " + std::to_string(index));
  }
  std::set<std::uint32_t> looks;
  for (const auto& [name, color] : category_colors(names)) {
    looks.insert(color.rgb);
  }
  EXPECT_EQ(looks.size(), names.size());
  names.resize(3);
  for (const auto& [name, color] : category_colors(names)) {
    const auto cycle = {cycle_color(0), cycle_color(1), cycle_color(2), cycle_color(3),
                        cycle_color(4), cycle_color(5), cycle_color(6), cycle_color(7)};
    EXPECT_THAT(cycle, testing::Contains(color)) << name;
  }
}

TEST(Palette, DivergingColorsAreWhiteInTheMiddleAndClamped) {
  EXPECT_EQ(diverging_color(0), kWhite);
  EXPECT_EQ(diverging_color(1), diverging_color(7));
  EXPECT_EQ(diverging_color(-1), diverging_color(-7));
  const Color blue = diverging_color(0.6);
  const Color orange = diverging_color(-0.6);
  EXPECT_GT(blue.rgb & 0xFFU, blue.rgb >> 16U);
  EXPECT_LT(orange.rgb & 0xFFU, orange.rgb >> 16U);
}

TEST(Palette, SequentialColorsDarken) {
  const auto green = [](const Color& color) { return (color.rgb >> 8U) & 0xFFU; };
  EXPECT_GT(green(sequential_color(0)), green(sequential_color(0.5)));
  EXPECT_GT(green(sequential_color(0.5)), green(sequential_color(1)));
}

TEST(Palette, TextIsReadableOnLightAndDark) {
  EXPECT_EQ(readable_on(kWhite), kBlack);
  EXPECT_EQ(readable_on(kSkyBlue), kBlack);
  EXPECT_EQ(readable_on(kBlack), kWhite);
  EXPECT_EQ(readable_on(kBlue), kWhite);
  EXPECT_EQ(readable_on({.rgb = 0x8C8C8C}), kWhite);
  EXPECT_EQ(readable_on({.rgb = 0x8D8D8D}), kBlack);
}

}  // namespace
}  // namespace ringside::plots
