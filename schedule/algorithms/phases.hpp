#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "schedule/schedule.hpp"

/// Parts that several algorithms are made of.
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

/// `size` positions in a circle: first, first + stride, first + 2·stride, … Member m owns the block of chunks
/// [first_chunk + m·chunk_stride, … + num_chunks).
struct Ring {
  int size = 1;
  Rank first = 0;
  Rank stride = 1;
  std::int32_t first_chunk = 0;
  std::int32_t chunk_stride = 1;
  std::int32_t num_chunks = 1;

  Rank member(int index) const { return first + index * stride; }
  std::int32_t block(int index) const { return first_chunk + index * chunk_stride; }
};

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

/// Step 0 … size−2 of a reduce_scatter around the ring: every member ends with its own block reduced.
void write_ring_reduce_scatter(const Ring& ring, std::int64_t step, RoundWriter& round);

/// Step 0 … size−2 of an all_gather around the ring: every member starts with its own block alone.
void write_ring_all_gather(const Ring& ring, std::int64_t step, RoundWriter& round);

/// Whole messages circulate in two scratch buffers beside the accumulator, buffer 0.
inline constexpr int kCirculationBuffers = 3;
/// Round 0 … 2(n−1)−1: hops of the message in even rounds, reductions into the accumulator in odd ones.
void write_circulation(int n, std::int64_t round, RoundWriter& writer);
/// Round 0 … n−2: every accumulator travels on to the next rank.
void write_circulating_copy(int n, std::int64_t round, RoundWriter& writer);

/// Step 0 … num_doublings(n)−1 of a reduction of chunk 0 to the root along a binomial tree, and of its mirror
/// image, the broadcast from the root.
void write_binomial_reduce(const ScheduleRequest& request, std::int64_t step, RoundWriter& round);
void write_binomial_broadcast(const ScheduleRequest& request, std::int64_t step, RoundWriter& round);

/// Step 0 … num_doublings(n)−1 of an all_gather of n chunks, counted from `root`: intervals of ranks grow
/// together in pairs. Each rank gets the other interval's chunks from the rank of its number there;
/// `after_halving`, the first rank of both has them already.
void write_interval_doubling(const ScheduleRequest& request, std::int64_t step, bool after_halving,
                             RoundWriter& round);

/// Its mirror image, a scatter from the root: the first rank of an interval gives away its second half.
void write_interval_halving(const ScheduleRequest& request, std::int64_t step, RoundWriter& round);

/// What either costs, in chunks: half of the chunks, half of that, …, rounded up. n − 1 for powers of two.
/// After a halving, the one of three that would get two has them.
double chunks_of_intervals(int n, bool after_halving = false);

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

  /// Chunks [0, num_chunks) of the ranks that step aside are reduced into their neighbours.
  void write_in(std::int32_t num_chunks, RoundWriter& round) const;
  /// … and the result is copied back.
  void write_out(std::int32_t num_chunks, RoundWriter& round) const;

 private:
  int levels_;
  int excess_;
  bool nearest_first_;
};

/// Step 0 … levels−1 of a reduce_scatter of num_members chunks among the members by recursive halving: member
/// m ends with chunk m.
void write_recursive_halving(const Fold& fold, std::int64_t step, RoundWriter& round);

/// The same for one chunk of each rank: member m ends with chunks begin(m) … begin(m + 1) − 1.
void write_recursive_halving_of_ranks(const Fold& fold, std::int64_t step, RoundWriter& round);

/// Step 0 … levels−1 of an all_gather of num_members chunks among the members by recursive doubling: member m
/// starts with chunk m.
void write_recursive_doubling(const Fold& fold, std::int64_t step, RoundWriter& round);

}  // namespace ringside
