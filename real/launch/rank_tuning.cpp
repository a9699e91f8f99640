#include "real/launch/rank_tuning.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "real/system/own_cores.hpp"
#include "real/system/this_machine.hpp"
#include "real/system/thread_order.hpp"

namespace ringside {
namespace {

/// Cores' worth of time of others, from which on a rank's cores count as busy.
constexpr double kBusyWithOthers = 0.4;
/// Over at least this time, for the kernel counts in coarse steps.
constexpr std::chrono::milliseconds kLeastTime{100};

double load_of_others(const OtherLoad& load) {
  if (load.elapsed() < kLeastTime) {
    std::this_thread::sleep_for(kLeastTime - load.elapsed());
  }
  return load.cores_used();
}

/// What any rank has done.
MachineTuning tuning_of_all(const MachineTuning& own, Coordination& coordination) {
  const auto any = [&](bool value) {
    const std::vector<double> all = coordination.all_values(value ? 1 : 0);
    return std::find(all.begin(), all.end(), 1.0) != all.end();
  };
  return {.bound_to_cores = any(own.bound_to_cores),
          .idle_states_prevented = any(own.idle_states_prevented),
          .thread_priority = any(own.thread_priority),
          .batch_scheduling = any(own.batch_scheduling)};
}

}  // namespace

bool use_batch_scheduling_on_shared_cores(Coordination& coordination) {
  constexpr double kUnknown = -1;
  const double own =
      identity_on_this_machine(fmt::format("{}", fmt::join(allowed_cores(), ","))).value_or(kUnknown);
  const std::vector<double> all = coordination.all_values(own);
  const auto ranks = std::count(all.begin(), all.end(), own);
  return own != kUnknown && ranks > this_machine().cores && use_batch_scheduling();
}

void RankTuning::bind(Rank rank, int num_ranks) {
  share_out_cores_ = true;
  own_cores_ = keep_to_own_cores(rank, num_ranks);
  other_load_.emplace(own_cores_);
}

void RankTuning::tune(Coordination& coordination, RankBackend& backend) {
  if (backend.device != nullptr) {
    return;
  }
  MachineTuning own = {.bound_to_cores = !own_cores_.empty()};
  own.batch_scheduling = !backend.waits_awake && use_batch_scheduling_on_shared_cores(coordination);
  if (share_out_cores_) {
    const std::vector<double> sharing = coordination.all_values(own_cores_.empty() ? 1 : 0);
    const bool anybody = std::find(sharing.begin(), sharing.end(), 1.0) != sharing.end();
    if (backend.cpu_site != RankSite::memory) {
      backend.cpu_site = anybody ? RankSite::shared_cores : RankSite::own_core;
    }
    if (!anybody) {
      own.thread_priority = put_this_thread_first();
      // A core that others keep busy has no idle states, and would starve the thread that prevents them: its
      // process then takes a second and more to end.
      if (load_of_others(*other_load_) < kBusyWithOthers) {
        idle_states_.emplace(own_cores_);
        own.idle_states_prevented = idle_states_->effective();
      }
    }
  }
  backend.tuning = tuning_of_all(own, coordination);
}

RankTuning::Work::Work(RankTuning& tuning) : tuning_(tuning) {
  if (tuning_.idle_states_) {
    tuning_.idle_states_->start();
  }
}

RankTuning::Work::~Work() {
  if (tuning_.idle_states_) {
    tuning_.idle_states_->stop();
  }
}

}  // namespace ringside
