#include "study/logs/this_system.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "results/journal.hpp"
#include "study/logs/check.hpp"
#include "tests/paths.hpp"
#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

/// The root of a file system that holds one file.
fs::path root_with(const Workspace& workspace, const std::string& file, const std::string& text) {
  const fs::path root = workspace.output() / "root";
  fs::create_directories((root / file).parent_path());
  write_file(root / file, text);
  return root;
}

/// Machines are found by name from the folder that holds `configs`.
class InstanceOfFiles : public testing::Test {
 protected:
  InstanceOfFiles() { fs::current_path(RINGSIDE_SOURCE_DIR); }
  ~InstanceOfFiles() override { fs::current_path(before_); }

 private:
  fs::path before_ = fs::current_path();
};

TEST_F(InstanceOfFiles, TheBoardSaysWhatCloudsAndServersCallIt) {
  const Workspace workspace;
  const auto named = [&](const std::string& product) {
    const auto found = this_instance(root_with(workspace, "sys/class/dmi/id/product_name", product + "\n"));
    return found ? found->machine : "";
  };
  EXPECT_EQ(named("p4d.24xlarge"), "p4d.24xlarge");
  EXPECT_EQ(named("DGXA100 920-23687-2530-000"), "dgx-a100");
  EXPECT_EQ(named("NVIDIA DGX H100"), "dgx-h100");
  EXPECT_EQ(named("Google Compute Engine"), "");
  EXPECT_EQ(named(""), "");
}

TEST_F(InstanceOfFiles, CloudInitKeepsTheTypeThatTheBoardDoesNotSay) {
  const Workspace workspace;
  const auto named = [&](const std::string& json) {
    const auto found = this_instance(root_with(workspace, "run/cloud-init/instance-data.json", json));
    return found ? found->machine : "";
  };
  EXPECT_EQ(named(R"({"ds": {"meta_data": {"imds": {"compute": {"vmSize": "Standard_ND96asr_v4"}}}}})"),
            "Standard_ND96asr_v4");
  EXPECT_EQ(
      named(
          R"({"ds": {"meta_data": {"instance": {"machine-type": "projects/1/machineTypes/a3-highgpu-8g"}}}})"),
      "a3-highgpu-8g");
  EXPECT_EQ(named(R"({"ds": {"meta_data": {"instance-type": "t3.micro"}}})"), "");
  EXPECT_EQ(named("{"), "");
  EXPECT_FALSE(this_instance(workspace.output() / "absent"));
}

std::string log_of(int ranks, int hosts, const std::string& gpu) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    text += "#  Rank " + std::to_string(rank) + " Group  0 Pid 1 on node" +
            std::to_string(rank * hosts / ranks) + " device 0 [0x17] " + gpu + "\n";
  }
  const std::string times = ranks == 16 ? "10000 107.37 201.33 0" : "10000 107.37 187.90 0";
  return text + "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
         "1073741824 268435456 float sum -1 " + times + " " + times + "\n";
}

TEST_F(InstanceOfFiles, IsTheMachineOfALogThatFitsIt) {
  LogChecker checker({.instance = Instance{.machine = "p4d.24xlarge", .source = "product_name"}});
  const LogCheck two = checker.check_text(log_of(16, 2, "NVIDIA A100-SXM4-40GB"), "x").at(0);
  EXPECT_EQ(two.machine.nodes, 2);
  EXPECT_FALSE(two.recognised);
  EXPECT_THAT(two.assumptions, testing::Contains("This machine is a p4d.24xlarge, as product_name says."));
  const LogCheck other = checker.check_text(log_of(8, 1, "NVIDIA H100 80GB HBM3"), "x").at(0);
  EXPECT_EQ(other.machine.name, "8x H100-SXM");
}

TEST(Topology, SaysWhatToGiveWhereThereAreNoGpus) {
  const Workspace workspace;
  try {
    find_topology({.system = workspace.output(), .asks_programs = false, .cpu_info = {}}, std::nullopt,
                  workspace.invocation());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_THAT(error.what(), testing::HasSubstr("no GPU here"));
  }
}

}  // namespace
}  // namespace ringside::study
