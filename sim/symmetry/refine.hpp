#pragma once

#include <cstdint>
#include <vector>

/// Colour refinement: the coarsest partition of a graph's nodes that is equitable.
namespace ringside {

/// A graph between moves and what they touch. Edges of move m are those from first[m] to first[m + 1].
struct TouchGraph {
  std::vector<std::int32_t> first = {0};
  std::vector<std::int32_t> item;    ///< Where the edge ends.
  std::vector<std::uint32_t> label;  ///< How it touches.

  std::int32_t num_moves() const { return static_cast<std::int32_t>(first.size()) - 1; }
};

struct Colours {
  std::vector<std::int32_t> of_item;
  std::vector<std::int32_t> of_move;
  std::int32_t num_items = 0;  ///< Colours of items are 0 … num_items−1,
  std::int32_t num_moves = 0;  ///< and those of moves 0 … num_moves−1.
};

/// Nodes of one colour have the same attribute and, for every colour and label, the same number of edges with
/// it. Colours are told apart by hashes of 64 bits: that the result is equitable is for the checker to say.
/// Takes time in proportion to edges, times the logarithm of the nodes as a rule.
Colours refine(const TouchGraph& graph, const std::vector<std::uint64_t>& item_attribute,
               const std::vector<std::uint64_t>& move_attribute);

/// A hash of `value` that depends on all that was mixed into `seed`.
inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
  // The finalizer of SplitMix64 (G. Steele et al., "Fast splittable pseudorandom number generators", 2014).
  std::uint64_t z = (seed ^ (value + 0x9E3779B97F4A7C15U + (seed << 6) + (seed >> 2)));
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace ringside
