// All ranks' messages to one rank, added up: written by hand with send and recv, then as the collective.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "examples/support/example.hpp"

using namespace ringside;

namespace {

/// The root receives from each of the others in turn and adds. A mean is a sum, divided once at the end.
void reduce_by_hand(Communicator& communicator, std::vector<float>& message, Rank root, bool mean) {
  if (communicator.rank() != root) {
    communicator.send(message, root);
    return;
  }
  std::vector<float> received(message.size());
  for (Rank source = 0; source < communicator.ranks(); ++source) {
    if (source != root) {
      communicator.recv(received, source);
      for (std::size_t i = 0; i < message.size(); ++i) {
        message[i] += received[i];
      }
    }
  }
  if (mean) {
    for (float& element : message) {
      element /= static_cast<float>(communicator.ranks());
    }
  }
}

void show(Communicator& communicator, Rank root, bool mean) {
  const Rank rank = communicator.rank();
  const std::vector<float> own = {static_cast<float>(rank), static_cast<float>(10 * rank), 1};

  std::vector<float> by_hand = own;
  reduce_by_hand(communicator, by_hand, root, mean);

  std::vector<float> collective = own;
  communicator.reduce(collective, root, mean ? ReduceOp::avg : ReduceOp::sum, "naive");

  examples::in_turn(communicator, [&] {
    fmt::print("  rank {} contributes {}{}\n", rank, own,
               rank == root ? fmt::format(" and ends with {}", by_hand) : "");
  });
  examples::check(rank != root || by_hand == collective, "by hand and collective differ at the root");
}

}  // namespace

int main(int argc, char** argv) {
  int root = 0;
  std::string op;
  examples::Example example(
      "reduce",
      "Teaches: all ranks' messages, reduced into one at the root. The root receives N-1 messages one after "
      "another\n"
      "and adds each to what it has; a mean is the sum, divided by the number of ranks at the end.");
  example.option("--root", root, "The rank that gets the result", 0);
  example.choice("--op", op, {"sum", "mean"}, "sum or mean");
  return example.run(argc, argv, [&](const RankGroup& group) {
    examples::require_root(root, group.ranks);
    fmt::print("The {} of [r, 10r, 1] over all ranks r, at rank {}.\n", op, root);
    launch(group, [&](Communicator& communicator) { show(communicator, root, op == "mean"); });
    fmt::print("Only rank {} holds the result; what the others hold afterwards is of no use.\n", root);
  });
}
