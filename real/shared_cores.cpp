#include "real/shared_cores.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include "real/own_cores.hpp"
#include "real/this_machine.hpp"

namespace ringside {
namespace {

/// Equal for two ranks that may use the same cores of the same machine.
double identity_of_cores() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string machine;
  std::getline(file, machine);
  const std::string text = fmt::format("{} {}", machine, fmt::join(allowed_cores(), ","));
  // So many bits are exact in a double.
  return static_cast<double>(static_cast<std::uint64_t>(std::hash<std::string>()(text)) >> 11);
}

void take_turns() {
  const sched_param priority = {};
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    const std::string text = thread.path().filename().string();
    pid_t id = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), id).ec == std::errc()) {
      ::sched_setscheduler(id, SCHED_BATCH, &priority);
    }
  }
}

}  // namespace

bool take_turns_on_shared_cores(Coordination& coordination) {
  const double own = identity_of_cores();
  const std::vector<double> all = coordination.all_values(own);
  const auto ranks = std::count(all.begin(), all.end(), own);
  const bool shared = ranks > this_machine().cores;
  if (shared) {
    take_turns();
  }
  return shared;
}

}  // namespace ringside
