#include "tests/results/examples.hpp"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

namespace ringside::examples {

RunHeader header() {
  return {
      .version = "0.1.0",
      .command = "ringside compare small.yaml",
      .scenario = {.name = "small", .file = "small.yaml", .text = "name: small\nranks: [2, 4]\n"},
      .machine = MachineRecord{.name = "this machine", .yaml = "name: this machine\n", .this_machine = true},
      .host = {{"cpu", "Xeon"}, {"cores", "2"}},
      .started = "2026-03-01T12:34:56Z",
      .seed = 7};
}

PointKey key(std::string algorithm, int ranks, std::int64_t bytes) {
  return {.algorithm = std::move(algorithm), .ranks = ranks, .bytes = {bytes}};
}

Point full_point() {
  return {
      .key = key("ring", 4, 1 << 20),
      .predicted =
          Prediction{
              .seconds = {0.1},
              .low = Seconds{0.05},
              .high = Seconds{0.2},
              .fidelity = Fidelity::flow,
              .source = CostSource::spec_plus_known,
              .policy = ExecutionPolicy{.segments = 2, .stride = 2, .in_flight = 2, .order = {1, 0, 3, 2}},
              .limits = {{.link_kind = LinkKind::host_bridge,
                          .link = "node 1: host bridge of socket 0",
                          .node = 1,
                          .flows = 8,
                          .crossings = 16,
                          .others = true}},
              .known = true,
              .nics = NicUse{.used = 1, .of = 8}},
      .measured = Measurement{
          .outcome = Outcome::ok,
          .seconds = {0.12},
          .low = {0.11},
          .high = {0.13},
          .min = {0.1},
          .p95 = {0.2},
          .iterations = 3,
          .samples = {0.1, 0.12, 0.2},
          .repetitions = {0.1, 0.16},
          .backend = Backend::gloo,
          .policy =
              ExecutionPolicy{
                  .receives_ahead = true, .segments = 11, .stride = 4, .in_flight = 3, .order = {3, 2, 1, 0}},
          .machine_tuning = MachineTuning{.bound_to_cores = true, .thread_priority = true},
          .note = "clock was busy"}};
}

Point gpu_point() {
  Point point = full_point();
  point.measured->backend = Backend::nccl;
  point.measured->launch = DeviceLaunch{.mode = LaunchMode::cuda_graph, .host_seconds = {0.0001}};
  point.measured->shared_gpu = true;
  return point;
}

std::vector<Record> full_records() {
  return {header(),
          full_point(),
          gpu_point(),
          RepetitionRecord{.key = full_point().key, .measured = *full_point().measured},
          RepetitionRecord{.key = gpu_point().key, .measured = *gpu_point().measured},
          Verdict{.ranks = 4,
                  .bytes = {1 << 20},
                  .baseline = "naive",
                  .candidate = "ring",
                  .predicted_speedup = 3.1,
                  .measured_speedup = 2.9,
                  .predicted_winner = "ring",
                  .measured_winner = "ring"},
          Crossover{.ranks = 4,
                    .baseline = "naive",
                    .candidate = "ring",
                    .predicted_bytes = Bytes{38123},
                    .measured_bytes = Bytes{40001},
                    .predicted_crossings = 1,
                    .measured_crossings = 3,
                    .predicted_winner = "ring",
                    .measured_winner = "ring"},
          Accuracy{.algorithm = "ring",
                   .system = "8x A100",
                   .statistic = "median",
                   .systems = 3,
                   .machine_class = "node_nvlink",
                   .band = "large",
                   .model = "ringside",
                   .fold = "held_out",
                   .points = 12,
                   .mape = 0.12,
                   .factor = 1.13,
                   .median_abs_error = 0.1,
                   .bias = -0.03,
                   .coverage = 0.9,
                   .width = 1.8,
                   .winner_agreement = 1.0},
          OfferRecord{.name = "4 × RTX 3090",
                      .source = "offers.json: offer 5006600",
                      .gpus = 4,
                      .per_hour = 1.29,
                      .currency = "USD",
                      .problem = "does not fit",
                      .algorithm = "native",
                      .nics = NicUse{.used = 4, .of = 8},
                      .batch = 512,
                      .step = Interval<double>{0.02, 0.03, 0.04},
                      .compute = Interval<double>{0.008, 0.01, 0.02},
                      .communication = Interval<double>{0.015, 0.022, 0.03},
                      .exposed = Interval<double>{0.01, 0.02, 0.03},
                      .waiting = Interval<double>{0, 0.001, 0.01},
                      .efficiency = Interval<double>{0.2, 0.33, 0.6},
                      .samples_per_second = Interval<double>{12800, 17000, 25600},
                      .run = Interval<double>{58, 88, 117},
                      .cost = Interval<double>{0.02, 0.03, 0.05},
                      .memory = Bytes{3'000'000'000},
                      .gpu_memory = Bytes{24'000'000'000},
                      .pareto = true,
                      .recommended = true,
                      .bandwidth_factor_for_5_percent = 40,
                      .bandwidth_factor_for_10_percent = 20,
                      .gpus_stop_paying = 2,
                      .ring_from_bytes = Bytes{4096},
                      .ring_from_gpus = 3,
                      .best_way = "buckets of 5 MiB",
                      .assumptions = {"Sockets are not listed; one is assumed."},
                      .warnings = {"It is rented out at the moment."}}};
}

std::string whole_file() {
  std::string text = to_line(header()) + '\n';
  for (const PointKey& point_key : whole_file_keys()) {
    Point point = {.key = point_key, .measured = full_point().measured};
    point.measured->samples.clear();
    text += to_line(point) + '\n';
  }
  return text + to_line(Crossover{.ranks = 2, .baseline = "naive", .candidate = "ring"}) + '\n';
}

std::vector<PointKey> whole_file_keys() {
  return {key("naive", 2, 4096), key("ring", 2, 4096), key("naive", 4, 4096), key("ring", 4, 4096)};
}

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ringside-test-XXXXXX").string();
  RINGSIDE_CHECK(::mkdtemp(pattern.data()) != nullptr, "no temporary folder can be made");
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  RINGSIDE_CHECK(stream.good(), "a test file cannot be written");
}

}  // namespace ringside::examples
