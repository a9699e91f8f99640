#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/topology/machines.hpp"

namespace ringside {
namespace {

using test::error_of;
using test::route_names;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LinkSpec link(std::string from, std::string to, double latency_us, int line = 0) {
  return {.from = std::move(from),
          .to = std::move(to),
          .latency = {latency_us * 1e-6},
          .bandwidth = {10e9},
          .line = line};
}

/// Two ranks at each of two switches.
Machine two_switches() {
  return {.name = "two switches",
          .links = {link("rank 0", "left", 1, 4), link("rank 1", "left", 1, 5), link("rank 2", "right", 1, 6),
                    link("rank 3", "right", 1, 7), link("left", "right", 2, 8)},
          .origin = "box.yaml"};
}

TEST(ListedLinks, LeadThroughSwitches) {
  const Network network = build_network(two_switches(), 4);
  EXPECT_EQ(network.source, CostSource::given);
  EXPECT_FALSE(network.uniform);
  EXPECT_THAT(route_names(network, 0, 3), ElementsAre("rank 0 to left", "left to right", "right to rank 3"));
  EXPECT_THAT(route_names(network, 3, 0), ElementsAre("rank 3 to right", "right to left", "left to rank 0"));
  EXPECT_DOUBLE_EQ(test::latency_us(network, 0, 3), 4);
  EXPECT_THAT(network.order, IsEmpty()) << "0 1 2 3 crosses between the switches as rarely as can be";
}

TEST(ListedLinks, TakeTheLeastLatencyThenTheFewestHops) {
  Machine machine{.name = "detours",
                  .links = {link("rank 0", "rank 1", 5), link("rank 0", "a", 2), link("a", "rank 1", 2)}};
  EXPECT_THAT(route_names(build_network(machine, 2), 0, 1), ElementsAre("rank 0 to a", "a to rank 1"));
  machine.links[0].latency = {4e-6};
  EXPECT_THAT(route_names(build_network(machine, 2), 0, 1), ElementsAre("rank 0 to rank 1"));
  // 1 + 1 + 2 us through a and b is found before 3 + 1 us through c, which has fewer links.
  machine.links = {link("rank 0", "a", 1), link("a", "b", 1), link("b", "rank 1", 2), link("rank 0", "c", 3),
                   link("c", "rank 1", 1)};
  EXPECT_THAT(route_names(build_network(machine, 2), 0, 1), ElementsAre("rank 0 to c", "c to rank 1"));
}

TEST(ListedLinks, MayLeadThroughOtherRanks) {
  const Machine machine{.name = "chain", .links = {link("rank 0", "rank 1", 1), link("rank 1", "rank 2", 1)}};
  EXPECT_THAT(route_names(build_network(machine, 3), 0, 2),
              ElementsAre("rank 0 to rank 1", "rank 1 to rank 2"));
}

TEST(ListedLinks, HalfDuplexIsOneLinkForBothDirections) {
  Machine machine{.name = "half duplex", .links = {link("rank 0", "rank 1", 1)}};
  machine.links[0].duplex = false;
  const Network network = build_network(machine, 2);
  EXPECT_EQ(network.topology->links().size(), 1U);
  EXPECT_EQ(route_names(network, 0, 1), route_names(network, 1, 0));
}

TEST(ListedLinks, RanksThatNobodyAskedForAreOnlyPartOfTheWay) {
  EXPECT_EQ(build_network(two_switches(), 2).num_ranks, 2);
  EXPECT_EQ(error_of(two_switches(), 5), "machine 'two switches' has 4 GPUs, 5 ranks were asked for");
}

TEST(ListedLinks, TheRingIsPutInAGoodOrder) {
  // Even ranks left, odd ranks right: identity crosses between switches four times each way, two is best.
  Machine machine{.name = "interleaved", .links = {link("left", "right", 2)}};
  for (int rank = 0; rank < 8; ++rank) {
    machine.links.push_back(link("rank " + std::to_string(rank), rank % 2 == 0 ? "left" : "right", 1));
  }
  const Network network = build_network(machine, 8);
  const auto count = test::crossings(network, test::ring_flows(network));
  EXPECT_EQ(count.at("left to right"), 1);
  EXPECT_EQ(count.at("right to left"), 1);
}

TEST(ListedLinks, ASwitchMayBeCalledAlmostLikeARank) {
  const Machine machine{.name = "names",
                        .links = {link("rank 0", "rankine", 1), link("rank 1", "rankine", 1)}};
  EXPECT_EQ(error_of(machine, 2), "");
}

TEST(ListedLinks, ARankThatTheMachineLacksIsAnUnknownEnd) {
  Machine machine = two_switches();
  machine.gpus_per_node = 3;
  EXPECT_THAT(error_of(machine, 2),
              HasSubstr("box.yaml:7: links: there is no 'rank 3': the machine has 3 GPUs"));
  machine.gpus_per_node = 6;
  EXPECT_THAT(error_of(machine, 6), HasSubstr("box.yaml: links: no link leads to rank 4"));
}

TEST(ListedLinks, ARankWithoutARouteIsNamedWithItsLine) {
  Machine machine = two_switches();
  machine.links.pop_back();
  EXPECT_EQ(
      error_of(machine, 4),
      "box.yaml:6: links: rank 2 has no route to rank 0\nbox.yaml:7: links: rank 3 has no route to rank 0");
  machine.links = {link("rank 0", "left", 1, 4), link("rank 2", "left", 1, 5)};
  EXPECT_EQ(error_of(machine, 3), "box.yaml: links: no link leads to rank 1");
}

TEST(ListedLinks, AreTheWholeNetwork) {
  Machine machine = two_switches();
  machine.intra = IntraLink{};
  EXPECT_THAT(error_of(machine, 4), HasSubstr("so that `intra` must be left out"));
}

TEST(ListedLinks, OfAMachineWithoutAFileAreNamedByTheirEnds) {
  const Machine machine{.name = "in code", .gpus_per_node = 2, .links = {link("rank 0", "rank 2", 1)}};
  EXPECT_EQ(
      error_of(machine, 2),
      "machine 'in code': link from 'rank 0' to 'rank 2': there is no 'rank 2': the machine has 2 GPUs");
}

}  // namespace
}  // namespace ringside
