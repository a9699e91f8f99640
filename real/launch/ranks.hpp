#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "real/launch/external/external_rank.hpp"
#include "real/launch/launch_options.hpp"
#include "real/launch/rank_task.hpp"
#include "real/system/interrupt.hpp"

namespace ringside {

/// Ranks that have met and wait for work.
class Ranks {
 public:
  virtual ~Ranks() = default;
  /// Does a task at all ranks and returns the result of rank 0; ranks of another launcher return each its
  /// own. After an exception the ranks are of no more use. Throws Error{peer_lost} when a rank died or hung,
  /// with rank and cause; Error of another kind as a rank met it; Interrupted when a signal came.
  virtual std::string run(const Task& task) = 0;
  /// Where every rank goes through the same tasks by itself: the largest of the values that the ranks give,
  /// so that all of them decide alike. Where one process gives the tasks to all, its own value.
  virtual double agree(double value) { return value; }
};

using StartRanks = std::function<std::unique_ptr<Ranks>(int num_ranks)>;

/// This process as another launcher started it, where its fellows are ranks of this backend, not threads.
std::optional<ExternalRank> external_rank(const LaunchOptions& options);

/// Calls `body` with what starts ranks: as threads; as watched processes (with_interrupts); or, under another
/// launcher, this process as one of its ranks. `purpose` keeps several groups
/// of one launch apart. Throws Error{environment} where the backend is not available.
void with_ranks(const LaunchOptions& options, const std::string& purpose,
                const std::function<void(const StartRanks&)>& body);

/// Ranks as processes of this program, each in front of a control socket. Their destructor ends them,
/// whatever they do, and removes what they shared. `interrupts` must outlive them.
std::unique_ptr<Ranks> start_processes(int num_ranks, const LaunchOptions& options,
                                       InterruptGuard& interrupts);

/// This process as one of `external`'s ranks.
std::unique_ptr<Ranks> join_external(const ExternalRank& external, const LaunchOptions& options,
                                     const std::string& purpose);

}  // namespace ringside
