#include "real/measure/point_measurement.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/measure/measure.hpp"
#include "real/measure/recording.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

/// What a made-up device was asked for, and what it answers.
struct MadeUp {
  std::vector<double> seconds;  ///< One call after the other.
  std::optional<WrongElement> wrong = {};
  std::size_t wrong_from = 0;  ///< The call from which on.
  std::string asked = {};      ///< w: warm up, i: write the input, r: run, l: look at the result.
};

class MadeUpDevice final : public RankDevice {
 public:
  explicit MadeUpDevice(MadeUp& made_up) : made_up_(made_up) {}
  bool shares_gpu() const override { return true; }
  std::unique_ptr<ReadyCall> make_ready(const Program&) override { return std::make_unique<Call>(made_up_); }
  std::unique_ptr<ReadyCall> make_ready(const CollectiveCall&) override {
    return std::make_unique<Call>(made_up_);
  }
  std::unique_ptr<DeviceCalls> make_calls() override { return nullptr; }

 private:
  class Call final : public ReadyCall {
   public:
    explicit Call(MadeUp& made_up) : made_up_(made_up) {}
    void warm_up() override { made_up_.asked += 'w'; }
    void write_input(const CollectiveValues&) override { made_up_.asked += 'i'; }
    double run() override {
      made_up_.asked += 'r';
      return made_up_.seconds.at(calls_++);
    }
    std::optional<WrongElement> first_wrong(const CollectiveValues&) override {
      made_up_.asked += 'l';
      return calls_ > made_up_.wrong_from ? made_up_.wrong : std::nullopt;
    }
    std::optional<CallLaunch> launch() const override {
      return CallLaunch{.device = {.mode = LaunchMode::cuda_graph, .host_seconds = {3e-6}},
                        .note = "in one go"};
    }
    Executor* executor() override { return nullptr; }

   private:
    MadeUp& made_up_;
    std::size_t calls_ = 0;
  };

  MadeUp& made_up_;
};

constexpr std::int64_t kBytes = 400;

Measurement measured_on(MadeUp& made_up, bool check_every_call = true,
                        const std::string& algorithm = "ring") {
  Measurement measurement;
  run_as_threads(1, 20s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    RankBackend backend = threads_rank(std::move(transport));
    backend.device = std::make_unique<MadeUpDevice>(made_up);
    backend.tuning = {.thread_priority = true};
    backend.sockets = {3};
    const PointRequest request = {.key = {.algorithm = algorithm, .ranks = 1, .bytes = {kBytes}},
                                  .limits = {.budget = {0}, .min_calls = 7, .max_calls = 9},
                                  .check_every_call = check_every_call,
                                  .seed = 5};
    measurement = measure_point(request, backend, coordination);
  });
  return measurement;
}

TEST(MeasurePoint, HasWhatTheTimedCallsTookAndHowTheyWereMade) {
  const std::vector<double> timed = {9e-6, 1e-6, 8e-6, 2e-6, 7e-6, 3e-6, 6e-6};
  MadeUp made_up = {.seconds = {1}};
  made_up.seconds.insert(made_up.seconds.end(), timed.begin(), timed.end());
  const Measurement measurement = measured_on(made_up);
  const SampleSummary summary = summarize(timed);
  EXPECT_EQ(measurement.outcome, Outcome::ok);
  EXPECT_EQ(measurement.samples, timed);
  EXPECT_EQ(measurement.iterations, 7);
  EXPECT_EQ(measurement.seconds.value, summary.median);
  EXPECT_EQ(measurement.low.value, summary.low);
  EXPECT_EQ(measurement.high.value, summary.high);
  EXPECT_EQ(measurement.min.value, 1e-6);
  EXPECT_EQ(measurement.p95.value, summary.p95);
  EXPECT_EQ(measurement.backend, Backend::threads);
  EXPECT_TRUE(measurement.policy);
  EXPECT_EQ(measurement.launch.value().mode, LaunchMode::cuda_graph);
  EXPECT_EQ(measurement.launch.value().host_seconds.value, 3e-6);
  EXPECT_EQ(measurement.machine_tuning, MachineTuning{.thread_priority = true});
  EXPECT_THAT(measurement.sockets, ElementsAre(3));
  EXPECT_TRUE(measurement.shared_gpu);
  EXPECT_EQ(measurement.note, "in one go");
}

TEST(MeasurePoint, LooksAtEveryResultOrAtTheLast) {
  MadeUp made_up = {.seconds = std::vector<double>(8, 1e-6)};
  measured_on(made_up);
  EXPECT_EQ(made_up.asked, "wirlirlirlirlirlirlirlirl");
  made_up.asked.clear();
  EXPECT_EQ(measured_on(made_up, false, "native").policy, std::nullopt) << "a library has none";
  EXPECT_EQ(made_up.asked, "wiriririririririrl");
}

TEST(MeasurePoint, TheFirstWrongElementIsToldAndNotTheLast) {
  MadeUp made_up = {.seconds = std::vector<double>(8, 1e-6),
                    .wrong = WrongElement{.element = 7, .found = 0.5},
                    .wrong_from = 3};
  const Measurement measurement = measured_on(made_up);
  EXPECT_EQ(measurement.outcome, Outcome::wrong_result);
  EXPECT_EQ(measurement.note,
            fmt::format("rank 0, element 7 of 100: found 0.5, due {}",
                        CollectiveValues({.num_ranks = 1, .num_elements = 100}, 5).value_due(0, 7)));
  EXPECT_TRUE(measurement.policy);
  EXPECT_THAT(measurement.samples, ::testing::IsEmpty());
  EXPECT_EQ(made_up.asked, "wirlirlirlirliriririr") << "after it nobody looks";
}

TEST(PointRequest, HasAllThatTheOptionsSay) {
  MeasureOptions options = {.budget_per_point = {0.25},
                            .target_interval = 0.07,
                            .min_iterations = 3,
                            .max_iterations = 77,
                            .check_every_call = false,
                            .seed = 9};
  options.placements[4] = {.ranks_per_node = 2, .order = {0, 2, 1, 3}};
  PointKey key = {.algorithm = "ring", .ranks = 4, .bytes = {kBytes}};
  const PointRequest request = request_of(key, options);
  EXPECT_EQ(request.key, key);
  EXPECT_EQ(request.placement.ranks_per_node, 2);
  EXPECT_THAT(request.placement.order, ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(request.limits.budget.value, 0.25);
  EXPECT_EQ(request.limits.target_interval, 0.07);
  EXPECT_EQ(request.limits.min_calls, 3);
  EXPECT_EQ(request.limits.max_calls, 77);
  EXPECT_FALSE(request.check_every_call);
  EXPECT_EQ(request.seed, 9U);
  key.ranks = 3;
  EXPECT_EQ(request_of(key, options).placement.ranks_per_node, 0) << "nothing is said of three ranks";
}

/// Rank 0 answers with the request, the others with something else.
std::string answer(const std::string& request, const RankBackend& backend, Coordination&) {
  if (request == "fails" && backend.transport->rank() == 1) {
    throw Error(ErrorKind::failed, "it has failed");
  }
  if (request == "ends" && backend.transport->rank() == 1) {
    throw Error(ErrorKind::environment, "there is no more");
  }
  return backend.transport->rank() == 0 ? request : "of another rank";
}
constexpr TaskKind kAnswer = {"answer", answer};

/// What becomes of points with these names; "-" is unsupported, "+" not wanted.
std::vector<std::string> worked(const std::vector<std::string>& names) {
  std::vector<PointKey> points;  // Sizes tell them apart.
  while (points.size() < names.size()) {
    points.push_back(
        {.algorithm = "ring", .ranks = 2, .bytes = {static_cast<std::int64_t>(8 * points.size())}});
  }
  const auto name_of = [&](const PointKey& key) {
    return names[static_cast<std::size_t>(key.bytes.value / 8)];
  };
  std::vector<std::string> said;
  const PointWork work = {
      .wanted = [&](std::size_t index) { return names[index] != "+"; },
      .unsupported =
          [&](const PointKey& key) {
            return name_of(key) == "-" ? std::optional<std::string>("no") : std::nullopt;
          },
      .task =
          [&](const PointKey& key) {
            return Task{kAnswer, name_of(key), "answering"};
          },
      .report = [&](const PointKey& key,
                    const std::string& result) { said.push_back(name_of(key) + ": " + result); },
      .give_up =
          [&](const PointKey& key, Outcome outcome, const std::string& why) {
            said.push_back(fmt::format("{}: {} {}", name_of(key), name(outcome), why));
          }};
  work_through(points, {.backend = Backend::threads, .timeout = 20s}, work, "test");
  return said;
}

TEST(WorkThrough, GoesOnAfterAPointThatFailedAndEndsWithAnyOtherError) {
  EXPECT_THAT(worked({"a", "-", "fails", "+", "b"}),
              ElementsAre("a: a", "-: unsupported no", "fails: failed it has failed", "b: b"));
  EXPECT_THAT([] { worked({"a", "ends", "b"}); }, ThrowsMessage<Error>("there is no more"));
}

TEST(Recording, KeepsTwentyFiveCallsAtMost) {
  const PointKey key = {.algorithm = "ring", .ranks = 1, .bytes = {kBytes}};
  for (const auto& [asked, made] :
       std::vector<std::pair<int, int>>{{24, 24}, {25, 25}, {26, 25}, {100, 25}}) {
    run_as_threads(1, 20s, [&, asked = asked, made = made](std::unique_ptr<Transport> transport) {
      Coordination coordination(*transport);
      const RankBackend backend = threads_rank(std::move(transport));
      const PointRequest request = {.key = key,
                                    .limits = {.budget = {0}, .min_calls = 100, .max_calls = asked}};
      const Recording recording = record_point(request, backend, coordination);
      EXPECT_EQ(recording.iterations, made);
      EXPECT_EQ(recording.barrier_skew, Seconds{0}) << "one rank leaves at once";
    });
  }
}

}  // namespace
}  // namespace ringside
