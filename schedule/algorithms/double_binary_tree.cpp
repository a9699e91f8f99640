// double_binary_tree all_reduce: two binary trees, each for half of the message, pipelined in s segments up
// (reduce) and down (broadcast). An inner node of one tree is a leaf of the other, except rank 0 if n is odd;
// no two ranks are neighbours in both. D = ⌊log₂(n−1)⌋ + 1 is the depth of a tree, R = s + 3D − 1 the number
// of rounds, T = 2 the number of trees; below 8 ranks one carries all of S: T = 1.
//
//   messages in sequence   R
//   bytes in sequence      R/(T·s)·S; with the default s = 3D − 1 that is 2/T·S
//   reduced in sequence    0: every reduction hides behind a transfer
//   sent per rank          at most 2S for T = 2, 3S for T = 1
//   reduced per rank       at most S for T = 2, 2S for T = 1
//   restriction            at least 2 segments
//
// Assumes 2γ <= β: an inner node has a round's time to reduce a segment of both children, and sends the
// result up in the round after that one (hence two rounds per level upwards, one downwards).
//
// Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan", Parallel Computing 35(12), 2009. The shape of the trees is NCCL's (src/graph/trees.cc): nodes 1 …
// n−1 in order, a node's level is its number of trailing zero bits, and node 0 is a root with one child.
// NCCL's second tree, shifted by one rank, shares a link for every fourth rank; here leaves move further.

#include <algorithm>
#include <bit>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

constexpr int kRoot = 0;

/// Leaves have level 0.
int level(int node, int tree_depth) {
  return node == kRoot ? tree_depth : std::countr_zero(static_cast<unsigned>(node));
}

int parent(int node, int n) {
  const int lowest_bit = node & -node;
  const bool right_child = (node & (2 * lowest_bit)) != 0;
  // Where the parent of a left child is beyond the last node, the child hangs one level higher.
  return right_child || node + lowest_bit >= n ? node - lowest_bit : node + lowest_bit;
}

int num_trees(const ScheduleRequest& request) { return request.num_ranks >= 8 ? 2 : 1; }

/// In the second tree inner nodes (even) run on odd ranks and leaves (odd) on even ranks, which are the inner
/// nodes of the first; a shift of the leaves by 4 more keeps them away from their neighbours in the first
/// tree. With an odd number of ranks there is one inner node too many, which runs on rank 0.
Rank rank_of(int tree, int node, int n) {
  if (tree == 0) {
    return node;
  }
  if (node % 2 == 0) {
    return wrapped(node + 1, n);
  }
  const Rank shifted = node + 5;
  const int num_leaf_places = n - n % 2;
  return shifted < n ? shifted : shifted - num_leaf_places;
}

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  if (request.segments == 1) {
    return "double_binary_tree is a pipeline and needs at least 2 segments";
  }
  return too_many_segments(num_trees(request), request.segments);
}

Outline outline(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const int depth = num_doublings(n);
  const int trees = num_trees(request);
  const int segments = request.segments != 0 ? request.segments : std::max(1, 3 * depth - 1);
  const std::int64_t rounds = n == 1 ? 0 : std::int64_t{segments} + 3 * depth - 1;
  const auto write = [=](std::int64_t round, RoundWriter& writer) {
    const auto is_segment = [segments](std::int64_t segment) { return segment >= 0 && segment < segments; };
    for (int tree = 0; tree < trees; ++tree) {
      for (int node = 1; node < n; ++node) {
        const int above = parent(node, n);
        const Rank child_rank = rank_of(tree, node, n);
        const Rank parent_rank = rank_of(tree, above, n);
        const std::int64_t up = round - 2 * level(node, depth);
        if (is_segment(up)) {
          writer.reduce(child_rank, parent_rank, tree * segments + static_cast<std::int32_t>(up));
        }
        const std::int64_t down = round - (3 * depth - level(above, depth));
        if (is_segment(down)) {
          writer.copy(parent_rank, child_rank, tree * segments + static_cast<std::int32_t>(down));
        }
      }
    }
  };
  // Inner nodes have two children and, where there are two trees, are leaves of the other.
  return {.num_chunks = trees * segments, .phases = {chunk_by_chunk(rounds, write, n > 2)}};
}

}  // namespace

Algorithm double_binary_tree_all_reduce() {
  return {.name = "double_binary_tree",
          .summary =
              "two complementary binary trees, each pipelining half of the message up and down (one, below 8 "
              "ranks)",
          .wins_when = "ranks are many: latency grows with log N, and still both halves stream",
          .unsupported = unsupported,
          .outline = outline};
}

}  // namespace ringside
