#include "real/shared_cores.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
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
  constexpr double kUnknown = -1;
  const double own =
      identity_on_this_machine(fmt::format("{}", fmt::join(allowed_cores(), ","))).value_or(kUnknown);
  const std::vector<double> all = coordination.all_values(own);
  const auto ranks = std::count(all.begin(), all.end(), own);
  const bool shared = own != kUnknown && ranks > this_machine().cores;
  if (shared) {
    take_turns();
  }
  return shared;
}

}  // namespace ringside
