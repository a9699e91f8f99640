#include "real/execute/reductions_on_arrival.hpp"

#include <algorithm>
#include <cstddef>

#include "schedule/program/rank_rounds.hpp"

namespace ringside {
namespace {

class Search {
 public:
  Search(const Program& program, const std::function<bool(const Region&)>& leaves_at_once)
      : program_(program), leaves_at_once_(leaves_at_once), found_(program.steps.size(), kNotOnArrival) {}

  std::vector<std::int32_t> run() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      if (step.kind == StepKind::send && !leaves_at_once_(step.source)) {
        under_way_.push_back(static_cast<std::int32_t>(i));
        waited_for_a_send_ = false;
      } else if (step.kind == StepKind::wait) {
        pass_wait(i, step.transfer);
      }
    }
    return std::move(found_);
  }

 private:
  void pass_wait(std::size_t wait, std::int32_t transfer) {
    const Step& started = program_.steps[static_cast<std::size_t>(transfer)];
    if (started.kind == StepKind::send) {
      waited_for_a_send_ = std::erase(under_way_, transfer) > 0 || waited_for_a_send_;
    } else if (started.target.buffer == program_.staging() && !waited_for_a_send_) {
      found_[static_cast<std::size_t>(transfer)] = reduction_after(wait, started.target);
    }
  }

  /// The step that reduces what has arrived, where it may come as early as the wait.
  std::int32_t reduction_after(std::size_t wait, const Region& arrived) const {
    const auto reduction = std::find_if(
        program_.steps.begin() + static_cast<std::ptrdiff_t>(wait), program_.steps.end(),
        [&](const Step& step) { return step.kind == StepKind::reduce && step.source == arrived; });
    if (reduction == program_.steps.end() || is_sent(reduction->target)) {
      return kNotOnArrival;
    }
    const bool free = std::none_of(program_.steps.begin() + static_cast<std::ptrdiff_t>(wait) + 1, reduction,
                                   [&](const Step& step) { return touches(step, reduction->target); });
    return free ? static_cast<std::int32_t>(reduction - program_.steps.begin()) : kNotOnArrival;
  }

  bool is_sent(const Region& region) const {
    return std::ranges::any_of(under_way_, [&](std::int32_t send) {
      return overlap(program_.steps[static_cast<std::size_t>(send)].source, region);
    });
  }

  static bool touches(const Step& step, const Region& region) {
    return step.kind != StepKind::wait && (overlap(step.source, region) || overlap(step.target, region));
  }

  const Program& program_;
  const std::function<bool(const Region&)>& leaves_at_once_;
  std::vector<std::int32_t> found_;
  std::vector<std::int32_t> under_way_ = {};  ///< Sends that do not leave at once.
  bool waited_for_a_send_ = false;            ///< Since the last of them was started.
};

}  // namespace

std::vector<std::int32_t> reductions_on_arrival(const Program& program,
                                                const std::function<bool(const Region&)>& leaves_at_once) {
  return Search(program, leaves_at_once).run();
}

}  // namespace ringside
