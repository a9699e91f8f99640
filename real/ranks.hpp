#pragma once

#include <functional>
#include <memory>

#include "real/interrupt.hpp"
#include "real/rank_jobs.hpp"

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

/// Starts ranks as processes of this program, each in front of a control socket. Their destructor ends them, whatever
/// they do, and removes what they shared. `interrupts` must outlive them.
std::unique_ptr<Ranks> start_processes(int num_ranks, const LaunchOptions& options,
                                       InterruptGuard& interrupts);

/// Ranks that are threads of this process.
std::unique_ptr<Ranks> start_threads(int num_ranks, const LaunchOptions& options);

/// This process as one of `external`'s ranks; `purpose` keeps several groups of one launch apart. Every rank gets the
/// answer.
std::unique_ptr<Ranks> join_external(const ExternalRank& external, const LaunchOptions& options,
                                     const std::string& purpose);

}  // namespace ringside
