#include "real/shared_cores.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "real/own_cores.hpp"
#include "real/this_machine.hpp"
#include "real/thread_order.hpp"

namespace ringside {

bool take_turns_on_shared_cores(Coordination& coordination) {
  constexpr double kUnknown = -1;
  const double own =
      identity_on_this_machine(fmt::format("{}", fmt::join(allowed_cores(), ","))).value_or(kUnknown);
  const std::vector<double> all = coordination.all_values(own);
  const auto ranks = std::count(all.begin(), all.end(), own);
  const bool shared = own != kUnknown && ranks > this_machine().cores;
  if (shared) {
    let_threads_take_turns();
  }
  return shared;
}

}  // namespace ringside
