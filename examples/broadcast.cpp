// One rank's message to all: written by hand with send and recv, then as the collective.

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "examples/support/example.hpp"

using namespace ringside;

namespace {

/// The root sends to each of the others in turn: N−1 messages one after another, all through the root's link.
void broadcast_by_hand(Communicator& communicator, std::vector<float>& message, Rank root) {
  if (communicator.rank() != root) {
    communicator.recv(message, root);
    return;
  }
  for (Rank target = 0; target < communicator.ranks(); ++target) {
    if (target != root) {
      communicator.send(message, target);
    }
  }
}

void show(Communicator& communicator, Rank root) {
  const auto own = static_cast<float>(10 * communicator.rank());
  const std::vector<float> before = {own, own + 1, own + 2};

  std::vector<float> by_hand = before;
  broadcast_by_hand(communicator, by_hand, root);
  const std::int64_t sent_by_hand = communicator.bytes_sent();

  std::vector<float> collective = before;
  communicator.broadcast(collective, root, "binomial_tree");
  const std::int64_t sent_by_tree = communicator.bytes_sent() - sent_by_hand;

  examples::in_turn(communicator, [&] {
    fmt::print("  rank {}: {} -> {}, sent {:>2} B by hand, {:>2} B in the tree\n", communicator.rank(),
               before, by_hand, sent_by_hand, sent_by_tree);
  });
  examples::check(by_hand == collective && by_hand.front() == static_cast<float>(10 * root),
                  "a rank does not hold the root's message");
}

}  // namespace

int main(int argc, char** argv) {
  int root = 0;
  examples::Example example("broadcast",
                            "Teaches: the root's message to all ranks. By hand the root sends to each of the "
                            "others, N-1 messages; in a\n"
                            "binomial tree every rank that has the message passes it on, log2(N) rounds.");
  example.option("--root", root, "The rank whose message all get", 0);
  return example.run(argc, argv, [&](const RankGroup& group) {
    examples::require_root(root, group.ranks);
    fmt::print("Every rank holds [10r, 10r+1, 10r+2]; rank {} broadcasts its own.\n", root);
    launch(group, [&](Communicator& communicator) { show(communicator, root); });
    fmt::print("Both ways give every rank the same message; only the order in which it travels differs.\n");
  });
}
