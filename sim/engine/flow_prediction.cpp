#include "sim/engine/flow_prediction.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "sim/engine/flow.hpp"
#include "sim/engine/replay.hpp"
#include "sim/sharing/link_use.hpp"
#include "sim/symmetry/find.hpp"
#include "sim/symmetry/free_flow.hpp"
#include "sim/symmetry/symmetric_flow.hpp"

namespace ringside {

namespace {

/// Up to here the simulation of all messages takes some hundredths of a second.
constexpr double kFewMessages = 50'000;
/// Classes may cost this part of the simulation of all messages, and always so many events.
constexpr double kWorthTrying = 0.25;
constexpr std::int64_t kAlwaysTried = 20'000'000;
/// Messages that are gone through round by round in some seconds.
constexpr double kMostFree = 1e9;
/// The same where ranks do not send in circles.
constexpr double kMostReplayed = 3e7;

void set_flow(FlowResult result, Prediction& prediction) {
  prediction.seconds = result.seconds;
  prediction.limits = std::move(result.limits);
  prediction.nics = result.nics;
}

/// By classes of ranks, links and moves; false where that cannot be, and the prediction says why.
bool predict_by_classes(const Execution& execution, const Network& network, double messages,
                        KnownPartition* known, Prediction& prediction) {
  if (symmetry_obstacle(execution, network)) {
    return false;  // A machine of one node, as a rule: nobody expects classes there.
  }
  const auto most_events = static_cast<std::int64_t>(
      std::min(kWorthTrying * messages, static_cast<double>(SymmetryOptions{}.most_events)));
  const auto found = simulate_symmetric(execution, network,
                                        {.most_events = std::max(most_events, kAlwaysTried), .known = known});
  if (const auto* none = std::get_if<NoSymmetry>(&found)) {
    prediction.no_classes = none->reason;
    return false;
  }
  const auto& flow = std::get<SymmetricFlow>(found);
  prediction.rank_classes = flow.rank_classes;
  set_flow({.seconds = flow.seconds,
            .limits = limits_of(network, flow.links),
            .nics = nics_of(network, flow.links),
            .num_messages = 0},
           prediction);
  return true;
}

/// Round by round, where no flow ever holds another back; false where some may.
bool predict_free(const Execution& execution, const Network& network, double messages,
                  Prediction& prediction) {
  const auto links = messages > kMostFree ? std::nullopt : links_of_free_flow(execution, network);
  if (!links) {
    return false;
  }
  const std::optional<Seconds> around = replay_circles(execution, network);
  if (!around && messages > kMostReplayed) {
    return false;
  }
  set_flow({.seconds = around ? *around : replay(execution, network),
            .limits = {},
            .nics = nics_of(network, *links)},
           prediction);
  return true;
}

}  // namespace

void predict_flow(const Execution& execution, const Network& network, const FlowOptions& options,
                  Prediction& prediction) {
  const FlowEstimate estimate = estimate_flow(execution, network);
  if (options.simulation.trace == nullptr && estimate.messages > kFewMessages) {
    // Chunks that differ in length tell all ranks apart: classes are of no use then.
    const bool even = execution.has_even_chunks();
    if ((!even && predict_free(execution, network, estimate.messages, prediction)) ||
        predict_by_classes(execution, network, estimate.messages, options.known, prediction) ||
        (even && predict_free(execution, network, estimate.messages, prediction))) {
      return;
    }
  }
  const std::string refusal = options.force ? "" : too_large(estimate);
  if (!refusal.empty()) {
    const std::string because =
        prediction.no_classes
            ? fmt::format(" (its ranks cannot be put into classes: {})", *prediction.no_classes)
            : "";
    throw bad_input("{} on {} ranks: {}{}", execution.schedule().algorithm().name, execution.num_ranks(),
                    refusal, because);
  }
  set_flow(simulate_flow(execution, network, options.simulation), prediction);
}

}  // namespace ringside
