#include "sim/engine/shared_processor.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/registry.hpp"
#include "sim/engine/calibration_ends.hpp"
#include "sim/engine/flow.hpp"
#include "sim/engine/replay.hpp"
#include "tests/schedule/scripted.hpp"
#include "tests/sim/engine/networks.hpp"

namespace ringside {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The curve of this kind, which is made when there is none.
std::vector<CurvePoint>& points(SharedProcessor& processor, ProbeKind kind, int ranks) {
  for (Curve& curve : processor.curves) {
    if (curve.kind == kind && curve.ranks == ranks) {
      return curve.points;
    }
  }
  return processor.curves.emplace_back(Curve{.kind = kind, .ranks = ranks}).points;
}

void erase(SharedProcessor& processor, ProbeKind kind) {
  std::erase_if(processor.curves, [kind](const Curve& curve) { return curve.kind == kind; });
}

/// 10 us up to 1 kB, 100 us at 100 kB, 1.1 ms at 1.1 MB; two at once take 1.5 times, four 4 times as long.
SharedProcessor two_cores() {
  SharedProcessor processor;
  processor.cores = 2;
  for (const CurvePoint& point :
       std::vector<CurvePoint>{{{1'000}, 1e-5}, {{100'000}, 1e-4}, {{1'100'000}, 1.1e-3}}) {
    points(processor, ProbeKind::ping_pong, 2).push_back(point);
    points(processor, ProbeKind::neighbour_exchange, 2).push_back({point.bytes, 1.5 * point.value});
    points(processor, ProbeKind::neighbour_exchange, 4).push_back({point.bytes, 4.0 * point.value});
  }
  points(processor, ProbeKind::reduction, 1) = {{{1'000}, 1e-10}, {{100'000}, 4e-10}};
  return processor;
}

Network shared_processor(int num_ranks, SharedProcessor processor = two_cores()) {
  Network network = test::uniform_network(num_ranks, {});
  network.processor = std::move(processor);
  return network;
}

TEST(ProcessorCurves, AnAllReduceInPlaceIsOneMeetingOrTwo) {
  SharedProcessor processor = two_cores();
  EXPECT_FALSE(ProcessorCurves(processor, {}).two_shot(4, 1e6)) << "not probed";
  points(processor, ProbeKind::writing_exchange, 4) = {{{32'000}, 9e-5}, {{101'000}, 1.4e-4}};
  const ProcessorCurves curves(processor, {});
  // 4e-5 to meet, twice; an exchange of 1e-4 with each of two ranks on the other core.
  EXPECT_NEAR(curves.two_shot(4, 404'000).value(), 8e-5 + 2 * 1e-4, 1e-9);
  EXPECT_NEAR(curves.two_shot(4, 32'000).value(), 8e-5 + 2 * 5e-5 / 4, 1e-9)
      << "in proportion below what was probed";
  EXPECT_NEAR(curves.two_shot(8, 808'000).value(), 2 * (8e-5 + 4 * 1e-4), 1e-9) << "two rounds of turns";
  SharedProcessor own_cores = processor;
  own_cores.cores = 4;
  EXPECT_NEAR(ProcessorCurves(own_cores, {}).two_shot(4, 404'000).value(), 8e-5 + 3 * 1e-4, 1e-9)
      << "three ranks on other cores";
  const double exchange = 4e-5 * std::sqrt(8);
  EXPECT_NEAR(curves.two_shot(4, 8'000).value(), 4e-5 + 2 * (exchange - 4e-5), 1e-9)
      << "one shot where ranks share cores";
  EXPECT_NEAR(curves.two_shot(2, 500).value(), 1.5e-5, 1e-9) << "one shot on own cores";
}

TEST(ProcessorCurves, AnAllReduceInPlaceTakesTimeWhereOneShortProbeWasHeldUp) {
  SharedProcessor processor = two_cores();
  points(processor, ProbeKind::writing_exchange, 4) = {{{101'000}, 5e-4}};
  points(processor, ProbeKind::neighbour_exchange, 4).front().value = 1e-2;
  const ProcessorCurves curves(processor, {});
  // The exchange of 100 kB takes 4e-4, and meets, too.
  EXPECT_NEAR(curves.two_shot(4, 1'000).value(), 4e-4 + 2 * (1e-2 - 4e-4), 1e-9);
  EXPECT_NEAR(curves.two_shot(4, 404'000).value(), 8e-4 + 2 * 1e-4, 1e-9);
}

TEST(ProcessorCurves, RanksWithACoreEachAreBetterKnown) {
  // Calibrated on ranks that copy through memory, with one size and no difference from pass to pass.
  Calibrated calibrated{.latency = {1e-6}, .bandwidth = {1e9}, .reduction = {}};
  calibrated.spread = {{.bytes = {1'000}, .deviation = 0}};
  calibrated.curves = {
      {.kind = ProbeKind::ping_pong, .ranks = 2, .points = {{{1'000}, 1e-5}}},
      {.kind = ProbeKind::neighbour_exchange, .ranks = 2, .points = {{{1'000}, 1e-5}}},
      {.kind = ProbeKind::reducing_exchange, .ranks = 2, .points = {{{1'000}, 1e-5}}},
  };
  const auto slower = [&](int cores) {
    calibrated.cores = cores;
    return end_of_intervals(calibrated, false).curves[1].points[0].value / 1e-5;
  };
  EXPECT_GT(slower(2), 1.0);
  EXPECT_DOUBLE_EQ(slower(2), slower(3)) << "two ranks have a core each";
  EXPECT_NEAR(std::log(slower(1)), 2 * std::log(slower(2)), 1e-12) << "two ranks share one";
  std::erase_if(calibrated.curves,
                [](const Curve& curve) { return curve.kind == ProbeKind::reducing_exchange; });
  EXPECT_NEAR(slower(2), slower(1), 1e-12) << "messages are the system's work, which needs cores, too";
}

TEST(ProcessorCurves, MoreRanksCountBeforeMoreMessages) {
  SharedProcessor processor = two_cores();
  const double alone = ProcessorCurves(processor, {}).contention(4, 10'000);
  processor.curves.push_back({.kind = ProbeKind::neighbour_exchange, .ranks = 2, .messages = 2});
  processor.curves.back().points = {{{2'000}, 1e-5}, {{10'000}, 1e-5}, {{50'000}, 1e-5}};
  EXPECT_EQ(ProcessorCurves(processor, {}).contention(4, 10'000), alone)
      << "two ranks with two messages each have a core each";
}

TEST(ProcessorCurves, TransfersFollowTheMeasuredCurve) {
  const ProcessorCurves curves(two_cores(), {});
  EXPECT_NEAR(curves.transfer(1'000), 1e-5, 1e-15);
  EXPECT_NEAR(curves.transfer(0), 1e-5, 1e-15) << "a message is never faster than the smallest measured";
  EXPECT_NEAR(curves.transfer(10'000), 1e-4 / std::sqrt(10), 1e-12) << "straight on logarithmic axes";
  EXPECT_NEAR(curves.transfer(100'000), 1e-4, 1e-15);
  EXPECT_NEAR(curves.transfer(2'100'000), 2.1e-3, 1e-12) << "the slope of the last two points goes on";
}

TEST(ProcessorCurves, ContentionFollowsTheNeighbourExchanges) {
  const ProcessorCurves curves(two_cores(), {});
  EXPECT_EQ(curves.contention(1, 1'000), 1);
  EXPECT_NEAR(curves.contention(2, 1'000), 1.5, 1e-12);
  EXPECT_NEAR(curves.contention(3, 50'000), 2.75, 1e-12) << "between two and four";
  EXPECT_NEAR(curves.contention(4, 5'000'000), 4, 1e-12);
  EXPECT_NEAR(curves.contention(8, 1'000), 8, 1e-12) << "in proportion beyond what was measured";
}

TEST(ProcessorCurves, ContentionBelowOneIsBelievedDownToAHalf) {
  SharedProcessor processor = two_cores();
  points(processor, ProbeKind::neighbour_exchange, 2) = {{{1'000}, 8e-6}};
  points(processor, ProbeKind::neighbour_exchange, 4) = {{{1'000}, 1e-6}};
  const ProcessorCurves curves(processor, {});
  EXPECT_NEAR(curves.contention(2, 1'000), 0.8, 1e-12);
  EXPECT_NEAR(curves.contention(4, 1'000), 0.5, 1e-12);
}

TEST(ProcessorCurves, ReductionsUseTheirOwnCurveOrElseTheCalibratedCost) {
  const ProcessorCurves curves(two_cores(), {9e-10});
  EXPECT_NEAR(curves.reduction(10'000), 2e-10 * 10'000, 1e-12);
  EXPECT_NEAR(curves.reduction(1'000'000), 4e-10 * 1'000'000, 1e-12);
  SharedProcessor without = two_cores();
  erase(without, ProbeKind::reduction);
  EXPECT_NEAR(ProcessorCurves(without, {9e-10}).reduction(1'000), 9e-10 * 1'000, 1e-18);
}

double all_reduce(const char* algorithm, const Network& network, Bytes size) {
  const Schedule schedule(*find_algorithm(Collective::all_reduce, algorithm),
                          {.num_ranks = network.num_ranks});
  return simulate_flow(Execution(schedule, size, DataType::float32, {.receives_ahead = true}), network)
      .seconds.value;
}

TEST(SharedProcessor, NaiveHasOneMessageUnderWayAtATime) {
  // Four times alone, and three reductions.
  const double time = all_reduce("naive", shared_processor(3), {100'000});
  EXPECT_NEAR(time, 4 * 1e-4 + 2 * 4e-10 * 100'000, 1e-12);
}

TEST(SharedProcessor, ARingHasAllItsMessagesUnderWayAtOnce) {
  SharedProcessor free_reductions = two_cores();
  erase(free_reductions, ProbeKind::reduction);
  // 6 rounds of 4 messages of 100 kB, each four times slower than alone.
  EXPECT_NEAR(all_reduce("ring", shared_processor(4, free_reductions), {400'000}), 6 * 4e-4, 1e-12);
}

TEST(SharedProcessor, ReductionsShareTheCores) {
  // Four ranks reduce at once on two cores: half speed. 6 rounds of transfers, 3 with a reduction.
  const double time = all_reduce("ring", shared_processor(4), {400'000});
  EXPECT_NEAR(time, 6 * 4e-4 + 3 * 2 * 4e-10 * 100'000, 1e-12);
}

/// two_cores() without reductions: a neighbour exchange among four that follows another takes 10 % less, and
/// 20 % less with receives posted.
SharedProcessor chained() {
  SharedProcessor processor = two_cores();
  erase(processor, ProbeKind::reduction);
  points(processor, ProbeKind::chained_exchange, 4) = {{{1'000}, 3.6e-5}, {{100'000}, 3.6e-4}};
  points(processor, ProbeKind::chained_exchange_posted, 4) = {{{1'000}, 3.2e-5}, {{100'000}, 3.2e-4}};
  return processor;
}

TEST(ProcessorCurves, ChainedExchangesSayWhatMessagesTakeAfterOthers) {
  const ProcessorCurves curves(chained(), {});
  EXPECT_NEAR(curves.contention(4, 1'000), 4, 1e-12);
  EXPECT_NEAR(curves.contention(4, 1'000, Receiver::in_turn), 3.6, 1e-12);
  EXPECT_NEAR(curves.contention(4, 1'000, Receiver::ready), 3.2, 1e-12);
  // A neighbour exchange of 1.1 MB takes 4.4 ms; less by as much as at the largest chained exchange.
  EXPECT_NEAR(curves.contention(4, 1'100'000, Receiver::ready), 4 * (4.4e-3 - 0.8e-4) / 4.4e-3, 1e-12);
  EXPECT_EQ(curves.contention(1, 1'000, Receiver::ready), 1) << "alone, as in a ping-pong";
  SharedProcessor disturbed = chained();
  points(disturbed, ProbeKind::chained_exchange_posted, 4)[0].value = 1e-3;
  EXPECT_NEAR(ProcessorCurves(disturbed, {}).contention(4, 1'000, Receiver::ready), 3.6, 1e-12)
      << "nobody waits longer for being ready";
  EXPECT_NEAR(ProcessorCurves(two_cores(), {}).contention(4, 1'000, Receiver::ready), 4, 1e-12)
      << "not probed";
}

TEST(SharedProcessor, RoundsAfterTheFirstTakeWhatChainedExchangesTake) {
  const Network network = shared_processor(4, chained());
  // A ring receives from the same rank in every round.
  EXPECT_NEAR(all_reduce("ring", network, {400'000}), (4 + 5 * 3.2) * 1e-4, 1e-12);
  // Its peers change.
  EXPECT_NEAR(all_reduce("recursive_doubling", network, {100'000}), (4 + 3.6) * 1e-4, 1e-12);
}

TEST(SharedProcessor, SaysThatTheCoresAreShared) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 4});
  const Execution execution(ring, {400'000}, DataType::float32);
  EXPECT_THAT(simulate_flow(execution, shared_processor(4)).limits,
              ElementsAre(Limit{.kind = Limit::Kind::shared_cores, .ranks = 4, .cores = 2}));
  const Schedule naive(*find_algorithm(Collective::all_reduce, "naive"), {.num_ranks = 4});
  EXPECT_THAT(simulate_flow(Execution(naive, {4}, DataType::float32), shared_processor(4)).limits, IsEmpty());
}

/// Every rank has a link of its own: nothing slows down what different ranks send.
SharedProcessor private_links() {
  SharedProcessor processor;
  points(processor, ProbeKind::ping_pong, 2) = {{{100'000}, 1e-4}};
  return processor;
}

double broadcast(const SharedProcessor& processor) {
  const Schedule tree(*find_algorithm(Collective::broadcast, "binomial_tree"), {.num_ranks = 4});
  return simulate_flow(Execution(tree, {100'000}, DataType::float32), shared_processor(4, processor))
      .seconds.value;
}

TEST(SharedProcessor, MessagesToOneRankAreNoFan) {
  SharedProcessor processor = private_links();
  points(processor, ProbeKind::fan_out, 3) = {{{100'000}, 2e-4}};
  // Two segments of each rank are in flight to the same neighbour.
  const Schedule ring(*find_algorithm(Collective::all_reduce, "pipelined_ring"),
                      {.num_ranks = 4, .segments = 2});
  const Execution execution(ring, {800'000}, DataType::float32, {.receives_ahead = true, .in_flight = 2});
  EXPECT_NEAR(simulate_flow(execution, shared_processor(4, processor)).seconds.value, 6 * 1e-4, 1e-12);
}

TEST(SharedProcessor, ASenderThatGoesOnEarlySharesItsLinkWithItsNextMessage) {
  // The root sends to rank 2, then to rank 1 while rank 2 passes it on.
  EXPECT_NEAR(broadcast(private_links()), 2e-4, 1e-12);
  // It goes on at once: both messages take twice as long, and rank 2 passes on only then.
  SharedProcessor eager = private_links();
  points(eager, ProbeKind::fan_out, 3) = {{{100'000}, 2e-4}};
  EXPECT_NEAR(broadcast(eager), 2e-4, 1e-12) << "a link that is not shared costs nothing";
  points(eager, ProbeKind::send, 2) = {{{100'000}, 1e-9}};
  EXPECT_NEAR(broadcast(eager), 3e-4, 1e-8);
}

TEST(ProcessorCurves, SeveralReductionsTakeWhatSeveralTook) {
  SharedProcessor processor = two_cores();
  points(processor, ProbeKind::reduction, 2) = {{{100'000}, 6e-10}};
  const ProcessorCurves curves(processor, {});
  EXPECT_EQ(curves.reduction_contention(1, 100'000), 1);
  EXPECT_NEAR(curves.reduction_contention(2, 100'000), 1.5, 1e-12);
  EXPECT_NEAR(curves.reduction_contention(4, 100'000), 3, 1e-12) << "in proportion beyond what was measured";
  EXPECT_NEAR(curves.reduction(100'000), 4e-10 * 100'000, 1e-15) << "one alone as before";
}

TEST(SharedProcessor, TwoRoundsAtOnceHideHalfOfTheMessagesLatency) {
  // Each rank has two of its segments in flight: 12 rounds take 6 times one message.
  const Schedule ring(*find_algorithm(Collective::all_reduce, "pipelined_ring"),
                      {.num_ranks = 4, .segments = 2});
  const Execution one(ring, {800'000}, DataType::float32);
  const Execution two(ring, {800'000}, DataType::float32, {.receives_ahead = true, .in_flight = 2});
  const Network network = shared_processor(4, private_links());
  EXPECT_NEAR(simulate_flow(one, network).seconds.value, 12 * 1e-4, 1e-12);
  EXPECT_NEAR(simulate_flow(two, network).seconds.value, 6 * 1e-4, 1e-12);
}

TEST(SharedProcessor, ReplayTakesEveryMessageAsIfAlone) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 4});
  const Execution execution(ring, {400'000}, DataType::float32);
  EXPECT_NEAR(replay(execution, shared_processor(4)).value, 6 * 1e-4 + 3 * 4e-10 * 100'000, 1e-12);
}

TEST(ProcessorCurves, WithoutNeighbourExchangesMessagesShareTheCores) {
  SharedProcessor processor = two_cores();
  erase(processor, ProbeKind::neighbour_exchange);
  const ProcessorCurves curves(processor, {});
  EXPECT_EQ(curves.contention(2, 1'000), 1);
  EXPECT_EQ(curves.contention(3, 1'000), 1.5);
}

TEST(SharedProcessor, AReductionSharesTheCoresWithMessages) {
  const Network network = shared_processor(4);
  Activities activities;
  ProcessorSharing sharing(network, activities);
  const Activities::Id reduction =
      sharing.begin({.kind = WorkKind::reduction, .source = 3, .target = 3, .bytes = 100'000});
  for (const Rank source : {0, 1, 2}) {
    sharing.begin({.source = source, .target = source + 1, .bytes = 100'000});
  }
  sharing.share();
  EXPECT_NEAR(activities.rate(reduction), 0.5, 1e-12) << "four at once on two cores";
}

TEST(SharedProcessor, ALittleContentionIsNotWorthASentence) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 4});
  const Execution execution(ring, {400'000}, DataType::float32);
  const auto limits = [&](double factor) {
    SharedProcessor processor = private_links();
    points(processor, ProbeKind::neighbour_exchange, 4) = {{{100'000}, factor * 1e-4}};
    return simulate_flow(execution, shared_processor(4, processor)).limits;
  };
  EXPECT_THAT(limits(1.05), IsEmpty());
  ASSERT_EQ(limits(1.5).size(), 1U);
  EXPECT_EQ(limits(1.5)[0].kind, Limit::Kind::contention);
}

TEST(SharedProcessor, ACopyWithinARankTakesAsLongAsReducing) {
  const Schedule copies =
      scripted_schedule({.num_buffers = 2, .rounds = {{{.source = 0, .target = 0, .target_buffer = 1}}}}, 2);
  const Execution execution(copies, {100'000}, DataType::float32);
  std::vector<TraceEvent> trace;
  EXPECT_NEAR(replay(execution, shared_processor(2), {.trace = &trace}).value, 4e-10 * 100'000, 1e-15);
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace[0].start.value, 0);
  EXPECT_NEAR(trace[0].end.value, 4e-10 * 100'000, 1e-15);
}

}  // namespace

}  // namespace ringside
