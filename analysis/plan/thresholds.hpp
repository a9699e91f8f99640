#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/planner.hpp"
#include "scenario/plan/plan.hpp"

/// What would make an offer better, where gradients are synchronised in buckets.
namespace ringside {

/// What would change the picture on one offer.
struct Thresholds {
  /// Bandwidth of the machine's links, times what they have, from which on less than 5 % and 10 % of a step
  /// is exposed communication; none = no bandwidth is enough, because of latency.
  std::optional<double> factor_for_5_percent = {};
  std::optional<double> factor_for_10_percent = {};
  /// Micro-batches per step from which on less than 10 % is exposed; none = more than kMostMicroBatches.
  std::optional<int> accumulate_for_10_percent = {};
  /// The least GPUs at which one more adds less than half a GPU's speed; none = not up to those on offer.
  std::optional<int> gpus_stop_paying = {};
  /// Ring is faster than naive from this message size on, on all GPUs of the offer; none = at no size.
  std::optional<Bytes> ring_from_bytes = {};
  /// Ring is faster than naive for the plan's gradients from this number of GPUs on; none = for no number.
  std::optional<int> ring_from_gpus = {};
  /// The plan's gradients in one message by algorithms of ours; none where they cannot run.
  std::optional<Seconds> ring = {};
  std::optional<Seconds> naive = {};
  /// That ring goes through on all GPUs of the offer, as in Prediction.
  std::optional<NicUse> ring_nics = {};
};

inline constexpr int kMostMicroBatches = 4096;
/// Ring is looked for from this size on.
inline constexpr Bytes kSmallestTried{1024};

Thresholds thresholds(Planner& planner, const Plan& plan, const Offer& offer);

/// A way to synchronise that was tried on an offer.
struct Alternative {
  std::string algorithm;
  SynchronisationSettings synchronisation;
  TrainingStep step;
  Seconds at_best;  ///< What the step takes where everything is hidden that can be.
};

/// The plan's algorithm and every alternative with the plan's way to synchronise, and the plan's algorithm
/// with every other style and some bucket sizes. The first is the plan as it is.
std::vector<Alternative> alternatives(Planner& planner, const Plan& plan, const Offer& offer);

/// The fastest of those that one model predicts (`native`, or algorithms of ours, as the plan has it) and
/// that are at least 1 % faster than the plan, whatever overlap hides; the plan as it is where none is.
const Alternative& best_of(const std::vector<Alternative>& tried);

}  // namespace ringside
