#include "real/own_cores.hpp"

#include <vector>

#include <sched.h>

namespace ringside {

std::span<const std::size_t> part_of(std::span<const std::size_t> cores, int index, int num_parts) {
  const auto parts = static_cast<std::size_t>(num_parts);
  if (cores.size() < parts) {
    return {};
  }
  const std::size_t begin = static_cast<std::size_t>(index) * cores.size() / parts;
  const std::size_t end = (static_cast<std::size_t>(index) + 1) * cores.size() / parts;
  return cores.subspan(begin, end - begin);
}

bool keep_to_own_cores(int index, int num_parts) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return false;
  }
  std::vector<std::size_t> cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) {
      cores.push_back(core);
    }
  }
  const std::span<const std::size_t> own = part_of(cores, index, num_parts);
  if (own.empty()) {
    return false;
  }
  cpu_set_t part;
  CPU_ZERO(&part);
  for (const std::size_t core : own) {
    CPU_SET(core, &part);
  }
  return ::sched_setaffinity(0, sizeof(part), &part) == 0;
}

}  // namespace ringside
