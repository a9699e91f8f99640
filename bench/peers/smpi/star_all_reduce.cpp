// What `simulate` asks of SMPI, asked of ringside: an all_reduce on a star of hosts with one link up and one
// down, 2.5 us and 10 GB/s each. Prints `fidelity seconds wall_seconds` per fidelity.
//   star_all_reduce ALGORITHM RANKS BYTES

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "schedule/program/execution.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/engine/closed_form.hpp"
#include "sim/engine/flow.hpp"
#include "sim/engine/replay.hpp"
#include "sim/symmetry/symmetric_flow.hpp"
#include "sim/topology/network.hpp"

namespace ringside {
namespace {

constexpr Seconds kLatency{2.5e-6};
constexpr BytesPerSecond kBandwidth{1e10};

class Star final : public Topology {
 public:
  explicit Star(int num_ranks) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      links_.push_back(
          {.name = fmt::format("up-link of host {}", rank), .latency = kLatency, .capacity = kBandwidth});
      links_.push_back(
          {.name = fmt::format("down-link of host {}", rank), .latency = kLatency, .capacity = kBandwidth});
    }
  }
  std::span<const Link> links() const override { return links_; }
  void route(Rank source, Rank target, std::vector<std::int32_t>& route) const override {
    route = {2 * source, 2 * target + 1};
  }

 private:
  std::vector<Link> links_;
};

void report(const char* fidelity, const std::function<Seconds()>& price) {
  const auto start = std::chrono::steady_clock::now();
  const Seconds answer = price();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  fmt::print("{} {:.17g} {:.6f}\n", fidelity, answer.value, wall.count());
}

void run(const std::string& name, int num_ranks, Bytes size) {
  const Algorithm* algorithm = find_algorithm(Collective::all_reduce, name);
  if (algorithm == nullptr) {
    throw Error(ErrorKind::bad_input,
                unknown_name("algorithm", name, algorithm_names(Collective::all_reduce)));
  }
  const Schedule schedule(*algorithm, {.num_ranks = num_ranks});
  const Execution execution(schedule, size, DataType::float32);
  const Network::Uniform uniform{
      .latency = 2.0 * kLatency, .inverse_bandwidth = inverse(kBandwidth), .reduction = {}};
  Network star;
  star.num_ranks = num_ranks;
  star.topology = std::make_unique<Star>(num_ranks);
  report("closed_form", [&] { return closed_form(schedule, size, uniform); });
  report("replay", [&] { return replay(execution, star); });
  report("flow", [&] { return simulate_flow(execution, star).seconds; });
  report("classes", [&] {
    const auto found = simulate_symmetric(execution, star);
    const auto* flow = std::get_if<SymmetricFlow>(&found);
    return flow != nullptr ? flow->seconds : Seconds{};
  });
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: star_all_reduce ALGORITHM RANKS BYTES\n");
    return 2;
  }
  try {
    ringside::run(argv[1], std::atoi(argv[2]), {std::atoll(argv[3])});
  } catch (const ringside::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return ringside::exit_status(error.kind());
  }
  return 0;
}
