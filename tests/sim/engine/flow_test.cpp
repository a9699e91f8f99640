#include "sim/engine/flow.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/registry.hpp"
#include "sim/engine/replay.hpp"
#include "tests/sim/engine/networks.hpp"

namespace ringside {

namespace {

using test::Costs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Messages of 4 MB at 10 GB/s: 0.4 ms each, and 5 us of latency.
constexpr Bytes kSize{4'000'000};
constexpr double kLatency = 5e-6;
constexpr double kTransfer = 4e-4;

/// A schedule of the rounds in `kRounds`, for moves that no algorithm of ours makes.
template <const auto& kRounds, int kNumBuffers = 1>
struct Handmade {
  static Outline outline(const ScheduleRequest&) {
    const auto write = [](std::int64_t round, RoundWriter& writer) {
      for (const Move& move : kRounds[static_cast<std::size_t>(round)]) {
        writer.add(move);
      }
    };
    return {.num_buffers = kNumBuffers,
            .phases = {{.num_rounds = static_cast<std::int64_t>(kRounds.size()), .write = write}}};
  }
  static Algorithm algorithm() {
    return {.name = "handmade", .summary = "for a test", .wins_when = "never", .outline = outline};
  }
};

template <const auto& kRounds>
FlowResult run(const Network& network, const SimulationOptions& options = {}, Bytes size = kSize) {
  const Algorithm algorithm = Handmade<kRounds>::algorithm();
  const Schedule schedule(algorithm, {.num_ranks = network.num_ranks});
  return simulate_flow(Execution(schedule, size, DataType::float32), network, options);
}

/// The same without contention, which these rounds do not have.
template <const auto& kRounds>
double replayed(const Network& network) {
  const Algorithm algorithm = Handmade<kRounds>::algorithm();
  const Schedule schedule(algorithm, {.num_ranks = network.num_ranks});
  return replay(Execution(schedule, kSize, DataType::float32), network).value;
}

FlowResult run(const char* algorithm, const Network& network, Bytes size, std::vector<Rank> order = {}) {
  const Schedule schedule(*find_algorithm(Collective::all_reduce, algorithm),
                          {.num_ranks = network.num_ranks, .order = std::move(order)});
  return simulate_flow(Execution(schedule, size, DataType::float32), network);
}

using Rounds = std::vector<std::vector<Move>>;

const Rounds kTwoAtOnce = {{{.source = 0, .target = 1}, {.source = 2, .target = 3}}};

Limit shared_link(const std::string& link, int flows) {
  return {.link = link, .flows = flows, .crossings = flows};
}

TEST(Flow, TwoFlowsOnOneLinkTakeTwiceAsLong) {
  const FlowResult result = run<kTwoAtOnce>(test::one_medium(4, {}));
  EXPECT_NEAR(result.seconds.value, kLatency + 2 * kTransfer, 1e-15);
  EXPECT_THAT(result.limits, ElementsAre(shared_link("the medium", 2)));
  EXPECT_EQ(result.num_messages, 2);
}

TEST(Flow, AFlowAloneOnItsLinksHasNothingToReport) {
  const FlowResult result = run<kTwoAtOnce>(test::private_links(4, {}));
  EXPECT_NEAR(result.seconds.value, kLatency + kTransfer, 1e-15);
  EXPECT_THAT(result.limits, IsEmpty());
}

const Rounds kOne = {{{.source = 0, .target = 1}}};

TEST(Flow, ALinkThatIsCrossedTwiceGivesHalfItsCapacity) {
  const Network network = test::wired({{.name = "host memory", .latency = {kLatency}, .capacity = {1e10}}},
                                      {{{}, {0, 0}}, {{0, 0}, {}}});
  const FlowResult result = run<kOne>(network);
  EXPECT_NEAR(result.seconds.value, 2 * kLatency + 2 * kTransfer, 1e-15);
  EXPECT_THAT(result.limits, IsEmpty()) << "nobody else is on it";
}

TEST(Flow, CrossingsAreSaidWhereFlowsUseALinkMoreThanOnce) {
  // Flow 0 → 1 crosses the bridge twice, flow 2 → 3 once: each byte of the first counts double.
  const Network network =
      test::wired({{.name = "bridge", .latency = {0}, .capacity = {1e10}}},
                  {{{}, {0, 0}, {}, {}}, {{}, {}, {}, {}}, {{}, {}, {}, {0}}, {{}, {}, {}, {}}});
  EXPECT_THAT(run<kTwoAtOnce>(network).limits,
              ElementsAre(Limit{.link = "bridge", .flows = 2, .crossings = 3}));
}

const Rounds kThreeAtOnce = {
    {{.source = 0, .target = 1}, {.source = 0, .target = 2}, {.source = 3, .target = 2}}};

TEST(Flow, SharesAreMaxMinFair) {
  // Links: a of 10 GB/s, b of 4 GB/s. Flows: a; a and b; b. The two on b get 2 GB/s each, and the first what
  // is left of a, 8 GB/s. It is done after 4 MB / 8 GB/s = 0.5 ms; the others after 4 MB / 2 GB/s = 2 ms.
  Network network = test::wired(
      {{.name = "a", .latency = {0}, .capacity = {1e10}}, {.name = "b", .latency = {0}, .capacity = {4e9}}},
      {{{}, {0}, {0, 1}, {}}, {{}, {}, {}, {}}, {{}, {}, {}, {}}, {{}, {}, {1}, {}}});
  std::vector<TraceEvent> trace;
  const FlowResult result = run<kThreeAtOnce>(network, {.trace = &trace});
  EXPECT_NEAR(result.seconds.value, 2e-3, 1e-15);
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_NEAR(trace[0].end.value, 5e-4, 1e-15);
  EXPECT_EQ(trace[0].target, 1);
  EXPECT_THAT(result.limits, ElementsAre(shared_link("b", 2), shared_link("a", 2)));
}

const Rounds kStaggered = {{{.source = 0, .target = 1}, {.source = 2, .target = 3, .num_chunks = 1}}};

TEST(Flow, AFlowThatComesLaterSlowsTheFirstDownFromThenOn) {
  // The second flow's latency is 0.2 ms longer. Until then the first has sent half; then both have 5 GB/s:
  // the first needs 0.4 ms more, and the second, half done by then, 0.2 ms more alone.
  Network network =
      test::wired({{.name = "near", .latency = {0}, .capacity = {1e11}},
                   {.name = "far", .latency = {2e-4}, .capacity = {1e11}},
                   {.name = "bus", .latency = {0}, .capacity = {1e10}}},
                  {{{}, {0, 2}, {}, {}}, {{}, {}, {}, {}}, {{}, {}, {}, {1, 2}}, {{}, {}, {}, {}}});
  std::vector<TraceEvent> trace;
  const FlowResult result = run<kStaggered>(network, {.trace = &trace});
  ASSERT_EQ(trace.size(), 2U);
  EXPECT_NEAR(trace[0].end.value, 6e-4, 1e-15);
  EXPECT_NEAR(trace[1].end.value, 8e-4, 1e-15);
  EXPECT_NEAR(result.seconds.value, 8e-4, 1e-15);
}

TEST(Flow, OnOneMediumRingMovesAsManyBytesAsNaiveAndTakesAsLong) {
  // Both move 2(N−1)·S over the medium; only latencies differ.
  const Costs no_latency{.latency = 0};
  const double naive = run("naive", test::one_medium(4, no_latency), kSize).seconds.value;
  const double ring = run("ring", test::one_medium(4, no_latency), kSize).seconds.value;
  EXPECT_NEAR(naive, 6 * kTransfer, 1e-12);
  EXPECT_NEAR(ring, naive, 1e-12);
}

TEST(Flow, AtMostThreeLimitsAreNamedTheLongestFirst) {
  // Three flows on the first bus, two on each of the others.
  static const Rounds kRounds = {{{.source = 0, .target = 1},
                                  {.source = 2, .target = 1},
                                  {.source = 3, .target = 1},
                                  {.source = 4, .target = 5},
                                  {.source = 6, .target = 5},
                                  {.source = 7, .target = 8},
                                  {.source = 9, .target = 8},
                                  {.source = 10, .target = 11},
                                  {.source = 12, .target = 11}}};
  test::Routes routes(13, std::vector<std::vector<std::int32_t>>(13));
  std::vector<Link> links;
  for (const char* name : {"bus A", "bus B", "bus C", "bus D"}) {
    links.push_back({.name = name, .latency = {0}, .capacity = {1e10}});
  }
  for (auto& targets : routes) {
    targets[1] = {0};
    targets[5] = {1};
    targets[8] = {2};
    targets[11] = {3};
  }
  EXPECT_THAT(run<kRounds>(test::wired(links, routes)).limits,
              ElementsAre(shared_link("bus A", 3), shared_link("bus B", 2), shared_link("bus C", 2)));
}

TEST(Flow, AStragglerTakesLongerToSendToReceiveAndToReduce) {
  static const Rounds kRounds = {{{.source = 0, .target = 1, .kind = MoveKind::reduce}},
                                 {{.source = 1, .target = 2}},
                                 {{.source = 2, .target = 3}}};
  Network network = test::private_links(4, {.reduction = 5e-11});
  network.slowdown = {1, 3, 1, 1};
  // In, reduced and out of the straggler three times slower; the last hop does not meet it.
  EXPECT_NEAR(run<kRounds>(network).seconds.value, 7 * (kLatency + kTransfer) + 3 * kTransfer / 2, 1e-12);
}

TEST(Flow, RanksCarryOnWhileTheyReduceOtherChunks) {
  // The copy does not touch the chunk that is being reduced, so it overlaps; the last send does, and waits.
  static const Rounds kRounds = {{{.source = 0, .target = 1, .kind = MoveKind::reduce}},
                                 {{.source = 1, .target = 2, .source_buffer = 1, .target_buffer = 1}},
                                 {{.source = 1, .target = 2}}};
  const double reduction = 2 * kTransfer;
  const Network network = test::private_links(3, {.reduction = 2e-10});
  EXPECT_NEAR(run<kRounds>(network).seconds.value, 2 * (kLatency + kTransfer) + reduction, 1e-12);
  EXPECT_NEAR(replayed<kRounds>(network), 2 * (kLatency + kTransfer) + reduction, 1e-12);
}

TEST(Flow, AReductionWaitsUntilTheChunkAsItWasIsSent) {
  // Rank 1 sends what it had before the round over a slow link; the contribution that arrives meanwhile must
  // not be in it.
  static const Rounds kRounds = {
      {{.source = 0, .target = 1, .kind = MoveKind::reduce}, {.source = 1, .target = 2}}};
  Network network = test::wired({{.name = "fast", .latency = {0}, .capacity = {1e10}},
                                 {.name = "slow", .latency = {0}, .capacity = {1e9}}},
                                {{{}, {0}, {}}, {{}, {}, {1}}, {{}, {}, {}}});
  network.reduction.assign(3, SecondsPerByte{1e-10});
  EXPECT_NEAR(run<kRounds>(network).seconds.value, 10 * kTransfer + kTransfer, 1e-12);
  EXPECT_NEAR(replayed<kRounds>(network), 10 * kTransfer + kTransfer, 1e-12);
}

/// Rank 0 to 1 and 2 to 1 over a slow and a fast link, 0 to 2 over a fast one, 1 to 2 over a slow one.
Network slow_and_fast() {
  Network network = test::wired({{.name = "fast", .latency = {0}, .capacity = {1e10}},
                                 {.name = "slow", .latency = {0}, .capacity = {1e9}},
                                 {.name = "other", .latency = {0}, .capacity = {1e10}},
                                 {.name = "back", .latency = {0}, .capacity = {1e9}}},
                                {{{}, {1}, {2}}, {{}, {}, {3}}, {{}, {0}, {}}});
  network.reduction.assign(3, SecondsPerByte{1e-10});
  return network;
}

TEST(Replay, ReducesInTheOrderOfArrival) {
  static const Rounds kRounds = {{{.source = 0, .target = 1, .kind = MoveKind::reduce},
                                  {.source = 2, .target = 1, .kind = MoveKind::reduce}}};
  EXPECT_NEAR(replayed<kRounds>(slow_and_fast()), 11 * kTransfer, 1e-12);
  static const Rounds kOtherWayRound = {{{.source = 2, .target = 1, .kind = MoveKind::reduce},
                                         {.source = 0, .target = 1, .kind = MoveKind::reduce}}};
  EXPECT_NEAR(replayed<kOtherWayRound>(slow_and_fast()), 11 * kTransfer, 1e-12);
}

TEST(Replay, EveryMessageTakesItsOwnRoute) {
  static const Rounds kRounds = {{{.source = 0, .target = 1}}, {{.source = 0, .target = 2}}};
  EXPECT_NEAR(replayed<kRounds>(slow_and_fast()), 11 * kTransfer, 1e-12);
}

/// The ranks of a ring in random order on switches whose up-links are shared.
Network crowded_switches(int num_ranks) {
  constexpr int kPerSwitch = 4;
  std::vector<Link> links;
  for (int rank = 0; rank < num_ranks; ++rank) {
    links.push_back({.name = "out", .latency = {1e-6}, .capacity = {1e10}});
    links.push_back({.name = "in", .latency = {1e-6}, .capacity = {1.1e10}});
  }
  const auto first_uplink = static_cast<std::int32_t>(links.size());
  for (int up = 0; up < num_ranks / kPerSwitch; ++up) {
    links.push_back({.name = "up-link", .latency = {3e-6}, .capacity = {1.3e10}});
  }
  test::Routes routes(static_cast<std::size_t>(num_ranks),
                      std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(num_ranks)));
  for (std::int32_t source = 0; source < num_ranks; ++source) {
    for (std::int32_t target = 0; target < num_ranks; ++target) {
      auto& route = routes[static_cast<std::size_t>(source)][static_cast<std::size_t>(target)];
      route = {2 * source};
      if (source / kPerSwitch != target / kPerSwitch) {
        route.push_back(first_uplink + source / kPerSwitch);
        route.push_back(first_uplink + target / kPerSwitch);
      }
      route.push_back(2 * target + 1);
    }
  }
  Network network = test::wired(std::move(links), std::move(routes));
  network.reduction.assign(static_cast<std::size_t>(num_ranks), SecondsPerByte{3e-11});
  return network;
}

TEST(Flow, RunsAreReproducibleToTheLastBit) {
  std::vector<Rank> order(24);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  for (const std::string& algorithm : algorithm_names(Collective::all_reduce)) {
    const FlowResult first = run(algorithm.c_str(), crowded_switches(24), {9'600'000}, order);
    const FlowResult again = run(algorithm.c_str(), crowded_switches(24), {9'600'000}, order);
    EXPECT_EQ(first.seconds.value, again.seconds.value) << algorithm;
    EXPECT_EQ(first.limits, again.limits) << algorithm;
  }
}

TEST(Flow, ContentionNeverMakesAScheduleFasterThanItsReplay) {
  const Network network = crowded_switches(24);
  for (const std::string& algorithm : algorithm_names(Collective::all_reduce)) {
    const Schedule schedule(*find_algorithm(Collective::all_reduce, algorithm), {.num_ranks = 24});
    const Execution execution(schedule, {9'600'000}, DataType::float32);
    EXPECT_GE(simulate_flow(execution, network).seconds.value, replay(execution, network).value * (1 - 1e-9))
        << algorithm;
  }
}

TEST(Flow, TheTraceTellsWhatTheResultIsMadeOf) {
  std::vector<TraceEvent> flow_trace;
  std::vector<TraceEvent> replay_trace;
  const Network network = test::private_links(5, {.reduction = 5e-11});
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 5});
  const Execution execution(ring, {5 * 400}, DataType::float32);
  const Seconds end = simulate_flow(execution, network, {.trace = &flow_trace}).seconds;
  replay(execution, network, {.trace = &replay_trace});
  ASSERT_EQ(flow_trace.size(), 8U * 5 + 4 * 5) << "transfers and reductions";
  ASSERT_EQ(replay_trace.size(), flow_trace.size());
  const auto earlier = [](const TraceEvent& a, const TraceEvent& b) {
    return std::tuple(a.round, a.kind, a.rank) < std::tuple(b.round, b.kind, b.rank);
  };
  std::sort(flow_trace.begin(), flow_trace.end(), earlier);
  std::sort(replay_trace.begin(), replay_trace.end(), earlier);
  Seconds last;
  for (std::size_t i = 0; i < flow_trace.size(); ++i) {
    EXPECT_EQ(flow_trace[i].source, replay_trace[i].source);
    EXPECT_EQ(flow_trace[i].target, replay_trace[i].target);
    EXPECT_EQ(flow_trace[i].first_chunk, replay_trace[i].first_chunk);
    EXPECT_EQ(flow_trace[i].bytes.value, 400);
    EXPECT_NEAR(flow_trace[i].start.value, replay_trace[i].start.value, 1e-15);
    EXPECT_NEAR(flow_trace[i].end.value, replay_trace[i].end.value, 1e-15);
    last = std::max(last, flow_trace[i].end);
  }
  EXPECT_EQ(last, end);
}

TEST(Flow, RefusesWhatWouldTakeForeverAndSaysWhatItWouldTake) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 16'384});
  const Network network = test::uniform_network(16'384, {});
  const FlowEstimate estimate = estimate_flow(Execution(ring, {1 << 20}, DataType::float32), network);
  EXPECT_NEAR(estimate.messages, 2.0 * 16'383 * 16'384, 1);
  EXPECT_THAT(too_large(estimate), HasSubstr("5.4e+08 messages"));
  EXPECT_THAT(too_large(estimate), HasSubstr("force"));
  const Schedule small(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 1'024});
  EXPECT_EQ(too_large(estimate_flow(Execution(small, {1 << 20}, DataType::float32),
                                    test::uniform_network(1'024, {}))),
            "");
  constexpr double kGibibyte = 1 << 30;
  EXPECT_EQ(too_large({.messages = 1e7, .seconds = {1}, .bytes = kGibibyte}), "");
  EXPECT_THAT(too_large({.messages = 1.1e7, .seconds = {1}, .bytes = kGibibyte}),
              HasSubstr("about 1.1e+07 messages would take about 1 s and 1 GiB of memory"));
  EXPECT_THAT(too_large({.messages = 1e6, .seconds = {1}, .bytes = 3 * kGibibyte}),
              HasSubstr("3 GiB of memory"));
}

}  // namespace

}  // namespace ringside
