#include "schedule/algorithms/phases.hpp"

namespace ringside {

void write_ring_reduce_scatter(const Ring& ring, std::int64_t step, RoundWriter& round) {
  for (int member = 0; member < ring.size; ++member) {
    // Block b starts at member b+1 and arrives at its owner b after size−1 hops.
    const int block = wrapped(member - 1 - static_cast<int>(step), ring.size);
    round.reduce(ring.member(member), ring.member(wrapped(member + 1, ring.size)), ring.block(block),
                 ring.num_chunks);
  }
}

void write_ring_all_gather(const Ring& ring, std::int64_t step, RoundWriter& round) {
  for (int member = 0; member < ring.size; ++member) {
    const int block = wrapped(member - static_cast<int>(step), ring.size);
    round.copy(ring.member(member), ring.member(wrapped(member + 1, ring.size)), ring.block(block),
               ring.num_chunks);
  }
}

}  // namespace ringside
