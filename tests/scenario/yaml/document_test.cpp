// Files that are no YAML, or not the YAML that people meant.

#include "scenario/yaml/document.hpp"

#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "scenario/scenario.hpp"
#include "tests/scenario/files.hpp"

namespace ringside {
namespace {

using test::Folder;
using test::scenario_of;
using test::scenario_problems;
using test::scenario_problems_in;
using test::scenario_with;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

TEST(Document, AMissingFileIsNamed) {
  const Folder folder;
  EXPECT_THAT(scenario_problems_in(folder, "nowhere.yaml"),
              ElementsAre("nowhere.yaml: there is no such file"));
}

TEST(Document, ADirectoryIsNoFile) {
  const Folder folder;
  folder.write("inner/x.yaml", "");
  EXPECT_THAT(scenario_problems_in(folder, "inner"), ElementsAre("inner: is a directory, not a YAML file"));
}

TEST(Document, AnEndlessFileIsRefused) { EXPECT_THROW(load_machine("/dev/zero"), Error); }

TEST(Document, NothingInAFileIsSaidSo) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "~\n", "\r\n"}) {
    EXPECT_THAT(scenario_problems(text), ElementsAre(StartsWith("case.yaml: is empty; write a map"))) << text;
  }
}

TEST(Document, AListOrASingleValueIsNoMap) {
  EXPECT_THAT(scenario_problems("- ranks: 4\n"),
              ElementsAre(StartsWith("case.yaml: is a list; write a map")));
  EXPECT_THAT(scenario_problems("hello\n"),
              ElementsAre(StartsWith("case.yaml: is a single value; write a map")));
}

TEST(Document, ABinaryFileIsOneProblem) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) {
    every_byte += static_cast<char>(byte);
  }
  EXPECT_THAT(scenario_problems(every_byte),
              ElementsAre("case.yaml: is not a YAML file: byte 0 is 0x00, but YAML is UTF-8 text"));
  EXPECT_THAT(scenario_problems("name: caf\xE9\n"), ElementsAre(HasSubstr("byte 9 is 0xe9")));
  EXPECT_THAT(scenario_problems("\xFF\xFEn\0a\0"), ElementsAre(HasSubstr("byte 0 is 0xff")));
  EXPECT_THAT(scenario_problems("name: \xC3"), ElementsAre(HasSubstr("byte 6 is 0xc3")));
  EXPECT_THAT(scenario_problems("name: \x1B[31m\n"), ElementsAre(HasSubstr("byte 6 is 0x1b")));
}

TEST(Document, ATabThatIndentsIsPointedAt) {
  EXPECT_THAT(scenario_problems("name: x\n\tranks: 4\n"),
              ElementsAre("case.yaml:2:1: a tab indents this line; YAML takes spaces only"));
  EXPECT_THAT(scenario_problems("machine:\n  \tkind: x\n"), ElementsAre(StartsWith("case.yaml:2:3: a tab")));
}

TEST(Document, TabsElsewhereAreHarmless) {
  EXPECT_EQ(scenario_of(scenario_with("name:\tx\t# comment\n\t\n\t# comment\n")).name, "x");
}

TEST(Document, SyntaxErrorsSayWhereAndWhatToLookFor) {
  EXPECT_THAT(
      scenario_problems("ranks: [1, 2\nname: x\n"),
      ElementsAre(AllOf(StartsWith("case.yaml:2:"), HasSubstr("is not valid YAML"), HasSubstr("']'"))));
  EXPECT_THAT(scenario_problems("name: a: b\n"),
              ElementsAre(AllOf(StartsWith("case.yaml:1:8: is not valid YAML"), HasSubstr("quotes"))));
  EXPECT_THAT(scenario_problems("name: x\n ranks: 2\n"),
              ElementsAre(AllOf(StartsWith("case.yaml:2:"), HasSubstr("check the indentation"))));
  EXPECT_THAT(scenario_problems("name: @x\n"), ElementsAre(HasSubstr("case.yaml:1:7: is not valid YAML")));
  EXPECT_THAT(scenario_problems("name: *nowhere\n"),
              ElementsAre(AllOf(StartsWith("case.yaml:1:7:"), HasSubstr("anchor"))));
  EXPECT_THAT(scenario_problems("name: \"\\q\"\n"), ElementsAre(HasSubstr("escape")));
}

TEST(Document, AQuoteThatDoesNotEndIsFoundWhereItStarts) {
  EXPECT_THAT(scenario_problems(scenario_with("name: 'it''s\n")),
              ElementsAre("case.yaml:4:7: is not valid YAML: the quote that starts here does not end"));
  EXPECT_THAT(scenario_problems(scenario_with("name: \"a \\\" b\n")),
              ElementsAre(HasSubstr("case.yaml:4:7:")));
  EXPECT_EQ(scenario_of(scenario_with("name: 'it''s'")).name, "it's");
  EXPECT_EQ(scenario_of(scenario_with("name: \"a \\\" b\"\n")).name, "a \" b");
}

TEST(Document, TextThatBeginsWithACommaIsRefusedAtOnce) {
  for (const char* text : {",", ", switch: true", "# names\n,a,b\n1,2,3\n", "]"}) {
    EXPECT_THAT(scenario_problems(text), ElementsAre(HasSubstr("is not valid YAML"))) << text;
  }
}

TEST(Document, FourTimesAsManyLinesTakeFourTimesAsLong) {
  // Processor time; looking at all lines once per line would take 16 times as long.
  const auto time_of = [](int lines) {
    std::string text;
    for (int line = 0; line < lines; ++line) {
      text += "#\n";
    }
    std::vector<Problem> problems;
    const std::clock_t start = std::clock();
    EXPECT_TRUE(parse_document("x.yaml", text + "name: x\n", problems));
    return static_cast<double>(std::clock() - start);
  };
  EXPECT_LT(time_of(800'000), 9 * time_of(200'000));
}

TEST(Document, ASecondDocumentIsNotSilentlyDropped) {
  EXPECT_THAT(scenario_problems(scenario_with("") + "---\nranks: 3\n"),
              ElementsAre(AllOf(StartsWith("case.yaml:4:1:"), HasSubstr("second YAML document"))));
}

TEST(Document, WindowsLineEndsAndAByteOrderMarkChangeNothing) {
  const Scenario scenario =
      scenario_of("\xEF\xBB\xBFname: x\r\nranks: [2,\r\n  4]\r\nmessage_sizes: 1 MiB\r\nmachine: this\r\n");
  EXPECT_EQ(scenario.name, "x");
  EXPECT_THAT(scenario.ranks, ElementsAre(2, 4));
  EXPECT_THAT(scenario_problems(
                  "\xEF\xBB\xBFwhat: 1\r\nranks: 2\r\nmessage_sizes: 1 MiB\r\nmachine: this\r\nelse: 1\r\n"),
              ElementsAre(StartsWith("case.yaml:1:1: what:"), StartsWith("case.yaml:5:1: else:")));
}

TEST(Document, ColumnsAreCountedInCharacters) {
  EXPECT_THAT(scenario_problems(scenario_with(
                  "machine: {name: ×é🎲, zzz: 1, intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}}\n")),
              ElementsAre(StartsWith("case.yaml:3:22: machine.zzz:")));
}

TEST(Document, AnAliasStandsForWhatItNames) {
  const Scenario scenario = scenario_of(
      "ranks: 4\nmessage_sizes: 1 MiB\nmachine:\n  nodes: 2\n"
      "  intra: &link {kind: custom, latency: 1 us, bandwidth: 1 GB/s}\n  inter: *link\n");
  ASSERT_TRUE(scenario.machine && scenario.machine->inter);
  EXPECT_EQ(scenario.machine->inter->latency, Seconds{1e-6});
}

TEST(Document, AnAliasOfItselfIsNotFollowedForEver) {
  EXPECT_THAT(scenario_problems(scenario_with("algorithms: &a [*a]\n")), SizeIs(1));
  EXPECT_THAT(scenario_problems(scenario_with("machine: &m {intra: *m}\n")),
              Contains(HasSubstr("machine.intra")));
}

TEST(Document, MergeKeysAreRefusedWithAWayOut) {
  EXPECT_THAT(scenario_problems(scenario_with("<<: {name: x}\n")),
              ElementsAre(AllOf(StartsWith("case.yaml:4:1: <<: merge keys"), HasSubstr("&name"))));
}

TEST(Document, DeepNestingIsAnErrorNotACrash) {
  for (const std::string& open : {std::string("["), std::string("{a: "), std::string("- ")}) {
    std::string text = open == "- " ? "ranks:\n  " : "ranks: ";
    for (int depth = 0; depth < 20000; ++depth) {
      text += open;
    }
    EXPECT_THAT(scenario_problems(text + "\n"), ElementsAre(HasSubstr("nested too deeply"))) << open;
  }
}

TEST(Document, ALongFileOfMistakesIsReportedBriefly) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "key" + std::to_string(i) + ": 1\n";
  }
  const auto problems = scenario_problems(scenario_with(text));
  EXPECT_THAT(problems, SizeIs(51));
  EXPECT_EQ(problems.back(), "case.yaml: and 2950 more problems");
}

TEST(Document, ProblemsStayOnOneLineAndAreNotLong) {
  const std::string long_text(100000, 'k');
  const std::vector<std::string> texts = {long_text + ": 1\n", "name: " + long_text + "\n",
                                          "name: \"a\\nb\"\n", "? \"a\\nb\"\n: 1\n",
                                          "dtype: " + long_text + "\n"};
  for (const std::string& text : texts) {
    const auto problems = scenario_problems(scenario_with(text));
    EXPECT_THAT(problems, SizeIs(1)) << text.substr(0, 20);
    EXPECT_THAT(problems,
                Each(testing::ResultOf([](const std::string& line) { return line.size() < 400; }, true)));
  }
}

}  // namespace
}  // namespace ringside
