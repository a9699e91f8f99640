#pragma once

#include "real/launch/rank_jobs.hpp"

namespace ringside {

/// Ranks that have met and wait for work.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int num_ranks() const = 0;
  /// Does a job that is no JoinJob at all ranks and returns rank 0's answer. After an exception the ranks are of no more
  /// use. Throws Error{peer_lost} when a rank died or hung, with rank and cause; Error of another kind as a rank met
  /// it; Interrupted when a signal came.
  virtual Answer run(const Job& job) = 0;
  /// Where every rank goes through the same jobs by itself: the largest of the values that the ranks give, so that all
  /// of them decide alike. Where one process gives the jobs to all, its own value.
  virtual double agree(double value) { return value; }
};

}  // namespace ringside
