#include "real/launch/rank_limits.hpp"

#include <algorithm>

#include <sys/resource.h>

#include "common/failures.hpp"
#include "common/text.hpp"
#include "real/system/this_machine.hpp"

namespace ringside {
namespace {

constexpr int kMaxLocalRanks = 1024;
/// Every rank is a process that connects to every other one before anything is measured: on two cores 64
/// ranks take 5 s until they have met, 128 take 27 s, and 256 longer than --timeout is by default.
constexpr int kRanksOfACore = 64;
/// What a process has open beside its connections.
constexpr int kOtherFiles = 64;

}  // namespace

void require_ranks(int num_ranks) {
  if (num_ranks > kMaxLocalRanks) {
    throw lacking("{} ranks are too many for one machine; ringside starts up to {}", num_ranks,
                  kMaxLocalRanks);
  }
}

void require_cores(int num_ranks, int cores) {
  if (num_ranks > kRanksOfACore * cores) {
    throw lacking(
        "{} ranks are too many for {}: each is a process that connects to all "
        "others, and ringside starts up to {} for each core",
        num_ranks, count_of(cores, "core"), kRanksOfACore);
  }
}

void require_files(int num_ranks) {
  // The parent has a control socket and a pipe to each rank, a rank a connection to every other one.
  const auto needed = 2 * static_cast<rlim_t>(num_ranks) + kOtherFiles;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) {
    return;
  }
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  if (limit.rlim_cur < needed || ::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw lacking("{} ranks need {} open files in a process, but only {} are permitted here (ulimit -n)",
                  num_ranks, needed, limit.rlim_max);
  }
}

void require_processes(int num_ranks) {
  require_cores(num_ranks, static_cast<int>(allowed_cores().size()));
  require_files(num_ranks);
}

}  // namespace ringside
