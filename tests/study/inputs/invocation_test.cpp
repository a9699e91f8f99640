#include "study/inputs/invocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

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

}  // namespace
}  // namespace ringside::study
