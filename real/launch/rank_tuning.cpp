#include "real/launch/rank_tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/numbers.hpp"

namespace ringside {
namespace {

/// What sched_setattr(2) takes. C libraries before glibc 2.41 do not declare it, and <linux/sched/types.h>
/// cannot stand beside their <sched.h>.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime =
      0;  ///< With other policies than SCHED_DEADLINE: how long it runs at a stretch, in nanoseconds.
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

std::vector<pid_t> threads_of_this_process() {
  std::vector<pid_t> threads;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    const std::string text = thread.path().filename().string();
    if (const std::optional<pid_t> id = parse_number<pid_t>(text)) {
      threads.push_back(*id);
    }
  }
  return threads;
}

/// Puts all threads of this process under batch scheduling (SCHED_BATCH): one that wakes waits for the core
/// instead of interrupting whoever is at work there. Returns whether the system agreed.
bool use_batch_scheduling() {
  const sched_param priority = {};
  for (const pid_t thread : threads_of_this_process()) {
    ::sched_setscheduler(thread, SCHED_BATCH, &priority);
  }
  return ::sched_getscheduler(0) == SCHED_BATCH;
}

/// Lets the calling thread go before all other threads of this process: it gets the core soon after it wakes
/// (and runs for 0.1 ms at a stretch; Linux before 6.12 knows no such wish), and they stand behind it (nice +
/// 5). Where the system refuses, or the process was started with another policy than the usual one, all stays
/// as it is. Returns whether anything was changed.
bool put_this_thread_first() {
  if (::sched_getscheduler(0) != SCHED_OTHER) {
    return false;  // Whoever started this process has chosen.
  }
  constexpr std::uint64_t kRunNanoseconds = 100'000;  // The shortest that Linux grants.
  constexpr int kStepsBehind = 5;
  constexpr int kMostNice = 19;
  const pid_t own = ::gettid();
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(own));  // That of a thread, on Linux.
  SchedulingAttributes attributes = {.nice = nice, .runtime = kRunNanoseconds};
  bool changed = ::syscall(SYS_sched_setattr, own, &attributes, 0) == 0;
  for (const pid_t thread : threads_of_this_process()) {
    if (thread != own) {
      changed = ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread),
                              std::min(nice + kStepsBehind, kMostNice)) == 0 ||
                changed;
    }
  }
  return changed;
}

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
  return {.bound_to_cores = coordination.anywhere(own.bound_to_cores),
          .idle_states_prevented = coordination.anywhere(own.idle_states_prevented),
          .thread_priority = coordination.anywhere(own.thread_priority),
          .batch_scheduling = coordination.anywhere(own.batch_scheduling)};
}

}  // namespace

bool use_batch_scheduling_on_shared_cores(Coordination& coordination) {
  constexpr double kUnknown = -1;
  const double own =
      identity_on_this_machine(fmt::format("{}", fmt::join(allowed_cores(), ","))).value_or(kUnknown);
  const std::vector<double> all = coordination.all_values(own);
  const auto ranks = std::ranges::count(all, own);
  return own != kUnknown && ranks > this_machine().cores && use_batch_scheduling();
}

std::vector<int> sockets_of_ranks(Coordination& coordination, const std::filesystem::path& cpus) {
  const int here = num_sockets(cpus);
  const int own = here < 2 ? 0 : socket_of(allowed_cores(), cpus).value_or(-1);
  const std::vector<double> counts = coordination.all_values(here);
  const std::vector<double> sockets = coordination.all_values(own);
  const bool several = *std::ranges::max_element(counts) >= 2;
  const bool known = *std::ranges::min_element(sockets) >= 0;
  return several && known ? std::vector<int>(sockets.begin(), sockets.end()) : std::vector<int>();
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
  own.batch_scheduling = !backend.keeps_scheduling && use_batch_scheduling_on_shared_cores(coordination);
  if (share_out_cores_) {
    const bool anybody = coordination.anywhere(own_cores_.empty());
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
