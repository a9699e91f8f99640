#include "schedule/schedule.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/error.hpp"

namespace ringside {

Schedule::Schedule(const Algorithm& algorithm, ScheduleRequest request)
    : algorithm_(&algorithm), request_(std::move(request)) {
  if (algorithm.unsupported != nullptr) {
    if (const std::optional<std::string> reason = algorithm.unsupported(request_)) {
      throw Error(ErrorKind::bad_input, *reason);
    }
  }
  shape_ = algorithm.shape(request_);
}

CriticalPath Schedule::critical_path() const { return algorithm_->critical_path(request_); }

void Schedule::write_round(std::int64_t round, std::vector<Move>& moves) const {
  moves.clear();
  RoundWriter writer(moves);
  algorithm_->write_round(request_, round, writer);
}

}  // namespace ringside
