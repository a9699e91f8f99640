#include "sim/engine/link_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sim/sharing/activities.hpp"
#include "tests/schedule/scripted.hpp"
#include "tests/sim/engine/networks.hpp"

namespace ringside {

namespace {

constexpr double kShareTolerance = 1e-6;

using Route = std::vector<std::int32_t>;

/// The definition: no link is overfull, and every flow has a link that is full and on which nobody is faster.
void expect_max_min_fair(const Network& network, const std::map<Activities::Id, Route>& flows,
                         const Activities& activities) {
  const std::span<const Link> links = network.topology->links();
  std::vector<double> used(links.size());
  std::vector<double> fastest(links.size());
  for (const auto& [id, route] : flows) {
    for (const std::int32_t link : route) {
      used[static_cast<std::size_t>(link)] += activities.rate(id);
      fastest[static_cast<std::size_t>(link)] =
          std::max(fastest[static_cast<std::size_t>(link)], activities.rate(id));
    }
  }
  for (std::size_t link = 0; link < links.size(); ++link) {
    ASSERT_LE(used[link], links[link].capacity.value * (1 + kShareTolerance)) << "link " << link;
  }
  for (const auto& [id, route] : flows) {
    const bool held_back = std::any_of(route.begin(), route.end(), [&, flow = id](std::int32_t link) {
      const auto index = static_cast<std::size_t>(link);
      return used[index] >= links[index].capacity.value * (1 - kShareTolerance) &&
             fastest[index] <= activities.rate(flow) * (1 + kShareTolerance);
    });
    ASSERT_TRUE(held_back) << "flow " << id << " could be faster";
  }
}

class RandomFlows : public testing::TestWithParam<int> {};

TEST_P(RandomFlows, HaveMaxMinFairRatesWheneverOneComesOrGoes) {
  constexpr int kNumRanks = 12;
  constexpr int kNumLinks = 15;
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const auto below = [&random](int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
  };
  std::vector<Link> links;
  for (int link = 0; link < kNumLinks; ++link) {
    // Few different capacities, so that links are equally full by accident, too.
    links.push_back({.name = "link", .latency = {0}, .capacity = {1e9 * (1 + below(4))}});
  }
  test::Routes routes(kNumRanks, std::vector<Route>(kNumRanks));
  for (auto& targets : routes) {
    for (Route& route : targets) {
      for (int hops = 1 + below(4); hops > 0; --hops) {
        route.push_back(below(kNumLinks));
      }
    }
  }
  const Network network = test::wired(links, routes);
  Activities activities;
  LinkSharing sharing(network, activities);
  std::map<Activities::Id, Route> begun;
  std::map<Activities::Id, Route> flows;
  std::vector<Activities::Id> completed;
  for (int step = 0; step < 600; ++step) {
    for (int more = below(begun.size() < 60 ? 4 : 2); more > 0; --more) {
      const Rank source = below(kNumRanks);
      const Rank target = below(kNumRanks);
      const Activities::Id id =
          sharing.begin({.source = source, .target = target, .bytes = 1'000 * (1 + below(50))});
      begun[id] = routes[static_cast<std::size_t>(source)][static_cast<std::size_t>(target)];
    }
    sharing.share();
    activities.advance(completed);
    for (const Activities::Id id : completed) {
      flows.erase(id);
      if (sharing.finish(id) != Stage::done) {
        flows[id] = begun[id];  // Its latency is over.
      } else {
        begun.erase(id);
      }
    }
    sharing.share();
    ASSERT_NO_FATAL_FAILURE(expect_max_min_fair(network, flows, activities));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFlows, testing::Range(1, 21));

/// One link each way between two ranks, 1 GB/s each.
Network there_and_back() {
  return test::wired({{.name = "there", .latency = {0}, .capacity = {1e9}},
                      {.name = "back", .latency = {0}, .capacity = {1e9}}},
                     {{{}, {0}}, {{1}, {}}});
}

/// Sends one message of each of these sizes at once, and goes on until all are there.
void send_at_once(LinkSharing& sharing, Activities& activities, Rank source,
                  const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t bytes : sizes) {
    sharing.begin({.source = source, .target = 1 - source, .bytes = bytes});
  }
  std::vector<Activities::Id> completed;
  sharing.share();
  while (activities.advance(completed)) {
    for (const Activities::Id id : completed) {
      sharing.finish(id);
    }
    sharing.share();
  }
}

TEST(LinkSharing, TheLinkThatLimitedLongestInAllComesFirst) {
  const Network network = there_and_back();
  Activities activities;
  LinkSharing sharing(network, activities);
  send_at_once(sharing, activities, 0, {10'000, 10'000});
  send_at_once(sharing, activities, 1, {5'000, 5'000});
  send_at_once(sharing, activities, 0, {1'000, 1'000});
  ASSERT_EQ(sharing.limits().size(), 2U);
  EXPECT_EQ(sharing.limits()[0].link, "there");
}

TEST(LinkSharing, SaysTheMostFlowsThatALinkHeldBack) {
  const Network network = there_and_back();
  Activities activities;
  LinkSharing sharing(network, activities);
  send_at_once(sharing, activities, 0, {1'000, 2'000, 3'000});
  ASSERT_EQ(sharing.limits().size(), 1U);
  EXPECT_EQ(sharing.limits()[0].flows, 3);
}

TEST(LinkSharing, AnEmptyMessageTakesItsLatencyAndUsesNoNic) {
  Network network = test::wired(
      {{.name = "NIC", .kind = LinkKind::nic_out, .node = 0, .latency = {1e-6}, .capacity = {1e9}}},
      {{{}, {0}}, {{0}, {}}});
  network.nics_per_node = 1;
  Activities activities;
  LinkSharing sharing(network, activities);
  std::vector<Activities::Id> completed;
  const Activities::Id empty = sharing.begin({.source = 0, .target = 1, .bytes = 0});
  sharing.share();
  ASSERT_TRUE(activities.advance(completed));
  EXPECT_EQ(sharing.finish(empty), Stage::done);
  EXPECT_EQ(sharing.nics()->used, 0);
  sharing.begin({.source = 0, .target = 1, .bytes = 8});
  EXPECT_EQ(sharing.nics()->used, 1);
}

/// Rank 0 sends to ranks 1 and 2, and rank 1 to rank 2, each in a round of its own.
Execution three_messages(std::int64_t bytes) {
  return Execution(scripted_schedule({.num_buffers = 2,
                                      .rounds = {{{.source = 0, .target = 1}},
                                                 {{.source = 0, .target = 2}},
                                                 {{.source = 1, .target = 2}},
                                                 {{.source = 2, .target = 2, .target_buffer = 1}}}},
                                     3),
                   {bytes}, DataType::float32);
}

TEST(BusiestLink, IsTheOneThatTakesLongestForWhatCrossesIt) {
  const auto medium = busiest_link(three_messages(1'000), test::one_medium(3, {.inverse_bandwidth = 1e-9}));
  ASSERT_TRUE(medium);
  EXPECT_NEAR(medium->seconds.value, 3e-6, 1e-15);
  EXPECT_EQ(medium->limit.link, "the medium");
  EXPECT_EQ(medium->limit.crossings, 3) << "what stays in a rank crosses nothing";
  // The second link carries two messages, the third one, which takes three times as long.
  const auto wired = [](double slow) {
    return test::wired({{.name = "a", .latency = {}, .capacity = {1e9}},
                        {.name = "b", .latency = {}, .capacity = {1e9}},
                        {.name = "c", .latency = {}, .capacity = {slow}}},
                       {{{}, {0}, {1}}, {{}, {}, {1, 2}}, {{}, {}, {}}});
  };
  EXPECT_EQ(busiest_link(three_messages(1'000), wired(1e9 / 3))->limit.link, "c");
  EXPECT_EQ(busiest_link(three_messages(1'000), wired(1e9))->limit.link, "b");
  EXPECT_EQ(busiest_link(three_messages(1'000), wired(1e9 / 2))->limit.link, "b") << "the first of two";
}

TEST(BusiestLink, IsAPortWhereMessagesShareOne) {
  Network network = test::uniform_network(3, {.inverse_bandwidth = 1e-9});
  EXPECT_FALSE(busiest_link(three_messages(1'000), network)) << "every pair has its own link";
  network.uniform->single_port = true;
  const auto port = busiest_link(three_messages(1'000), network);
  ASSERT_TRUE(port);
  EXPECT_NEAR(port->seconds.value, 2e-6, 1e-15);
  EXPECT_EQ(port->limit.link, "rank 0 out");
  EXPECT_EQ(port->limit.crossings, 2);
  EXPECT_FALSE(busiest_link(three_messages(0), network)) << "nothing is sent";
  network.uniform->inverse_bandwidth = {0};
  EXPECT_FALSE(busiest_link(three_messages(1'000), network)) << "a message takes no time";
}

}  // namespace

}  // namespace ringside
