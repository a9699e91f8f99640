// What data-parallel training is: every rank has its own batch and so its own gradients, and all_reduce makes
// them one. The averaged gradients are those of the whole batch on one machine.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Dense>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "examples/support/example.hpp"
#include "plots/charts/charts.hpp"

using namespace ringside;

namespace {

using Eigen::MatrixXf;

constexpr int kInputs = 4;
constexpr int kHidden = 3;
constexpr int kOutputs = 2;
constexpr int kBatch = 8;
constexpr int kNumGradients = kHidden * kInputs + kOutputs * kHidden;

/// Reproducible everywhere: a sequence of small numbers from a seed.
MatrixXf random_matrix(int rows, int columns, unsigned seed) {
  std::minstd_rand generator(seed);
  return MatrixXf::NullaryExpr(rows, columns, [&] {
    return static_cast<float>(static_cast<int>(generator() % 2001) - 1000) / 1000.0F;
  });
}

/// y = W2 · relu(W1 · x), no bias; a column of `x` and of `target` per sample.
struct Net {
  MatrixXf w1 = random_matrix(kHidden, kInputs, 1);  // The same seed, hence the same weights, at every rank.
  MatrixXf w2 = random_matrix(kOutputs, kHidden, 2);

  /// Gradients of the mean squared error, those of W1 and then of W2, in one vector: that is what is sent.
  std::vector<float> gradients(const MatrixXf& x, const MatrixXf& target) const {
    const MatrixXf before = w1 * x;
    const MatrixXf hidden = before.cwiseMax(0);
    const MatrixXf d_output = 2.0F / static_cast<float>(x.cols()) * (w2 * hidden - target);
    const MatrixXf d_hidden = (w2.transpose() * d_output).array() * (before.array() > 0).cast<float>();
    std::vector<float> result(kNumGradients);
    Eigen::Map<MatrixXf>(result.data(), kHidden, kInputs) = d_hidden * x.transpose();
    Eigen::Map<MatrixXf>(result.data() + kHidden * kInputs, kOutputs, kHidden) =
        d_output * hidden.transpose();
    return result;
  }
};

MatrixXf inputs_of(Rank rank) { return random_matrix(kInputs, kBatch, 100 + static_cast<unsigned>(rank)); }
MatrixXf targets_of(Rank rank) { return random_matrix(kOutputs, kBatch, 200 + static_cast<unsigned>(rank)); }

/// All ranks' batches on one rank: what the averaged gradients must be.
std::vector<float> whole_batch_gradients(const Net& net, int ranks) {
  MatrixXf inputs(kInputs, kBatch * ranks);
  MatrixXf targets(kOutputs, kBatch * ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    inputs.middleCols(kBatch * rank, kBatch) = inputs_of(rank);
    targets.middleCols(kBatch * rank, kBatch) = targets_of(rank);
  }
  return net.gradients(inputs, targets);
}

/// Bit for bit: floats that compare equal may differ (0 and −0), bit patterns may not.
bool same_at_all_ranks(Communicator& communicator, const std::vector<float>& values) {
  std::vector<std::int32_t> least(values.size());
  std::transform(values.begin(), values.end(), least.begin(),
                 [](float value) { return std::bit_cast<std::int32_t>(value); });
  std::vector<std::int32_t> most = least;
  communicator.all_reduce(least, ReduceOp::min);
  communicator.all_reduce(most, ReduceOp::max);
  return least == most;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(a[i] - b[i])));
  }
  return largest;
}

std::vector<double> row_of(std::span<const float> values) { return {values.begin(), values.end()}; }

/// A picture per rank: its gradients before and after, and what all_reduce changed.
void plot(Communicator& communicator, const std::vector<float>& before, const std::vector<float>& after,
          const std::string& folder) {
  std::vector<float> all(static_cast<std::size_t>(communicator.ranks()) * before.size());
  communicator.gather(before, all, 0);
  if (communicator.rank() != 0) {
    return;
  }
  std::vector<std::string> columns;
  for (int i = 0; i < kHidden * kInputs; ++i) {
    columns.push_back(fmt::format("W1 {},{}", i % kHidden + 1, i / kHidden + 1));
  }
  for (int i = 0; i < kOutputs * kHidden; ++i) {
    columns.push_back(fmt::format("W2 {},{}", i % kOutputs + 1, i / kOutputs + 1));
  }
  for (Rank rank = 0; rank < communicator.ranks(); ++rank) {
    const auto own = std::span(all).subspan(static_cast<std::size_t>(rank) * before.size(), before.size());
    std::vector<double> change = row_of(after);
    std::transform(change.begin(), change.end(), own.begin(), change.begin(), std::minus<>());
    const plots::LabelledMatrix matrix = {
        .name = fmt::format("gradients_rank_{}", rank),
        .subtitle = fmt::format("gradients of rank {} of {}", rank, communicator.ranks()),
        .row_title = "",
        .column_title = "weight (row, column)",
        .rows = {"before", "after", "change"},
        .columns = columns,
        .values = {row_of(own), row_of(after), change},
        .value_title = "gradient",
        .label = [](double value) { return fmt::format("{:.2f}", value); }};
    plots::ChartContext context;
    context.title = "Before and after all_reduce";
    context.output_directory = folder;
    for (const auto& file : plots::draw(plots::heat_map(matrix, context), context)) {
      fmt::print("  {}\n", file.string());
    }
  }
}

struct Options {
  bool verbose = false;
  bool plot = false;
  std::string output = "out/gradient_sync";
};

void synchronise(Communicator& communicator, const Options& options) {
  const Rank rank = communicator.rank();
  const int n = communicator.ranks();
  const Net net;
  const std::vector<float> before = net.gradients(inputs_of(rank), targets_of(rank));
  const bool same_before = same_at_all_ranks(communicator, before);

  // The whole of gradient synchronisation: add up, and divide by the number of ranks.
  std::vector<float> after = before;
  communicator.all_reduce(after, ReduceOp::avg);

  const bool same_after = same_at_all_ranks(communicator, after);
  const double error = largest_difference(after, whole_batch_gradients(net, n));
  examples::in_turn(communicator, [&] {
    fmt::print("  rank {}: first gradients before {:.4f}, after {:.4f}\n", rank,
               fmt::join(std::span(before).first(4), ", "), fmt::join(std::span(after).first(4), ", "));
    if (options.verbose) {
      fmt::print("    before  {:7.4f}\n    after   {:7.4f}\n    changed by up to {:.4f}\n",
                 fmt::join(before, " "), fmt::join(after, " "), largest_difference(before, after));
    }
  });
  if (rank == 0) {
    fmt::print("Before all_reduce the ranks' gradients are {}.\n", same_before ? "the same" : "different");
    fmt::print("After it they are {} at all ranks, bit for bit.\n", same_after ? "identical" : "DIFFERENT");
    fmt::print("They are those of the whole batch of {} on one rank: largest difference {}.\n", n * kBatch,
               error < 1e-6 ? "below 1e-6" : fmt::format("{:.1e}", error));
  }
  examples::check(same_before == (n == 1), "different batches must give different gradients");
  examples::check(same_after, "the ranks' gradients differ after all_reduce");
  examples::check(error < 1e-6, "the averaged gradients are not those of the whole batch");
  if (options.plot) {
    plot(communicator, before, after, options.output);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  examples::Example example(
      "gradient_sync",
      "Teaches: gradient synchronisation. A net with two layers (4 -> 3 -> 2, ReLU), a different batch of 8 "
      "at every\n"
      "rank: gradients differ before all_reduce, and are the whole batch's at every rank after it.");
  example.flag("--verbose", options.verbose, "Print all gradients, and how much each rank's changed");
  example.flag("--plot", options.plot, "Draw before and after, a PNG per rank");
  example.option("--output", options.output, "Folder of the pictures");
  return example.run(argc, argv, [&](const RankGroup& group) {
    fmt::print("{} ranks, {} samples each, {} gradients.\n", group.ranks, kBatch, kNumGradients);
    launch(group, [&](Communicator& communicator) { synchronise(communicator, options); });
  });
}
