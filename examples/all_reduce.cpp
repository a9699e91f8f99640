// All ranks' messages, added up at all ranks: first through a root, then as the collective.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "examples/support/example.hpp"

using namespace ringside;

namespace {

/// A reduce to the root and a broadcast from it: everything goes through one rank.
void all_reduce_through_root(Communicator& communicator, std::vector<float>& message, Rank root, bool mean) {
  communicator.reduce(message, root, mean ? ReduceOp::avg : ReduceOp::sum, "naive");
  communicator.broadcast(message, root, "naive");
}

void show(Communicator& communicator, Rank root, bool mean) {
  const Rank rank = communicator.rank();
  const std::vector<float> own = {static_cast<float>(rank + 1), static_cast<float>(2 * rank), 8};

  std::vector<float> through_root = own;
  all_reduce_through_root(communicator, through_root, root, mean);
  const std::int64_t bytes = communicator.bytes_sent();

  examples::in_turn(communicator, [&] {
    fmt::print("  rank {}: {} -> {}, sent {} B{}\n", rank, own, through_root, bytes,
               rank == root && communicator.ranks() > 1 ? "  <- the root sends to everybody" : "");
  });

  // Every algorithm gives the same; what differs is who sends how much to whom, and so the time.
  for (const char* algorithm :
       {"naive", "tutorial_ring", "ring", "recursive_doubling", "double_binary_tree"}) {
    std::vector<float> message = own;
    communicator.all_reduce(message, mean ? ReduceOp::avg : ReduceOp::sum, algorithm);
    examples::check(message == through_root, fmt::format("{} gives another result", algorithm));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int root = 0;
  std::string op;
  examples::Example example(
      "all_reduce",
      "Teaches: all ranks' messages, reduced into one, at every rank. Root-based it is a reduce and a "
      "broadcast, and\n"
      "everything passes through one rank; ring_all_reduce shows what it costs and what to do about it.");
  example.option("--root", root, "The rank through which everything goes", 0);
  example.choice("--op", op, {"sum", "mean"}, "sum or mean");
  return example.run(argc, argv, [&](const RankGroup& group) {
    examples::require_root(root, group.ranks);
    fmt::print("The {} of [r+1, 2r, 8] over all ranks r, through rank {}.\n", op, root);
    launch(group, [&](Communicator& communicator) { show(communicator, root, op == "mean"); });
    fmt::print(
        "naive, tutorial_ring, ring, recursive_doubling and double_binary_tree all give the same result.\n");
  });
}
