// 400 lines: each kind of number that a prediction and its interval come from.
#include "sim/predict.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "schedule/registry.hpp"
#include "sim/engine/backend_models.hpp"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// 10 us and 10 GB/s between every two ranks.
Machine custom_machine(bool shared = false) {
  Machine machine;
  machine.name = "custom";
  machine.intra = IntraLink{};
  machine.intra->kind = IntraKind::custom;
  machine.intra->latency = Seconds{1e-5};
  machine.intra->bandwidth = BytesPerSecond{1e10};
  machine.intra->shared = shared;
  return machine;
}

Machine calibrated_machine() {
  Machine machine;
  machine.name = "calibrated";
  machine.calibrated = Calibrated{};
  machine.calibrated->latency = {1e-5};
  machine.calibrated->bandwidth = {1e10};
  return machine;
}

PointKey point(const std::string& algorithm, int ranks = 8, Bytes bytes = {80'000'000}) {
  PointKey key;
  key.algorithm = algorithm;
  key.ranks = ranks;
  key.bytes = bytes;
  return key;
}

Prediction predicted(const Machine& machine, const PointKey& key, const PredictOptions& options = {}) {
  return std::get<Prediction>(predict(machine, key, options));
}

std::string refusal(const Machine& machine, const PointKey& key, const PredictOptions& options = {}) {
  try {
    predict(machine, key, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "no error";
}

TEST(Predict, ChunksMakeTheRingFast) {
  EXPECT_NEAR(predicted(custom_machine(), point("naive")).seconds.value, 0.11214, 1e-9);
  EXPECT_NEAR(predicted(custom_machine(), point("circulating_ring")).seconds.value, 0.05607, 1e-9);
  EXPECT_NEAR(predicted(custom_machine(), point("tutorial_ring")).seconds.value, 0.11214, 1e-9);
  EXPECT_NEAR(predicted(custom_machine(), point("ring")).seconds.value, 0.01414, 1e-9);
}

TEST(Predict, ChoosesTheCheapestFidelityThatHolds) {
  EXPECT_EQ(predicted(custom_machine(), point("ring")).fidelity, Fidelity::closed_form);
  EXPECT_EQ(predicted(custom_machine(true), point("ring")).fidelity, Fidelity::flow);
  Machine straggling = custom_machine();
  straggling.stragglers = {{.rank = 2, .slowdown = 3}};
  EXPECT_EQ(predicted(straggling, point("ring")).fidelity, Fidelity::replay)
      << "uneven, but nothing is shared";
  EXPECT_NEAR(predicted(straggling, point("ring")).seconds.value, 3 * 0.01414, 1e-9);
}

TEST(Predict, WhereTheClosedFormIsNotExactItIsNotChosen) {
  // One element: seven of eight chunks are empty and do not move; both trees send up and down 3 levels.
  Machine mesh = custom_machine();
  mesh.intra->ports = Ports::all;
  const Prediction tiny = predicted(mesh, point("double_binary_tree", 8, {4}));
  EXPECT_EQ(tiny.fidelity, Fidelity::replay);
  EXPECT_NEAR(tiny.seconds.value, 6 * 1e-5, 1e-8);
  // Reducing at 2 GB/s cannot hide behind links of 10 GB/s: none reduces 7/8 of 80 MB in under 35 ms.
  Machine slow = mesh;
  slow.intra->reduction = SecondsPerByte{0.5e-9};
  for (const char* algorithm : {"double_binary_tree", "pipelined_ring", "ring"}) {
    const Prediction prediction = predicted(slow, point(algorithm));
    EXPECT_EQ(prediction.fidelity, Fidelity::replay) << algorithm;
    EXPECT_GE(prediction.seconds.value, 0.035) << algorithm;
  }
  EXPECT_EQ(predicted(slow, point("ring", 2048)).fidelity, Fidelity::closed_form)
      << "a replay takes too long";
}

TEST(Predict, EveryFidelityGivesTheSameWhereNothingIsShared) {
  for (const Fidelity fidelity : {Fidelity::closed_form, Fidelity::replay, Fidelity::flow}) {
    const Prediction prediction = predicted(custom_machine(), point("ring"), {.fidelity = fidelity});
    EXPECT_EQ(prediction.fidelity, fidelity);
    EXPECT_NEAR(prediction.seconds.value, 0.01414, 0.01414e-9);
    EXPECT_THAT(prediction.limits, IsEmpty());
  }
}

TEST(Predict, MessagesOfOneRankShareItsPort) {
  // Two shots of 7 messages of an eighth of 80 MB each: 14/8 of the message through one port of 10 GB/s.
  const Prediction two_shot = predicted(custom_machine(), point("direct_two_shot"));
  EXPECT_NEAR(two_shot.seconds.value, 2e-5 + 0.014, 1e-9);
  EXPECT_EQ(two_shot.fidelity, Fidelity::flow);
  ASSERT_FALSE(two_shot.limits.empty());
  EXPECT_EQ(two_shot.limits[0].link, "rank 0's port out");
  EXPECT_EQ(two_shot.limits[0].flows, 7);
  EXPECT_TRUE(two_shot.limits[0].others);
  EXPECT_NEAR(predicted(custom_machine(), point("direct")).seconds.value, 1e-5 + 0.056, 1e-9);
  EXPECT_THAT(refusal(custom_machine(), point("direct"), {.fidelity = Fidelity::closed_form}),
              HasSubstr("a rank has one port, which direct shares"));

  Machine mesh = custom_machine();
  mesh.intra->ports = Ports::all;
  const Prediction side_by_side = predicted(mesh, point("direct_two_shot"));
  EXPECT_NEAR(side_by_side.seconds.value, 2e-5 + 0.002, 1e-9) << "seven links each";
  EXPECT_EQ(side_by_side.fidelity, Fidelity::closed_form);
  EXPECT_THAT(side_by_side.limits, IsEmpty());
}

TEST(Predict, OnePortIsEnoughForOneMessageAtATime) {
  Machine mesh = custom_machine();
  mesh.intra->ports = Ports::all;
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const int ranks : {2, 5, 8}) {
      PointKey key = point(std::string(algorithm.name), ranks, {ranks * 4 * 3 * 5 * 7 * 64});
      key.collective = algorithm.collective;
      const ScheduleRequest request{.collective = algorithm.collective, .num_ranks = ranks};
      if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
        continue;
      }
      const double alone = predicted(mesh, key).seconds.value;
      const double flow = predicted(custom_machine(), key, {.fidelity = Fidelity::flow}).seconds.value;
      const double chosen = predicted(custom_machine(), key).seconds.value;
      EXPECT_NEAR(chosen, flow, 1e-9 * flow) << algorithm.name << " on " << ranks;
      if (Schedule(algorithm, request).several_at_once()) {
        EXPECT_GT(flow, 1.01 * alone) << algorithm.name << " on " << ranks;
      } else {
        EXPECT_NEAR(flow, alone, 1e-9 * alone) << algorithm.name << " on " << ranks;
      }
    }
  }
}

TEST(Predict, OneRankHasNothingToDo) {
  for (const char* algorithm : {"naive", "ring", "native"}) {
    EXPECT_EQ(predicted(custom_machine(), point(algorithm, 1)).seconds.value, 0) << algorithm;
  }
}

TEST(Predict, ClosedFormIsRefusedWhereItDoesNotHold) {
  const PredictOptions closed_form{.fidelity = Fidelity::closed_form};
  EXPECT_THAT(refusal(custom_machine(true), point("ring"), closed_form), HasSubstr("its links are shared"));
  Machine straggling = custom_machine();
  straggling.stragglers = {{.rank = 2, .slowdown = 3}};
  EXPECT_THAT(refusal(straggling, point("ring"), closed_form), HasSubstr("stragglers"));
  Machine loopback = calibrated_machine();
  loopback.calibrated->cores = 2;
  loopback.calibrated->curves = {{.points = {{{1'000}, 1e-5}}}};
  EXPECT_THAT(refusal(loopback, point("ring", 4), closed_form), HasSubstr("its 4 ranks share 2 CPU cores"));
}

TEST(Predict, AnUnknownAlgorithmNamesTheKnownOnes) {
  EXPECT_THAT(refusal(custom_machine(), point("rng")), HasSubstr("did you mean 'ring'?"));
}

TEST(Predict, AMessageIsAWholeNumberOfElements) {
  EXPECT_THAT(refusal(custom_machine(), point("ring", 8, {10})),
              HasSubstr("10 B is not a whole number of float32 elements (4 B each)"));
}

TEST(Predict, AFlowTooLargeIsRefusedWithAnEstimate) {
  const std::string text = refusal(custom_machine(true), point("ring", 16'384));
  EXPECT_THAT(text, HasSubstr("ring on 16384 ranks: simulating about 5.4e+08 messages"));
  EXPECT_THAT(text, HasSubstr("GiB"));
}

TEST(Predict, MoreRanksThanMemoryHoldsAreRefusedWithAnEstimate) {
  const auto outcome = simulate(custom_machine(), point("ring", 131'073), {});
  EXPECT_THAT(
      std::get<Unpredicted>(outcome).reason,
      HasSubstr("the network of 131073 ranks alone takes about 0.13 GB of memory and 393 ms; take up to "
                "131072 ranks"));
}

TEST(Predict, CalibrationIntervalsBecomeTheInterval) {
  Machine machine = calibrated_machine();
  EXPECT_FALSE(predicted(machine, point("ring")).low.has_value());
  machine.calibrated->latency_interval = Interval<double>{.low = 9e-6, .typical = 1e-5, .high = 1.2e-5};
  machine.calibrated->bandwidth_interval = Interval<double>{.low = 8e9, .typical = 1e10, .high = 1.25e10};
  const Prediction prediction = predicted(machine, point("ring"));
  EXPECT_EQ(prediction.source, CostSource::calibrated);
  EXPECT_NEAR(prediction.seconds.value, 14 * 1e-5 + 0.014, 1e-12);
  EXPECT_NEAR(prediction.low->value, 14 * 9e-6 + 0.0112, 1e-12);
  EXPECT_NEAR(prediction.high->value, 14 * 1.2e-5 + 0.0175, 1e-12);
}

TEST(Predict, CalibrationIntervalsMoveTheMeasuredCurveToo) {
  Machine machine = calibrated_machine();
  machine.calibrated->cores = 2;
  machine.calibrated->curves = {{.points = {{{1'000'000}, 1.1e-4}}}};
  machine.calibrated->bandwidth_interval = Interval<double>{.low = 5e9, .typical = 8e9, .high = 1e10};
  // naive on 2 ranks: 2 messages of 1 MB; at the slow end 10 us + 0.2 ms instead of 10 us + 0.1 ms.
  const Prediction prediction = predicted(machine, point("naive", 2, {1'000'000}));
  EXPECT_NEAR(prediction.seconds.value, 2.2e-4, 1e-12);
  EXPECT_NEAR(prediction.low->value, 2.2e-4, 1e-12);
  EXPECT_NEAR(prediction.high->value, 4.2e-4, 1e-12);
}

/// Two ranks that share cores, whose messages of 1 kB and 1 MB take 10 us and 110 us.
Machine shared_machine(const std::vector<SpreadPoint>& spread) {
  Machine machine = calibrated_machine();
  machine.calibrated->cores = 2;
  machine.calibrated->curves = {{.points = {{{1'000}, 1e-5}, {{1'000'000}, 1.1e-4}}}};
  machine.calibrated->spread = spread;
  return machine;
}

TEST(Predict, RanksWithCoresOfTheirOwnArePredictedInSegmentsButNotReplayedInThem) {
  const PointKey key = point("ring", 2, {16'000'000});
  const Machine whole = shared_machine({});
  Machine gloo = whole;
  gloo.calibrated->backend = "gloo";
  EXPECT_NE(predicted(gloo, key).seconds, predicted(whole, key).seconds);
  EXPECT_EQ(predicted(gloo, key).policy->segments, 21) << "8 MB in segments of at most 384 KiB";
  EXPECT_EQ(predicted(gloo, point("naive", 2, key.bytes)).policy, (ExecutionPolicy{.receives_ahead = true}));
  const PredictOptions replay = {.fidelity = Fidelity::replay};
  EXPECT_EQ(predicted(gloo, key, replay).policy->segments, 1);
  gloo.calibrated->machine_tuning = false;
  EXPECT_EQ(predicted(gloo, key).policy, (ExecutionPolicy{.receives_ahead = true}))
      << "ranks that were not placed on cores run whole chunks";
  EXPECT_EQ(predicted(gloo, key, replay).seconds, predicted(whole, key, replay).seconds)
      << "segments of one message would travel side by side";
}

double at_slow_end(double deviation, double processor_share = 1) {
  return std::exp(1.645 * std::hypot(std::sqrt(2.0) * deviation, 0.1 * processor_share));
}

TEST(Predict, TheIntervalFollowsTheSpreadAtTheSizeOfTheMessages) {
  const Machine machine =
      shared_machine({{.bytes = {1'000}, .deviation = 0.3}, {.bytes = {1'000'000}, .deviation = 0.01}});
  // naive on 2 ranks is 2 messages of the whole size.
  for (const auto& [bytes, deviation, slow_deviation] : machine.calibrated->spread) {
    EXPECT_FALSE(slow_deviation.has_value());
    const Prediction prediction = predicted(machine, point("naive", 2, bytes));
    const double seconds = prediction.seconds.value;
    EXPECT_NEAR(prediction.low->value, seconds / at_slow_end(deviation), 1e-9 * seconds) << bytes.value;
    EXPECT_NEAR(prediction.high->value, seconds * at_slow_end(deviation), 1e-9 * seconds) << bytes.value;
  }
}

TEST(Predict, TheSlowSideOfTheIntervalMayReachFurther) {
  const Prediction prediction = predicted(
      shared_machine({{.bytes = {1}, .deviation = 0.1, .slow_deviation = 0.5}}), point("naive", 2, {1'000}));
  const double seconds = prediction.seconds.value;
  EXPECT_NEAR(prediction.low->value, seconds / at_slow_end(0.1), 1e-9 * seconds);
  EXPECT_NEAR(prediction.high->value, seconds * at_slow_end(0.5), 1e-9 * seconds);
}

TEST(Predict, ReductionsMoveByTheirOwnSpreadOrElseByThatOfMessages) {
  const auto high = [](const std::vector<SpreadPoint>& of_reductions) {
    Machine machine = shared_machine({{.bytes = {1}, .deviation = 0}});
    machine.calibrated->curves.push_back(
        {.kind = ProbeKind::reduction, .ranks = 1, .points = {{{1'000'000}, 1e-9}}});
    machine.calibrated->reduction_spread = of_reductions;
    return predicted(machine, point("naive", 2, {1'000'000})).high->value;
  };
  // Two messages and a reduction of 1 ms.
  EXPECT_NEAR(high({}), (2.2e-4 + 1e-3) * at_slow_end(0), 1e-12);
  EXPECT_NEAR(high({{.bytes = {1}, .deviation = 0.3}}), 2.2e-4 * at_slow_end(0) + 1e-3 * at_slow_end(0.3),
              1e-12);
}

/// The slow end of the interval of two messages of 1 MB, over the prediction.
double slow_end(const Machine& machine) {
  const Prediction prediction = predicted(machine, point("naive", 2, {1'000'000}));
  return prediction.high->value / prediction.seconds.value;
}

TEST(Predict, WhatTakesLinksAndNoProcessorIsOnlyAsUncertainAsItsProbes) {
  Machine machine = shared_machine({{.bytes = {1}, .deviation = 0.02}});
  EXPECT_NEAR(slow_end(machine), at_slow_end(0.02), 1e-9) << "nobody probed what sending takes: all of it";
  // 1 MB takes 110 us, and its sender's kernel has it after 11.
  machine.calibrated->curves.push_back(
      {.kind = ProbeKind::send, .points = {{{1'000}, 1e-6}, {{1'000'000}, 1.1e-5}}});
  EXPECT_NEAR(slow_end(machine), at_slow_end(0.02, 0.1), 1e-9);
}

TEST(Predict, OnADisturbedMachineTheSpreadCountsMore) {
  Machine machine = shared_machine({{.bytes = {1}, .deviation = 0.2}});
  machine.calibrated->disturbance = Disturbance{};
  EXPECT_NEAR(slow_end(machine), at_slow_end(1.25 * 0.2), 1e-9);
}

TEST(Predict, ThroughMemoryRanksWithCoresOfTheirOwnAreBetterKnown) {
  Machine machine = shared_machine({{.bytes = {1}, .deviation = 0}});
  EXPECT_NEAR(slow_end(machine), at_slow_end(0), 1e-9) << "over loopback threads wake up";
  machine.calibrated->curves.push_back({.kind = ProbeKind::reducing_exchange,
                                        .ranks = 2,
                                        .points = machine.calibrated->curves.front().points});
  EXPECT_NEAR(slow_end(machine), at_slow_end(0, 0.5), 1e-9);
  machine.calibrated->cores = 1;
  EXPECT_NEAR(slow_end(machine), at_slow_end(0), 1e-9) << "two ranks share one core";
  machine.calibrated->cores = std::nullopt;
  EXPECT_NEAR(slow_end(machine), at_slow_end(0), 1e-9) << "nobody knows";
}

TEST(Predict, TheSpreadIsInterpolatedBetweenSizesAndHoldsBeyondThem) {
  const auto width = [](const std::vector<SpreadPoint>& spread) { return slow_end(shared_machine(spread)); };
  // 1 MB lies in the middle of 10 kB and 100 MB, as the logarithm has it.
  EXPECT_NEAR(width({{.bytes = {10'000}, .deviation = 0.2}, {.bytes = {100'000'000}, .deviation = 0.1}}),
              at_slow_end(0.15), 1e-9);
  EXPECT_NEAR(width({{.bytes = {100}, .deviation = 0.2}, {.bytes = {10'000}, .deviation = 0.1}}),
              at_slow_end(0.1), 1e-9);
  EXPECT_NEAR(width({{.bytes = {2'000'000}, .deviation = 0.2}, {.bytes = {4'000'000}, .deviation = 0.1}}),
              at_slow_end(0.2), 1e-9);
  EXPECT_NEAR(width({{.bytes = {1}, .deviation = 0.2}}), at_slow_end(0.2), 1e-9) << "one for all sizes";
}

TEST(Predict, GivenNumbersHaveNoInterval) {
  const Prediction prediction = predicted(custom_machine(), point("ring"));
  EXPECT_EQ(prediction.source, CostSource::given);
  EXPECT_FALSE(prediction.low.has_value());
  EXPECT_FALSE(prediction.high.has_value());
}

TEST(Predict, NativeGlooIsItsPipelinedRing) {
  const PredictOptions gloo{.backend = Backend::gloo};
  const double native = predicted(custom_machine(), point("native"), gloo).seconds.value;
  // 80 MB on 8 ranks: 77 segments of at most 1 MiB, rounded up to 80: 10 for each rank.
  EXPECT_EQ(gloo_ring_segments({80'000'000}, DataType::float32, 8), 10);
  const double ring = predicted(custom_machine(), point("ring")).seconds.value;
  EXPECT_GT(native, ring) << "more messages, and no reduction to hide";
  EXPECT_LT(native, 2 * ring);
  Machine with_gpus = custom_machine();
  with_gpus.gpu = Gpu{};
  EXPECT_EQ(predicted(with_gpus, point("native"), gloo).seconds.value, native)
      << "Gloo's ranks post receives ahead anywhere";
}

TEST(Predict, NativeThroughMemoryIsTwoShots) {
  Machine machine = custom_machine();
  const double native = predicted(machine, point("native"), {.backend = Backend::shm}).seconds.value;
  EXPECT_EQ(native, predicted(machine, point("direct_two_shot")).seconds.value);
  PointKey broadcast = point("native");
  broadcast.collective = Collective::broadcast;
  const auto result = predict(machine, broadcast, {.backend = Backend::shm});
  ASSERT_TRUE(std::holds_alternative<Unpredicted>(result));
  EXPECT_EQ(std::get<Unpredicted>(result).reason, "shm's own broadcast is not modelled, only its all_reduce");
}

TEST(Predict, NativeSaysWhyItIsNotModelled) {
  for (const Backend backend : {Backend::nccl, Backend::threads, Backend::mpi}) {
    const auto result = predict(custom_machine(), point("native"), {.backend = backend});
    ASSERT_TRUE(std::holds_alternative<Unpredicted>(result));
    EXPECT_THAT(std::get<Unpredicted>(result).reason, HasSubstr(std::string(name(backend))));
  }
}

TEST(GlooRing, CutsEachPartIntoAtLeastTwoSegmentsOfAtMostOneMebibyte) {
  EXPECT_EQ(gloo_ring_segments({4}, DataType::float32, 4), 2);
  EXPECT_EQ(gloo_ring_segments({8 << 20}, DataType::float32, 4), 2);
  EXPECT_EQ(gloo_ring_segments({(8 << 20) + 4}, DataType::float32, 4), 3) << "9 segments, rounded up to 12";
  EXPECT_EQ(gloo_ring_segments({64 << 20}, DataType::float32, 4), 16);
}

TEST(Predict, AnUnsupportedPointIsARowNotAnError) {
  for (const Algorithm& algorithm : all_algorithms()) {
    PointKey key = point(std::string(algorithm.name), 6);
    key.collective = algorithm.collective;
    key.bytes = {6 * 4 * 5 * 7 * 64};
    EXPECT_NO_THROW(predict(custom_machine(), key, {})) << algorithm.name;
  }
}

TEST(Predict, ATraceComesWithTheReplay) {
  std::vector<TraceEvent> trace;
  const Prediction prediction = predicted(custom_machine(), point("ring"), {.trace = &trace});
  EXPECT_EQ(prediction.fidelity, Fidelity::replay);
  EXPECT_EQ(trace.size(), 14U * 8);
}

TEST(Predict, RanksOfACalibratedMachineWorkWhereTheyWereCalibrated) {
  const PointKey key = point("ring", 2, {16'000'000});
  Machine gloo = shared_machine({});
  gloo.calibrated->backend = "gloo";
  const ExecutionPolicy without = *predicted(gloo, key).policy;
  gloo.gpu = Gpu{};
  gloo.gpu->model = "L40S";
  EXPECT_EQ(predicted(gloo, key).policy, without) << "gloo's ranks are on the CPU, GPUs or not";
}

TEST(Predict, RanksHaveCoresOfTheirOwnWhereThereIsOneForEach) {
  const PointKey key = point("ring", 3, {24'000'000});
  Machine gloo = shared_machine({});
  gloo.calibrated->backend = "gloo";
  gloo.calibrated->cores = 3;
  const ExecutionPolicy own = *predicted(gloo, key).policy;
  gloo.calibrated->cores = 2;
  EXPECT_NE(predicted(gloo, key).policy, own);
}

TEST(Predict, TheIntervalHoldsThePrediction) {
  Machine machine = calibrated_machine();
  machine.calibrated->latency_interval = Interval<double>{.low = 1.2e-5, .typical = 1.3e-5, .high = 1.5e-5};
  const Prediction prediction = predicted(machine, point("ring"));
  EXPECT_EQ(prediction.low->value, prediction.seconds.value);
  EXPECT_GT(prediction.high->value, prediction.seconds.value);
}

TEST(Predict, OnlySchedulesOfOursHaveAPolicy) {
  EXPECT_TRUE(predicted(custom_machine(), point("ring")).policy.has_value());
  EXPECT_FALSE(predicted(custom_machine(), point("native"), {.backend = Backend::gloo}).policy.has_value());
}

}  // namespace

}  // namespace ringside
