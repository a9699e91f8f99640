#include "real/system/own_cores.hpp"

#include <algorithm>
#include <vector>

#include <sched.h>

#include "real/system/this_machine.hpp"

namespace ringside {

std::vector<std::size_t> allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<std::size_t> cores;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &allowed)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

std::span<const std::size_t> part_of(std::span<const std::size_t> cores, int index, int num_parts) {
  const auto parts = static_cast<std::size_t>(num_parts);
  if (cores.size() < parts) {
    return {};
  }
  const std::size_t begin = static_cast<std::size_t>(index) * cores.size() / parts;
  const std::size_t end = (static_cast<std::size_t>(index) + 1) * cores.size() / parts;
  return cores.subspan(begin, end - begin);
}

std::vector<std::size_t> keep_to_own_cores(int index, int num_parts) {
  constexpr std::size_t kBusyThreads = 2;
  const std::vector<std::size_t> cores = allowed_cores();
  if (this_machine().cores < static_cast<int>(cores.size())) {
    return {};
  }
  const std::span<const std::size_t> part = part_of(cores, index, num_parts);
  const std::span<const std::size_t> own = part.first(std::min(part.size(), kBusyThreads));
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t core : own) {
    CPU_SET(core, &set);
  }
  if (own.empty() || ::sched_setaffinity(0, sizeof(set), &set) != 0) {
    return {};
  }
  return {own.begin(), own.end()};
}

}  // namespace ringside
