#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "scenario/scenario.hpp"
#include "sim/nccl/knowledge.hpp"
#include "sim/predict.hpp"

namespace ringside {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = kKi * kKi;
constexpr std::int64_t kGi = kKi * kMi;

Machine machine(const std::string& yaml) { return parse_machine(yaml, "test"); }

Machine l40s_node() {
  return machine(
      "gpus_per_node: 8\ngpu: {model: L40S}\nintra: {kind: pcie, generation: 4, lanes: 16, peer_to_peer: "
      "true}\n");
}

PointKey point(const std::string& algorithm, int ranks, std::int64_t bytes) {
  return {.collective = Collective::all_reduce, .algorithm = algorithm, .ranks = ranks, .bytes = {bytes}};
}
PointKey native(int ranks, std::int64_t bytes) { return point("native", ranks, bytes); }

Prediction predicted(const Machine& where, const PointKey& key) {
  const auto outcome = predict(where, key, {.backend = Backend::nccl});
  if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
    throw Error(ErrorKind::failed, unpredicted->reason);
  }
  return std::get<Prediction>(outcome);
}

Machine told(Machine where, const PointKey& key, double seconds) {
  where.known.push_back({.collective = key.collective,
                         .algorithm = key.algorithm,
                         .ranks = key.ranks,
                         .bytes = key.bytes,
                         .seconds = Seconds{seconds}});
  return where;
}

/// Told that this point takes `factor` times what is predicted of it.
Machine surprised(const Machine& where, const PointKey& key, double factor) {
  return told(where, key, factor * predicted(where, key).seconds.value);
}

Machine copies(Machine where, double bandwidth) {
  where.known.push_back({.bandwidth = BytesPerSecond{bandwidth}});
  return where;
}

/// How many times longer a point takes on `after`.
double ratio(const Machine& after, const Machine& before, const PointKey& key) {
  return predicted(after, key).seconds.value / predicted(before, key).seconds.value;
}

Machine eight_4090() {
  return machine("gpus_per_node: 8\ngpu: {model: RTX 4090}\nintra: {kind: pcie, generation: 4, lanes: 16}\n");
}

double width(const Prediction& prediction) { return prediction.high->value / prediction.low->value; }

TEST(NcclKnown, OneLargeMessageMovesItsNeighboursAndNarrowsThem) {
  const PointKey asked = native(8, 88'000'000);
  const Prediction before = predicted(eight_4090(), asked);
  const Prediction large = predicted(eight_4090(), native(8, kGi));
  const Prediction after = predicted(told(eight_4090(), native(8, kGi), 3 * large.seconds.value), asked);
  EXPECT_EQ(before.source, CostSource::spec);
  EXPECT_EQ(after.source, CostSource::spec_plus_known);
  EXPECT_GT(width(before), 4);
  EXPECT_LT(width(after), 2);
  EXPECT_NEAR(after.seconds.value / before.seconds.value, 3, 0.6);
}

TEST(NcclKnown, OtherNumbersOfRanksFollowLess) {
  const double surprise = 3;
  const Machine after = surprised(eight_4090(), native(4, kGi), surprise);
  EXPECT_NEAR(ratio(after, eight_4090(), native(4, kGi)), surprise, 0.2);
  EXPECT_GT(ratio(after, eight_4090(), native(8, kGi)), 1.5);
  EXPECT_GT(width(predicted(after, native(8, kGi))), width(predicted(after, native(4, kGi))));
  EXPECT_LT(width(predicted(after, native(8, kGi))), width(predicted(eight_4090(), native(8, kGi))));
}

TEST(NcclKnown, SmallMessagesSayLittleAboutLargeOnes) {
  const PointKey small = native(8, kKi);
  const PointKey large = native(8, kGi);
  const Machine after = told(eight_4090(), small, 1.2 * predicted(eight_4090(), small).seconds.value);
  EXPECT_NEAR(predicted(after, small).seconds.value / predicted(eight_4090(), small).seconds.value, 1.2,
              0.03);
  EXPECT_NEAR(predicted(after, large).seconds.value / predicted(eight_4090(), large).seconds.value, 1, 0.2);
  EXPECT_GT(width(predicted(after, large)), 0.7 * width(predicted(eight_4090(), large)));
}

TEST(NcclKnown, ACopysBandwidthCounts) {
  const Machine slow = copies(eight_4090(), 2e9);
  EXPECT_GT(predicted(slow, native(2, kGi)).seconds.value,
            1.5 * predicted(eight_4090(), native(2, kGi)).seconds.value);
  EXPECT_LT(width(predicted(slow, native(2, kGi))), width(predicted(eight_4090(), native(2, kGi))));
}

TEST(NcclKnown, OneSpikedRowIsDoubtedByTheOthers) {
  Machine where = eight_4090();
  for (const std::int64_t bytes : {kKi, 64 * kKi, kMi, 16 * kMi, 256 * kMi, kGi}) {
    const double spike = bytes == kMi ? 8 : 1;
    where = told(where, native(8, bytes), spike * predicted(eight_4090(), native(8, bytes)).seconds.value);
  }
  const PointKey near = native(8, 2 * kMi);
  EXPECT_NEAR(predicted(where, near).seconds.value / predicted(eight_4090(), near).seconds.value, 1, 0.25);
}

TEST(NcclKnown, NoIntervalIsWiderThanTwelveTimes) {
  for (const std::int64_t bytes : {kKi, kMi, kGi}) {
    EXPECT_LT(width(predicted(eight_4090(), native(8, bytes))), 12.01) << bytes;
  }
}

TEST(NcclKnown, AnOpenTransportIsAskedFor) {
  const Machine open = machine("gpus_per_node: 2\ngpu: {model: L40S}\nintra: {kind: pcie, generation: 4}\n");
  const std::vector<PointKey> keys = {native(2, 64 * kMi)};
  const auto advice = nccl_advice(open, keys);
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->question, HasSubstr("AMD"));
  EXPECT_THAT(advice->answer, HasSubstr("cpu: {vendor: amd}"));
}

TEST(NcclKnown, AdviceNamesTheMeasurementAndItsCommand) {
  const std::vector<PointKey> keys = {native(8, 88'000'000)};
  const auto advice = nccl_advice(eight_4090(), keys);
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->command, HasSubstr("all_reduce_perf -b 1G -e 1G"));
  EXPECT_LT(advice->width_after, 0.5 * advice->width_before);
  const Machine after =
      told(eight_4090(), native(8, kGi), predicted(eight_4090(), native(8, kGi)).seconds.value);
  EXPECT_NEAR(width(predicted(after, keys[0])), advice->width_after, 0.01);
}

TEST(NcclKnown, APointThatWasGivenIsKnown) {
  const Machine after = told(eight_4090(), native(8, kGi), 1);
  EXPECT_TRUE(is_known(after, native(8, kGi)));
  EXPECT_FALSE(is_known(after, native(4, kGi)));
}

TEST(NcclKnown, WhatAnAllReduceTookSaysWhatAnAllGatherTakes) {
  PointKey gather = native(8, kGi);
  gather.collective = Collective::all_gather;
  const Prediction before = predicted(l40s_node(), gather);
  const Prediction after = predicted(
      told(l40s_node(), native(8, kGi), 3 * predicted(l40s_node(), native(8, kGi)).seconds.value), gather);
  EXPECT_NEAR(after.seconds.value / before.seconds.value, 3, 0.3);
  EXPECT_FALSE(is_known(told(l40s_node(), native(8, kGi), 1), gather));
}

// ---- schedules of ours ------------------------------------------------------------------------------------

TEST(KnownOfSchedules, ACopysBandwidthIsWhatEveryHopOfARingGets) {
  const double rate = 6e9;
  const Machine slow = copies(l40s_node(), rate);
  const PointKey ring = point("ring", 4, kGi);
  const Prediction after = predicted(slow, ring);
  EXPECT_NEAR(after.seconds.value, 2 * 3.0 / 4 * kGi / rate, 0.03 * after.seconds.value);
  EXPECT_EQ(after.source, CostSource::spec_plus_known);
  EXPECT_GT(ratio(slow, l40s_node(), point("naive", 4, kGi)), 2);
}

TEST(KnownOfSchedules, ACopysBandwidthMovesNativeAndOursAlike) {
  const auto native_over_ring = [](const Machine& where) {
    return predicted(where, native(4, kGi)).seconds.value /
           predicted(where, point("ring", 4, kGi)).seconds.value;
  };
  EXPECT_NEAR(native_over_ring(copies(l40s_node(), 6e9)) / native_over_ring(l40s_node()), 1, 0.6);
}

TEST(KnownOfSchedules, MoreThanItsLinksGiveIsRefused) {
  const Machine host =
      machine("gpus_per_node: 8\ngpu: {model: RTX 4090}\nintra: {kind: pcie, generation: 4}\n");
  EXPECT_THAT([&] { predicted(copies(host, 60e9), point("ring", 8, kGi)); },
              testing::ThrowsMessage<Error>(
                  testing::AllOf(HasSubstr("through host memory"), HasSubstr("peer_to_peer: true"))));
}

TEST(KnownOfSchedules, ATimeOfNativeMovesOurs) {
  const Machine after = surprised(l40s_node(), native(8, kGi), 3);
  EXPECT_GT(ratio(after, l40s_node(), point("ring", 8, kGi)), 1.6);
  EXPECT_GT(ratio(after, l40s_node(), point("naive", 8, kGi)), 1.6);
  EXPECT_NEAR(ratio(after, l40s_node(), point("ring", 8, kKi)), 1, 0.2);
}

TEST(KnownOfSchedules, ATimeOfOursMovesNativeAndOtherAlgorithms) {
  const Machine after = surprised(l40s_node(), point("ring", 8, kGi), 3);
  EXPECT_NEAR(ratio(after, l40s_node(), point("ring", 8, kGi)), 3, 0.1);
  EXPECT_GT(ratio(after, l40s_node(), point("naive", 8, kGi)), 2);
  EXPECT_GT(ratio(after, l40s_node(), native(8, kGi)), 1.4);
  EXPECT_LT(ratio(after, l40s_node(), native(8, kGi)), 3);
}

TEST(KnownOfSchedules, ACopysLatencyMovesSmallMessagesOfOurs) {
  Machine after = l40s_node();
  after.known.push_back({.latency = Seconds{100e-6}});
  EXPECT_GT(ratio(after, l40s_node(), point("ring", 8, kKi)), 3);
  EXPECT_NEAR(ratio(after, l40s_node(), point("ring", 8, kGi)), 1, 0.05);
  EXPECT_DOUBLE_EQ(ratio(after, l40s_node(), native(8, kKi)), 1);
}

TEST(KnownOfSchedules, TheIntervalGetsNarrowerWhereSomethingIsKnown) {
  const Machine after = surprised(l40s_node(), point("ring", 8, kGi), 1.5);
  const auto width = [](const Prediction& prediction) {
    return prediction.high->value / prediction.low->value;
  };
  EXPECT_LT(width(predicted(after, point("ring", 8, 256 * kMi))), 1.4);
  EXPECT_LT(width(predicted(after, point("ring", 8, 256 * kMi))),
            width(predicted(l40s_node(), point("ring", 8, 256 * kMi))));
}

TEST(KnownOfSchedules, OneSpikedRowIsDoubtedByTheOthers) {
  Machine after = l40s_node();
  for (const std::int64_t bytes : {64 * kMi, 128 * kMi, 256 * kMi, 512 * kMi, kGi}) {
    const PointKey key = point("ring", 8, bytes);
    after = told(after, key, (bytes == 256 * kMi ? 8 : 1) * predicted(l40s_node(), key).seconds.value);
  }
  EXPECT_NEAR(ratio(after, l40s_node(), point("ring", 8, 200'000'000)), 1, 0.25);
}

TEST(KnownOfSchedules, AnotherCollectiveMovesAllOfThem) {
  PointKey gather = native(8, kGi);
  gather.collective = Collective::all_gather;
  const Machine after = surprised(l40s_node(), gather, 3);
  EXPECT_NEAR(ratio(after, l40s_node(), native(8, kGi)), 3, 0.5);
  EXPECT_GT(ratio(after, l40s_node(), point("ring", 8, kGi)), 1.6);
}

TEST(KnownOfSchedules, LinksWhoseNumbersAreGivenAreLeftAlone) {
  const Machine given = machine(
      "gpus_per_node: 8\ngpu: {model: L40S}\nintra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n");
  const Machine after = told(given, native(8, kGi), 1);
  EXPECT_EQ(predicted(after, point("ring", 8, kGi)).seconds, predicted(given, point("ring", 8, kGi)).seconds);
}

TEST(NcclKnown, BetweenTwoNearRowsTheirLineCounts) {
  // Times that no model expects: as long at 4 MiB as at 16 MiB.
  const double time = predicted(l40s_node(), native(8, 16 * kMi)).seconds.value;
  const Machine where = told(told(l40s_node(), native(8, 4 * kMi), time), native(8, 16 * kMi), time);
  EXPECT_NEAR(predicted(where, native(8, 8 * kMi)).seconds.value, time, 1e-9 * time)
      << "not slower than both";
}

TEST(NcclKnown, BetweenTwoNearRowsTheModelsErrorIsInterpolated) {
  const auto alone = [](std::int64_t bytes) {
    return predicted(l40s_node(), native(8, bytes)).seconds.value;
  };
  const Machine where = told(told(l40s_node(), native(8, 4 * kMi), 1.1 * alone(4 * kMi)), native(8, 16 * kMi),
                             1.3 * alone(16 * kMi));
  EXPECT_NEAR(predicted(where, native(8, 8 * kMi)).seconds.value / alone(8 * kMi), std::sqrt(1.1 * 1.3),
              1e-9);
}

TEST(NcclKnown, RowsFarApartCountWhereTheModelGrowsAlike) {
  const Machine one = surprised(l40s_node(), native(8, kGi), 2);
  EXPECT_GT(ratio(one, l40s_node(), native(8, 64 * kMi)), 1.8);
  const Machine two = surprised(one, native(8, kKi), 1);
  EXPECT_GT(ratio(two, l40s_node(), native(8, 64 * kMi)), 1.6);
  EXPECT_NEAR(ratio(two, l40s_node(), native(8, 64)), ratio(two, l40s_node(), native(8, kKi)), 0.02);
}

// ---- what bears on nothing --------------------------------------------------------------------------------

TEST(KnownThatIsUseless, IsSaidWithItsReason) {
  const Machine where = l40s_node();
  const Known latency{.latency = Seconds{15e-6}};
  const Known ring{.algorithm = "ring", .ranks = 8, .bytes = Bytes{kGi}, .seconds = Seconds{0.1}};
  EXPECT_THAT(why_useless(where, latency, native(8, kGi), NativeModel::ringside),
              HasSubstr("a copy's latency says nothing about NCCL's steps"));
  EXPECT_THAT(why_useless(where, latency, point("ring", 8, kGi), NativeModel::ringside), IsEmpty());
  EXPECT_THAT(why_useless(where, ring, native(8, kGi), NativeModel::ringside), IsEmpty());
  EXPECT_THAT(why_useless(where, ring, native(8, kGi), NativeModel::alpha_beta),
              HasSubstr("the model alpha_beta"));
}

TEST(KnownThatIsUseless, OneNodeSaysNothingOfSeveral) {
  const Machine where = machine(
      "nodes: 2\ngpus_per_node: 8\ngpu: {model: H100-SXM}\nintra: {kind: nvlink, generation: 4, switch: "
      "true}\n"
      "inter: {kind: infiniband, rate: 400 Gb/s, nics: 8}\n");
  const Known inside{.algorithm = "native", .ranks = 8, .bytes = Bytes{kGi}, .seconds = Seconds{0.1}};
  EXPECT_THAT(why_useless(where, inside, native(16, kGi), NativeModel::ringside),
              HasSubstr("8 ranks of one node, which says nothing about 16 ranks on 2 nodes"));
  EXPECT_THAT(why_useless(where, {.bandwidth = BytesPerSecond{3e11}}, native(16, kGi), NativeModel::ringside),
              HasSubstr("a copy between two GPUs of one node"));
}

TEST(KnownThatIsUseless, MoreRanksThanGpusAreAnError) {
  EXPECT_THAT([] { predicted(told(l40s_node(), native(9, kGi), 0.1), native(8, kGi)); },
              testing::ThrowsMessage<Error>(HasSubstr("known: an all_reduce on 9 ranks: ")));
}

TEST(KnownOfSchedules, TheTimelineMovesWithTheTime) {
  const auto timeline = [](const Machine& where) {
    std::vector<TraceEvent> trace;
    predict(where, point("ring", 8, kGi), {.backend = Backend::nccl, .trace = &trace});
    return trace;
  };
  const Machine after = surprised(l40s_node(), point("ring", 8, kGi), 3);
  const double longer = ratio(after, l40s_node(), point("ring", 8, kGi));
  const std::vector<TraceEvent> events = timeline(after);
  const std::vector<TraceEvent> described = timeline(l40s_node());
  ASSERT_EQ(events.size(), described.size());
  ASSERT_FALSE(events.empty());
  EXPECT_NEAR(events.back().start.value / described.back().start.value, longer, 0.01 * longer);
  EXPECT_NEAR(events.back().end.value / described.back().end.value, longer, 0.01 * longer);
}

TEST(KnownOfSchedules, ACopyWithinANodeSaysNothingOfSeveral) {
  const Machine pair = told(machine("nodes: 2\ngpus_per_node: 4\ngpu: {model: L40S}\n"
                                    "intra: {kind: pcie, generation: 4, lanes: 16, peer_to_peer: true}\n"
                                    "inter: {kind: infiniband, rate: 400 Gb/s, nics: 4}\n"),
                            native(8, kGi), 0.1);
  const PointKey ring = point("ring", 8, kGi);
  EXPECT_EQ(predicted(copies(pair, 5e9), ring).seconds, predicted(pair, ring).seconds);
}

TEST(KnownOfSchedules, ACalibrationCountsMoreThanWhatIsKnown) {
  Machine measured = l40s_node();
  measured.calibrated = Calibrated{};
  measured.calibrated->latency = {1e-5};
  measured.calibrated->bandwidth = {1e10};
  const PointKey ring = point("ring", 8, kGi);
  const Prediction prediction = predicted(told(measured, native(8, kGi), 5), ring);
  EXPECT_EQ(prediction.source, CostSource::calibrated);
  EXPECT_EQ(prediction.seconds, predicted(measured, ring).seconds);
}

TEST(NcclKnown, OneGpuHasNothingToDo) { EXPECT_EQ(predicted(l40s_node(), native(1, kGi)).seconds.value, 0); }

}  // namespace
}  // namespace ringside
