#include "real/launch/rank_jobs.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(RankJobs, JobsSurviveTheirLine) {
  const PointJob point = {.key = {.collective = Collective::reduce_scatter,
                                  .algorithm = "ring",
                                  .ranks = 3,
                                  .bytes = {1LL << 40},
                                  .dtype = DataType::int64,
                                  .op = ReduceOp::avg},
                          .options = {.budget_per_point = {0.1},
                                      .target_interval = 0.03,
                                      .min_iterations = 6,
                                      .max_iterations = 7,
                                      .seed = 0xFFFFFFFFFFFFFFFF,
                                      .placements = {{3, {.ranks_per_node = 2, .order = {0, 2, 1}}}}}};
  const std::string line = to_line(point);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = std::get<PointJob>(job_from_line(line));
  EXPECT_EQ(read.key, point.key);
  EXPECT_EQ(read.options.budget_per_point, point.options.budget_per_point);
  EXPECT_EQ(read.options.target_interval, point.options.target_interval);
  EXPECT_EQ(read.options.min_iterations, 6);
  EXPECT_EQ(read.options.max_iterations, 7);
  EXPECT_EQ(read.options.seed, point.options.seed);
  EXPECT_EQ(placement_of(read.options, 3).ranks_per_node, 2);
  EXPECT_EQ(placement_of(read.options, 3).order, (std::vector<Rank>{0, 2, 1}));

  const std::vector<std::pair<std::string, std::string>> settings = {{"NCCL_ALGO", "Ring"}};
  const auto join =
      std::get<JoinJob>(job_from_line(to_line(JoinJob{.num_ranks = 2,
                                                      .backend = Backend::nccl,
                                                      .gpu = {.ranks_per_gpu = 3, .settings = settings},
                                                      .timeout = std::chrono::milliseconds(1500),
                                                      .interface = "eth0",
                                                      .rendezvous = "file:///tmp/a b",
                                                      .group = "g",
                                                      .share_out_cores = true})));
  EXPECT_EQ(join.backend, Backend::nccl);
  EXPECT_EQ(join.gpu.ranks_per_gpu, 3);
  EXPECT_EQ(join.gpu.settings, settings);
  EXPECT_EQ(join.timeout.count(), 1500);
  EXPECT_EQ(join.interface, "eth0");
  EXPECT_EQ(join.rendezvous, "file:///tmp/a b");
  EXPECT_TRUE(join.share_out_cores);

  const auto probe = std::get<ProbeJob>(job_from_line(to_line(
      ProbeJob{.key = {.kind = ProbeKind::both_ways, .ranks = 2, .bytes = {64}, .first = 3, .second = 1},
               .budget = {0.25}})));
  EXPECT_EQ(probe.key.first, 3);
  EXPECT_EQ(probe.key.second, 1);
  EXPECT_EQ(probe.key.kind, ProbeKind::both_ways);
  EXPECT_EQ(probe.key.bytes.value, 64);
  EXPECT_EQ(probe.budget.value, 0.25);
}

TEST(RankJobs, RecordingsSurviveTheirLineToTheLastBit) {
  const RecordJob job = {.key = {.algorithm = "ring", .ranks = 3, .bytes = {12}}, .options = {.seed = 5}};
  const auto read_job = std::get<RecordJob>(job_from_line(to_line(job)));
  EXPECT_EQ(read_job.key, job.key);
  EXPECT_EQ(read_job.options.seed, 5);

  Recording recording = {.seconds = {1.0 / 3},
                         .iterations = 7,
                         .backend = Backend::gloo,
                         .policy = ExecutionPolicy{.receives_ahead = true, .segments = 3, .stride = 3},
                         .events = {{.rank = 1,
                                     .source = 1,
                                     .target = 2,
                                     .round = 1LL << 40,
                                     .start = {0.1},
                                     .end = {0.1 + 0.2},
                                     .kind = TraceKind::reduction,
                                     .first_chunk = 3,
                                     .num_chunks = 4,
                                     .bytes = {1LL << 41}}},
                         .note = "n"};
  for (const std::optional<Seconds> skew : {std::optional<Seconds>(), std::optional(Seconds{1.0 / 7})}) {
    recording.barrier_skew = skew;
    const Answer read = answer_from_line(to_line({.recording = recording}));
    ASSERT_TRUE(read.recording);
    EXPECT_EQ(read.recording->events, recording.events);
    EXPECT_EQ(read.recording->seconds, recording.seconds);
    EXPECT_EQ(read.recording->iterations, 7);
    EXPECT_EQ(read.recording->backend, Backend::gloo);
    EXPECT_EQ(read.recording->barrier_skew, skew);
    EXPECT_EQ(read.recording->policy, recording.policy);
    EXPECT_EQ(read.recording->note, "n");
  }
}

TEST(RankJobs, AnswersSurviveTheirLineToTheLastBit) {
  const Answer answer = {
      .measurement =
          Measurement{
              .seconds = {0.1},
              .low = {1.0 / 3},
              .high = {2e-9},
              .iterations = 2,
              .samples = {1e-300, 0.1 + 0.2},
              .backend = Backend::nccl,
              .policy =
                  ExecutionPolicy{
                      .receives_ahead = true, .segments = 3, .stride = 3, .in_flight = 2, .order = {1, 0}},
              .launch = DeviceLaunch{.mode = LaunchMode::cuda_graph, .host_seconds = {0.3}},
              .shared_gpu = true,
              .note = "a \"note\"\n"},
      .probed = ProbeSample{.key = {.kind = ProbeKind::fan_out, .ranks = 3, .bytes = {64}},
                            .seconds = {1.0 / 7, 1e-300}}};
  const Answer read = answer_from_line(to_line(answer));
  EXPECT_EQ(read.kind, AnswerKind::done);
  ASSERT_TRUE(read.measurement);
  EXPECT_EQ(read.measurement->samples, answer.measurement->samples);
  EXPECT_EQ(read.measurement->low, answer.measurement->low);
  EXPECT_EQ(read.measurement->note, answer.measurement->note);
  ASSERT_TRUE(read.measurement->launch);
  EXPECT_EQ(read.measurement->launch->mode, LaunchMode::cuda_graph);
  EXPECT_EQ(read.measurement->launch->host_seconds, Seconds{0.3});
  EXPECT_EQ(read.measurement->policy, answer.measurement->policy);
  EXPECT_TRUE(read.measurement->shared_gpu);
  ASSERT_TRUE(read.probed);
  EXPECT_EQ(read.probed->key, answer.probed->key);
  EXPECT_EQ(read.probed->seconds, answer.probed->seconds);
}

template <typename Exception>
Answer answer_to(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return answer_from_line(to_line(answer_of_current_exception()));
  }
}

TEST(RankJobs, FailuresKeepTheirKindAndPeer) {
  const Answer lost = answer_to(PeerLost(3, PeerLost::How::late, "rank 0 waited 1 s for rank 3"));
  EXPECT_EQ(lost.kind, AnswerKind::failed);
  EXPECT_EQ(lost.error, ErrorKind::peer_lost);
  EXPECT_EQ(lost.lost_peer, 3);
  EXPECT_TRUE(lost.late);
  EXPECT_EQ(lost.text, "rank 0 waited 1 s for rank 3");
  EXPECT_EQ(answer_to(Error(ErrorKind::environment, "no")).error, ErrorKind::environment);
  EXPECT_EQ(answer_to(std::bad_alloc()).error, ErrorKind::failed);
  EXPECT_EQ(answer_to(std::runtime_error("odd \xFF bytes")).error, std::nullopt);
}

TEST(RankJobs, ForeignTextIsRefusedAndShown) {
  try {
    answer_from_line("Welcome to host1!");
    FAIL() << "this is no answer";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Welcome to host1!"));
  }
  EXPECT_THROW(job_from_line(R"({"job":"point"})"), Error);
}

TEST(RankJobs, AreDescribedForPeople) {
  EXPECT_EQ(description(Job(PointJob{.key = {.algorithm = "ring", .ranks = 4, .bytes = {1 << 20}}})),
            "running all_reduce ring, 4 ranks, 1 MiB");
  EXPECT_EQ(description(Job(RecordJob{.key = {.algorithm = "ring", .ranks = 4, .bytes = {1 << 20}}})),
            "recording all_reduce ring, 4 ranks, 1 MiB");
  EXPECT_EQ(
      description(Job(ProbeJob{.key = {.kind = ProbeKind::neighbour_exchange, .ranks = 3, .bytes = {8}}})),
      "probing neighbour_exchange, 3 ranks, 8 B");
  EXPECT_EQ(description(Job(JoinJob{.num_ranks = 5})), "connecting 5 ranks");
}

}  // namespace
}  // namespace ringside
