#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "schedule/schedule.hpp"

/// Phases that several algorithms are made of, and how to write new ones.
namespace ringside {

/// `value` modulo `n`, for −n <= value < 2n. Rounds of thousands of moves are written in hot loops.
inline int wrapped(int value, int n) {
  if (value < 0) {
    return value + n;
  }
  return value >= n ? value - n : value;
}

/// ⌈log₂ n⌉: the rounds that it takes to reach n ranks when each round doubles those that are reached.
int num_doublings(int n);

/// The reason why `segments` of each of `num_blocks` are too many to be counted, if they are.
std::optional<std::string> too_many_segments(std::int64_t num_blocks, int segments);

/// `move(source, target)` for every rank and the one `distance` behind it.
template <typename Move>
void for_each_at(int distance, int n, const Move& move) {
  for (Rank source = 0; source < n; ++source) {
    move(source, wrapped(source + distance, n));
  }
}

/// `move(source, target)` for every pair of ranks. Each begins with the next rank and goes on around the
/// circle: if all began with rank 0, its link would be full first, and only that of the last in the end.
template <typename Move>
void for_each_pair(int n, const Move& move) {
  for (int distance = 1; distance < n; ++distance) {
    for_each_at(distance, n, move);
  }
}

/// For algorithms with a message of every pair in one round: why there is none of so many ranks (memory).
std::optional<std::string> too_many_pairs(const ScheduleRequest& request);

/// Rounds in each of which one chunk is on the critical path.
Phase chunk_by_chunk(std::int64_t num_rounds, std::function<void(std::int64_t, RoundWriter&)> write,
                     bool several_at_once = false);
/// The same, in which all that is sent is reduced.
Phase reducing(Phase phase);

/// `size` positions in a circle: first, first + stride, first + 2·stride, … Member m owns `num_chunks` chunks
/// from m·chunk_stride on, which travel one after another where they are cut into `segments`.
struct Ring {
  int size = 1;
  Rank stride = 1;
  std::int32_t chunk_stride = 1;
  std::int32_t num_chunks = 1;
  int segments = 1;
  /// So many rings like it, each of which begins further on.
  int count = 1;
  Rank next_first = 0;
  std::int32_t next_chunk = 0;
};

/// Every member ends with its own block reduced. Reductions of segments hide behind transfers.
Phase ring_reduce_scatter(const Ring& ring);
/// Every member starts with its own block alone.
Phase ring_all_gather(const Ring& ring);

/// The root and each other rank in turn: its whole message of `num_chunks` chunks, or its own chunk.
Phase linear_reduce(const ScheduleRequest& request, std::int32_t num_chunks = 1);
Phase linear_broadcast(const ScheduleRequest& request, std::int32_t num_chunks = 1);
Phase linear_gather(const ScheduleRequest& request);
Phase linear_scatter(const ScheduleRequest& request);

/// Whole messages circulate in two scratch buffers beside the accumulator, buffer 0.
inline constexpr int kCirculationBuffers = 3;
/// Hops of the message in even rounds, reductions into the accumulator in odd ones.
Phase circulation(int n);
/// Every accumulator travels on to the next rank.
Phase circulating_copy(int n);

/// A reduction of chunk 0 to the root along a binomial tree, and its mirror image, the broadcast.
Phase binomial_reduce(const ScheduleRequest& request);
Phase binomial_broadcast(const ScheduleRequest& request);

/// An all_gather of n chunks, counted from `root`: intervals of ranks grow together in pairs. Each rank gets
/// the other interval's chunks from the rank of its number there; `after_halving`, the first rank of both has
/// them already.
Phase interval_doubling(int n, Rank root = 0, bool after_halving = false);
/// Its mirror image, a scatter from the root: the first rank of an interval gives away its second half.
Phase interval_halving(int n, Rank root);

/// The largest power of two among n ranks, for algorithms that need one. The `excess` other ranks fold their
/// data into a neighbour first and get the result from it last, as in MPICH: of the first 2·excess ranks the
/// odd ones stay and the even ones step aside. (R. Thakur, R. Rabenseifner, W. Gropp, 2005.)
class Fold {
 public:
  explicit Fold(int num_ranks, bool nearest_first = false);

  int num_members() const { return 1 << levels_; }
  int excess() const { return excess_; }
  int levels() const { return levels_; }  ///< log₂ of num_members.
  /// `nearest_first`: those that the first step of a recursive halving brings together are neighbours.
  Rank member(int index) const;
  /// Where its chunks begin if each of num_ranks chunks goes to its own rank or the one that is folded into.
  std::int32_t begin(int index) const { return index < excess_ ? 2 * index : index + excess_; }

 private:
  int levels_;
  int excess_;
  bool nearest_first_;
};

/// All chunks of the ranks that step aside are reduced into their neighbours.
Phase fold_in(const Fold& fold, std::int32_t num_chunks);
/// … and the result is copied back.
Phase fold_out(const Fold& fold, std::int32_t num_chunks);

/// A reduce_scatter of num_members chunks among the members: member m ends with chunk m.
Phase recursive_halving(const Fold& fold);
/// The same for one chunk of each rank: member m ends with chunks begin(m) … begin(m + 1) − 1.
Phase recursive_halving_of_ranks(const Fold& fold);
/// An all_gather of num_members chunks among the members: member m starts with chunk m.
Phase recursive_doubling(const Fold& fold);

}  // namespace ringside
