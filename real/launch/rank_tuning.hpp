#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/units.hpp"
#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/system/idle_states.hpp"
#include "real/system/other_load.hpp"
#include "real/system/this_machine.hpp"

namespace ringside {

/// Turns to batch scheduling (thread_order.hpp) where more ranks may run on the same cores than there are.
/// Otherwise every message that arrives stops the rank on whose core its receiver wakes, which is often the
/// one for which all others wait. Returns whether that was done here. Called by all ranks at once.
bool use_batch_scheduling_on_shared_cores(Coordination& coordination);

/// By rank, the socket of its node on which its cores lie; empty where no node has several, or a rank is not
/// kept to one. Called by all ranks at once.
std::vector<int> sockets_of_ranks(Coordination& coordination, const std::filesystem::path& cpus = kCpus);

/// All that one rank does to its machine so that its times are those of the network and not of the scheduler;
/// what of it the system has granted is told in RankBackend::tuning, and from there in every measurement.
class RankTuning {
 public:
  /// Before the rank starts any thread, with all ranks on this machine: binds it to its cores.
  void bind(Rank rank, int num_ranks);
  /// Once the ranks have met; called by all of them at once. Ranks that share cores do not interrupt each
  /// other, unless their backend keeps the usual scheduling; those with cores of their own put the thread
  /// that reduces first, and prevent idle states of cores that nobody else uses. Sets `cpu_site` and `tuning`
  /// of the backend. Does nothing on GPUs.
  void tune(Coordination& coordination, RankBackend& backend);

  /// While it lives, idle states of the rank's own cores are prevented.
  class Work {
   public:
    explicit Work(RankTuning& tuning);
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    RankTuning& tuning_;
  };

 private:
  bool share_out_cores_ = false;
  std::vector<std::size_t> own_cores_;   ///< Empty: it shares cores with others.
  std::optional<OtherLoad> other_load_;  ///< What others use of its own cores, since it was bound to them.
  std::optional<IdleStatePrevention> idle_states_;
};

}  // namespace ringside
