#include "examples/support/prediction.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "analysis/fit.hpp"
#include "examples/support/example.hpp"
#include "scenario/scenario.hpp"
#include "sim/predict.hpp"

namespace examples {

using namespace ringside;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMinBytes = 1024;
/// Below this, latency hides what a byte costs; beyond it, a byte costs the same and only time is lost.
constexpr std::int64_t kLeastLargestBytes = 4 << 20;
constexpr std::int64_t kMostLargestBytes = 16 << 20;
constexpr std::int64_t kMaxReductionBytes = 4 << 20;
constexpr int kRepetitions = 5;

/// Seconds of the slowest rank, per repetition and after one that does not count.
std::vector<double> timed(Communicator& communicator, const std::function<void()>& step) {
  std::vector<double> seconds;
  for (int i = -1; i < kRepetitions; ++i) {
    communicator.barrier();
    const double start = now();
    step();
    std::array<double, 1> slowest = {now() - start};
    communicator.all_reduce(slowest, ReduceOp::max, "naive");
    if (i >= 0) {
      seconds.push_back(slowest.front());
    }
  }
  return seconds;
}

/// Half of a round trip between ranks 0 and 1.
std::vector<double> ping_pong(Communicator& communicator, std::span<float> message) {
  std::vector<double> seconds = timed(communicator, [&] {
    if (communicator.rank() == 0) {
      communicator.send(message, 1);
      communicator.recv(message, 1);
    } else if (communicator.rank() == 1) {
      communicator.recv(message, 0);
      communicator.send(message, 0);
    }
  });
  for (double& value : seconds) {
    value /= 2;
  }
  return seconds;
}

/// Every rank sends to its right and receives from its left.
std::vector<double> neighbour_exchange(Communicator& communicator, std::span<const float> own,
                                       std::span<float> received) {
  const int n = communicator.ranks();
  const Rank rank = communicator.rank();
  return timed(communicator, [&] {
    Request receiving = communicator.irecv(received, (rank + n - 1) % n);
    Request sending = communicator.isend(own, (rank + 1) % n);
    communicator.wait(receiving);
    communicator.wait(sending);
  });
}

/// Rank 0 alone adds one buffer to another.
std::vector<double> addition(Communicator& communicator, std::span<const float> source,
                             std::span<float> target) {
  return timed(communicator, [&] {
    if (communicator.rank() == 0) {
      std::transform(target.begin(), target.end(), source.begin(), target.begin(), std::plus<>());
    }
  });
}

}  // namespace

std::optional<Machine> probe(Communicator& communicator, Bytes max_bytes) {
  const int n = communicator.ranks();
  if (n == 1) {
    return std::nullopt;
  }
  std::vector<ProbeSample> samples;
  const std::int64_t largest = std::clamp(max_bytes.value, kLeastLargestBytes, kMostLargestBytes);
  for (std::int64_t bytes = kMinBytes; bytes <= largest; bytes *= 4) {
    const auto count = static_cast<std::size_t>(bytes) / sizeof(float);
    std::vector<float> a(count, 1);
    std::vector<float> b(count, 1);
    samples.push_back({{ProbeKind::ping_pong, 2, {bytes}}, ping_pong(communicator, a)});
    samples.push_back({{ProbeKind::neighbour_exchange, n, {bytes}}, neighbour_exchange(communicator, a, b)});
    if (bytes <= kMaxReductionBytes) {
      samples.push_back({{ProbeKind::reduction, 1, {bytes}}, addition(communicator, a, b)});
    }
  }
  Machine machine;
  machine.name = "this machine";
  try {
    machine.calibrated = fit_probes(samples);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failed) {
      throw;
    }
    return std::nullopt;  // The same at all ranks: so are the samples.
  }
  machine.calibrated->cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  machine.calibrated->backend = name(communicator.backend());
  return machine;
}

Machine private_links(Seconds latency, BytesPerSecond bandwidth) {
  Machine machine;
  machine.name = fmt::format("private links of {} and {}", format(bandwidth), format(latency));
  machine.intra = IntraLink{.kind = IntraKind::custom, .latency = latency, .bandwidth = bandwidth};
  return machine;
}

double predicted_all_reduce(const Machine& machine, const std::string& algorithm, int ranks, Bytes bytes) {
  const auto outcome = predict(machine, {.algorithm = algorithm, .ranks = ranks, .bytes = bytes}, {});
  if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
    throw Error(ErrorKind::failed, fmt::format("{} cannot be predicted: {}", algorithm, unpredicted->reason));
  }
  return std::get<Prediction>(outcome).seconds.value;
}

std::vector<Estimate> estimates(const fs::path& folder, const std::string& algorithm, Bytes bytes,
                                int ranks) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("there is no machine file (*.yaml) in {}", folder.string()));
  }
  std::sort(files.begin(), files.end());  // Equal times stand by name.
  std::vector<Estimate> result;
  for (const fs::path& file : files) {
    const Machine machine = load_machine(file);
    Estimate estimate = {.machine = machine.name,
                         .ranks = machine.nodes * machine.gpus_per_node.value_or(ranks)};
    try {
      estimate.seconds = Seconds{predicted_all_reduce(machine, algorithm, estimate.ranks, bytes)};
    } catch (const Error& unpredicted) {
      estimate.reason = unpredicted.what();
    }
    result.push_back(std::move(estimate));
  }
  const auto seconds = [](const Estimate& estimate) {
    return estimate.seconds ? estimate.seconds->value : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const Estimate& a, const Estimate& b) { return seconds(a) < seconds(b); });
  return result;
}

}  // namespace examples
