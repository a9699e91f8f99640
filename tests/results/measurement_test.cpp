#include "results/measurement.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/point.hpp"
#include "results/probe_sample.hpp"
#include "results/trace_event.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;

Measurement of(std::vector<double> samples, double median) {
  Measurement measurement;
  measurement.seconds = {median};
  measurement.iterations = static_cast<int>(samples.size());
  measurement.samples = std::move(samples);
  return measurement;
}

TEST(Measurement, PassesAreTakenTogether) {
  const Measurement both = with_repetition(of({1, 2, 3}, 2), of({11, 12, 13, 14}, 12.5));
  EXPECT_EQ(both.iterations, 7);
  EXPECT_THAT(both.samples, ElementsAre(1, 2, 3, 11, 12, 13, 14));
  EXPECT_THAT(both.repetitions, ElementsAre(2, 12.5));
  EXPECT_EQ(both.seconds.value, 11);
  EXPECT_LE(both.low.value, 2);
  EXPECT_GE(both.high.value, 12.5);

  // Many samples alike, and one pass of a single one on either side.
  const Measurement steady = of(std::vector<double>(50, 5), 5);
  EXPECT_EQ(with_repetition(steady, of({1}, 1)).low.value, 1);
  EXPECT_EQ(with_repetition(steady, of({9}, 9)).high.value, 9);

  const Measurement three = with_repetition(both, of({30}, 30));
  EXPECT_THAT(three.repetitions, ElementsAre(2, 12.5, 30));
  EXPECT_GE(three.high.value, 30);
}

TEST(Measurement, TwoPassesHaveTheStatisticsOfAllTheirSamples) {
  const Measurement both = with_repetition(of({5, 1, 2, 9, 3}, 3), of({4, 6, 7, 8, 10, 11}, 7.5));
  EXPECT_EQ(both.seconds.value, 6);
  EXPECT_EQ(both.low.value, 2) << "the second of eleven, below both medians";
  EXPECT_EQ(both.high.value, 10);
  EXPECT_EQ(both.min.value, 1);
  EXPECT_EQ(both.p95.value, 11);
  EXPECT_EQ(both.outcome, Outcome::ok);
  EXPECT_THAT(with_repetition(both, of({100}, 100)).repetitions, ElementsAre(3, 7.5, 100));
}

TEST(Measurement, AFailedPassIsTheOutcome) {
  Measurement failed;
  failed.outcome = Outcome::wrong_result;
  failed.note = "rank 1";
  EXPECT_EQ(with_repetition(of({1}, 1), failed).outcome, Outcome::wrong_result);
  EXPECT_EQ(with_repetition(failed, of({1}, 1)).note, "rank 1");
}

/// Readers take what a line leaves out for these.
TEST(Records, OfNothingHaveTheirDefaults) {
  const Measurement measured;
  const Point point;
  const TraceEvent event;
  const ProbeKey probe;
  const Limit limit;
  const ExecutionPolicy policy;
  const MachineTuning tuning;
  const Prediction predicted;
  EXPECT_EQ(fmt::format("{} {} {} {} {} {} {} {} {}", name(measured.outcome), measured.seconds.value,
                        measured.low.value, measured.high.value, measured.min.value, measured.p95.value,
                        measured.iterations, name(measured.backend), measured.shared_gpu),
            "ok 0 0 0 0 0 0 gloo false");
  EXPECT_EQ(fmt::format("{} {} {} {} {}", name(point.key.collective), point.key.ranks, point.key.bytes.value,
                        name(point.key.dtype), name(point.key.op)),
            "all_reduce 1 0 float32 sum");
  EXPECT_EQ(fmt::format("{} {} {} {} {} {}", event.rank, event.source, event.target, event.round,
                        event.first_chunk, event.num_chunks),
            "0 0 0 0 0 1");
  EXPECT_EQ(event.kind, TraceKind::transfer);
  EXPECT_EQ(fmt::format("{} {} {} {} {} {}", name(probe.kind), probe.ranks, probe.bytes.value, probe.messages,
                        probe.first, probe.second),
            "ping_pong 2 0 1 0 1");
  EXPECT_EQ((ProbeKey{.bytes = {}, .first = 2, .second = 7}.distance()), 5);
  EXPECT_EQ(fmt::format("{} {} {} {} {} {}", limit.flows, limit.crossings, limit.others, limit.ranks,
                        limit.cores, limit.factor),
            "0 0 false 0 0 0");
  EXPECT_EQ(limit.kind, Limit::Kind::shared_link);
  EXPECT_EQ(limit.link_kind, LinkKind::other);
  EXPECT_EQ(
      fmt::format("{} {} {} {}", policy.receives_ahead, policy.segments, policy.stride, policy.in_flight),
      "false 1 1 1");
  EXPECT_EQ(fmt::format("{} {} {} {}", tuning.bound_to_cores, tuning.idle_states_prevented,
                        tuning.thread_priority, tuning.batch_scheduling),
            "false false false false");
  EXPECT_EQ(fmt::format("{} {} {}", name(predicted.fidelity), name(predicted.source), predicted.known),
            "closed_form given false");
  EXPECT_EQ(NicUse{}.used + NicUse{}.of, 0);
  EXPECT_EQ(DeviceLaunch{}.mode, LaunchMode::stream);
  EXPECT_EQ(kMeasuredInterval, 0.05);
}

TEST(Prediction, WithoutAnIntervalIsCertain) {
  EXPECT_EQ((Prediction{.seconds = {2}, .low = {}, .high = {}}.interval()),
            (Interval<Seconds>{{2}, {2}, {2}}));
  EXPECT_EQ((Prediction{.seconds = {2}, .low = Seconds{1}, .high = Seconds{4}}.interval()),
            (Interval<Seconds>{{1}, {2}, {4}}));
}

/// What is probed, fitted and written follows from these rows alone.
TEST(ProbeKinds, HaveTheirRows) {
  std::string rows;
  for (const ProbeKindRow& row : probe_kinds()) {
    EXPECT_FALSE(row.measures.empty());
    EXPECT_EQ(&row_of(row.kind), &row);
    rows += fmt::format("{}:", name(row.kind));
    const auto add = [&](bool holds, const char* what) { rows += holds ? fmt::format(" {}", what) : ""; };
    add(row.alone, "alone");
    add(row.pair, "pair");
    add(row.all, "all");
    add(row.on_arrival, "on_arrival");
    add(row.as_library, "as_library");
    add(row.ahead, "ahead");
    add(row.of_first, "of_first");
    add(row.curve, "curve");
    add(row.unit == CurveUnit::seconds_per_byte, "per_byte");
    add(row.monotone, "monotone");
    add(row.by_ranks, "by_ranks");
    add(row.in_spread, "in_spread");
    rows +=
        fmt::format(", {}+ ranks, {}+{} messages, {} to {} B, curve of {}\n", row.min_ranks, row.messages[0],
                    row.messages[1], row.smallest.value, row.largest.value, row.ranks_of_curve);
  }
  EXPECT_EQ(rows,
            R"(ping_pong: pair of_first curve monotone in_spread, 2+ ranks, 1+0 messages, 8 to 0 B, curve of 2
stream:, 2+ ranks, 1+0 messages, 8 to 0 B, curve of 0
both_ways:, 2+ ranks, 1+0 messages, 8 to 0 B, curve of 0
send: pair of_first curve monotone, 2+ ranks, 1+0 messages, 8 to 0 B, curve of 2
neighbour_exchange: all curve by_ranks in_spread, 2+ ranks, 1+2 messages, 8 to 0 B, curve of 0
native_exchange: as_library, 2+ ranks, 1+0 messages, 8 to 0 B, curve of 0
chained_exchange: all curve by_ranks, 2+ ranks, 1+0 messages, 8 to 1048576 B, curve of 0
chained_exchange_posted: all ahead curve by_ranks, 2+ ranks, 1+0 messages, 8 to 1048576 B, curve of 0
fan_out: all curve monotone in_spread, 3+ ranks, 1+0 messages, 8 to 0 B, curve of 3
reduction: alone all curve per_byte, 2+ ranks, 1+0 messages, 4096 to 0 B, curve of 0
reducing_exchange: all on_arrival curve by_ranks, 2+ ranks, 1+0 messages, 8 to 0 B, curve of 0
writing_exchange: all on_arrival as_library curve by_ranks, 2+ ranks, 1+0 messages, 32768 to 0 B, curve of 0
)");
}

TEST(ProbeKinds, CurvesAreFoundByKindRanksAndMessages) {
  const std::vector<Curve> curves = {{.kind = ProbeKind::send, .ranks = 2},
                                     {.kind = ProbeKind::fan_out, .ranks = 2, .messages = 2},
                                     {.kind = ProbeKind::fan_out, .ranks = 3},
                                     {.kind = ProbeKind::fan_out, .ranks = 4}};
  EXPECT_EQ(find_curve(curves, ProbeKind::fan_out), &curves[2]) << "of one message";
  EXPECT_EQ(find_curve(curves, ProbeKind::fan_out, 4), &curves[3]);
  EXPECT_EQ(find_curve(curves, ProbeKind::fan_out, {}, 2), &curves[1]);
  EXPECT_EQ(find_curve(curves, ProbeKind::fan_out, 5), nullptr);
  EXPECT_EQ(find_curve(curves, ProbeKind::stream), nullptr);
  EXPECT_EQ(Curve{}.ranks + 10 * Curve{}.messages, 12);
}

}  // namespace
}  // namespace ringside
