// 400 lines: a machine file of each kind stands here as people write it.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "scenario/machine/named_machine.hpp"
#include "scenario/scenario.hpp"
#include "tests/scenario/files.hpp"

namespace ringside {
namespace {

const std::vector<Curve> kCurves = {
    {.kind = ProbeKind::ping_pong, .points = {{{4096}, 14e-6}, {{1048576}, 400e-6}}},
    {.kind = ProbeKind::neighbour_exchange, .points = {{{1048576}, 5e-3}}},
    {.kind = ProbeKind::neighbour_exchange, .messages = 2, .points = {{{4096}, 20e-6}}},
    {.kind = ProbeKind::chained_exchange, .points = {{{1048576}, 4e-3}}},
    {.kind = ProbeKind::chained_exchange_posted, .points = {{{1048576}, 3e-3}}},
    {.kind = ProbeKind::reduction, .ranks = 1, .points = {{{65536}, 0.25e-9}}},
    {.kind = ProbeKind::reduction, .ranks = 2, .points = {{{65536}, 0.5e-9}}},
    {.kind = ProbeKind::send, .points = {{{4096}, 6e-6}}},
    {.kind = ProbeKind::fan_out, .ranks = 3, .points = {{{4096}, 25e-6}}}};

using test::machine_of;
using test::machine_problems;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

const std::string kIntra = "intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}\n";

/// The only problem of a machine with this `intra`.
std::vector<std::string> intra_problems(const std::string& keys) {
  return machine_problems("intra: {" + keys + "}\n");
}

TEST(MachineFile, WhatIsLeftOutHasItsDefault) {
  const Machine machine = machine_of(kIntra);
  EXPECT_EQ(machine.name, "case") << "the file's name";
  EXPECT_EQ(machine.nodes, 1);
  EXPECT_FALSE(machine.gpus_per_node);
  EXPECT_FALSE(machine.gpu);
  EXPECT_FALSE(machine.inter);
  EXPECT_THAT(machine.links, IsEmpty());
  EXPECT_FALSE(machine.ring_order);
  EXPECT_FALSE(machine.calibrated);
  EXPECT_FALSE(machine.price);
  EXPECT_EQ(machine.software, Software{});
  EXPECT_THAT(machine.origin, HasSubstr("case.yaml"));
}

TEST(MachineFile, EveryKeyIsTaken) {
  const Machine machine = machine_of(R"(
name: 2 × 8 A100
nodes: 2
gpus_per_node: 8
gpu: {model: A100-SXM4-80GB}
intra: {kind: nvlink, generation: 3, links_per_gpu: 12, switch: true}
inter: {kind: infiniband, rate: 200 Gb/s, nics: 8, gpudirect: true, oversubscription: 1.5}
links:
  - {from: rank 0, to: left, latency: 2 us, bandwidth: 25 GB/s}
  - {from: left, to: rank 1, latency: 0 s, bandwidth: 400 Gb/s, duplex: false}
ring_order: [2, 0, 1]
stragglers: [{rank: 15, slowdown: 1.5}]
calibrated:
  backend: gloo
  cores: 2
  latency: 12.5 us
  latency_interval: [12 us, 13 us]
  bandwidth: 3 GB/s
  bandwidth_interval: [0 B/s, 4 GB/s]
  reduction: 0.25 ns/B
  reduction_interval: [0 s/B, 0.5 ns/B]
  curves:
    - {probe: ping_pong, ranks: 2, points: {4 KiB: 14 us, 1 MiB: 400 us}}
    - {probe: neighbour_exchange, ranks: 2, points: {1 MiB: 5 ms}}
    - {probe: neighbour_exchange, ranks: 2, messages: 2, points: {4 KiB: 20 us}}
    - {probe: chained_exchange, ranks: 2, points: {1 MiB: 4 ms}}
    - {probe: chained_exchange_posted, ranks: 2, points: {1 MiB: 3 ms}}
    - {probe: reduction, ranks: 1, points: {64 KiB: 4 GB/s}}
    - {probe: reduction, ranks: 2, points: {64 KiB: 2 GB/s}}
    - {probe: send, ranks: 2, points: {4 KiB: 6 us}}
    - {probe: fan_out, ranks: 3, points: {4 KiB: 25 us}}
  spread: [{bytes: 4 KiB, deviation: 0.2, slow_deviation: 0.5}, {bytes: 1 MiB, deviation: 0.01}]
  between_nodes: {latency: 60 us, latency_interval: [58 us, 63 us], bandwidth: 8 GB/s, bandwidth_interval: [7 GB/s, 9 GB/s],
                  native_exchange: 1.5, native_exchange_interval: [1.4, 1.9]}
  disturbance: {share: 0.4, slower: 1.6, other_load: 1.9, stolen: 0.25}
  reduction_spread: [{bytes: 64 KiB, deviation: 0.3}]
  pairs: [{from: 0, to: 1, latency: 9 us, bandwidth: 20 GB/s, both_ways: 18 GB/s}]
known:
  - native: {ranks: 2, bytes: 1 GiB, seconds: 95 ms}
  - ring: {ranks: 4, bytes: 1 MiB, seconds: 1 ms}
  - p2p: {bandwidth: 12 GB/s, latency: 5 us}
software: {nccl: 2.10, nccl_algo: Ring, nccl_proto: Simple, processes: single}
price: {per_hour: 32.77 USD, as_of: 2026-11-01}
)");
  Machine expected = {
      .name = "2 × 8 A100",
      .nodes = 2,
      .gpus_per_node = 8,
      .gpu = Gpu{"A100-SXM4-80GB"},
      .intra = IntraLink{.kind = IntraKind::nvlink, .generation = 3, .links_per_gpu = 12, .nvswitch = true},
      .inter = InterLink{.kind = InterKind::infiniband,
                         .rate = BytesPerSecond{25e9},
                         .nics = 8,
                         .gpudirect = true,
                         .oversubscription = 1.5},
      .links = {{.from = "rank 0", .to = "left", .latency = {2e-6}, .bandwidth = {25e9}, .line = 9},
                {.from = "left",
                 .to = "rank 1",
                 .latency = {0},
                 .bandwidth = {50e9},
                 .duplex = false,
                 .line = 10}},
      .ring_order = std::vector<Rank>{2, 0, 1},
      .stragglers = {{.rank = 15, .slowdown = 1.5}},
      .calibrated =
          Calibrated{
              .latency = {12.5e-6},
              .bandwidth = {3e9},
              .reduction = {0.25e-9},
              .latency_interval = Interval<double>{12e-6, 12.5e-6, 13e-6},
              .bandwidth_interval = Interval<double>{0, 3e9, 4e9},
              .reduction_interval = Interval<double>{0, 0.25e-9, 0.5e-9},
              .cores = 2,
              .curves = kCurves,
              .spread = {{{4096}, 0.2, 0.5}, {{1048576}, 0.01, std::nullopt}},
              .reduction_spread = {{{65536}, 0.3, std::nullopt}},
              .disturbance =
                  Disturbance{.share = 0.4, .slower = 1.6, .other_load = 1.9, .stolen = 0.25, .throttled = 0},
              .between_nodes = BetweenNodes{.latency = {60e-6},
                                            .bandwidth = {8e9},
                                            .latency_interval = Interval<double>{58e-6, 60e-6, 63e-6},
                                            .bandwidth_interval = Interval<double>{7e9, 8e9, 9e9},
                                            .native_exchange = 1.5,
                                            .native_exchange_interval = Interval<double>{1.4, 1.5, 1.9}},
              .pairs = {{0, 1, {9e-6}, {20e9}, {18e9}}},
              .backend = "gloo"},
      .known = {{.algorithm = "native", .ranks = 2, .bytes = Bytes{1073741824}, .seconds = Seconds{95e-3}},
                {.algorithm = "ring", .ranks = 4, .bytes = Bytes{1048576}, .seconds = Seconds{1e-3}},
                {.bandwidth = BytesPerSecond{12e9}, .latency = Seconds{5e-6}}},
      .software = {.nccl = "2.10",
                   .nccl_algo = "Ring",
                   .nccl_proto = "Simple",
                   .processes = Processes::single},
      .price = Price{.per_hour = 32.77, .currency = "USD", .as_of = "2026-11-01"},
      .origin = machine.origin,
  };
  EXPECT_TRUE(machine == expected) << to_yaml(machine) << "instead of\n" << to_yaml(expected);
}

std::string with_spread(const std::string& spread) {
  return "calibrated: {latency: 1 us, bandwidth: 1 GB/s, reduction: 0 s/B, spread: " + spread + "}\n";
}

TEST(MachineFile, CurvesAreWrittenAsTheyAreRead) {
  Machine machine = machine_of("calibrated: {latency: 1 us, bandwidth: 1 GB/s, reduction: 0 s/B}");
  machine.calibrated->curves = kCurves;
  EXPECT_EQ(parse_machine(to_yaml(machine), "again").calibrated->curves, kCurves);
}

TEST(MachineFile, NothingElseDisturbedAMachineUnlessItIsSaid) {
  const Machine machine = parse_machine(
      "calibrated: {latency: 9 us, bandwidth: 1 GB/s, reduction: 50 GB/s, disturbance: {share: 0.5, slower: "
      "2}}",
      "x");
  EXPECT_EQ(machine.calibrated->disturbance,
            (Disturbance{.share = 0.5, .slower = 2, .other_load = 0, .stolen = 0, .throttled = 0}));
}

TEST(MachineFile, ASpreadThatIsANumberHoldsAtAllSizes) {
  const std::vector<SpreadPoint> everywhere = {{.bytes = {1}, .deviation = 0.1}};
  EXPECT_EQ(machine_of(with_spread("0.1")).calibrated->spread, everywhere);
  EXPECT_THAT(machine_problems(with_spread("-0.1")), ElementsAre(HasSubstr("calibrated.spread: ")));
  EXPECT_THAT(machine_problems(with_spread("wide")), ElementsAre(HasSubstr("calibrated.spread: ")));
}

TEST(MachineFile, ASpreadBySizeAscends) {
  EXPECT_THAT(
      machine_problems(with_spread("[{bytes: 1 MiB, deviation: 0.1}, {bytes: 1 KiB, deviation: 0.1}]")),
      ElementsAre(HasSubstr("must ascend: each size once, small ones first")));
  EXPECT_THAT(machine_problems(with_spread("[{bytes: 1 MiB, deviation: -0.1}]")),
              ElementsAre(HasSubstr("deviation: ")));
  EXPECT_THAT(machine_problems(with_spread("{bytes: 1 MiB, deviation: 0.1}")),
              ElementsAre(HasSubstr("or a number for all sizes")));
}

TEST(MachineFile, AMachineThatSaysNothingOfItsLinksIsRefused) {
  EXPECT_THAT(machine_problems("name: x\ngpu: {model: L40S}\n"),
              ElementsAre(HasSubstr("says nothing of its links")));
  EXPECT_THAT(machine_problems("nodes: 2\n" + kIntra),
              ElementsAre(AllOf(StartsWith("case.yaml:1:8: nodes: is 2"), HasSubstr("`inter`"))));
  const std::string calibrated = "calibrated: {latency: 1 us, bandwidth: 1 GB/s, reduction: 0 s/B}\n";
  EXPECT_THAT(machine_problems("nodes: 2\n" + calibrated), IsEmpty());
}

TEST(MachineFile, AMisspeltKindIsAnsweredWithTheNearestAndNothingElse) {
  EXPECT_THAT(
      intra_problems("kind: nvlnk, generation: 3, lanes: 16"),
      ElementsAre(AllOf(HasSubstr("unknown link kind 'nvlnk'"), HasSubstr("did you mean 'nvlink'?"))));
  EXPECT_THAT(machine_problems(kIntra + "inter: {kind: infinband, rate: 1 GB/s}\n"),
              ElementsAre(HasSubstr("did you mean 'infiniband'?")));
  EXPECT_THAT(intra_problems("latency: 1 us"),
              ElementsAre(HasSubstr("intra.kind: is missing; write one of nvlink")));
}

TEST(MachineFile, AKeyOfAnotherKindSaysWhichKindTakesIt) {
  EXPECT_THAT(intra_problems("kind: custom, latency: 1 us, bandwidth: 1 GB/s, lanes: 16"),
              ElementsAre(HasSubstr(
                  "intra.lanes: belongs to kind pcie, nvlink, not to custom; custom takes kind, latency")));
  EXPECT_THAT(intra_problems("kind: nvlink, generation: 3, switch: true, lanes: 16"),
              ElementsAre(HasSubstr(
                  "intra.lanes: belongs to kind pcie, and to nvlink only with `wiring: bridge_pairs`")));
  EXPECT_THAT(intra_problems("kind: pcie, generation: 4, latency: 1 us"),
              ElementsAre(HasSubstr("belongs to kind custom, not to pcie")));
  EXPECT_THAT(intra_problems("kind: xgmi, generation: 4, switch: true"),
              ElementsAre(HasSubstr("belongs to kind nvlink, not to xgmi")));
  EXPECT_THAT(machine_problems("inter: {kind: roce, rate: 1 GB/s, latency: 1 us}\n"),
              ElementsAre(HasSubstr("belongs to kind custom")));
  EXPECT_THAT(machine_problems("inter: {kind: custom, latency: 1 us, bandwidth: 1 GB/s, rate: 1 GB/s}\n"),
              ElementsAre(HasSubstr(
                  "belongs to kind infiniband, roce, efa, tcpx, tcpxo, ethernet, slingshot, not to custom")));
}

TEST(MachineFile, BridgesJoinPairsOfCardsInSlots) {
  const Machine machine = machine_of(
      "gpu: {model: RTX 3090}\nintra: {kind: nvlink, wiring: bridge_pairs, lanes: 8, sockets: 2, "
      "peer_to_peer: false}\n");
  EXPECT_EQ(machine.intra->lanes, 8);
  EXPECT_EQ(machine.intra->sockets, 2);
}

TEST(MachineFile, EachKindAsksForWhatItCannotDoWithout) {
  EXPECT_THAT(intra_problems("kind: custom"),
              ElementsAre(HasSubstr("intra.latency: is missing"), HasSubstr("intra.bandwidth: is missing")));
  EXPECT_THAT(machine_problems("inter: {kind: custom}\n"),
              ElementsAre(HasSubstr("inter.latency: is missing"), HasSubstr("inter.bandwidth: is missing")));
  EXPECT_THAT(machine_problems("inter: {kind: efa}\n"),
              ElementsAre(HasSubstr("inter.rate: is missing; write a bandwidth")));
  for (const char* kind : {"nvlink", "pcie", "xgmi"}) {
    EXPECT_THAT(intra_problems(std::string("kind: ") + kind),
                ElementsAre(HasSubstr("no `generation`, and no `gpu` says it")))
        << kind;
    EXPECT_THAT(machine_problems(std::string("gpu: {model: A100}\nintra: {kind: ") + kind + "}\n"), IsEmpty())
        << kind;
  }
}

TEST(MachineFile, ACalibratedMachineHasOneToManyCores) {
  const auto with = [](const std::string& cores) {
    return "calibrated: {latency: 1 us, bandwidth: 1 GB/s, reduction: 0 s/B, cores: " + cores + "}\n";
  };
  EXPECT_EQ(machine_of(with("1")).calibrated->cores, 1);
  EXPECT_EQ(machine_of(with("65536")).calibrated->cores, 65536);
  for (const char* wrong : {"0", "65537"}) {
    EXPECT_THAT(machine_problems(with(wrong)), ElementsAre(HasSubstr("calibrated.cores: "))) << wrong;
  }
}

TEST(MachineFile, SwitchAndWiringExcludeEachOther) {
  EXPECT_THAT(intra_problems("kind: nvlink, generation: 2, switch: true, wiring: full_mesh"),
              ElementsAre(HasSubstr("intra.wiring: ")));
  EXPECT_THAT(intra_problems("kind: nvlink, generation: 2, switch: false, wiring: full_mesh"), IsEmpty());
}

TEST(MachineFile, NumbersOutOfRangeAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nodes: 0\n" + kIntra, "nodes"},
      {"nodes: -1\n" + kIntra, "nodes"},
      {"gpus_per_node: 0\n" + kIntra, "gpus_per_node"},
      {"intra: {kind: pcie, generation: 7}\n", "intra.generation"},
      {"intra: {kind: pcie, generation: 0}\n", "intra.generation"},
      {"intra: {kind: nvlink, generation: 6, switch: true}\n", "intra.generation"},
      {"intra: {kind: xgmi, generation: 5}\n", "intra.generation"},
      {"intra: {kind: nvlink, generation: 3, links_per_gpu: 0}\n", "intra.links_per_gpu"},
      {"intra: {kind: pcie, generation: 4, lanes: 3}\n", "intra.lanes"},
      {"intra: {kind: pcie, generation: 4, lanes: x16}\n", "intra.lanes"},
      {"intra: {kind: pcie, generation: 4, sockets: 0}\n", "intra.sockets"},
      {"intra: {kind: pcie, generation: 4, gpus_per_switch: 0}\n", "intra.gpus_per_switch"},
      {"intra: {kind: custom, latency: -1 us, bandwidth: 1 GB/s}\n", "intra.latency"},
      {"intra: {kind: custom, latency: 1 us, bandwidth: 0 GB/s}\n", "intra.bandwidth"},
      {"intra: {kind: custom, latency: 1 us, bandwidth: -1 GB/s}\n", "intra.bandwidth"},
      {"intra: {kind: custom, latency: 1 us, bandwidth: inf GB/s}\n", "intra.bandwidth"},
      {"intra: {kind: custom, latency: 1 us, bandwidth: nan GB/s}\n", "intra.bandwidth"},
      {"intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s, reduction: 0 GB/s}\n", "intra.reduction"},
      {"inter: {kind: roce, rate: 0 Gb/s}\n", "inter.rate"},
      {"inter: {kind: roce, rate: 1 GB/s, nics: 0}\n", "inter.nics"},
      {"inter: {kind: roce, rate: 1 GB/s, oversubscription: 0.9}\n", "inter.oversubscription"},
      {kIntra + "stragglers: [{rank: 1, slowdown: 0.5}]\n", "stragglers.slowdown"},
      {kIntra + "stragglers: [{rank: -1, slowdown: 2}]\n", "stragglers.rank"},
      {kIntra + "known: [{native: {ranks: 1, bytes: 1 MiB, seconds: 1 ms}}]\n", "known.native.ranks"},
      {kIntra + "known: [{native: {ranks: 2, bytes: 0 B, seconds: 1 ms}}]\n", "known.native.bytes"},
      {kIntra + "known: [{native: {ranks: 2, bytes: 1 MiB, seconds: 0 s}}]\n", "known.native.seconds"},
      {kIntra + "known: [{p2p: {bandwidth: 0 GB/s}}]\n", "known.p2p.bandwidth"},
  };
  for (const auto& [text, key] : cases) {
    EXPECT_THAT(machine_problems(text), ElementsAre(HasSubstr(": " + key + ": "))) << text;
  }
}

TEST(MachineFile, BareNumbersSayThatAUnitIsDue) {
  EXPECT_THAT(intra_problems("kind: custom, latency: 10, bandwidth: 10, reduction: 1"),
              ElementsAre(AllOf(HasSubstr("'10' has no unit"), HasSubstr("10 us")),
                          AllOf(HasSubstr("'10' has no unit"), HasSubstr("20 GB/s")),
                          AllOf(HasSubstr("'1' has no unit"), HasSubstr("ns/B"))));
}

TEST(MachineFile, OnlyTrueAndFalseAreTrueAndFalse) {
  for (const char* word : {"yes", "on", "1", "True", "~"}) {
    EXPECT_THAT(
        intra_problems(std::string("kind: custom, latency: 1 us, bandwidth: 1 GB/s, shared: ") + word),
        ElementsAre(HasSubstr("intra.shared: ")))
        << word;
  }
}

TEST(MachineFile, ReductionIsATimePerByteOrARate) {
  EXPECT_EQ(machine_of("intra: {kind: custom, latency: 0 s, bandwidth: 1 GB/s, reduction: 0 s/B}\n")
                .intra->reduction,
            SecondsPerByte{0});
  EXPECT_EQ(machine_of("intra: {kind: custom, latency: 0 s, bandwidth: 1 GB/s, reduction: 50 GB/s}\n")
                .intra->reduction,
            SecondsPerByte{1 / 50e9});
  EXPECT_EQ(machine_of("intra: {kind: custom, latency: 0 s, bandwidth: 1 GB/s, reduction: 80 Gb/s}\n")
                .intra->reduction,
            SecondsPerByte{1e-10});
}

TEST(MachineFile, LinksHaveTwoEndsThatExist) {
  const auto link = [](const std::string& from, const std::string& to) {
    return "  - {from: " + from + ", to: " + to + ", latency: 1 us, bandwidth: 1 GB/s}\n";
  };
  for (const char* end : {"3", "Rank 3", "rank3", "rank-3", "rank 03", "rank 16777216", "rank", "rank x"}) {
    EXPECT_THAT(machine_problems("links:\n" + link(end, "switch")),
                ElementsAre(AllOf(StartsWith("case.yaml:2:12: links.from: "), HasSubstr("write `rank 3`"))))
        << end;
  }
  EXPECT_THAT(machine_of("links:\n" + link("rank 0", "ranking switch")).links, SizeIs(1));
  EXPECT_THAT(machine_problems("links:\n" + link("a", "a")),
              ElementsAre(HasSubstr("links: goes from 'a' to itself")));
  EXPECT_THAT(
      machine_problems("links:\n" + link("rank 0", "a") + link("a", "rank 0")),
      ElementsAre(AllOf(StartsWith("case.yaml:3:"), HasSubstr("already joined by the link of line 2"))));
  EXPECT_THAT(machine_problems("gpus_per_node: 2\nlinks:\n" + link("rank 0", "rank 2")),
              ElementsAre(AllOf(StartsWith("case.yaml:3:"),
                                HasSubstr("'rank 2' does not exist; the machine has 2 GPUs"))));
  EXPECT_THAT(machine_problems("links: {from: a, to: b}\n"),
              ElementsAre(HasSubstr("is a map; write a list of maps")));
  EXPECT_THAT(machine_problems("links: [{from: a}]\n"),
              ElementsAre(HasSubstr("links.to: is missing"), HasSubstr("links.latency: is missing"),
                          HasSubstr("links.bandwidth: is missing")));
}

TEST(MachineFile, LevelsAreGroupsOfGroups) {
  const std::string inter = "inter: {kind: infiniband, rate: 200 Gb/s, levels: ";
  EXPECT_THAT(machine_problems(inter + "[{nodes: 4}, {nodes: 6}]}\n"),
              ElementsAre(HasSubstr("groups of 6 nodes are not made of several groups of 4")));
  EXPECT_THAT(machine_problems(inter + "[{nodes: 2, pairwise: true}, {nodes: 4}]}\n"),
              ElementsAre(HasSubstr("groups of 2 nodes are pairwise, and only the last level can be")));
}

TEST(MachineFile, ARingOrderIsAPermutation) {
  EXPECT_THAT(machine_problems(kIntra + "ring_order: [0, 1, 1]\n"),
              ElementsAre(HasSubstr("'1' stands twice")));
  EXPECT_THAT(machine_problems(kIntra + "ring_order: [0, 1, 3]\n"),
              ElementsAre(HasSubstr("orders 3 ranks, so they are 0 to 2, but 3 is among them")));
  EXPECT_THAT(machine_problems(kIntra + "ring_order: [0, -1]\n"), ElementsAre(HasSubstr("ring_order: '-1'")));
  EXPECT_THAT(machine_problems(kIntra + "ring_order: 3\n"), ElementsAre(HasSubstr("write a list of ranks")));
}

TEST(MachineFile, StragglersAreRanksOfTheMachineAndNamedOnce) {
  EXPECT_THAT(machine_problems(kIntra + "stragglers: [{rank: 1, slowdown: 2}, {rank: 1, slowdown: 3}]\n"),
              ElementsAre(HasSubstr("rank 1 stands twice")));
  EXPECT_THAT(machine_problems(kIntra + "gpus_per_node: 4\nstragglers: [{rank: 4, slowdown: 2}]\n"),
              ElementsAre(HasSubstr("there is no rank 4")));
}

TEST(MachineFile, CurvesAscend) {
  const auto calibrated = [](const std::string& key) {
    return "calibrated:\n  latency: 1 us\n  bandwidth: 1 GB/s\n  reduction: 0 s/B\n  " + key + "\n";
  };
  const auto curve = [&](const std::string& points) {
    return calibrated("curves: [{probe: ping_pong, ranks: 2, points: " + points + "}]");
  };
  EXPECT_THAT(machine_problems(curve("{1 KiB: 1 us, 2 KiB: 2 us}")), IsEmpty());
  EXPECT_THAT(machine_problems(curve("{2 KiB: 2 us, 1 KiB: 1 us}")), ElementsAre(HasSubstr("must ascend")));
  EXPECT_THAT(machine_problems(curve("{1 KiB: 1 us, 1024 B: 1 us}")), ElementsAre(HasSubstr("must ascend")));
  EXPECT_THAT(machine_problems(curve("{1 KiB: 1 GB/s}")), ElementsAre(HasSubstr("the units of a time are")));
  EXPECT_THAT(machine_problems(curve("{1: 1 us}")), ElementsAre(HasSubstr("has no unit")));
  EXPECT_THAT(machine_problems(curve("{}")), ElementsAre(HasSubstr("a map of sizes")));
  EXPECT_THAT(machine_problems(calibrated("curves: [{probe: shift, ranks: 2, points: {1 KiB: 1 us}}]")),
              ElementsAre(HasSubstr("unknown kind of probe 'shift'")));
  EXPECT_THAT(machine_problems(calibrated("curves: [{probe: send, ranks: 2, points: {1 KiB: 1 us}}, "
                                          "{probe: send, ranks: 2, points: {2 KiB: 1 us}}]")),
              ElementsAre(HasSubstr("two curves of send")));
  EXPECT_THAT(machine_problems(calibrated("latency_interval: [2 us, 1 us]")),
              ElementsAre(HasSubstr("lower end comes first")));
  EXPECT_THAT(machine_problems(calibrated("latency_interval: [2 us]")),
              ElementsAre(HasSubstr("has 1 values, not 2")));
  EXPECT_THAT(machine_problems(calibrated("latency_interval: 2 us")),
              ElementsAre(HasSubstr("both ends of an interval")));
}

TEST(MachineFile, KnownNumbersNameWhatWasMeasured) {
  EXPECT_THAT(machine_problems(kIntra + "known: [{natve: {ranks: 2, bytes: 1 MiB, seconds: 1 ms}}]\n"),
              ElementsAre(AllOf(HasSubstr("unknown algorithm or collective 'natve'"), HasSubstr("p2p"),
                                HasSubstr("all_gather"))));
  EXPECT_EQ(
      machine_of(kIntra + "known: [{all_gather: {ranks: 2, bytes: 1 MiB, seconds: 1 ms}}]\n").known.at(0),
      (Known{.collective = Collective::all_gather,
             .algorithm = "native",
             .ranks = 2,
             .bytes = Bytes{1048576},
             .seconds = Seconds{1e-3}}));
  EXPECT_THAT(machine_problems(kIntra + "known: [{p2p: {}}]\n"), ElementsAre(HasSubstr("says nothing")));
  EXPECT_THAT(machine_problems(kIntra + "known: [{native: {ranks: 2}}]\n"),
              ElementsAre(HasSubstr("known.native.bytes: is missing"),
                          HasSubstr("known.native.seconds: is missing")));
  EXPECT_THAT(
      machine_problems(kIntra +
                       "known: [{native: {ranks: 2, bytes: 1 MiB, seconds: 1 ms}, p2p: {latency: 1 us}}]\n"),
      ElementsAre(HasSubstr("is a map of 2 keys")));
  EXPECT_THAT(machine_problems(kIntra + "known: [native]\n"),
              ElementsAre(HasSubstr("is a single value; write a map")));
  EXPECT_THAT(machine_problems(kIntra + "known: {native: {}}\n"),
              ElementsAre(HasSubstr("known: is a map; write a list")));
}

TEST(MachineFile, KnownNumbersAreCheckedAsFarAsNamesAreKnown) {
  const auto entry = [](const std::string& algorithm) {
    return kIntra + "known: [{" + algorithm + ": {ranks: 2, bytes: 1 MiB, seconds: 1 ms}}]\n";
  };
  EXPECT_EQ(machine_of(entry("some_other_ring")).known.at(0).algorithm, "some_other_ring")
      << "no registry at hand";
  EXPECT_THROW(machine_of(entry("nativ")), Error) << "but this is a slip";
  EXPECT_THAT(machine_problems(entry("some_other_ring")), ElementsAre(HasSubstr("unknown algorithm")));
}

TEST(MachineFile, APriceHasACurrencyAndADate) {
  for (const char* price :
       {"32.77", "32.77 dollars", "USD 32.77", "-1 USD", "inf USD", "$32", "32 usd", "''"}) {
    EXPECT_THAT(machine_problems(kIntra + "price: {per_hour: " + price + "}\n"),
                ElementsAre(HasSubstr("price.per_hour: ")))
        << price;
  }
  EXPECT_EQ(machine_of(kIntra + "price: {per_hour: 12EUR}\n").price,
            (Price{.per_hour = 12, .currency = "EUR"}));
  for (const char* date : {"2026-11-01", "2026-11", "2026"}) {
    EXPECT_EQ(machine_of(kIntra + "price: {per_hour: 1 USD, as_of: " + date + "}\n").price->as_of, date);
  }
  for (const char* date :
       {"2026-13-01", "2026-00", "2026-11-32", "01.11.2026", "yesterday", "2026-11-1", "202", "2026/11/01"}) {
    EXPECT_THAT(machine_problems(kIntra + "price: {per_hour: 1 USD, as_of: " + date + "}\n"),
                ElementsAre(HasSubstr("price.as_of: ")))
        << date;
  }
}

TEST(MachineFile, WordsOfNcclAreItsOwn) {
  EXPECT_THAT(machine_problems(kIntra + "software: {nccl_algo: ring, nccl_proto: LL12, processes: pergpu}\n"),
              ElementsAre(HasSubstr("did you mean 'Ring'?"), HasSubstr("did you mean 'LL128'?"),
                          HasSubstr("did you mean 'per_gpu'?")));
}

TEST(MachineFile, EmptyMapsAndListsAreMistakes) {
  for (const char* key : {"intra", "inter", "gpu", "calibrated", "price"}) {
    EXPECT_FALSE(machine_problems(kIntra + "links: [{from: a, to: b, latency: 1 us, bandwidth: 1 GB/s}]\n" +
                                  key + ": {}\n")
                     .empty())
        << key;
  }
  for (const char* key : {"links", "stragglers", "known", "ring_order"}) {
    EXPECT_THAT(machine_problems(kIntra + key + ": []\n"), ElementsAre(HasSubstr("is an empty list"))) << key;
    EXPECT_THAT(machine_problems(kIntra + key + ":\n"), ElementsAre(HasSubstr("has no value"))) << key;
  }
}

TEST(MachineFile, YamlInMemoryIsReadLikewise) {
  const Machine machine = parse_machine(kIntra, "run record");
  EXPECT_EQ(machine.name, "run record");
  EXPECT_EQ(machine.origin, "run record");
  try {
    parse_machine("intra: 3\n", "run record");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("run record:1:8: intra: is a single value"));
  }
}

TEST(Override, AKeyIsLookedForWhereTheMachineHasIt) {
  Machine machine = machine_of(
      "nodes: 2\ngpus_per_node: 8\nintra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}\n"
      "inter: {kind: infiniband, rate: 200 Gb/s}\n");
  machine.origin = "box.yaml";
  const auto with = [&](const std::string& key, const std::string& value) {
    return with_value(machine, {.key = key, .value = value, .origin = "--sweep"});
  };
  EXPECT_EQ(with("bandwidth", "2 GB/s").intra->bandwidth, BytesPerSecond{2e9}) << "within the node first";
  EXPECT_EQ(with("rate", "400 Gb/s").inter->rate, BytesPerSecond{50e9});
  EXPECT_EQ(with("nodes", "3").nodes, 3);
  EXPECT_EQ(with("rate", "400 Gb/s").origin, "box.yaml");
}

}  // namespace
}  // namespace ringside
