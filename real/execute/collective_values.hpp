#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/schedule.hpp"

/// What ranks put into a collective and what must come out, element by element.
///
/// Contributions are small whole numbers (`prod` of floating types: powers of two), different at each rank
/// and index: every reduction is exact in any order and compared bit by bit. They repeat after a
/// prime number of elements, which no chunk size divides, so a chunk that ends up in the wrong place shows.
///
/// What a collective starts from and promises is said here once more, on purpose, and not read from the rows
/// of common/collective.hpp: a wrong row must not make a wrong result look right.
namespace ringside {

/// A collective on a vector, as far as its values go.
struct CollectiveCall {
  Collective collective = Collective::all_reduce;
  int num_ranks = 1;
  Rank root = 0;
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::int64_t num_elements = 0;
  /// The elements that belong to each rank in gather, all_gather and reduce_scatter; unused by the others.
  std::vector<ElementRange> parts = {};
};

/// The parts of a schedule: each rank's chunks.
std::vector<ElementRange> parts_of(const Schedule& schedule, std::int64_t num_elements);

/// Elements and what they hold: element i is that of pattern[i mod CollectiveValues::period()].
struct PatternRange {
  ElementRange elements;
  std::span<const std::byte> pattern;
};

class CollectiveValues {
 public:
  CollectiveValues(CollectiveCall call, std::uint64_t seed);

  const CollectiveCall& call() const { return call_; }
  static std::int64_t period();
  /// What `rank` holds at the start; of overlapping ranges the later one counts. Elements that are undefined
  /// then have a value that spoils any result. The patterns live as long as this.
  std::vector<PatternRange> input(Rank rank) const;
  /// What `rank` must hold at the end.
  std::vector<PatternRange> promise(Rank rank) const;

  // The same on memory of the CPU.

  void write_input(Rank rank, std::span<std::byte> message) const;

  /// The first element of what `rank` is promised that is not as it must be.
  std::optional<std::int64_t> first_wrong(Rank rank, std::span<const std::byte> message) const;

  /// One element, for messages about it.
  double value_at(std::span<const std::byte> message, std::int64_t element) const;
  /// What is promised of it at `rank`.
  double value_due(Rank rank, std::int64_t element) const;

 private:
  using Pattern = std::vector<std::byte>;  ///< One period of elements.

  ElementRange held_at_start(Rank rank) const;

  CollectiveCall call_;
  std::size_t element_size_;
  std::vector<Pattern> contributions_;  ///< By rank.
  Pattern reduced_;
  Pattern undefined_;
};

}  // namespace ringside
