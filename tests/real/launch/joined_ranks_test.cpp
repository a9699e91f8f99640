// Whole processes that another launcher has started, as far as one of them can be asked.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/rank_child.hpp"
#include "real/system/this_machine.hpp"
#include "tests/real/processes.hpp"
#include "tests/real/store/free_port.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class JoinedRanks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::optional<std::string> reason = registered(Backend::gloo).unavailable()) {
      GTEST_SKIP() << *reason;
    }
  }

  /// One of so many ranks; what it says, on either output, comes into a file of its own.
  pid_t start_rank(int rank, int num_ranks, const std::string& what) const {
    return start(
        {"sh", "-c",
         fmt::format("exec {} join ring {} file://{} > {} 2>&1", RINGSIDE_TEST_RANKS, what, meet().string(),
                     file(rank).string())},
        {fmt::format("OMPI_COMM_WORLD_RANK={}", rank), fmt::format("OMPI_COMM_WORLD_SIZE={}", num_ranks)});
  }
  std::filesystem::path meet() const { return temporary_.path() / "meet"; }
  std::filesystem::path file(int rank) const { return temporary_.path() / fmt::format("said-{}", rank); }
  std::string said_by(int rank) const {
    std::ifstream stream(file(rank));
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  OwnTemporaryDirectory temporary_;
};

TEST_F(JoinedRanks, OnlyTheFirstTellsWhatCameOfAPoint) {
  for (const auto& [points_ranks, due] :
       std::vector<std::pair<int, std::string>>{{3, " ok "}, {2, "unsupported"}, {4, "unsupported"}}) {
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < 3; ++rank) {
      ranks.push_back(start_rank(rank, 3, fmt::format("{} 4096 0.01", points_ranks)));
    }
    for (const pid_t rank : ranks) {
      int status = 0;
      ::waitpid(rank, &status, 0);
      EXPECT_EQ(status, 0);
    }
    EXPECT_THAT(said_by(0),
                AllOf(HasSubstr(fmt::format("ring               {} ranks", points_ranks)), HasSubstr(due)));
    EXPECT_EQ(said_by(0).find("Open MPI started 3 ranks") != std::string::npos, points_ranks != 3);
    EXPECT_EQ(said_by(1) + said_by(2), "");
    EXPECT_TRUE(std::filesystem::is_empty(meet())) << "the first one removes where they met";
  }
}

TEST_F(JoinedRanks, ProbeOnlyWhereTheyStandNodeByNode) {
  const int port = free_port().second;
  for (const auto& [local_of_first, due] :
       std::vector<std::pair<int, std::string>>{{1, "ranks are not placed node by node"}, {0, "ping_pong"}}) {
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.push_back(start(
          {"sh", "-c", fmt::format("exec {} probe 0 2 > {} 2>&1", RINGSIDE_TEST_RANKS, file(rank).string())},
          {fmt::format("OMPI_COMM_WORLD_RANK={}", rank), "OMPI_COMM_WORLD_SIZE=2",
           fmt::format("OMPI_COMM_WORLD_LOCAL_RANK={}", rank ^ local_of_first),
           "OMPI_COMM_WORLD_LOCAL_SIZE=2", "MASTER_ADDR=127.0.0.1", fmt::format("MASTER_PORT={}", port)}));
    }
    for (const pid_t rank : ranks) {
      int status = 0;
      ::waitpid(rank, &status, 0);
      EXPECT_EQ(WEXITSTATUS(status), local_of_first == 0 ? 0 : exit_status(ErrorKind::environment));
    }
    EXPECT_THAT(said_by(0), HasSubstr(due));
  }
}

TEST_F(JoinedRanks, ARankThatHasFailedEndsSo) {
  RankChild child(0, {RINGSIDE_TEST_RANKS, "rank", "0", "of", "1"});
  child.send("no job of ours\n");
  std::optional<std::string> line;
  while (!(line = child.next_line()) && child.read_control()) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_THAT(line.value_or(""), HasSubstr("this is no message between ringside and its ranks"));
  std::this_thread::sleep_for(20ms);  // Until it waits for the next job; it would fail otherwise, too.
  child.close_control();
  while (!child.end()) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(child.end(), "ended with exit status 1");
}

TEST_F(JoinedRanks, WhoIsLostIsNamedWithItsMachine) {
  const pid_t first = start_rank(0, 2, "2 4096 1000");
  const pid_t second = start_rank(1, 2, "2 4096 1000");
  const auto end = std::chrono::steady_clock::now() + 20s;
  const auto wait_until_meeting = [&](bool goes_on) {
    std::error_code none;
    while (std::filesystem::is_empty(meet(), none) == goes_on && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
    }
  };
  wait_until_meeting(true);
  wait_until_meeting(false);
  std::this_thread::sleep_for(300ms);  // Into the timed calls.
  ::kill(second, SIGKILL);
  int status = 0;
  ::waitpid(second, &status, 0);
  ::waitpid(first, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_THAT(said_by(0), HasSubstr("; rank 1 is on " + this_machine().host));
}

}  // namespace
}  // namespace ringside
