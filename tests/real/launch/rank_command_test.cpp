#include "real/launch/rank_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RankCommand, SplitsWordsAsAShellWould) {
  EXPECT_THAT(split_words("  ip netns  exec host1 "), ElementsAre("ip", "netns", "exec", "host1"));
  EXPECT_THAT(split_words(R"(a "b c" 'd  e' f\ g)"), ElementsAre("a", "b c", "d  e", "f g"));
  EXPECT_THAT(split_words(R"(sh -c 'exec "$@"' --)"), ElementsAre("sh", "-c", R"(exec "$@")", "--"));
  EXPECT_THAT(split_words(R"("a\"b" "c\d" 'e\f' g"h"i)"), ElementsAre("a\"b", "c\\d", "e\\f", "ghi"));
  EXPECT_THAT(split_words("'' a"), ElementsAre("", "a"));
  EXPECT_THAT(split_words("a\tb\nc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_words(R"("a\\b" 'c\\d' e\\f \"g 'h"i' "j'k" l\)"),
              ElementsAre(R"(a\b)", R"(c\\d)", R"(e\f)", "\"g", "h\"i", "j'k", R"(l\)"));
  EXPECT_THAT(split_words(" \t\n"), IsEmpty());
}

TEST(RankCommand, AQuoteWithoutItsEndIsAnError) {
  for (const std::string quote : {"'", "\""}) {
    EXPECT_THAT([&] { split_words("echo " + quote + "a"); },
                ::testing::ThrowsMessage<Error>("the command `echo " + quote + "a` has a " + quote +
                                                " without its end"));
  }
}

TEST(RankCommand, PutsTheWrapperInFrontAndFillsItIn) {
  const LaunchOptions options = {.wrap = "ip netns exec {host} taskset -c {rank},{rank} {rank}{host}",
                                 .program = "/usr/bin/ringside"};
  EXPECT_THAT(rank_command(options, 2, 4),
              ElementsAre("ip", "netns", "exec", "host2", "taskset", "-c", "2,2", "2host2",
                          "/usr/bin/ringside", "rank", "2", "of", "4"));
}

TEST(RankCommand, StartsThisVeryProgramUnlessToldOtherwise) {
  const std::vector<std::string> command = rank_command({}, 0, 1);
  EXPECT_TRUE(command.front().starts_with('/')) << command.front();
  EXPECT_TRUE(command.front().ends_with("test_real")) << command.front();
}

TEST(RankCommand, IsReadBackByTheRank) {
  const std::vector<std::string> command = rank_command({.program = "ringside"}, 2, 4);
  const RankArguments arguments = parse_rank_arguments(std::span(command).subspan(2));
  EXPECT_EQ(arguments.rank, 2);
  EXPECT_EQ(arguments.num_ranks, 4);
  EXPECT_EQ(parse_rank_arguments(std::vector<std::string>{"0", "of", "1"}).rank, 0);
  EXPECT_EQ(parse_rank_arguments(std::vector<std::string>{"3", "of", "4"}).rank, 3);
}

TEST(RankCommand, OtherArgumentsAreRefused) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{},
                                                                                         {"1"},
                                                                                         {"4", "of", "4"},
                                                                                         {"-1", "of", "4"},
                                                                                         {"x", "of", "4"},
                                                                                         {"1", "in", "4"},
                                                                                         {"1", "of", "4x"}}) {
    EXPECT_THAT([&] { parse_rank_arguments(arguments); },
                ::testing::ThrowsMessage<Error>("`ringside rank` is how ringside starts its own ranks; use "
                                                "`ringside measure SCENARIO`"));
  }
}

}  // namespace
}  // namespace ringside
