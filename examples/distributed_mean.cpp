// The mean over all ranks' data, and the mistake to avoid when ranks hold different amounts of it.

#include <array>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "examples/support/example.hpp"

using namespace ringside;

namespace {

/// Rank r holds the one value r + 1: the mean is the sum over the number of ranks.
void equal_sizes(Communicator& communicator) {
  const double own = communicator.rank() + 1;
  std::array<double, 1> value = {own};
  communicator.all_reduce(value);
  const double mean = value.front() / communicator.ranks();
  examples::in_turn(communicator, [&] {
    fmt::print("  rank {} holds {} and ends with {}\n", communicator.rank(), own, mean);
  });
  examples::check(mean == (communicator.ranks() + 1) / 2.0, "the mean is not that of 1 … N");
}

/// 100 values per rank, and 50 at the last one. Value i of all is i, so that the mean of all is known.
std::vector<double> unequal_data(Rank rank, int ranks) {
  std::vector<double> data(rank == ranks - 1 ? 50 : 100);
  std::iota(data.begin(), data.end(), 100.0 * rank);
  return data;
}

void unequal_sizes(Communicator& communicator) {
  const int n = communicator.ranks();
  const std::vector<double> data = unequal_data(communicator.rank(), n);
  const double sum = std::accumulate(data.begin(), data.end(), 0.0);
  const auto count = static_cast<double>(data.size());

  // Right: the sums and the counts travel together in one message of two elements.
  std::array<double, 2> sum_and_count = {sum, count};
  communicator.all_reduce(sum_and_count);
  const double mean = sum_and_count[0] / sum_and_count[1];

  // Wrong: a value of a rank with little data weighs more than a value of the others.
  std::array<double, 1> mean_of_means = {sum / count};
  communicator.all_reduce(mean_of_means, ReduceOp::avg);

  // What it must be: all data on one rank. The values are 0, 1, 2, …
  const double total = 100.0 * (n - 1) + 50;
  const double expected = (total - 1) / 2;
  examples::in_turn(communicator, [&] {
    fmt::print("  rank {}: {:3} values with mean {:6.2f}; mean of all {:.2f}, mean of means {:.2f}\n",
               communicator.rank(), data.size(), sum / count, mean, mean_of_means[0]);
  });
  examples::check(mean == expected, "sums over counts is not the mean of all data");
  examples::check(n == 1 || mean_of_means[0] != expected, "the mean of means should differ");
}

}  // namespace

int main(int argc, char** argv) {
  examples::Example example(
      "distributed_mean",
      "Teaches: averaging over ranks. With equally many values per rank it is all_reduce(sum) / N; with "
      "unequal\n"
      "numbers of them the sums and the counts are reduced, and the mean of means is wrong.");
  return example.run(argc, argv, [](const RankGroup& group) {
    fmt::print("Equal sizes: rank r holds r + 1.\n");
    launch(group, equal_sizes);
    fmt::print("Unequal sizes: 100 values per rank, 50 at the last one; together they are 0, 1, 2, ...\n");
    launch(group, unequal_sizes);
    fmt::print("{}\n",
               group.ranks == 1
                   ? "With one rank there is nothing to get wrong."
                   : "The mean of means is off: the 50 values of the last rank weigh as much as 100 of "
                     "the others.");
  });
}
