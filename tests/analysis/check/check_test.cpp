// 400 lines: one check of a machine, from its times to what held it back.
#include "analysis/check/check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/check/expected_times.hpp"
#include "scenario/scenario.hpp"
#include "sim/nccl/native.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::message_of;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Machine machine(const std::string& yaml) { return parse_machine(yaml, "test"); }

const char* const kPcie =
    "{gpus_per_node: 4, gpu: {model: A100-PCIE-40GB}, intra: {kind: pcie, generation: 4, lanes: 16, "
    "peer_to_peer: true}}";
const char* const kTwoNodes =
    "{nodes: 2, gpus_per_node: 8, gpu: {model: A100-SXM4-80GB}, intra: {kind: nvlink, generation: 3, "
    "links_per_gpu: 12, "
    "switch: true}, inter: {kind: infiniband, rate: 200 Gb/s, nics: 8}}";

/// A run of `ranks` ranks whose times are what `actual` is predicted to take, times `factor`.
std::vector<Point> run_on(const Machine& actual, int ranks, double factor = 1) {
  std::vector<Point> points;
  for (int exponent = 10; exponent <= 30; exponent += 2) {
    const PointKey key = {.algorithm = "native", .ranks = ranks, .bytes = Bytes{std::int64_t{1} << exponent}};
    const auto outcome = predict_nccl_native(actual, key, NativeModel::ringside);
    const Seconds seconds = std::get<Prediction>(outcome).seconds;
    points.push_back(
        {.key = key,
         .measured = Measurement{.seconds = Seconds{factor * seconds.value}, .backend = Backend::nccl}});
  }
  return points;
}

MachineCheck check_of(const Machine& described, const Machine& actual, int ranks,
                      const std::vector<CauseEvidence>& evidence = {}) {
  return check_machine(described, run_on(actual, ranks), evidence, nccl_fit());
}

Cause first_cause(const MachineCheck& check) { return check.causes.at(0).cause; }

TEST(Check, AMachineThatTakesWhatIsPredictedIsHealthyInEveryBand) {
  const MachineCheck check = check_of(machine(kPcie), machine(kPcie), 4);
  ASSERT_THAT(check.bands, SizeIs(3));
  for (const BandVerdict& band : check.bands) {
    EXPECT_EQ(band.standing, Standing::healthy);
    EXPECT_NEAR(band.ratio, 1, 1e-9);
    EXPECT_NEAR(band.share_as_slow, 0.5, 1e-9);
  }
  EXPECT_FALSE(check.alarmed());
  EXPECT_THAT(check.causes, IsEmpty());
}

TEST(Check, AtTheEndOfTheIntervalFivePercentOfMachinesAreAsSlow) {
  std::vector<Point> points = run_on(machine(kPcie), 4);
  for (Point& point : points) {
    const auto prediction = predict_nccl_native(machine(kPcie), point.key, NativeModel::ringside);
    point.measured->seconds = *std::get<Prediction>(prediction).high;
  }
  const MachineCheck check = check_machine(machine(kPcie), points, {}, nccl_fit());
  for (const BandVerdict& band : check.bands) {
    EXPECT_NEAR(band.share_as_slow, 0.05, 1e-4);
  }
}

TEST(Check, LongMessagesAreCalledSlowFirst) {
  std::vector<Point> points = run_on(machine(kPcie), 4);
  const auto slow_bands = [&](double deviations) {
    for (Point& point : points) {
      const auto prediction = predict_nccl_native(machine(kPcie), point.key, NativeModel::ringside);
      const Prediction& predicted = std::get<Prediction>(prediction);
      const double high = std::log(predicted.high->value / predicted.seconds.value);
      point.measured->seconds = {predicted.seconds.value * std::exp(deviations / 1.6449 * high)};
    }
    std::vector<SizeBand> slow;
    for (const BandVerdict& band : check_machine(machine(kPcie), points, {}, nccl_fit()).bands) {
      if (band.standing == Standing::slower) {
        slow.push_back(band.band);
      }
    }
    return slow;
  };
  // As slow are 5.1, 4.9, 2.9 and 1.9 % of machines.
  EXPECT_THAT(slow_bands(1.635), IsEmpty());
  EXPECT_THAT(slow_bands(1.655), ElementsAre(SizeBand::large));
  EXPECT_THAT(slow_bands(1.896), ElementsAre(SizeBand::middle, SizeBand::large));
  EXPECT_THAT(slow_bands(2.075), ElementsAre(SizeBand::small, SizeBand::middle, SizeBand::large));
}

TEST(Check, PredictsWhatPredictingPredicts) {
  for (const char* yaml : {kPcie, kTwoNodes}) {
    const Machine described = machine(yaml);
    const int ranks = described.nodes * *described.gpus_per_node;
    for (const Point& point : check_of(described, described, ranks).points) {
      const auto outcome = predict_nccl_native(described, point.key, NativeModel::ringside);
      const Prediction& expected = std::get<Prediction>(outcome);
      EXPECT_EQ(point.predicted->seconds, expected.seconds);
      EXPECT_EQ(point.predicted->low, expected.low);
      EXPECT_EQ(point.predicted->high, expected.high);
    }
  }
}

TEST(Check, SlowerAndFasterThanSuchMachinesAreToldApart) {
  const MachineCheck slow = check_machine(machine(kPcie), run_on(machine(kPcie), 4, 20), {}, nccl_fit());
  EXPECT_TRUE(slow.alarmed());
  EXPECT_NEAR(slow.bands.back().ratio, 1.0 / 20, 1e-9);
  const MachineCheck fast = check_machine(machine(kPcie), run_on(machine(kPcie), 4, 0.05), {}, nccl_fit());
  EXPECT_FALSE(fast.alarmed());
  EXPECT_EQ(fast.bands.back().standing, Standing::faster);
  EXPECT_NEAR(fast.bands.back().ratio, 20, 1e-9);
}

TEST(Check, ABandStandsForItsMedianInGigabytes) {
  const MachineCheck check = check_machine(machine(kPcie), run_on(machine(kPcie), 4, 2), {}, nccl_fit());
  for (const BandVerdict& band : check.bands) {
    const auto point = std::find_if(check.points.begin(), check.points.end(),
                                    [&](const Point& one) { return one.key.bytes == band.bytes; });
    ASSERT_NE(point, check.points.end());
    const double bus = 1.5 * static_cast<double>(band.bytes.value) * 1e-9;
    EXPECT_NEAR(band.measured, bus / point->measured->seconds.value, 1e-9);
    EXPECT_NEAR(band.expected.typical, 2 * band.measured, 1e-9);
    EXPECT_NEAR(band.expected.low, bus / point->predicted->high->value, 1e-9);
    EXPECT_LT(band.expected.typical, band.expected.high);
  }
}

TEST(Check, ACauseHoldsBackTheBandsThatItSlows) {
  // One process launches on all GPUs of a node: that costs microseconds, which nobody sees at 1 GiB.
  const Machine node = machine(
      "{gpus_per_node: 8, gpu: {model: A100-SXM4-80GB}, intra: {kind: nvlink, generation: 3, links_per_gpu: "
      "12, "
      "switch: true}}");
  const CauseEvidence single = {.cause = Cause::one_process, .sentence = "one process per node"};
  std::vector<Point> points = run_on(with_cause(node, Cause::one_process), 8, 1.02);
  const MachineCheck check = check_machine(node, points, std::vector{single}, nccl_fit());
  ASSERT_TRUE(check.held_back);
  EXPECT_LT(check.held_back->ratio, 0.9);
  EXPECT_EQ(check.bands.front().standing, Standing::held_back);
  EXPECT_EQ(check.bands.back().standing, Standing::healthy);
  points.erase(points.begin(), points.end() - 2);
  const MachineCheck large = check_machine(node, points, std::vector{single}, nccl_fit());
  EXPECT_FALSE(large.held_back);
  EXPECT_THAT(large.hints, IsEmpty()) << "it explains nothing";
}

TEST(Check, NicsAreComparedWithTheirLineRate) {
  const MachineCheck check = check_of(machine(kTwoNodes), machine(kTwoNodes), 16);
  ASSERT_TRUE(check.nics);
  EXPECT_NEAR(check.nics->as_ring, check.bands.back().measured / 8, 0.05 * check.nics->as_ring);
  EXPECT_NEAR(check.nics->line_rate, 25, 1e-9);
  EXPECT_NEAR(check.nics->tree_factor, 2 * 15.0 / 16, 1e-9);
  EXPECT_THAT(sentence(*check.nics), testing::AllOf(HasSubstr("of its line rate of 25.0 GB/s"),
                                                    HasSubstr("A ring reaches at most 200 GB/s"),
                                                    HasSubstr("Tree may reach 375 GB/s on 2 nodes")));
  EXPECT_FALSE(check_of(machine(kPcie), machine(kPcie), 4).nics);
  NicShare share = *check.nics;
  share.as_ring = 60;
  EXPECT_THAT(sentence(share), HasSubstr("is the network described right?"));
  share.tree_factor = 1;
  share.as_ring = 24;
  EXPECT_THAT(sentence(share), HasSubstr("No algorithm exceeds the line rate with one GPU a node"));
}

TEST(Check, TheSlowFifthIsToldWhatFitsWithoutAnAlarm) {
  const Machine nodes = machine(kTwoNodes);
  const MachineCheck slow = check_of(nodes, with_cause(nodes, Cause::half_nics), 16);
  ASSERT_FALSE(slow.alarmed());
  EXPECT_LT(slow.bands.back().share_as_slow, 0.2);
  std::vector<Cause> causes;
  for (const SuspectedCause& one : likely_causes(slow)) {
    EXPECT_NE(one.cause, Cause::none);
    EXPECT_NE(one.cause, Cause::something_else);
    causes.push_back(one.cause);
  }
  EXPECT_THAT(causes, Contains(Cause::half_nics));
  EXPECT_THAT(likely_causes(check_of(nodes, nodes, 16)), IsEmpty());
}

TEST(Check, LikelyCausesAreAtMostThreeLikelierThanTheDescription) {
  const auto likely = [](Standing standing, double described) {
    MachineCheck check;
    check.bands = {{.standing = standing}};
    check.causes = {{.cause = Cause::tcp, .probability = 0.3},
                    {.cause = Cause::none, .probability = described},
                    {.cause = Cause::one_nic, .probability = 0.08},
                    {.cause = Cause::something_else, .probability = 0.05},
                    {.cause = Cause::half_nics, .probability = 0.03},
                    {.cause = Cause::one_process, .probability = 0.025}};
    std::vector<Cause> causes;
    for (const SuspectedCause& one : likely_causes(check)) {
      causes.push_back(one.cause);
    }
    return causes;
  };
  EXPECT_THAT(likely(Standing::slower, 0.07), ElementsAre(Cause::tcp, Cause::one_nic));
  EXPECT_THAT(likely(Standing::slower, 0.3), IsEmpty()) << "as likely is not likelier";
  EXPECT_THAT(likely(Standing::slower, 0), ElementsAre(Cause::tcp, Cause::one_nic, Cause::something_else));
  // Without an alarm a ninth of the description's probability is enough, but never less than 2 %.
  EXPECT_THAT(likely(Standing::healthy, 0.5), ElementsAre(Cause::tcp, Cause::one_nic));
  EXPECT_THAT(likely(Standing::healthy, 0.26), ElementsAre(Cause::tcp, Cause::one_nic, Cause::half_nics));
  MachineCheck rare;
  rare.bands = {{.standing = Standing::slower}};
  rare.causes = {{.cause = Cause::tcp, .probability = 0.021},
                 {.cause = Cause::one_nic, .probability = 0.019}};
  EXPECT_THAT(likely_causes(rare), SizeIs(1));
}

TEST(Check, ANodeThatIsFastAloneRulesOutCausesInsideIt) {
  const Machine nodes = machine(kTwoNodes);
  ExpectedTimes alone(nodes, nccl_fit());
  const auto against = [&](double factor) {
    std::vector<Cause> causes;
    for (const CauseEvidence& one : ruled_out_by(alone, run_on(nodes, 8, factor), "alone")) {
      EXPECT_FALSE(one.speaks_for);
      causes.push_back(one.cause);
    }
    return causes;
  };
  EXPECT_THAT(against(1), Contains(Cause::links_half));
  EXPECT_THAT(against(1), Not(Contains(Cause::half_nics))) << "no network is in use";
  EXPECT_THAT(against(3), Not(Contains(Cause::links_half)));
}

TEST(Check, TheCauseThatWasPutInIsTheFirst) {
  const Machine nodes = machine(kTwoNodes);
  const Machine one_nic = with_cause(nodes, Cause::one_nic);
  EXPECT_EQ(one_nic.inter->nics, 1);
  const MachineCheck of_nic = check_of(nodes, one_nic, 16);
  ASSERT_TRUE(of_nic.alarmed());
  EXPECT_EQ(first_cause(of_nic), Cause::one_nic);
  const MachineCheck of_tcp = check_of(nodes, with_cause(nodes, Cause::tcp), 16);
  ASSERT_TRUE(of_tcp.alarmed());
  // One NIC for the node slows long messages alike, and is commoner.
  EXPECT_TRUE(of_tcp.causes.at(0).cause == Cause::tcp || of_tcp.causes.at(1).cause == Cause::tcp);
  double total = 0;
  for (const SuspectedCause& suspected : of_tcp.causes) {
    total += suspected.probability;
  }
  EXPECT_NEAR(total, 1, 1e-9);
}

TEST(Check, WhatTheLogSaysDecidesBetweenCausesThatLookAlike) {
  const Machine nodes = machine(kTwoNodes);
  const Machine slow = with_cause(nodes, Cause::one_nic);
  const auto probability = [](const MachineCheck& check, Cause cause) {
    for (const SuspectedCause& suspected : check.causes) {
      if (suspected.cause == cause) {
        return suspected.probability;
      }
    }
    return 0.0;
  };
  const CauseEvidence sockets = {.cause = Cause::tcp, .sentence = "line 7: NCCL uses the network Socket"};
  const MachineCheck without = check_of(nodes, slow, 16);
  const MachineCheck with = check_of(nodes, slow, 16, {sockets});
  EXPECT_GT(probability(with, Cause::tcp), probability(without, Cause::tcp));
  CauseEvidence against = sockets;
  against.speaks_for = false;
  EXPECT_LT(probability(check_of(nodes, slow, 16, {against}), Cause::tcp), probability(without, Cause::tcp));
  for (const SuspectedCause& suspected : with.causes) {
    EXPECT_EQ(suspected.evidence.empty(), suspected.cause != Cause::tcp);
  }
}

TEST(Cause, ChangesWhatItsNameSays) {
  Machine slots = machine(kPcie);
  EXPECT_EQ(with_cause(slots, Cause::slots_half).intra->lanes, 8);
  slots.intra->bandwidth = BytesPerSecond{20e9};
  EXPECT_EQ(with_cause(slots, Cause::slots_half).intra->bandwidth, BytesPerSecond{10e9});
  Machine nodes = machine(kTwoNodes);
  EXPECT_EQ(with_cause(nodes, Cause::tcp).inter->rate, BytesPerSecond{12.5e9}) << "one interface of the host";
  nodes.inter->rate = BytesPerSecond{5e9};
  EXPECT_EQ(with_cause(nodes, Cause::tcp).inter->rate, BytesPerSecond{5e9});
  nodes.inter->nics = 2;
  EXPECT_EQ(with_cause(nodes, Cause::half_nics).inter->nics, 1);
  EXPECT_EQ(with_cause(nodes, Cause::one_nic).inter->nics, 2) << "half of them says it already";
  nodes.inter->nics = 1;
  EXPECT_EQ(with_cause(nodes, Cause::half_nics), nodes) << "one NIC has no half";
  nodes.inter->nics = 3;
  EXPECT_EQ(with_cause(nodes, Cause::one_nic).inter->nics, 1);
  EXPECT_EQ(with_cause(nodes, Cause::nics_half_rate).inter->rate, BytesPerSecond{2.5e9});
  for (const Cause cause :
       {Cause::half_nics, Cause::one_nic, Cause::shared_nic, Cause::nics_half_rate, Cause::tcp}) {
    EXPECT_EQ(with_cause(slots, cause), slots) << "there is no network";
  }
}

TEST(Cause, HasACommandThatTells) {
  EXPECT_EQ(telling_command(Cause::links_half), "nvidia-smi nvlink --status");
  EXPECT_EQ(telling_command(Cause::none), "");
}

TEST(Cause, FollowsFromWhatTheDescriptionSaysOfSlotsAndNics) {
  // Half of 31.5 GB/s, which each direction of a slot of PCIe 4 passes, is less than a NIC's 25 GB/s.
  const Machine nodes = machine(kTwoNodes);
  EXPECT_NEAR(with_cause(nodes, Cause::acs).inter->rate->value, 31.5e9 / 2, 0.1e9);
  EXPECT_EQ(with_cause(nodes, Cause::shared_nic).inter->nics, 2) << "that NIC has half of the traffic";
  Machine slow = nodes;
  slow.inter->rate = BytesPerSecond{12.5e9};
  slow.inter->nics = 4;
  EXPECT_EQ(with_cause(slow, Cause::acs), slow) << "the slot passes that";
  EXPECT_EQ(with_cause(slow, Cause::shared_nic), slow) << "half of the NICs says it already";
  Machine switches = machine(kPcie);
  switches.intra->gpus_per_switch = 2;
  EXPECT_EQ(with_cause(switches, Cause::acs).intra->lanes, 8) << "two GPUs share the link of their switch";
  EXPECT_EQ(with_cause(machine(kPcie), Cause::acs), machine(kPcie)) << "there is no switch";
  EXPECT_EQ(with_cause(nodes, Cause::nvls_off).software.nccl_algo, "^NVLS");
}

std::vector<Cause> causes_of_slowness(const std::string& yaml, int ranks) {
  std::vector<Cause> causes;
  for (const SuspectedCause& suspected :
       check_machine(machine(yaml), run_on(machine(yaml), ranks, 20), {}, nccl_fit()).causes) {
    causes.push_back(suspected.cause);
  }
  return causes;
}

TEST(Check, NoMachineRepeatsBetterThanMeasurementsDo) {
  // Every time is known, so that the intervals are of what repeating it differs by, 4.6 %.
  std::string known = kPcie;
  known.back() = ',';
  known += " known: [";
  const std::vector<Point> points = run_on(machine(kPcie), 4, 1.05);
  for (const Point& point : run_on(machine(kPcie), 4)) {
    known += fmt::format("{{native: {{ranks: 4, bytes: {} B, seconds: {} us}}}},", point.key.bytes.value,
                         1e6 * point.measured->seconds.value);
  }
  known += "]}";
  const MachineCheck check = check_machine(machine(known), points, {}, nccl_fit());
  EXPECT_NEAR(check.bands.back().share_as_slow, 0.5 * std::erfc(std::log(1.05) / 0.03 / std::sqrt(2.0)),
              1e-6);
}

TEST(Check, ARingIsACauseWhereNoSwitchReduces) {
  // Without NVLS a tree is left between nodes, so that there a ring is another cause.
  constexpr std::string_view kNodes =
      "{{nodes: 2, gpus_per_node: {}, gpu: {{model: H100-SXM}}, intra: {{kind: nvlink, generation: 4, "
      "links_per_gpu: 18, switch: true}}, inter: {{kind: infiniband, rate: 400 Gb/s, nics: 8}}}}";
  EXPECT_THAT(causes_of_slowness(fmt::format(kNodes, 2), 4), Contains(Cause::algorithm_ring));
  EXPECT_THAT(causes_of_slowness(fmt::format(kNodes, 8), 8), Not(Contains(Cause::algorithm_ring)));
  EXPECT_THAT(causes_of_slowness(fmt::format(kNodes, 8), 16),
              testing::AllOf(Contains(Cause::algorithm_ring), Contains(Cause::nvls_off)));
}

TEST(Check, WhatWouldSlowNothingDownIsNoCause) {
  const std::string forced = std::string(kPcie).insert(1, "software: {nccl_algo: Ring}, ");
  EXPECT_THAT(causes_of_slowness(forced, 4), Not(Contains(Cause::algorithm_ring)));
  EXPECT_THAT(causes_of_slowness(kTwoNodes, 16), Not(Contains(Cause::nvls_off))) << "an A100 has none";
  const std::vector<Point> large = {run_on(machine(kPcie), 4, 20).back()};
  for (const SuspectedCause& suspected : check_machine(machine(kPcie), large, {}, nccl_fit()).causes) {
    EXPECT_NE(suspected.cause, Cause::protocol_simple) << "which is taken anyway";
  }
}

TEST(Check, IsOfNcclsOwnCollectivesAlone) {
  std::vector<Point> points = run_on(machine(kPcie), 4);
  const std::size_t own = points.size();
  points.push_back(points.back());
  points.back().key.algorithm = "ring";
  EXPECT_THAT(check_machine(machine(kPcie), points, {}, nccl_fit()).points, SizeIs(own));
}

TEST(Check, WhatCannotApplyIsNoCause) {
  const MachineCheck check = check_machine(machine(kPcie), run_on(machine(kPcie), 4, 20), {}, nccl_fit());
  for (const SuspectedCause& suspected : check.causes) {
    EXPECT_NE(suspected.cause, Cause::one_nic);
    EXPECT_NE(suspected.cause, Cause::nvls_off);
    EXPECT_NE(suspected.cause, Cause::links_half);
  }
}

TEST(Check, AGateIsAQuantileOfWhatSuchMachinesReach) {
  const MachineCheck check = check_of(machine(kPcie), machine(kPcie), 4);
  const auto outcome = [&](const std::string& text) { return apply_gate(parse_gate(text), check); };
  EXPECT_TRUE(outcome("busbw@1GiB >= p05").passed);
  EXPECT_FALSE(outcome("busbw@1GiB >= p95").passed);
  EXPECT_TRUE(outcome("time@1GiB <= p95").passed);
  EXPECT_FALSE(outcome("time@1GiB<=p05").passed);
  EXPECT_TRUE(outcome("time@1GiB <= p99").passed);
  // The slowest 5 % of machines take at least the upper end of the interval.
  EXPECT_NEAR(outcome("time@1GiB <= p95").bound / check.points.back().predicted->high->value, 1, 1e-3);
  EXPECT_LT(outcome("busbw@1GiB >= p05").bound, outcome("busbw@1GiB >= p05").measured);
  const auto why = [&](const std::string& text) {
    return message_of(ErrorKind::bad_input, [&] { outcome(text); });
  };
  EXPECT_THAT(why("busbw@3GiB >= p05"), HasSubstr("3 GiB was not measured"));
  EXPECT_THAT(why("algbw@1GiB >= p05"), HasSubstr("names neither busbw@SIZE nor time@SIZE"));
  EXPECT_THAT(why("busbw@1GiB <= p05"), HasSubstr("compared with >="));
  EXPECT_THAT(why("busbw@1GiB >= p0"), HasSubstr("one of p01 to p99"));
}

}  // namespace
}  // namespace ringside
