#include "samples.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace ringside::plots::samples {
namespace {

constexpr double kLatency = 12e-6;             // Seconds per message.
constexpr double kInverseBandwidth = 1 / 9e9;  // Seconds per byte.

double model_seconds(const std::string& algorithm, int ranks, double bytes) {
  const double n = ranks;
  const double messages = 2 * (n - 1);
  if (algorithm == "ring" || algorithm == "hierarchical") {
    return kLatency * messages * (algorithm == "ring" ? 1 : 0.6) +
           messages / n * bytes * kInverseBandwidth * 1.02;
  }
  if (algorithm == "binomial_tree" || algorithm == "double_binary_tree") {
    return 2 * std::ceil(std::log2(n)) * (kLatency + bytes * kInverseBandwidth);
  }
  const double software = algorithm == "naive" ? 0.35 : 0.5;  // Share of a latency, per message.
  return messages * (kLatency * software + bytes * kInverseBandwidth);
}

/// A repeatable disturbance of at most `share` in either direction.
double disturbed(double value, double share, double seed) {
  return value * (1 + share * std::sin(12.9898 * seed));
}

void ring_round(int n, std::int64_t round, RoundWriter& writer) {
  const auto step = static_cast<int>(round % (n - 1));
  const bool reducing = round < n - 1;
  for (Rank rank = 0; rank < n; ++rank) {
    const Rank target = (rank + 1) % n;
    const int chunk = ((reducing ? rank - step : rank + 1 - step) % n + n) % n;
    reducing ? writer.reduce(rank, target, chunk) : writer.copy(rank, target, chunk);
  }
}

void direct_round(int n, std::int64_t round, RoundWriter& writer) {
  for (Rank source = 0; source < n; ++source) {
    for (Rank target = 0; target < n; ++target) {
      if (source == target && round == 0) {
        writer.add({.source = source, .target = target, .first_chunk = target, .target_buffer = 1});
      } else if (round == 0) {
        writer.reduce(source, target, target);
      } else if (source != target) {
        writer.copy(source, target, source);
      }
    }
  }
}

Outline outline_of(int n, std::int32_t num_buffers, std::int64_t num_rounds,
                   void (*write)(int n, std::int64_t round, RoundWriter& writer)) {
  return {.num_chunks = n,
          .num_buffers = num_buffers,
          .phases = {{.num_rounds = num_rounds, .write = [n, write](std::int64_t round, RoundWriter& writer) {
                        write(n, round, writer);
                      }}}};
}

constexpr Algorithm kRing{
    .name = "ring", .summary = "", .wins_when = "", .outline = [](const ScheduleRequest& request) {
      return outline_of(request.num_ranks, 1, 2 * (request.num_ranks - 1), ring_round);
    }};
constexpr Algorithm kDirect{
    .name = "direct_two_shot", .summary = "", .wins_when = "", .outline = [](const ScheduleRequest& request) {
      return outline_of(request.num_ranks, 2, 2, direct_round);
    }};

}  // namespace

std::vector<Point> sweep(const SweepOptions& options) {
  std::vector<Point> points;
  for (const int ranks : options.ranks) {
    for (const std::string& algorithm : options.algorithms) {
      for (std::int64_t bytes = options.from; bytes <= options.to; bytes *= options.factor) {
        const double seconds = model_seconds(algorithm, ranks, static_cast<double>(bytes));
        Point point{.key = {.algorithm = algorithm, .ranks = ranks, .bytes = {bytes}},
                    .predicted = {},
                    .measured = {}};
        if (options.predicted) {
          point.predicted = Prediction{.seconds = {seconds}, .low = {}, .high = {}};
          if (options.intervals) {
            point.predicted->low = Seconds{seconds * 0.8};
            point.predicted->high = Seconds{seconds * 1.3};
          }
        }
        if (options.measured) {
          const double seed =
              static_cast<double>(bytes % 9973 + ranks) + static_cast<double>(algorithm.size());
          const double median = disturbed(seconds * 1.06, 0.12, seed);
          point.measured = Measurement{.seconds = {median}, .low = {median * 0.96}, .high = {median * 1.07}};
        }
        points.push_back(std::move(point));
      }
    }
  }
  return points;
}

std::vector<Crossover> crossovers(const SweepOptions& options) {
  std::vector<Crossover> result;
  for (const int ranks : options.ranks) {
    for (std::int64_t bytes = 64; bytes < (std::int64_t{1} << 40); bytes += bytes / 16) {
      const auto size = static_cast<double>(bytes);
      if (model_seconds("ring", ranks, size) < model_seconds("naive", ranks, size)) {
        result.push_back({.ranks = ranks,
                          .baseline = "naive",
                          .candidate = "ring",
                          .predicted_bytes = Bytes{bytes},
                          .measured_bytes = {},
                          .predicted_winner = "ring",
                          .measured_winner = {}});
        if (options.measured) {
          result.back().measured_bytes = Bytes{bytes * 5 / 4};
          result.back().measured_winner = "ring";
        }
        break;
      }
    }
  }
  return result;
}

SpeedupGrid speedup_grid(bool measured) {
  SpeedupGrid grid{.baseline = "naive", .candidate = "ring", .ranks = {}, .sizes = {}, .speedup = {}};
  for (std::int64_t bytes = 1024; bytes <= (std::int64_t{1} << 30); bytes *= 2) {
    grid.sizes.push_back({bytes});
  }
  for (int ranks = 2; ranks <= 64; ranks *= 2) {
    grid.ranks.push_back(ranks);
    std::vector<double>& row = grid.speedup.emplace_back();
    for (const Bytes size : grid.sizes) {
      const auto bytes = static_cast<double>(size.value);
      row.push_back(model_seconds("naive", ranks, bytes) / model_seconds("ring", ranks, bytes));
      if (measured && ranks <= 8 && size.value % 3 == 1) {
        grid.measured.push_back({ranks, size, disturbed(row.back(), 0.2, bytes)});
      }
    }
  }
  return grid;
}

Schedule ring_schedule(int num_ranks) { return {kRing, {.num_ranks = num_ranks}}; }
Schedule direct_schedule(int num_ranks) { return {kDirect, {.num_ranks = num_ranks}}; }

std::vector<TimelineBar> ring_timeline(int num_ranks) {
  std::vector<TimelineBar> bars;
  constexpr double kTransfer = 55e-6;
  constexpr double kReduce = 20e-6;
  for (int rank = 0; rank < num_ranks; ++rank) {
    double now = 0;
    for (int round = 0; round < 2 * (num_ranks - 1); ++round) {
      const bool reducing = round < num_ranks - 1;
      const double end = now + kTransfer * (1 + 0.08 * std::sin(rank + 3.0 * round));
      bars.push_back({fmt::format("rank {}", rank),
                      {now},
                      {end},
                      fmt::format("chunk {}", (rank + round) % num_ranks),
                      "transfer"});
      now = end;
      if (reducing) {
        bars.push_back({fmt::format("rank {}", rank), {now}, {now + kReduce}, "", "reduce"});
        now += kReduce;
      }
    }
  }
  for (int rank = 0; rank < num_ranks; ++rank) {
    const std::string link = fmt::format("link {} → {}", rank, (rank + 1) % num_ranks);
    for (int round = 0; round < 2 * (num_ranks - 1); ++round) {
      const double start = round * 70e-6;
      bars.push_back({link, {start}, {start + 60e-6}, "", "link busy"});
    }
  }
  // Two flows at once on one link: they need a lane each.
  bars.push_back({"link 0 → 1", {30e-6}, {95e-6}, "second flow", "link busy"});
  return bars;
}

TopologyGraph two_nodes() {
  TopologyGraph graph;
  graph.nodes.push_back({"fabric", "InfiniBand switch", 0});
  for (int node = 0; node < 2; ++node) {
    const std::string nic = fmt::format("nic{}", node);
    const std::string nvswitch = fmt::format("nvswitch{}", node);
    graph.nodes.push_back({nic, fmt::format("node {}: 8 NICs", node), 1});
    graph.nodes.push_back({nvswitch, fmt::format("node {}: NVSwitch", node), 2});
    graph.edges.push_back({"fabric", nic, "InfiniBand 8 × 25 GB/s", {200e9}});
    graph.edges.push_back({nic, nvswitch, "PCIe 4.0 x16 32 GB/s", {32e9}});
    for (int gpu = 0; gpu < 8; ++gpu) {
      const std::string id = fmt::format("gpu{}_{}", node, gpu);
      graph.nodes.push_back({id, fmt::format("GPU {}", gpu), 3});
      graph.edges.push_back({nvswitch, id, "NVLink 3 300 GB/s", {300e9}});
    }
  }
  return graph;
}

TopologyGraph pcie_host() {
  TopologyGraph graph;
  graph.nodes = {{"root", "host bridge", 0}, {"s0", "PCIe switch 0", 1}, {"s1", "PCIe switch 1", 1}};
  for (int gpu = 0; gpu < 4; ++gpu) {
    const std::string id = fmt::format("gpu{}", gpu);
    graph.nodes.push_back({id, fmt::format("RTX 3090 #{}", gpu), 2});
    graph.edges.push_back({gpu < 2 ? "s0" : "s1", id, "PCIe 4.0 x16", {25e9}});
  }
  graph.edges.push_back({"root", "s0", "PCIe 3.0 x16", {12e9}});
  graph.edges.push_back({"root", "s1", "PCIe 3.0 x16", {12e9}});
  graph.edges.push_back({"gpu0", "gpu1", "NVLink bridge", {56e9}});
  graph.edges.push_back({"gpu0", "gpu3", "peer to peer", {6e9}});
  return graph;
}

LabelledMatrix bandwidth_matrix(int num_ranks) {
  LabelledMatrix matrix{.name = fmt::format("p2p_bandwidth_{}", num_ranks),
                        .subtitle = "point-to-point bandwidth of every pair of ranks",
                        .row_title = "source rank",
                        .column_title = "target rank",
                        .rows = {},
                        .columns = {},
                        .values = {},
                        .value_title = "GB/s",
                        .label = {}};
  for (int source = 0; source < num_ranks; ++source) {
    matrix.rows.push_back(fmt::format("{}", source));
    matrix.columns.push_back(fmt::format("{}", source));
    std::vector<double>& row = matrix.values.emplace_back();
    for (int target = 0; target < num_ranks; ++target) {
      const double rate = source / 4 == target / 4 ? 22.5 : 9.8;
      row.push_back(source == target ? std::numeric_limits<double>::quiet_NaN()
                                     : disturbed(rate, 0.05, source * 7 + target));
    }
  }
  return matrix;
}

}  // namespace ringside::plots::samples
