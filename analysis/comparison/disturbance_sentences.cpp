#include "analysis/comparison/disturbance_sentences.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

/// Less is what any idle system uses.
constexpr double kNoticed = 0.1;

std::string causes_of(const Disturbance& disturbance, std::optional<int> cores) {
  std::vector<std::string> causes;
  if (disturbance.other_load >= kNoticed) {
    causes.push_back(fmt::format("other processes used {:.1f}{} cores", disturbance.other_load,
                                 cores ? fmt::format(" of {}", *cores) : ""));
  }
  if (disturbance.stolen >= kNoticed) {
    causes.push_back(fmt::format("the hypervisor gave {:.1f} cores to others", disturbance.stolen));
  }
  if (disturbance.throttled >= kNoticed) {
    causes.push_back("its container had used up its CPU quota");
  }
  return causes.empty() ? std::string("for a reason unknown to the kernel")
                        : fmt::format("while {}", fmt::join(causes, " and "));
}

}  // namespace

std::optional<std::string> disturbance_sentence(const Machine& machine) {
  if (!machine.calibrated || !machine.calibrated->disturbance) {
    return std::nullopt;
  }
  const Disturbance& disturbance = *machine.calibrated->disturbance;
  return fmt::format(
      "this machine was disturbed: {} of its probes took {} as long as others, {}; predictions are for its "
      "{} state, and their intervals cover both",
      percent(disturbance.share), factor_text(disturbance.slower, 1),
      causes_of(disturbance, machine.calibrated->cores),
      disturbance.share < 0.5 ? "faster" : "usual, slower");
}

}  // namespace ringside
