#pragma once

#include <optional>
#include <vector>

#include "real/measure/measure.hpp"
#include "results/point.hpp"
#include "study/inputs/invocation.hpp"
#include "study/predict.hpp"
#include "study/ranks/launch.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

struct CompareRequest {
  Scenario scenario;
  bool predicts = true;  ///< Without, it only measures.
  bool resume = false;   ///< Go on with the results that are there.
  /// How often all points are gone through, each time with a part of the time per point. Where this machine
  /// is calibrated for them, probes and repetitions alternate.
  int repetitions = 3;
  bool check_every_call = true;  ///< As in MeasureOptions.
  bool fitted = false;           ///< Also the curves fitted to the measurements.
  LaunchChoices launch = {};

  /// Whether ranks run; otherwise `measured:` of the scenario is read.
  bool measures() const { return !(predicts && scenario.measured); }
};

/// What ranks of a scenario are asked for, once.
MeasureOptions measure_options(const Scenario& scenario, const LaunchChoices& choices,
                               const Invocation& invocation, const LaunchOptions& launch);
/// The same, as often as the request says.
MeasureOptions measure_options(const CompareRequest& request, const Invocation& invocation,
                               const LaunchOptions& launch);

/// Predicts a scenario, measures it or reads `measured:`, and writes `results.jsonl`, each point as soon as
/// it is known. None where this process is another rank than 0 of mpirun, srun or torchrun: it takes part,
/// and rank 0 has the results. Throws as measure() and predict(); wrong and failed points are measurements.
std::optional<PointStudy> compare(const CompareRequest& request, const Invocation& invocation,
                                  const Observer& observer);

/// Throws Error{failed} that names the first point with a wrong result, otherwise the first that failed.
void throw_if_failed(const std::vector<Point>& points);

}  // namespace ringside::study
