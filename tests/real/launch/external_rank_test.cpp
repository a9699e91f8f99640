#include "real/launch/external/external_rank.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/launch/ranks.hpp"

namespace ringside {
namespace {

using ::testing::ThrowsMessage;

/// Sets environment variables for the length of a test.
class Environment {
 public:
  explicit Environment(const std::vector<std::pair<std::string, std::string>>& variables) {
    for (const auto& [name, value] : variables) {
      ::setenv(name.c_str(), value.c_str(), 1);
      names_.push_back(name);
    }
  }
  ~Environment() {
    for (const std::string& name : names_) {
      ::unsetenv(name.c_str());
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<std::string> names_;
};

TEST(ExternalRank, IsFoundForEveryLauncher) {
  EXPECT_FALSE(external_rank());
  {
    const Environment environment(
        {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_NAMESPACE", "job7"}});
    const std::optional<ExternalRank> rank = external_rank();
    ASSERT_TRUE(rank);
    EXPECT_EQ(rank->rank, 2);
    EXPECT_EQ(rank->num_ranks, 4);
    EXPECT_EQ(rank->launcher, "Open MPI");
    EXPECT_EQ(rank->job, "job7");
  }
  const std::vector<std::pair<std::string, std::string>> names = {
      {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}, {"RANK", "WORLD_SIZE"}};
  for (const auto& [rank, size] : names) {
    const Environment environment({{rank, "1"}, {size, "3"}});
    ASSERT_TRUE(external_rank()) << rank;
    EXPECT_EQ(external_rank()->num_ranks, 3) << rank;
    EXPECT_EQ(external_rank()->local_rank, 1) << "as far as anybody can see, all are on one machine";
    EXPECT_EQ(external_rank()->num_local, 3) << rank;
    EXPECT_EQ(external_rank()->job, "") << rank;
  }
  const Environment size_alone(std::vector{std::pair<std::string, std::string>("WORLD_SIZE", "3")});
  EXPECT_FALSE(external_rank()) << "a number of ranks makes no rank";
}

TEST(ExternalRank, SlurmSaysWhichRankOfTheNodeItIs) {
  const std::vector<std::pair<std::string, std::string>> slurm = {{"SLURM_PROCID", "3"},
                                                                  {"SLURM_NTASKS", "4"},
                                                                  {"SLURM_NTASKS_PER_NODE", "2"},
                                                                  {"SLURM_LOCALID", "1"},
                                                                  {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
                                                                  {"SLURM_JOB_ID", "7"}};
  const Environment batch_script(slurm);
  EXPECT_FALSE(external_rank()) << "a batch script is no rank";
  const Environment step({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_ID", "2"}});
  ASSERT_TRUE(external_rank());
  EXPECT_EQ(external_rank()->local_rank, 1);
  EXPECT_EQ(external_rank()->num_local, 2);
  EXPECT_EQ(external_rank()->job, "7.2");
  const Environment pmi2({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_JOBID", "7.2"}});
  EXPECT_EQ(external_rank()->launcher, "PMI");
  EXPECT_EQ(external_rank()->job, "7.2");
  EXPECT_EQ(external_rank()->local_rank, 1);
  EXPECT_EQ(external_rank()->num_local, 2);
}

TEST(ExternalRank, TorchrunOnEachNodeOfSlurmCounts) {
  const Environment environment({{"SLURM_PROCID", "1"},
                                 {"SLURM_STEP_NUM_TASKS", "2"},
                                 {"SLURM_LOCALID", "0"},
                                 {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                                 {"RANK", "13"},
                                 {"WORLD_SIZE", "16"},
                                 {"LOCAL_RANK", "5"},
                                 {"LOCAL_WORLD_SIZE", "8"}});
  ASSERT_TRUE(external_rank());
  EXPECT_EQ(external_rank()->rank, 13);
  EXPECT_EQ(external_rank()->local_rank, 5);
  EXPECT_EQ(external_rank()->num_local, 8);
}

TEST(ExternalRank, ANodeHasOneRankAtLeastAndNoMoreThanThereAre) {
  const std::vector<std::pair<std::string, int>> cases = {{"0", 1}, {"1", 1},    {"3", 3},       {"4", 4},
                                                          {"5", 4}, {"some", 4}, {"2(x3),1", 2}, {"2,1", 2}};
  for (const auto& [said, meant] : cases) {
    const Environment environment({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", said}});
    EXPECT_EQ(external_rank()->num_local, meant) << said;
  }
}

TEST(ExternalRank, SeveralNodesWithSeveralRanksEachAreWorthTelling) {
  const auto per_node = [](int num_local) {
    ExternalRank external;
    external.num_ranks = 4;
    external.num_local = num_local;
    return ranks_per_node(external);
  };
  EXPECT_EQ(per_node(1), std::nullopt);
  EXPECT_EQ(per_node(2), 2);
  EXPECT_EQ(per_node(3), 3);
  EXPECT_EQ(per_node(4), std::nullopt);
}

TEST(ExternalRank, OneRankAloneStartsItsOwn) {
  const Environment environment({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  EXPECT_FALSE(external_rank());
  ASSERT_TRUE(external_rank(true));
  EXPECT_EQ(external_rank(true)->num_ranks, 1);
  const Environment two({{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  EXPECT_TRUE(external_rank());
}

TEST(ExternalRank, ContradictionsAreErrors) {
  for (const std::string rank : {"4", "-1", "two", ""}) {
    const Environment environment({{"RANK", rank}, {"WORLD_SIZE", "4"}});
    EXPECT_THAT([] { external_rank(); },
                ThrowsMessage<Error>("the environment says RANK=" + rank +
                                     " and WORLD_SIZE=4, which is no rank; unset them to let ringside start "
                                     "its own ranks"));
  }
  const Environment environment({{"RANK", "0"}, {"WORLD_SIZE", "four"}});
  EXPECT_THROW(external_rank(), Error);
}

TEST(ExternalRank, OfALauncherThatSaysNoPlaceIsToldHowToMeet) {
  ExternalRank external;
  external.rank = 1;
  external.num_ranks = 3;
  external.launcher = "Open MPI";
  EXPECT_THAT(
      [&] { join_external(external, {.backend = Backend::gloo}, "test"); },
      ThrowsMessage<Error>(
          "Open MPI started this process as rank 1 of 3; tell all of them where to meet, with "
          "--rendezvous file:///a/directory/that/all/see or redis://host:port, or set MASTER_ADDR and "
          "MASTER_PORT"));
}

TEST(ExternalRank, OfABackendWhoseRanksAreThreadsIsNone) {
  const Environment environment({{"RANK", "1"}, {"WORLD_SIZE", "4"}});
  EXPECT_FALSE(external_rank(LaunchOptions{.backend = Backend::threads}));
  EXPECT_EQ(external_rank(LaunchOptions{.backend = Backend::gloo}).value().rank, 1);
}

}  // namespace
}  // namespace ringside
