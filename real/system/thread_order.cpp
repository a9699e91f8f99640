#include "real/system/thread_order.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

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

}  // namespace

bool use_batch_scheduling() {
  const sched_param priority = {};
  for (const pid_t thread : threads_of_this_process()) {
    ::sched_setscheduler(thread, SCHED_BATCH, &priority);
  }
  return ::sched_getscheduler(0) == SCHED_BATCH;
}

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

}  // namespace ringside
