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
  return {.key = key("ring", 4, 1 << 20),
          .predicted = Prediction{.seconds = {0.1},
                                  .low = Seconds{0.05},
                                  .high = Seconds{0.2},
                                  .fidelity = Fidelity::flow,
                                  .source = CostSource::spec_plus_known,
                                  .limits = {"8 flows share the host bridge of socket 0"}},
          .measured = Measurement{.outcome = Outcome::ok,
                                  .seconds = {0.12},
                                  .low = {0.11},
                                  .high = {0.13},
                                  .min = {0.1},
                                  .p95 = {0.2},
                                  .iterations = 3,
                                  .samples = {0.1, 0.12, 0.2},
                                  .backend = Backend::gloo,
                                  .note = "clock was busy"}};
}

std::vector<Record> full_records() {
  return {header(), full_point(),
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
                   .points = 12,
                   .mape = 0.12,
                   .median_abs_error = 0.1,
                   .bias = -0.03,
                   .coverage = 0.9,
                   .winner_agreement = 1.0}};
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
