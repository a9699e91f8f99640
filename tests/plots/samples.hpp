#pragma once

#include <string>
#include <vector>

#include "plots/charts/charts.hpp"
#include "schedule/schedule.hpp"

/// Inputs that look like real runs, made of the α-β model and a repeatable disturbance.
namespace ringside::plots::samples {

struct SweepOptions {
  std::vector<std::string> algorithms = {"naive", "tutorial_ring", "ring"};
  std::vector<int> ranks = {2, 4, 8};
  std::int64_t from = 1024;
  std::int64_t to = std::int64_t{256} << 20;
  std::int64_t factor = 4;
  bool predicted = true;
  bool intervals = true;
  bool measured = true;
};

std::vector<Point> sweep(const SweepOptions& options = {});

/// Where naive and ring cross in a sweep, predicted and measured, per number of ranks.
std::vector<Crossover> crossovers(const SweepOptions& options = {});

SpeedupGrid speedup_grid(bool measured);

/// Chunked ring and a direct exchange, written here so that drawing is tested apart from the registry.
Schedule ring_schedule(int num_ranks);
Schedule direct_schedule(int num_ranks);

std::vector<TimelineBar> ring_timeline(int num_ranks);

/// Two nodes of eight GPUs: switches, NICs and NVLink.
TopologyGraph two_nodes();
/// Four GPUs behind two PCIe switches.
TopologyGraph pcie_host();

LabelledMatrix bandwidth_matrix(int num_ranks);

}  // namespace ringside::plots::samples
