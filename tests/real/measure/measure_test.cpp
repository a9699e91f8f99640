#include "real/measure/measure.hpp"

#include <chrono>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/threads/transport.hpp"
#include "real/execute/coordination.hpp"
#include "real/measure/point_measurement.hpp"
#include "real/measure/recording.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MeasureOptions quick() {
  return {.launch = {.backend = Backend::threads, .timeout = 5s},
          .budget_per_point = {0.005},
          .max_iterations = 20};
}

struct Reported {
  PointKey key;
  Measurement measurement;
};

std::vector<Reported> measured(const std::vector<PointKey>& points, const MeasureOptions& options) {
  std::vector<Reported> reported;
  measure(points, options, [&](const PointKey& key, const Measurement& measurement) {
    reported.push_back({key, measurement});
  });
  return reported;
}

TEST(Measure, ReportsEachPointInOrderWithItsTimes) {
  const std::vector<PointKey> points = {{.algorithm = "ring", .ranks = 3, .bytes = {400}},
                                        {.algorithm = "naive", .ranks = 2, .bytes = {4000}},
                                        {.algorithm = "ring", .ranks = 3, .bytes = {40}}};
  const std::vector<Reported> reported = measured(points, quick());
  ASSERT_EQ(reported.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Measurement& measurement = reported[i].measurement;
    EXPECT_EQ(reported[i].key, points[i]);
    EXPECT_EQ(measurement.outcome, Outcome::ok) << measurement.note;
    EXPECT_EQ(measurement.backend, Backend::threads);
    EXPECT_EQ(static_cast<std::size_t>(measurement.iterations), measurement.samples.size());
    EXPECT_GE(measurement.iterations, 5);
    EXPECT_GT(measurement.min.value, 0);
    EXPECT_LE(measurement.min, measurement.low);
    EXPECT_LE(measurement.low, measurement.seconds);
    EXPECT_LE(measurement.seconds, measurement.high);
    EXPECT_LE(measurement.seconds, measurement.p95);
    EXPECT_EQ(measurement.seconds.value, summarize(measurement.samples).median);
  }
}

TEST(Measure, RepetitionsCanBeMadeInTurns) {
  const std::vector<PointKey> points = {{.algorithm = "ring", .ranks = 2, .bytes = {400}}};
  MeasureOptions options = quick();
  options.repetitions = 3;
  options.min_iterations = 5;
  options.max_iterations = 2;
  for (int turn = 1; turn <= 3; ++turn) {
    options.repetitions_now = turn;
    const std::vector<Reported> reported = measured(points, options);
    ASSERT_EQ(reported.size(), 1U) << "one repetition in each turn";
    EXPECT_EQ(reported[0].measurement.repetitions.size(), turn == 1 ? 0 : static_cast<std::size_t>(turn));
    EXPECT_EQ(reported[0].measurement.iterations, 2 * turn) << "each of them is as long";
    options.earlier[points[0]] = reported[0].measurement;
  }
  EXPECT_THAT(measured(points, options), IsEmpty());
}

TEST(Measure, GoesThroughTheRepetitionsThatAreMissing) {
  const std::vector<PointKey> points = {{.algorithm = "ring", .ranks = 2, .bytes = {8}},
                                        {.algorithm = "naive", .ranks = 2, .bytes = {8}}};
  MeasureOptions options = quick();
  options.repetitions = 3;
  const auto missing = [&] {
    std::vector<std::string> names;
    for (const PointKey& key : missing_repetitions(points, options)) {
      names.push_back(key.algorithm);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(missing(), (Names{"ring", "naive", "ring", "naive", "ring", "naive"}));
  options.earlier[points[0]] = {.repetitions = {1e-6, 2e-6}};
  EXPECT_EQ(missing(), (Names{"naive", "naive", "ring", "naive"}));
  options.earlier[points[1]] = {};  // One repetition is not listed.
  EXPECT_EQ(missing(), (Names{"naive", "ring", "naive"}));
  options.repetitions_now = 2;
  EXPECT_EQ(missing(), Names{"naive"});
  options.earlier[points[1]].outcome = Outcome::failed;
  EXPECT_EQ(missing(), Names{});
  options.repetitions = 0;
  EXPECT_THROW(missing(), Bug);
}

TEST(Measure, RepetitionsShareTheBudgetAndTheLeastNumberOfCalls) {
  MeasureOptions options = quick();
  options.budget_per_point = {0.6};
  options.min_iterations = 5;
  options.repetitions = 3;
  EXPECT_DOUBLE_EQ(options_of_repetition(options).budget_per_point.value, 0.2);
  EXPECT_EQ(options_of_repetition(options).min_iterations, 2) << "at least as many in all";
}

TEST(WrongResult, SaysWhichElementOfWhichRankAndWhatWasDueThere) {
  const std::vector<ElementRange> parts = {{.first = 0, .count = 3}, {.first = 3, .count = 2}};
  const CollectiveCall call = {
      .collective = Collective::reduce_scatter, .num_ranks = 2, .num_elements = 5, .parts = parts};
  const CollectiveValues values(call, 7);
  const auto said = [&](Rank wrong_rank, std::int64_t element) {
    std::vector<std::optional<std::string>> texts(2);
    run_as_threads(2, 10s, [&](std::unique_ptr<Transport> transport) {
      Coordination coordination(*transport);
      const auto rank = static_cast<std::size_t>(transport->rank());
      texts[rank] = wrong_result(values,
                                 transport->rank() == wrong_rank
                                     ? std::optional(WrongElement{.element = element, .found = 0.5})
                                     : std::nullopt,
                                 coordination);
    });
    EXPECT_EQ(texts[0], texts[1]);
    return texts[0].value_or("all is right");
  };
  EXPECT_THAT(said(1, 4), HasSubstr("rank 1, element 4 of 5: found 0.5, due "));
  EXPECT_THAT(said(0, 0), HasSubstr("rank 0, element 0 of 5: found 0.5, due "));
  EXPECT_EQ(said(2, 0), "all is right");
}

TEST(Measure, WhatCouldNotBeMeasuredBeforeIsNotTriedAgain) {
  const std::vector<PointKey> points = {{.algorithm = "ring", .ranks = 2, .bytes = {400}}};
  MeasureOptions options = quick();
  options.repetitions = 3;
  options.earlier[points[0]] = {.outcome = Outcome::unsupported, .backend = Backend::threads, .note = "why"};
  EXPECT_THAT(measured(points, options), IsEmpty());
}

TEST(Measure, ChecksEveryCollectiveOfTheRegistry) {
  std::vector<PointKey> points;
  for (const Algorithm& algorithm : all_algorithms()) {
    points.push_back({.collective = algorithm.collective,
                      .algorithm = std::string(algorithm.name),
                      .ranks = 4,
                      .bytes = {404}});
  }
  for (const Reported& reported : measured(points, quick())) {
    EXPECT_EQ(reported.measurement.outcome, Outcome::ok)
        << reported.key.algorithm << reported.measurement.note;
  }
}

TEST(Measure, WhatCannotRunBecomesUnsupportedWithTheReason) {
  const std::vector<PointKey> points = {
      {.algorithm = "native", .ranks = 2, .bytes = {8}},
      {.algorithm = "ring", .ranks = 2, .bytes = {10}},
      {.algorithm = "ring", .ranks = 2, .bytes = {8}, .dtype = DataType::bfloat16}};
  const std::vector<Reported> reported = measured(points, quick());
  ASSERT_EQ(reported.size(), 3U);
  for (const Reported& point : reported) {
    EXPECT_EQ(point.measurement.outcome, Outcome::unsupported);
    EXPECT_EQ(point.measurement.iterations, 0);
  }
  EXPECT_THAT(reported[0].measurement.note, HasSubstr("threads backend"));
  EXPECT_THAT(reported[1].measurement.note, HasSubstr("10 bytes are no whole number of float32"));
  EXPECT_THAT(reported[2].measurement.note, HasSubstr("bfloat16"));
}

TEST(Measure, UnknownAlgorithmsAndImpossiblePointsAreErrors) {
  EXPECT_THROW(measured({{.algorithm = "rng", .ranks = 2, .bytes = {8}}}, quick()), Error);
  EXPECT_THROW(measured({{.algorithm = "ring", .ranks = 0, .bytes = {8}}}, quick()), Error);
  EXPECT_THROW(measured({{.algorithm = "ring", .ranks = 2, .bytes = {-4}}}, quick()), Error);
}

TEST(Measure, ABackendThatIsNotThereIsOneSentence) {
  EXPECT_EQ(registered(Backend::threads).unavailable(), std::nullopt);
  // Its module is beside the program, and this program stands elsewhere.
  EXPECT_THAT(registered(Backend::mpi).unavailable().value_or(""),
              HasSubstr("there is no libringside_mpi.so; install an MPI library (Debian: libopenmpi-dev"));
  MeasureOptions options = quick();
  options.launch.backend = Backend::mpi;
  try {
    measured({{.algorithm = "ring", .ranks = 2, .bytes = {8}}}, options);
    FAIL() << "there is no such backend";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
  }
}

TEST(Measure, NothingStartsWhenOnePointDoesNotFit) {
  std::vector<PointKey> points = {{.algorithm = "ring", .ranks = 2, .bytes = {8}},
                                  {.algorithm = "ring", .ranks = 4, .bytes = {1LL << 50}}};
  bool reported = false;
  EXPECT_THROW(measure(points, quick(), [&](const PointKey&, const Measurement&) { reported = true; }),
               Error);
  EXPECT_FALSE(reported);
}

/// Flips a bit in messages of `bytes` that a rank receives: in each call, or in call `only` alone.
class FaultyTransport final : public Transport {
 public:
  FaultyTransport(std::unique_ptr<Transport> transport, std::size_t bytes, std::optional<int> only = {})
      : transport_(std::move(transport)), bytes_(bytes), only_(only) {}

  Rank rank() const override { return transport_->rank(); }
  int num_ranks() const override { return transport_->num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    return transport_->make_send(target, memory);
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return std::make_unique<FaultyReceive>(transport_->make_receive(source, memory), memory,
                                           memory.size() == bytes_, only_);
  }

 private:
  class FaultyReceive final : public Transfer {
   public:
    FaultyReceive(std::unique_ptr<Transfer> transfer, std::span<std::byte> memory, bool faulty,
                  std::optional<int> only)
        : transfer_(std::move(transfer)), memory_(memory), faulty_(faulty), only_(only) {}
    void start() override { transfer_->start(); }
    void wait() override {
      transfer_->wait();
      if (faulty_ && (!only_ || *only_ == calls_++)) {
        memory_[memory_.size() - 2] ^= std::byte{1};
      }
    }

   private:
    std::unique_ptr<Transfer> transfer_;
    std::span<std::byte> memory_;
    bool faulty_;
    std::optional<int> only_;
    int calls_ = 0;
  };

  std::unique_ptr<Transport> transport_;
  std::size_t bytes_;
  std::optional<int> only_;
};

TEST(Measure, AWrongResultFailsThePointAndNamesRankAndElement) {
  // Rank 2 of the last hop alone is wrong: what it receives is not sent on.
  const PointKey key = {.collective = Collective::broadcast, .algorithm = "ring", .ranks = 3, .bytes = {600}};
  const std::vector<std::string> known = algorithm_names(Collective::broadcast);
  ASSERT_FALSE(known.empty());
  PointKey point = key;
  point.algorithm = known.front();
  std::vector<Measurement> measurements(3);
  std::vector<Recording> recordings(3);
  run_as_threads(3, 5s, [&](std::unique_ptr<Transport> transport) {
    const auto rank = static_cast<std::size_t>(transport->rank());
    RankBackend backend;
    backend.backend = Backend::threads;
    backend.transport =
        rank == 2 ? std::make_unique<FaultyTransport>(std::move(transport), 600) : std::move(transport);
    Coordination coordination(*backend.transport);
    measurements[rank] = measure_point(request_of(point, quick()), backend, coordination);
    recordings[rank] = record_point(request_of(point, quick()), backend, coordination);
  });
  for (const Recording& recording : recordings) {
    EXPECT_EQ(recording.outcome, Outcome::wrong_result);
    EXPECT_THAT(recording.note, HasSubstr("rank 2, element 149 of 150: found "));
    EXPECT_THAT(recording.events, IsEmpty()) << "what is wrong is not shown";
  }
  for (const Measurement& measurement : measurements) {
    EXPECT_EQ(measurement.outcome, Outcome::wrong_result);
    EXPECT_THAT(measurement.note, HasSubstr("rank 2, element 149 of 150: found "));
    EXPECT_EQ(measurement.iterations, 0) << "a wrong result has no time";
  }
}

/// Has no memory for messages of `bytes`.
class TransportWithoutMemory final : public Transport {
 public:
  TransportWithoutMemory(std::unique_ptr<Transport> transport, std::size_t bytes)
      : transport_(std::move(transport)), bytes_(bytes) {}

  Rank rank() const override { return transport_->rank(); }
  int num_ranks() const override { return transport_->num_ranks(); }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    return transport_->make_send(target, memory);
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    if (memory.size() == bytes_) {
      throw std::bad_alloc();
    }
    return transport_->make_receive(source, memory);
  }

 private:
  std::unique_ptr<Transport> transport_;
  std::size_t bytes_;
};

TEST(Measure, AllRanksHearOfOneThatHasNoMemory) {
  const PointKey point = {.algorithm = "naive", .ranks = 3, .bytes = {600}};
  std::vector<Measurement> measurements(3);
  run_as_threads(3, 5s, [&](std::unique_ptr<Transport> transport) {
    const auto rank = static_cast<std::size_t>(transport->rank());
    RankBackend backend;
    backend.backend = Backend::threads;
    backend.transport = rank == 1 ? std::make_unique<TransportWithoutMemory>(std::move(transport), 600)
                                  : std::move(transport);
    Coordination coordination(*backend.transport);
    measurements[rank] = measure_point(request_of(point, quick()), backend, coordination);
  });
  for (const Measurement& measurement : measurements) {
    EXPECT_EQ(measurement.outcome, Outcome::failed);
    EXPECT_EQ(measurement.note, "rank 1 could not allocate its memory for 600 B");
  }
}

TEST(Measure, OneRankThatLaunchesCallByCallIsSaidAndTheSlowestHostCounts) {
  run_as_threads(3, 5s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    EXPECT_FALSE(launch_of_all({}, coordination).has_value());
    CallLaunch own;
    own.device.host_seconds = {1e-6 * (1 + transport->rank())};
    own.device.mode = LaunchMode::cuda_graph;
    EXPECT_EQ(launch_of_all(own, coordination)->device.mode, LaunchMode::cuda_graph);
    own.device.mode = transport->rank() == 1 ? LaunchMode::stream : LaunchMode::cuda_graph;
    const std::optional<CallLaunch> all = launch_of_all(own, coordination);
    EXPECT_EQ(all->device.mode, LaunchMode::stream);
    EXPECT_DOUBLE_EQ(all->device.host_seconds.value, 3e-6);
  });
}

TEST(Measure, ASingleWrongCallIsSeenUnlessOnlyTheLastIsLookedAt) {
  const PointKey point = {.collective = Collective::broadcast,
                          .algorithm = algorithm_names(Collective::broadcast).front(),
                          .ranks = 3,
                          .bytes = {600}};
  MeasureOptions options = quick();
  options.target_interval = 0;
  for (const bool every_call : {true, false}) {
    options.check_every_call = every_call;
    std::vector<Measurement> measurements(3);
    run_as_threads(3, 5s, [&](std::unique_ptr<Transport> transport) {
      const auto rank = static_cast<std::size_t>(transport->rank());
      RankBackend backend;
      backend.backend = Backend::threads;
      backend.transport =
          rank == 2 ? std::make_unique<FaultyTransport>(std::move(transport), 600, 3) : std::move(transport);
      Coordination coordination(*backend.transport);
      measurements[rank] = measure_point(request_of(point, options), backend, coordination);
    });
    for (const Measurement& measurement : measurements) {
      EXPECT_EQ(measurement.outcome == Outcome::wrong_result, every_call) << measurement.note;
    }
  }
}

}  // namespace
}  // namespace ringside
