// SimGrid SMPI simulates the same all_reduces with other code by other people. The machine is a star
// of hosts with one link up and one down, 2.5 us and 10 GB/s each: α = 5 us and β of 10 GB/s in our words.
//
// SMPI's seconds start at a barrier that ranks leave up to a latency apart: 5 us, and up to 0.3 us of the
// barrier's and the clock's bytes at 64 ranks. So SMPI − 5 us must be ours within 0.5 us.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/program/execution.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/engine/flow.hpp"
#include "tests/paths.hpp"
#include "tests/sim/engine/networks.hpp"

namespace ringside {

namespace {

constexpr double kBarrierSkew = 5e-6;
constexpr double kTolerance = 5e-7;

Network star(int num_ranks) {
  std::vector<Link> links;
  test::Routes routes(static_cast<std::size_t>(num_ranks),
                      std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(num_ranks)));
  for (std::int32_t source = 0; source < num_ranks; ++source) {
    links.push_back({.name = "up", .latency = {2.5e-6}, .capacity = {1e10}});
    links.push_back({.name = "down", .latency = {2.5e-6}, .capacity = {1e10}});
    for (std::int32_t target = 0; target < num_ranks; ++target) {
      routes[static_cast<std::size_t>(source)][static_cast<std::size_t>(target)] = {2 * source,
                                                                                    2 * target + 1};
    }
  }
  return test::wired(std::move(links), std::move(routes));
}

struct OracleCase {
  const char* algorithm;
  const char* smpi_name;
  int num_ranks;
  std::vector<long> sizes;
};

void PrintTo(const OracleCase& test_case, std::ostream* out) {
  *out << test_case.algorithm << " on " << test_case.num_ranks << " ranks";
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 256> buffer{};
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    text += buffer.data();
  }
  return text;
}

class Oracle : public testing::TestWithParam<OracleCase> {};

TEST_P(Oracle, SmpiAgrees) {
  if (std::system("command -v smpirun > /dev/null && command -v smpicc > /dev/null") != 0) {
    GTEST_SKIP() << "smpirun is not installed (Debian package libsimgrid-dev)";
  }
  const OracleCase& test_case = GetParam();
  std::string command = fmt::format("{}/bench/peers/smpi/simulate {} {}", RINGSIDE_SOURCE_DIR,
                                    test_case.smpi_name, test_case.num_ranks);
  for (const long size : test_case.sizes) {
    command += fmt::format(" {}", size);
  }
  std::istringstream answers(output_of(command));
  const Network network = star(test_case.num_ranks);
  const Schedule schedule(*find_algorithm(Collective::all_reduce, test_case.algorithm),
                          {.num_ranks = test_case.num_ranks});
  for (const long size : test_case.sizes) {
    long bytes = 0;
    double smpi = 0;
    double wall = 0;
    ASSERT_TRUE(answers >> bytes >> smpi >> wall) << command << " did not answer for " << size << " bytes";
    ASSERT_EQ(bytes, size);
    const double ours = simulate_flow(Execution(schedule, {size}, DataType::float32), network).seconds.value;
    EXPECT_NEAR(smpi - kBarrierSkew, ours, kTolerance) << size << " bytes";
  }
}

// 88 MiB are the gradients of a ResNet-34; the others divide into the chunks of every algorithm.
INSTANTIATE_TEST_SUITE_P(
    Smpi, Oracle,
    testing::Values(OracleCase{"ring", "lr", 8, {4'096, 1'048'576, 92'274'688}},
                    OracleCase{"recursive_doubling", "rdb", 8, {4'096, 1'048'576, 92'274'688}},
                    OracleCase{"halving_doubling", "rab", 8, {4'096, 1'048'576, 92'274'688}},
                    OracleCase{"ring", "lr", 64, {92'274'688}}),
    [](const testing::TestParamInfo<OracleCase>& test) {
      return fmt::format("{}_{}_ranks", test.param.algorithm, test.param.num_ranks);
    });

}  // namespace

}  // namespace ringside
