#include "sim/engine/link_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/activities.hpp"
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

}  // namespace

}  // namespace ringside
