// What the simulation of classes takes: a slower way to the same seconds shows in nothing else.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/symmetry/free_flow.hpp"
#include "sim/symmetry/symmetric_flow.hpp"
#include "tests/paths.hpp"
#include "tests/sim/symmetry/trees.hpp"

namespace ringside {
namespace {

constexpr int kTrials = 300;

/// What a partition has of everything, and what its simulation took; without one, why there is none.
std::string work_of(const Execution& execution, const Network& network, const SymmetryOptions& options) {
  const auto found = simulate_symmetric(execution, network, options);
  if (const auto* none = std::get_if<NoSymmetry>(&found)) {
    return none->reason;
  }
  const auto& flow = std::get<SymmetricFlow>(found);
  std::size_t lines = 0;
  std::size_t ranks = 0;
  std::size_t moves = 0;
  std::size_t links = 0;
  int free = 0;
  std::int64_t times = 0;
  for (const PartitionStage& stage : flow.partition.stages) {
    lines += stage.lines.size();
    ranks += stage.ranks.size();
    moves += stage.moves.size();
    links += stage.links.size();
    free += stage.free_flow ? 1 : 0;
    for (const RepeatedRounds& line : stage.lines) {
      times += line.times;
    }
  }
  return fmt::format(
      "{} events; {} stages, {} free; {} lines {} times; classes: {} ranks, {} moves, {} links", flow.events,
      flow.partition.stages.size(), free, lines, times, ranks, moves, links);
}

TEST(Symmetry, TakesTheWorkThatIsRecorded) {
  const std::string golden = RINGSIDE_SOURCE_DIR "/tests/sim/symmetry/work.txt";
  const auto algorithms = all_algorithms();
  std::mt19937 random(43);
  std::string text;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Network network = test::any_tree(random, trial % 3 == 0 ? 64 : 24);
    const Algorithm& algorithm = algorithms[at(trial) % algorithms.size()];
    const ScheduleRequest request =
        request_for(algorithm.collective, network.num_ranks, {.ranks_per_node = network.ranks_per_node});
    if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
      continue;
    }
    const Schedule schedule(algorithm, request);
    const Execution execution(schedule, {4000LL * schedule.num_chunks()}, DataType::float32);
    const SymmetryOptions always{.most_classes = 2};
    text += fmt::format("{} {}, {} ranks: {}{}{}\n", name(algorithm.collective), algorithm.name,
                        network.num_ranks,
                        work_of(execution, network, trial % 2 == 0 ? SymmetryOptions{} : always),
                        links_of_free_flow(execution, network) ? "; flows are free" : "",
                        replay_circles(execution, network) ? "; circles" : "");
  }
  if (std::getenv("RINGSIDE_WRITE_WORK") != nullptr) {
    std::ofstream(golden) << text;
    return;
  }
  std::ifstream file(golden);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text)
      << "other work; run this test with RINGSIDE_WRITE_WORK=1 and read the diff of " << golden;
}

}  // namespace
}  // namespace ringside
