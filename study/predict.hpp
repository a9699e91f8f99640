#pragma once

#include <filesystem>
#include <optional>

#include "common/error.hpp"
#include "scenario/scenario.hpp"
#include "sim/predict.hpp"
#include "study/inputs/invocation.hpp"
#include "study/inputs/known.hpp"
#include "study/predicted.hpp"
#include "study/ranks/launch.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

struct PredictRequest {
  Scenario scenario;
  Fidelity fidelity = Fidelity::automatic;
  bool force = false;  ///< Simulate even where that takes very long.
  LaunchChoices launch = {};
  NativeChoices native = {};
};

/// Predicts a scenario and writes `predictions.jsonl`. Throws Error{bad_input}; a folder that cannot be
/// written is no reason not to answer.
PointStudy predict(const PredictRequest& request, const Invocation& invocation, const Observer& observer);

/// Scenario, machine and options of a request, which predict() and sweep() both begin with.
struct PreparedPrediction {
  Scenario scenario;
  std::filesystem::path directory;       ///< For results.
  std::optional<Error> unwritable = {};  ///< Why they cannot be written there.
  Machine machine = {};
  PredictOptions options = {};
};
PreparedPrediction prepare(const PredictRequest& request, const Invocation& invocation,
                           const Observer& observer);

}  // namespace ringside::study
