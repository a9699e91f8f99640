#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "results/codec/record.hpp"
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
  std::filesystem::path directory = {};  ///< For results.
  std::optional<Error> unwritable = {};  ///< Why they cannot be written there.
  Machine machine = {};
  PredictOptions options = {};
};
PreparedPrediction prepare(const PredictRequest& request, const Invocation& invocation,
                           const Observer& observer);

/// A study that was written down, the run that it was of, and its records as JSON Lines.
struct WrittenStudy {
  RunHeader header;
  PointStudy study;
  std::string records = {};
  std::vector<std::string> notes = {};  ///< As in Results.
  bool ended = true;                    ///< Whether the run got to its end.
};

/// Reads results.jsonl, predictions.jsonl or a report.html, and draws the conclusions anew. Throws
/// Error{bad_input} as read_results(), and where the file has no point.
WrittenStudy read_study(const std::filesystem::path& file, bool fitted = false);

/// Whether a file begins as those do: with a record, or as a page of ours.
bool holds_results(const std::filesystem::path& file);

}  // namespace ringside::study
