#include "real/system/shared_cores.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "real/system/own_cores.hpp"
#include "real/system/this_machine.hpp"
#include "real/system/thread_order.hpp"

namespace ringside {

bool use_batch_scheduling_on_shared_cores(Coordination& coordination) {
  constexpr double kUnknown = -1;
  const double own =
      identity_on_this_machine(fmt::format("{}", fmt::join(allowed_cores(), ","))).value_or(kUnknown);
  const std::vector<double> all = coordination.all_values(own);
  const auto ranks = std::count(all.begin(), all.end(), own);
  return own != kUnknown && ranks > this_machine().cores && use_batch_scheduling();
}

}  // namespace ringside
