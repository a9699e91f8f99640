#include "real/launch/rank_messages.hpp"

#include <chrono>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/execute/transport.hpp"
#include "real/launch/message.hpp"
#include "real/measure/point_measurement.hpp"
#include "real/measure/recording.hpp"
#include "real/probe/probe_run.hpp"

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(RankMessages, JobsSurviveTheirLine) {
  const PointRequest point = {
      .key = {.collective = Collective::reduce_scatter,
              .algorithm = "ring",
              .ranks = 3,
              .bytes = {1LL << 40},
              .dtype = DataType::int64,
              .op = ReduceOp::avg},
      .placement = {.ranks_per_node = 2, .order = {0, 2, 1}},
      .limits = {.budget = {0.1}, .target_interval = 0.03, .min_calls = 6, .max_calls = 7},
      .check_every_call = false,
      .seed = 0xFFFFFFFFFFFFFFFF};
  const std::string line = to_line(TaskJob{.kind = "point", .request = message_of(point)});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto task = std::get<TaskJob>(job_from_line(line));
  EXPECT_EQ(task.kind, "point");
  const auto read = value_of<PointRequest>(task.request);
  EXPECT_EQ(read.key, point.key);
  EXPECT_EQ(read.limits.budget, point.limits.budget);
  EXPECT_EQ(read.limits.target_interval, point.limits.target_interval);
  EXPECT_EQ(read.limits.min_calls, 6);
  EXPECT_EQ(read.limits.max_calls, 7);
  EXPECT_FALSE(read.check_every_call);
  EXPECT_EQ(read.seed, point.seed);
  EXPECT_EQ(read.placement.ranks_per_node, 2);
  EXPECT_EQ(read.placement.order, (std::vector<Rank>{0, 2, 1}));

  const std::vector<std::pair<std::string, std::string>> settings = {{"NCCL_ALGO", "Ring"}};
  const auto join = std::get<JoinJob>(
      job_from_line(to_line(JoinJob{.place = {.backend = Backend::nccl,
                                              .num_ranks = 2,
                                              .gpu = {.ranks_per_gpu = 3, .settings = settings},
                                              .timeout = std::chrono::milliseconds(1500),
                                              .interface = "eth0",
                                              .rendezvous = "file:///tmp/a b",
                                              .group = "g"},
                                    .tune_machine = false,
                                    .share_out_cores = true})));
  EXPECT_EQ(join.place.backend, Backend::nccl);
  EXPECT_EQ(join.place.num_ranks, 2);
  EXPECT_EQ(join.place.gpu.ranks_per_gpu, 3);
  EXPECT_EQ(join.place.gpu.settings, settings);
  EXPECT_EQ(join.place.timeout.count(), 1500);
  EXPECT_EQ(join.place.interface, "eth0");
  EXPECT_EQ(join.place.rendezvous, "file:///tmp/a b");
  EXPECT_EQ(join.place.group, "g");
  EXPECT_FALSE(join.tune_machine);
  EXPECT_TRUE(join.share_out_cores);
  const auto usual = std::get<JoinJob>(job_from_line(to_line(JoinJob{})));
  EXPECT_TRUE(usual.tune_machine);
  EXPECT_FALSE(usual.share_out_cores);
  EXPECT_EQ(usual.place.interface, std::nullopt);

  const auto probe = value_of<ProbeRequest>(message_of(
      ProbeRequest{.key = {.kind = ProbeKind::both_ways, .ranks = 2, .bytes = {64}, .first = 3, .second = 1},
                   .budget = {0.25}}));
  EXPECT_EQ(probe.key.first, 3);
  EXPECT_EQ(probe.key.second, 1);
  EXPECT_EQ(probe.key.kind, ProbeKind::both_ways);
  EXPECT_EQ(probe.key.bytes.value, 64);
  EXPECT_EQ(probe.budget.value, 0.25);
}

TEST(RankMessages, RecordingsSurviveTheirLineToTheLastBit) {
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
    const auto read = value_of<Recording>(message_of(recording));
    EXPECT_EQ(read.events, recording.events);
    EXPECT_EQ(read.seconds, recording.seconds);
    EXPECT_EQ(read.iterations, 7);
    EXPECT_EQ(read.backend, Backend::gloo);
    EXPECT_EQ(read.barrier_skew, skew);
    EXPECT_EQ(read.policy, recording.policy);
    EXPECT_EQ(read.note, "n");
  }
}

TEST(RankMessages, AnswersSurviveTheirLineToTheLastBit) {
  const Measurement measurement = {
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
      .note = "a \"note\"\n"};
  const Answer answer = answer_from_line(to_line(Answer{.result = message_of(measurement)}));
  EXPECT_EQ(answer.kind, AnswerKind::done);
  const auto read = value_of<Measurement>(answer.result);
  EXPECT_EQ(read.samples, measurement.samples);
  EXPECT_EQ(read.low, measurement.low);
  EXPECT_EQ(read.note, measurement.note);
  ASSERT_TRUE(read.launch);
  EXPECT_EQ(read.launch->mode, LaunchMode::cuda_graph);
  EXPECT_EQ(read.launch->host_seconds, Seconds{0.3});
  EXPECT_EQ(read.policy, measurement.policy);
  EXPECT_TRUE(read.shared_gpu);
  const std::vector<double> probed = {1.0 / 7, 1e-300};
  EXPECT_EQ(value_of<std::vector<double>>(message_of(probed)), probed);
}

template <typename Exception>
Answer answer_to(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return answer_from_line(to_line(answer_of_current_exception()));
  }
}

TEST(RankMessages, FailuresKeepTheirKindAndPeer) {
  const Answer lost = answer_to(PeerLost(3, PeerLost::How::late, "rank 0 waited 1 s for rank 3"));
  EXPECT_EQ(lost.kind, AnswerKind::failed);
  EXPECT_EQ(lost.error, ErrorKind::peer_lost);
  EXPECT_EQ(lost.lost_peer, 3);
  EXPECT_TRUE(lost.late);
  EXPECT_EQ(lost.text, "rank 0 waited 1 s for rank 3");
  EXPECT_FALSE(answer_to(PeerLost(3, PeerLost::How::gone, "rank 3 has gone")).late);

  struct Row {
    Answer answer;
    std::optional<ErrorKind> error;
    std::string text;
  };
  const auto system_error = [](std::errc code) {
    return answer_to(std::system_error(std::make_error_code(code), "doing"));
  };
  for (const auto& [answer, error, text] : std::vector<Row>{
           {answer_to(Error(ErrorKind::environment, "no")), ErrorKind::environment, "no"},
           {answer_to(std::bad_alloc()), ErrorKind::failed, "not enough memory"},
           {system_error(std::errc::resource_unavailable_try_again), ErrorKind::environment,
            "the system grants no more threads or processes"},
           {system_error(std::errc::permission_denied), std::nullopt, "doing: Permission denied"},
           {answer_to(std::runtime_error("it broke")), std::nullopt, "it broke"},
           {answer_to(42), std::nullopt, "what it threw is no std::exception"}}) {
    EXPECT_EQ(answer.kind, AnswerKind::failed) << text;
    EXPECT_EQ(answer.error, error) << text;
    EXPECT_EQ(answer.text, text);
    EXPECT_EQ(answer.lost_peer, std::nullopt) << text;
    EXPECT_FALSE(answer.late) << text;
    EXPECT_EQ(answer.paused, std::nullopt) << text;
  }
  EXPECT_EQ(answer_to(std::runtime_error("odd \xFF bytes")).error, std::nullopt);
  Answer paused = {.kind = AnswerKind::alive};
  paused.paused = std::chrono::milliseconds(70'001);
  const Answer read = answer_from_line(to_line(paused));
  EXPECT_EQ(read.kind, AnswerKind::alive);
  EXPECT_EQ(read.paused, paused.paused);
}

TEST(RankMessages, ForeignTextIsRefusedAndShown) {
  try {
    answer_from_line("Welcome to host1!");
    FAIL() << "this is no answer";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Welcome to host1!"));
  }
  const std::string long_text(300, 'x');
  EXPECT_THAT([&] { answer_from_line(long_text); },
              ::testing::ThrowsMessage<Error>("this is no message between ringside and its ranks (it is not "
                                              "JSON): '" +
                                              long_text.substr(0, 200) + "'"));
  EXPECT_THROW(job_from_line(R"({"job":"task"})"), Error);
  EXPECT_THAT([] { job_from_line(R"({"job":"dance"})"); },
              ::testing::ThrowsMessage<Error>(HasSubstr("must be a job")));
  std::string join = to_line(JoinJob{.place = {.gpu = {.settings = {{"NCCL_ALGO", "Ring"}}}}});
  join.replace(join.find(R"("Ring")"), 6, R"("Ring","Tree")");
  EXPECT_THAT([&] { job_from_line(join); },
              ::testing::ThrowsMessage<Error>(HasSubstr("must hold a name and a value")));
  EXPECT_THROW(value_of<PointRequest>("{}"), Error);
}

TEST(PointRequest, IsDescribedForPeople) {
  EXPECT_EQ(description({.algorithm = "ring", .ranks = 4, .bytes = {1 << 20}}),
            "all_reduce ring, 4 ranks, 1 MiB");
}

}  // namespace
}  // namespace ringside
