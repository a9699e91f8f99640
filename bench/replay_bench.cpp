// How fast schedules are simulated. Counters: messages per second of one core, and the simulated answer in
// microseconds, so that a change of the answer is seen next to a change of the speed.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include "schedule/program/execution.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/engine/flow.hpp"
#include "sim/engine/replay.hpp"
#include "sim/predict.hpp"
#include "sim/topology/network.hpp"
#include "tests/sim/topology/fat_tree.hpp"

namespace ringside {
namespace {

constexpr Bytes kGradient{88 << 20};

Schedule all_reduce(const char* algorithm, int num_ranks, std::vector<Rank> order = {}) {
  return Schedule(*find_algorithm(Collective::all_reduce, algorithm),
                  {.num_ranks = num_ranks, .order = std::move(order)});
}

void report(benchmark::State& state, double messages, Seconds answer) {
  state.counters["messages"] = benchmark::Counter(messages, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["answer_us"] = answer.value * 1e6;
}

double ring_messages(int num_ranks) { return 2.0 * (num_ranks - 1) * num_ranks; }

/// 5 us and 10 GB/s between every two ranks; γ in hundredths of β.
void replay_ring(benchmark::State& state) {
  const auto num_ranks = static_cast<int>(state.range(0));
  const Schedule ring = all_reduce("ring", num_ranks);
  const Execution execution(ring, kGradient, DataType::float32);
  Network network;
  network.num_ranks = num_ranks;
  network.uniform = Network::Uniform{.latency = {5e-6},
                                     .inverse_bandwidth = {1e-10},
                                     .reduction = {1e-12 * static_cast<double>(state.range(1))}};
  Seconds answer;
  for (auto _ : state) {
    answer = replay(execution, network);
    benchmark::DoNotOptimize(answer);
  }
  report(state, ring_messages(num_ranks), answer);
}
BENCHMARK(replay_ring)
    ->ArgNames({"ranks", "gamma_percent"})
    ->ArgsProduct({{64, 256, 1024}, {0, 50}})
    ->Args({4096, 0})
    ->Args({16384, 0})
    ->Unit(benchmark::kMillisecond);

Network fat_tree(int num_ranks) {
  return fat_tree_network({.num_ranks = num_ranks,
                           .ranks_per_leaf = 32,
                           .num_uplinks = 8,
                           .port = {.latency = {5e-7}, .capacity = {1.25e10}},
                           .uplink = {.latency = {1e-6}, .capacity = {1.25e10}}});
}

/// Every hop of the ring leaves its switch: 32 ranks share 8 up-links.
std::vector<Rank> leaf_by_leaf(int num_ranks) {
  const int num_leaves = num_ranks / 32;
  std::vector<Rank> order;
  for (int position = 0; position < num_ranks; ++position) {
    order.push_back(position % num_leaves * 32 + position / num_leaves);
  }
  return order;
}

void flow_ring_on_fat_tree(benchmark::State& state) {
  const auto num_ranks = static_cast<int>(state.range(0));
  const bool crossing = state.range(1) != 0;
  const Schedule ring =
      all_reduce("ring", num_ranks, crossing ? leaf_by_leaf(num_ranks) : std::vector<Rank>{});
  const Execution execution(ring, kGradient, DataType::float32);
  const Network network = fat_tree(num_ranks);
  Seconds answer;
  for (auto _ : state) {
    answer = simulate_flow(execution, network).seconds;
    benchmark::DoNotOptimize(answer);
  }
  report(state, ring_messages(num_ranks), answer);
}
BENCHMARK(flow_ring_on_fat_tree)
    ->ArgNames({"ranks", "shared_uplinks"})
    ->ArgsProduct({{64, 256, 1024, 2048}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

/// Every two ranks send through a chain of links that they share, so that all links are full all the time.
class Chains final : public Topology {
 public:
  Chains(int num_ranks, int length) : length_(length) {
    const std::size_t num_links =
        static_cast<std::size_t>((num_ranks + 1) / 2) * static_cast<std::size_t>(length);
    links_.assign(num_links, Link{.name = "link", .latency = {5e-7}, .capacity = {1.25e10}});
  }

  std::span<const Link> links() const override { return links_; }
  void route(Rank source, Rank, std::vector<std::int32_t>& route) const override {
    route.clear();
    for (std::int32_t link = 0; link < length_; ++link) {
      route.push_back(source / 2 * length_ + link);
    }
  }

 private:
  std::int32_t length_;
  std::vector<Link> links_;
};

void flow_ring_through_chains(benchmark::State& state) {
  constexpr int kRanks = 256;
  const Schedule ring = all_reduce("ring", kRanks);
  const Execution execution(ring, kGradient, DataType::float32);
  Network network;
  network.num_ranks = kRanks;
  network.reduction.resize(kRanks);
  network.slowdown.assign(kRanks, 1);
  network.topology = std::make_unique<Chains>(kRanks, static_cast<int>(state.range(0)));
  Seconds answer;
  for (auto _ : state) {
    answer = simulate_flow(execution, network).seconds;
    benchmark::DoNotOptimize(answer);
  }
  report(state, ring_messages(kRanks), answer);
}
BENCHMARK(flow_ring_through_chains)
    ->ArgName("links_per_route")
    ->Arg(1)
    ->Arg(2)
    ->Arg(4)
    ->Arg(8)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond);

/// What `ringside predict` does for one scenario: every algorithm, 4 numbers of ranks, 9 sizes; on one
/// medium, so that everything is simulated.
void predict_sweep(benchmark::State& state) {
  Machine machine;
  machine.name = "one medium";
  machine.intra = IntraLink{};
  machine.intra->latency = Seconds{1e-5};
  machine.intra->bandwidth = BytesPerSecond{1e10};
  machine.intra->shared = true;
  const std::vector<std::string> algorithms = algorithm_names(Collective::all_reduce);
  double points = 0;
  for (auto _ : state) {
    points = 0;
    for (const std::string& algorithm : algorithms) {
      for (const int ranks : {2, 4, 8, 16}) {
        for (std::int64_t bytes = 4 << 10; bytes <= 256 << 20; bytes *= 4) {
          PointKey key;
          key.algorithm = algorithm;
          key.ranks = ranks;
          key.bytes = {bytes};
          benchmark::DoNotOptimize(predict(machine, key, {}));
          ++points;
        }
      }
    }
  }
  state.counters["points"] = benchmark::Counter(points, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(predict_sweep)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringside

BENCHMARK_MAIN();
