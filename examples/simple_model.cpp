// The smallest data-parallel training step there is: one parameter, one number of data per rank.

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "examples/support/example.hpp"

using namespace ringside;

namespace {

constexpr double kLearningRate = 0.1;

void train_one_step(Communicator& communicator) {
  double parameter = 2.0;                // The same at every rank, …
  const double x = communicator.rank();  // … which sees other data.

  // Forward: loss = (parameter − x)². Backward: its derivative by the parameter.
  const double gradient = 2 * (parameter - x);

  // The gradients of all ranks, added up at every rank. Without this the parameters would part here.
  std::array<double, 1> summed = {gradient};
  communicator.all_reduce(summed);

  parameter -= kLearningRate * summed.front();

  examples::in_turn(communicator, [&] {
    fmt::print("  rank {}: data {}, gradient {:g}, summed gradient {:g}, new parameter {:g}\n",
               communicator.rank(), x, gradient, summed.front(), parameter);
  });

  // All ranks must have the same parameter, to the last bit: then no step needs to send parameters.
  std::array<double, 2> least_and_negative_most = {parameter, -parameter};
  communicator.all_reduce(least_and_negative_most, ReduceOp::min);
  examples::check(least_and_negative_most[0] == -least_and_negative_most[1], "the ranks' parameters differ");
  const double n = communicator.ranks();
  const double expected = 2.0 - kLearningRate * 2 * (2 * n - n * (n - 1) / 2);
  examples::check(std::abs(parameter - expected) < 1e-12, "the parameter is not what one rank would compute");
}

}  // namespace

int main(int argc, char** argv) {
  examples::Example example(
      "simple_model",
      "Teaches: one step of data-parallel training with one parameter (2.0, learning rate 0.1, loss (p - "
      "x)^2).\n"
      "Each rank has its own data x = rank and its own gradient; after all_reduce all take the same step.");
  return example.run(argc, argv, [](const RankGroup& group) {
    fmt::print("One parameter, 2.0 at every rank; loss (p - x)^2; learning rate {}.\n", kLearningRate);
    launch(group, train_one_step);
    if (group.ranks > 1) {
      fmt::print("The ranks hold the same parameter still, though each has seen other data.\n");
    } else {
      fmt::print("One rank alone has nothing to synchronise.\n");
    }
  });
}
