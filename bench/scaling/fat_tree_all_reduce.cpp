// 1 GiB all-reduced on nodes of 8 GPUs (360 GB/s inside, a NIC of 50 GB/s each) in pods of 32 nodes. Uplinks
// carry a quarter of what the NICs of a pod can send; γ is 1 ps a byte. Prints one row of docs/scaling.md:
//   fat_tree_all_reduce ALGORITHM RANKS [full] [latency]
// `full`: beside all ranks simulated. `latency`: 1 us more between pods, which splits classes at their edges.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "common/error.hpp"
#include "schedule/program/execution.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/engine/flow.hpp"
#include "sim/symmetry/symmetric_flow.hpp"
#include "sim/topology/network.hpp"
#include "tests/sim/symmetry/trees.hpp"

namespace ringside {
namespace {

Network fat_tree(int num_ranks, bool latency) {
  constexpr int kNodesPerPod = 32;
  constexpr double kNic = 5e10;
  return test::tree_network({.num_ranks = num_ranks,
                             .ranks_per_node = 8,
                             .nics_per_node = 8,
                             .nodes_per_pod = kNodesPerPod,
                             .port = 3.6e11,
                             .nic = kNic,
                             .uplink = 8 * kNodesPerPod * kNic / 4,
                             .port_latency = 1e-6,
                             .nic_latency = 1.5e-6,
                             .uplink_latency = latency ? 5e-7 : 0},
                            1e-12);
}

template <typename Do>
double seconds_of(Do act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(const std::string& algorithm, int num_ranks, bool full, bool latency) {
  Network network;
  const double building = seconds_of([&] { network = fat_tree(num_ranks, latency); });
  const Schedule schedule(known_algorithm(Collective::all_reduce, algorithm),
                          request_for(Collective::all_reduce, num_ranks,
                                      {.ranks_per_node = network.ranks_per_node, .order = network.order}));
  const Execution execution(schedule, {std::int64_t{1} << 30}, DataType::float32);
  std::variant<SymmetricFlow, NoSymmetry> found;
  const double wall = seconds_of([&] { found = simulate_symmetric(execution, network); });
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  if (const auto* none = std::get_if<NoSymmetry>(&found)) {
    fmt::print("| {} | {} | {} |\n", algorithm, num_ranks, none->reason);
    return;
  }
  const auto& flow = std::get<SymmetricFlow>(found);
  fmt::print("| {} | {} | {:.2g} | {} | {} | {:.3f} | {:.3f} | {} |", algorithm, num_ranks, flow.num_messages,
             flow.rank_classes, flow.events, flow.seconds.value * 1e3, wall, use.ru_maxrss / 1024);
  if (full) {
    double answer = 0;
    const double all = seconds_of([&] { answer = simulate_flow(execution, network).seconds.value; });
    fmt::print(" {:.3f} | {:.1g} |", all, std::abs(answer - flow.seconds.value) / answer);
  } else {
    fmt::print(" | |");
  }
  fmt::print(" {:.3f} |\n", building);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto said = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (words.size() < 2) {
    fmt::print(stderr, "usage: fat_tree_all_reduce ALGORITHM RANKS [full] [latency]\n");
    return 2;
  }
  try {
    ringside::run(words[0], std::atoi(words[1].c_str()), said("full"), said("latency"));
  } catch (const ringside::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
