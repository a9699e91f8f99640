#include "study/inputs/invocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "study/inputs/named_offers.hpp"
#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

TEST(FolderName, IsWhatAShellNeedNotQuote) {
  EXPECT_EQ(folder_name("ring or naive?"), "ring-or-naive");
  EXPECT_EQ(folder_name("4 × RTX 3090 / PCIe 4.0"), "4-×-RTX-3090-PCIe-4.0");
  EXPECT_EQ(folder_name("größer als 3…"), "größer-als-3…");
  EXPECT_EQ(folder_name("../../etc/."), "..-..-etc");
  EXPECT_EQ(folder_name("the end."), "the-end");
  EXPECT_EQ(folder_name("..."), "scenario");
}

TEST(OutputDirectory, IsNotNoName) {
  Invocation invocation;
  invocation.output = std::filesystem::path();
  try {
    output_directory(invocation, "x");
    FAIL() << "an empty name was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("output: is empty"));
  }
}

TEST(FolderName, KeepsWhatIsPlainAndJoinsTheRest) {
  EXPECT_EQ(folder_name("aZ09_.-"), "aZ09_") << "no blank, dot or dash at its end";
  EXPECT_EQ(folder_name("  a  b"), "a-b");
  EXPECT_EQ(folder_name("a/-b"), "a--b");
  EXPECT_EQ(folder_name(""), "scenario");
  EXPECT_EQ(folder_name("\x7F\x80"), "\x80");
}

TEST(OutputDirectory, IsMadeOrRefusedWithTheReason) {
  Workspace workspace;
  Invocation invocation = workspace.invocation();
  invocation.output = workspace.output() / "a/b";
  EXPECT_EQ(output_directory(invocation, "x"), workspace.output() / "a/b");
  EXPECT_TRUE(std::filesystem::is_directory(workspace.output() / "a/b"));
  invocation.output = workspace.write("file", "x") / "below";
  EXPECT_THAT([&] { output_directory(invocation, "x"); },
              testing::ThrowsMessage<Error>("cannot write results to " + invocation.output->string() +
                                            ": Not a directory"));
}

TEST(RunHeader, SaysWhoRanWhatAndWhere) {
  Workspace workspace;
  Invocation invocation = workspace.invocation();
  invocation.seed = 7;
  const Scenario scenario = workspace.scenario("a.yaml", kUniform);
  const RunHeader header = run_header(invocation, scenario, scenario.machine, nullptr);
  EXPECT_EQ(header.command, "test");
  EXPECT_EQ(header.seed, 7U);
  EXPECT_EQ(header.scenario.name, "uniform");
  EXPECT_EQ(header.scenario.text, kUniform);
  EXPECT_EQ(header.started.size(), 20U);
  ASSERT_TRUE(header.machine);
  EXPECT_FALSE(header.machine->this_machine);
  EXPECT_EQ(header.machine->yaml, to_yaml(*scenario.machine));
  for (const char* fact : {"name", "cpu", "cores", "sockets", "memory", "kernel", "compiler"}) {
    EXPECT_TRUE(header.host.contains(fact)) << fact;
  }
  EXPECT_FALSE(header.host.contains("gpus"));
  EXPECT_FALSE(run_header(invocation, scenario, std::nullopt, nullptr).machine);
}

TEST(Counted, IsANumberOfWhatFollows) {
  const auto said = [](const std::string& text) {
    const Counted all = counted(text);
    return std::to_string(all.count) + " of " + all.what;
  };
  for (const char* text : {"4x3090", "4 x 3090", "4X3090", "4 × 3090", "4*3090", "4  x  3090"}) {
    EXPECT_EQ(said(text), "4 of 3090") << text;
  }
  EXPECT_EQ(said("2 x p4d.24xlarge"), "2 of p4d.24xlarge");
  EXPECT_EQ(said("1x3090"), "1 of 3090");
  EXPECT_EQ(said("3090"), "1 of 3090");
  EXPECT_EQ(said("16777216x3090"), "16777216 of 3090");
  for (const char* text : {"0x3090", "-1x3090", "16777217x3090", "x3090", "4 3090", "p4d.24xlarge"}) {
    EXPECT_EQ(said(text), std::string("1 of ") + text);
  }
}

TEST(KnownPart, IsASpeedOrATime) {
  const KnownPart speed = read_known_part(" 3090 : 568.5 samples/s");
  EXPECT_EQ(speed.of, "3090");
  EXPECT_EQ(speed.samples_per_second, 568.5);
  EXPECT_FALSE(speed.all_reduce);
  const KnownPart time = read_known_part("4x3090: 88 MB in 15 ms");
  EXPECT_EQ(time.of, "4x3090");
  EXPECT_FALSE(time.samples_per_second);
  ASSERT_TRUE(time.all_reduce);
  EXPECT_EQ(time.all_reduce->algorithm, "native");
  EXPECT_EQ(time.all_reduce->bytes, Bytes{88'000'000});
  EXPECT_EQ(time.all_reduce->seconds, Seconds{0.015});
  EXPECT_FALSE(time.used);
  for (const std::string text :
       {"3090", "3090: 0 samples/s", "3090: -1 samples/s", "3090: x samples/s", "3090: 88 MB"}) {
    EXPECT_THAT([&] { read_known_part(text); },
                testing::ThrowsMessage<Error>(
                    "--known '" + text +
                    "': is neither a GPU's speed such as '3090: 568 samples/s' nor a machine's "
                    "all_reduce such as '4x3090: 88 MB in 15 ms'"));
  }
  EXPECT_THAT([] { read_known_part("a: 88 in 15 ms"); },
              testing::ThrowsMessage<Error>(
                  "--known 'a: 88 in 15 ms': '88' has no unit; write a size such as 4 KiB (B KiB "
                  "MiB GiB KB MB GB)"));
}

}  // namespace
}  // namespace ringside::study
