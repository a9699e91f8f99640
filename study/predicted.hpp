#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/accuracy.hpp"
#include "analysis/comparison/speedup_grid.hpp"
#include "analysis/comparison/verdict.hpp"
#include "analysis/fitted.hpp"
#include "common/error.hpp"
#include "results/codec/record.hpp"
#include "results/point.hpp"
#include "scenario/scenario.hpp"
#include "study/inputs/known.hpp"
#include "study/ranks/observer.hpp"

/// What is predicted of a scenario, and what follows: values alone, no file written and no rank started.
namespace ringside::study {

/// What follows from points: the records at the end of a journal, and sentences for people.
struct Conclusions {
  std::vector<Record> records = {};  ///< What the rest says, in the order of a journal.
  std::optional<AlgorithmPair> pair = {};
  std::vector<Crossover> crossovers = {};
  std::vector<Accuracy> accuracy = {};
  std::vector<FittedCurve> fitted = {};
  std::vector<std::string> sentences =
      {};  ///< The verdict, and where the two sides ran under other policies.
};

/// Draws the conclusions. `fitted` asks for curves fitted to the measurements.
Conclusions conclude(const std::vector<Point>& points, bool fitted);

/// Points of a scenario with all that is known of them; what predict, measure and compare give.
struct PointStudy {
  Scenario scenario;
  Machine machine;
  std::vector<Point> points = {};
  std::filesystem::path file = {};  ///< The journal, complete.
  /// Why there is no journal and no place for charts; the rest is known all the same.
  std::optional<Error> unwritable = {};
  Conclusions conclusions = {};
  NativeFindings native = {};                 ///< What was found out by predict() alone.
  std::vector<std::string> unpredicted = {};  ///< Why points have no prediction, each reason once.
};

/// Those of its points, with a sentence more where this machine was disturbed while it was probed.
void draw_conclusions(PointStudy& study, bool fitted);

/// The predicted speedup over a wider range than was asked for; none with fewer than two algorithms of ours.
std::optional<SpeedupGrid> speedup_grid(const PointStudy& study);

/// Predicts the points that have no prediction yet; a point that cannot be predicted keeps none, and the
/// reasons are noted once each, and given back.
std::vector<std::string> predict_points(std::vector<Point>& points, const Machine& machine,
                                        const PredictOptions& options, const Observer& observer);

/// Every point of the scenario on this machine. Throws Error{bad_input} where what is known bears on nothing.
PointStudy predicted(Scenario scenario, Machine machine, const PredictOptions& options,
                     const NativeChoices& native, const Observer& observer);

/// Throws Error{environment} with the reasons where no point has a prediction.
void require_predictions(const PointStudy& study);

/// Throws where all ranks of a machine of several nodes stand on the first: not what was meant.
void require_use_of_nodes(const Scenario& scenario);

}  // namespace ringside::study
