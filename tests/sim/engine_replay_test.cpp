#include <gtest/gtest.h>

#include "engine_networks.hpp"
#include "schedule/registry.hpp"
#include "sim/replay.hpp"

namespace ringside {

namespace {

TEST(Replay, OneStragglerSetsThePaceOfTheWholeRing) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 8});
  const ChunkSizes sizes({8'000'000}, DataType::float32, ring.num_chunks());
  Network network = test::uniform_network(8, {});
  const double even = replay(ring, sizes, network).value;
  network.slowdown.assign(8, 1.0);
  network.slowdown[3] = 2.5;
  EXPECT_NEAR(replay(ring, sizes, network).value, 2.5 * even, 1e-12);
}

}  // namespace

}  // namespace ringside
