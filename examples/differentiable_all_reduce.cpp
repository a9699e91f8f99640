// all_reduce as an operation with a gradient.
//
// Forward: y = op(x_0, …, x_{N−1}), the same y at every rank. Each rank has a loss of its own, L_r(y).
//
// "Backward" has two readings, which differ by the communication and are confused again and again:
//   * The loss is the SUM of all ranks' losses. x_r influences all of them, through the y of every rank, so
//     rank r needs everybody's dL/dy: backward of sum is all_reduce(sum) of the incoming gradients. This is
//     what is done here.
//   * Each rank's loss counts alone. Then nothing is sent in backward: rank r takes its own dL_r/dy. Autograd
//     does this when the collective is not registered as a differentiable operation but written into in
//     place.
//
// With G = Σ_r dL_r/dy, one all_reduce for every op, rank r's gradient is G times dy/dx_r:
//   sum  1        avg  1/N        prod  the product of the other ranks' x (also where x_r is 0; no division)
//   min, max      1/k at each of the k ranks that hold the extreme value, 0 elsewhere (ties share equally)

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "examples/support/example.hpp"

using namespace ringside;

namespace {

/// One number per rank, so that cases can be followed on paper; vectors work the same, element by element.
class DifferentiableAllReduce {
 public:
  DifferentiableAllReduce(Communicator& communicator, ReduceOp op) : communicator_(communicator), op_(op) {}

  /// Keeps what backward needs: all ranks' x.
  double forward(double x) {
    const std::array<double, 1> own = {x};
    all_.assign(static_cast<std::size_t>(communicator_.ranks()), 0);
    communicator_.all_gather(own, all_);
    std::array<double, 1> y = {x};
    communicator_.all_reduce(y, op_, "ring");
    y_ = y.front();
    return y_;
  }

  /// From dL_r/dy of this rank's loss to d(Σ L)/dx of this rank's input.
  double backward(double gradient) {
    std::array<double, 1> sum = {gradient};
    communicator_.all_reduce(sum);
    return sum.front() * derivative();
  }

 private:
  /// dy/dx of this rank.
  double derivative() const {
    const auto rank = static_cast<std::size_t>(communicator_.rank());
    switch (op_) {
      case ReduceOp::sum:
        return 1;
      case ReduceOp::avg:
        return 1.0 / communicator_.ranks();
      case ReduceOp::prod: {
        double others = 1;
        for (std::size_t i = 0; i < all_.size(); ++i) {
          others *= i == rank ? 1 : all_[i];
        }
        return others;
      }
      case ReduceOp::min:
      case ReduceOp::max:
        return all_[rank] == y_ ? 1.0 / static_cast<double>(std::count(all_.begin(), all_.end(), y_)) : 0;
    }
    return 0;
  }

  Communicator& communicator_;
  ReduceOp op_;
  std::vector<double> all_;
  double y_ = 0;
};

// ---- The cases people argue about, on two ranks with x = 1 ------------------------------------------------

/// Every rank's value, in order of rank.
std::vector<double> all_values(Communicator& communicator, double own) {
  const std::array<double, 1> value = {own};
  std::vector<double> all(static_cast<std::size_t>(communicator.ranks()));
  communicator.all_gather(value, all);
  return all;
}

void expect(Communicator& communicator, const std::string& what, double own,
            const std::vector<double>& expected) {
  const std::vector<double> values = all_values(communicator, own);
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  if (communicator.rank() == 0) {
    fmt::print("  {:62} {}, in all {}\n", what, values, sum);
  }
  examples::check(values == expected, fmt::format("{}: {} instead of {}", what, values, expected));
}

void argued_cases(Communicator& communicator) {
  const double weight = communicator.rank() + 2;  // 2 and 3.
  const double x = 1;
  DifferentiableAllReduce sum(communicator, ReduceOp::sum);
  double y = sum.forward(weight * x);
  examples::check(y == 5, "2 + 3 is 5");
  // L = y²: dL/dy = 2y = 10 at both ranks.
  expect(communicator, "sum, every rank backpropagates y^2", weight * sum.backward(2 * y), {40, 60});
  expect(communicator, "  the same without communication in backward", weight * 2 * y, {20, 30});
  // L = (rank+2)·y.
  expect(communicator, "sum, every rank backpropagates (rank+2) y", weight * sum.backward(weight), {10, 15});

  DifferentiableAllReduce prod(communicator, ReduceOp::prod);
  y = prod.forward(weight * x);
  examples::check(y == 6, "2 · 3 is 6");
  expect(communicator, "prod (y = 6), every rank backpropagates (rank+2) y", weight * prod.backward(weight),
         {30, 30});

  // Σ(y_i − mean(y)) is 0 whatever x is. Each rank's loss is y − mean(y), where the mean is itself an
  // all_reduce of y: its backward takes −1 from every rank.
  y = sum.forward(weight * x);
  DifferentiableAllReduce mean(communicator, ReduceOp::avg);
  examples::check(y - mean.forward(y) == 0, "all ranks hold the same y");
  expect(communicator, "sum, the loss is the sum of y_i - mean(y)",
         weight * sum.backward(1 + mean.backward(-1)), {0, 0});
}

// ---- Every operation against a computation on one rank and against finite differences ---------------------

double reduced(ReduceOp op, const std::vector<double>& x) {
  double y = x.front();
  for (std::size_t i = 1; i < x.size(); ++i) {
    y = op == ReduceOp::prod  ? y * x[i]
        : op == ReduceOp::min ? std::min(y, x[i])
        : op == ReduceOp::max ? std::max(y, x[i])
                              : y + x[i];
  }
  return op == ReduceOp::avg ? y / static_cast<double>(x.size()) : y;
}

/// All ranks' losses together, computed by one rank: rank r's loss is (r+1)·y².
double total_loss(ReduceOp op, const std::vector<double>& x) {
  const double y = reduced(op, x);
  const auto n = static_cast<double>(x.size());
  return n * (n + 1) / 2 * y * y;
}

void compare_with_one_rank(Communicator& communicator, ReduceOp op) {
  const auto rank = static_cast<std::size_t>(communicator.rank());
  // No two are equal and none is 0: there the derivative of min, max and prod is unique.
  const double own = 0.5 + 0.25 * communicator.rank();
  DifferentiableAllReduce operation(communicator, op);
  const double y = operation.forward(own);
  const double gradient = operation.backward((communicator.rank() + 1) * 2 * y);

  constexpr double kStep = 1e-6;
  std::vector<double> x = all_values(communicator, own);
  const double error_of_y = std::abs(y - reduced(op, x));
  x[rank] = own + kStep;
  const double above = total_loss(op, x);
  x[rank] = own - kStep;
  const double difference = (above - total_loss(op, x)) / (2 * kStep);
  const double error = std::abs(gradient - difference) / std::max(1.0, std::abs(difference));

  const std::vector<double> gradients = all_values(communicator, gradient);
  if (communicator.rank() == 0) {
    fmt::print("  {:4} y = {:8.4f}   gradients {:.4f}\n", name(op), y, fmt::join(gradients, " "));
  }
  examples::check(error_of_y < 1e-12, fmt::format("{}: y is not what one rank computes", name(op)));
  examples::check(error < 1e-6, fmt::format("{}: rank {}'s gradient is {}, finite differences give {}",
                                            name(op), rank, gradient, difference));
}

void ties_and_zeros(Communicator& communicator) {
  const int n = communicator.ranks();
  const auto gradient = [&](ReduceOp op, double x) {
    DifferentiableAllReduce operation(communicator, op);
    operation.forward(x);
    return operation.backward(1.0 / n);  // In all 1 arrives.
  };
  const auto say = [&](const std::string& what, double own) {
    const std::vector<double> values = all_values(communicator, own);
    if (communicator.rank() == 0) {
      fmt::print("  {:44} {:.4g}\n", what, fmt::join(values, " "));
    }
  };
  const double tied = gradient(ReduceOp::max, 3);
  say("max, all ranks hold 3", tied);
  examples::check(std::abs(tied - 1.0 / n) < 1e-12, "ties share the gradient equally");

  const bool first = communicator.rank() == 0;
  const double one_zero = gradient(ReduceOp::prod, first ? 0 : 2);
  say("prod, rank 0 holds 0 and the others 2", one_zero);
  examples::check(std::abs(one_zero - (first ? std::pow(2, n - 1) : 0)) < 1e-12,
                  "only the rank that holds the 0 has a gradient");
  const double all_zero = gradient(ReduceOp::prod, 0);
  say("prod, all ranks hold 0", all_zero);
  examples::check(std::abs(all_zero - (n == 1 ? 1 : 0)) < 1e-12, "two zeros leave no gradient");
}

void run(const RankGroup& group) {
  fmt::print("1. Two ranks, x = 1, y = all_reduce(op, (rank+2) x): y = 5 for sum. Gradients of x by rank:\n");
  RankGroup two = group;
  two.ranks = 2;
  launch(two, argued_cases);

  fmt::print("2. {} ranks, loss of rank r = (r+1) y^2, against one rank and finite differences:\n",
             group.ranks);
  launch(group, [](Communicator& communicator) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::prod, ReduceOp::min, ReduceOp::max}) {
      compare_with_one_rank(communicator, op);
    }
  });

  fmt::print("3. Where the derivative is not unique, and at zero (each rank backpropagates 1/N):\n");
  launch(group, ties_and_zeros);
  fmt::print("All agree: to 1e-6 with finite differences, exactly with the cases on paper.\n");
}

}  // namespace

int main(int argc, char** argv) {
  examples::Example example("differentiable_all_reduce",
                            "Teaches: the gradient of all_reduce. When every rank's loss counts, backward of "
                            "sum is itself an all_reduce;\n"
                            "sum, avg, prod, min and max, ties and zeros, checked on paper, on one rank and "
                            "by finite differences.");
  return example.run(argc, argv, run);
}
