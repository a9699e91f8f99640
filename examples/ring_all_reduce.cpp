// Three ways to add up a tensor over all ranks: through a root, in the ring of PyTorch's tutorial, and in the
// chunked ring that libraries use. Both rings are written out here; ringside's schedules must agree.

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "examples/support/example.hpp"
#include "examples/support/prediction.hpp"

using namespace ringside;

namespace {

using Tensor = std::vector<float>;

void add(std::span<const float> source, std::span<float> target) {
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] += source[i];
  }
}

/// Memory that the rings need beside the tensor, kept between calls: fresh memory has to be paged in, which
/// takes longer here than sending does.
struct Scratch {
  Tensor passing;
  Tensor received;
};

/// The ring of PyTorch's tutorial: the WHOLE tensor goes round, N−1 times; each rank adds. (Exercises go
/// round once more to copy the result, which every rank has by then: that is the schedule tutorial_ring.)
void circulating_ring(Communicator& communicator, Tensor& tensor, Scratch& scratch) {
  const int n = communicator.ranks();
  const Rank right = (communicator.rank() + 1) % n;
  const Rank left = (communicator.rank() + n - 1) % n;
  scratch.passing = tensor;
  scratch.received.resize(tensor.size());
  for (int round = 1; round < n; ++round) {
    Request sending = communicator.isend(scratch.passing, right);
    communicator.recv(scratch.received, left);
    communicator.wait(sending);
    add(scratch.received, tensor);
    std::swap(scratch.passing, scratch.received);
  }
}

/// The chunked ring: the tensor is cut into N chunks. In the first N−1 rounds each rank passes a chunk on and
/// adds to the next one, and ends with one sum (reduce-scatter); in N−1 more, the sums go round (all-gather).
void chunked_ring(Communicator& communicator, Tensor& tensor, Scratch& scratch) {
  const int n = communicator.ranks();
  const Rank rank = communicator.rank();
  const Rank right = (rank + 1) % n;
  const Rank left = (rank + n - 1) % n;
  const auto chunk = [&](int number) {
    const auto c = static_cast<std::size_t>((number % n + n) % n);
    const std::size_t begin = c * tensor.size() / static_cast<std::size_t>(n);
    const std::size_t end = (c + 1) * tensor.size() / static_cast<std::size_t>(n);
    return std::span(tensor).subspan(begin, end - begin);
  };
  scratch.received.resize(tensor.size());
  for (int round = 0; round < n - 1; ++round) {
    const std::span<float> target = chunk(rank - round - 1);
    const std::span<float> arriving = std::span(scratch.received).first(target.size());
    Request sending = communicator.isend(chunk(rank - round), right);
    communicator.recv(arriving, left);
    communicator.wait(sending);
    add(arriving, target);
  }
  for (int round = 0; round < n - 1; ++round) {
    Request sending = communicator.isend(chunk(rank + 1 - round), right);
    communicator.recv(chunk(rank - round), left);
    communicator.wait(sending);
  }
}

struct Way {
  std::string name;
  std::function<void(Communicator&, Tensor&, Scratch&)> run;
};

/// What is the same at all ranks after the runs.
struct Result {
  double seconds = 0;
  std::int64_t busiest = 0;  ///< Bytes sent by the rank that sends most …
  std::int64_t all = 0;      ///< … and by all together.
};

Result measure(Communicator& communicator, const Way& way, std::size_t count, int iterations) {
  // Small whole numbers: their sum is exact in any order, so the result must be equal to the last bit.
  const int n = communicator.ranks();
  Tensor tensor(count, static_cast<float>(communicator.rank() + 1));
  Scratch scratch;
  const std::int64_t sent_before = communicator.bytes_sent();
  way.run(communicator, tensor, scratch);
  const std::int64_t sent = communicator.bytes_sent() - sent_before;
  const Tensor expected(count, static_cast<float>(n * (n + 1) / 2));
  examples::check(tensor == expected, fmt::format("{} gives a wrong sum", way.name));

  Result result;
  std::vector<std::int64_t> bytes = {sent};
  communicator.all_reduce(bytes, ReduceOp::max);
  result.busiest = bytes.front();
  bytes = {sent};
  communicator.all_reduce(bytes, ReduceOp::sum);
  result.all = bytes.front();
  std::fill(tensor.begin(), tensor.end(), 0.0F);
  result.seconds =
      examples::slowest_median(communicator, iterations, [&] { way.run(communicator, tensor, scratch); });
  return result;
}

Way schedule(const std::string& algorithm) {
  return {"schedule " + algorithm, [algorithm](Communicator& communicator, Tensor& tensor, Scratch&) {
            communicator.all_reduce(tensor, ReduceOp::sum, algorithm);
          }};
}

std::string times_of(double bytes, double size) { return fmt::format("{:.2f} S", bytes / size); }

void explain(const Result& root_based, const Result& ring, int ranks, Bytes size) {
  const Machine elsewhere = examples::private_links({10e-6}, {10e9});
  const double there = examples::predicted_all_reduce(elsewhere, "naive", ranks, size) /
                       examples::predicted_all_reduce(elsewhere, "ring", ranks, size);
  fmt::print(
      "\nHere the chunked ring is {:.1f} times as fast as root-based. All ranks share this machine's {} "
      "cores and memory,\n"
      "and all together send {:.2f} S either way. The ring saves only the wait for the root.\n"
      "With a link for each rank (10 GB/s, 10 us) the busiest rank decides. It sends {:.2f} S, through a "
      "root {:.2f} S:\n"
      "the chunked ring is predicted to be {:.1f} times as fast.\n",
      root_based.seconds / ring.seconds, std::max(1U, std::thread::hardware_concurrency()),
      static_cast<double>(ring.all) / static_cast<double>(size.value),
      static_cast<double>(ring.busiest) / static_cast<double>(size.value),
      static_cast<double>(root_based.busiest) / static_cast<double>(size.value), there);
}

void compare(Communicator& communicator, Bytes size, int iterations) {
  const std::vector<Way> ways = {
      schedule("naive"),         {"circulating ring, above", circulating_ring}, schedule("circulating_ring"),
      schedule("tutorial_ring"), {"chunked ring, above", chunked_ring},         schedule("ring")};
  const std::optional<Machine> machine = examples::probe(communicator, size);
  const auto count = static_cast<std::size_t>(size.value) / sizeof(float);
  const bool speaks = communicator.rank() == 0;
  if (speaks) {
    fmt::print("{:26}{:>12}{:>12}{:>16}{:>12}\n", "all_reduce", "measured", "predicted", "busiest sends",
               "all send");
  }
  std::vector<Result> results;
  for (const Way& way : ways) {
    const Result result = measure(communicator, way, count, iterations);
    results.push_back(result);
    const std::string predicted = machine && way.name.starts_with("schedule ")
                                      ? format(Seconds{examples::predicted_all_reduce(
                                            *machine, way.name.substr(9), communicator.ranks(), size)})
                                      : "";
    if (speaks) {
      fmt::print("{:26}{:>12}{:>12}{:>16}{:>12}\n", way.name, format(Seconds{result.seconds}), predicted,
                 times_of(static_cast<double>(result.busiest), static_cast<double>(size.value)),
                 times_of(static_cast<double>(result.all), static_cast<double>(size.value)));
    }
  }
  if (speaks && communicator.ranks() > 1) {
    explain(results.front(), results.back(), communicator.ranks(), size);
  } else if (speaks) {
    fmt::print("\nOne rank has the sum already: nothing is sent.\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Bytes size{4 << 20};
  int iterations = 10;
  examples::Example example("ring_all_reduce",
                            "Teaches: why rings are chunked. The root-based all_reduce, the ring that "
                            "tutorials write and the chunked ring on\n"
                            "the same tensor: times, bytes that the busiest rank sends, and what makes the "
                            "difference on this machine.");
  example.size("--bytes", size, "Size S of the tensor, with its unit");
  example.option("--iterations", iterations, "Timed runs of each", 1);
  return example.run(argc, argv, [&](const RankGroup& group) {
    if (size.value < 4) {
      throw Error(ErrorKind::bad_input, "--bytes: a tensor has at least one float32 element, 4 B");
    }
    size = {size.value / 4 * 4};
    fmt::print("A tensor of S = {} on {} ranks ({}); median of {} runs, slowest rank.\n", format(size),
               group.ranks, name(group.backend), iterations);
    launch(group, [&](Communicator& communicator) { compare(communicator, size, iterations); });
  });
}
