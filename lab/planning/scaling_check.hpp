#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/plan/planner.hpp"
#include "lab/planning/decisions.hpp"
#include "lab/planning/published_speeds.hpp"
#include "scenario/plan/plan.hpp"
#include "scenario/plan/workload.hpp"
#include "scenario/scenario.hpp"

/// Predicted data-parallel scaling beside what other people measured. The speed of one GPU is an input,
/// everything else is predicted from the machine's description.
namespace ringside {

/// A row of configs/scaling/published.csv.
struct PublishedScaling {
  std::string model;
  std::string precision;
  std::string system;
  std::string workload;  ///< Name of a tensor list.
  std::string machine;   ///< A name or a file, relative to the table.
  int gpus = 1;
  int batch_per_gpu = 1;  ///< Samples of one GPU in one pass.
  int accumulate = 1;
  DataType gradients = DataType::float32;
  double samples_per_second_of_one = 0;
  Precision arithmetic = Precision::float32;
  double work = 1;           ///< A sample's share of the tensor list's.
  int baseline_gpus = 1;     ///< Whose speed counts as 100 %.
  double efficiency = 0;     ///< Measured.
  bool gave_spread = false;  ///< Took part in finding how far GPUs spread (analysis/plan/planner.cpp).
  std::string note;
  std::string source;
  int line = 0;
};

/// Throws Error{bad_input} that names the file, line and column.
std::vector<PublishedScaling> load_published_scaling(const std::filesystem::path& file);

struct ScalingCheck {
  PublishedScaling row;
  Interval<double> predicted;
  double by_ring = 0;  ///< The same by rings that begin after the backward pass.
  /// Samples per second of all GPUs with no speed given, fitted to speeds of all other sources.
  Interval<double> throughput;
  std::string algorithm;     ///< What was predicted.
  std::string gpu;           ///< The machine's,
  double rate = 1;           ///< and the rate of its data sheet.
  std::string system_class;  ///< `NVLink`, `PCIe`, `GeForce`, `several nodes`.
  std::string kind;          ///< The chip and the link inside a node.

  double measured_throughput() const { return row.samples_per_second_of_one * row.gpus * row.efficiency; }
  bool throughput_inside() const {
    return measured_throughput() >= throughput.low && measured_throughput() <= throughput.high;
  }
  double error() const { return predicted.typical - row.efficiency; }
  bool inside() const { return row.efficiency >= predicted.low && row.efficiency <= predicted.high; }
};

struct ScalingPlaces {
  std::filesystem::path table;   ///< Its folder is what machine files are relative to.
  std::filesystem::path models;  ///< As of load_workload().
  std::filesystem::path speeds;  ///< The table that says how fast GPUs train.
  KnownNames known;
};

/// No row is left out: one that cannot be predicted throws Error{bad_input} with its line.
std::vector<ScalingCheck> check_scaling(const std::vector<PublishedScaling>& rows,
                                        const ScalingPlaces& places);

/// Errors: |predicted − measured efficiency|, as a share: 0.08 is 8 points.
struct ScalingErrors {
  double median = 0;
  double mean = 0;
  double percentile_90 = 0;
};

struct ScalingSummary {
  std::size_t rows = 0;
  ScalingErrors errors;
  double coverage = 0;  ///< Share of rows inside their interval.
  double width = 0;     ///< Width of the interval, median.
};

ScalingSummary summary_of(const std::vector<ScalingCheck>& checks);

/// What a plan must beat: that N GPUs are N times as fast as one.
ScalingErrors errors_of_perfect_scaling(const std::vector<ScalingCheck>& checks);
/// And that every run is as efficient as the median of all rows of other sources (a source = a repository).
ScalingErrors errors_of_median_elsewhere(const std::vector<ScalingCheck>& checks,
                                         const std::vector<ScalingCheck>& all);

/// And that all_reduces are rings after the backward pass, of which nothing is hidden.
ScalingErrors errors_by_ring(const std::vector<ScalingCheck>& checks);

/// What is left where the predicted losses of each kind of machine are multiplied by a factor of its own, the
/// best for all rows, which it is fitted to: rows of one kind contradict each other by as much.
ScalingErrors errors_by_best_factors(const std::vector<ScalingCheck>& checks,
                                     const std::vector<ScalingCheck>& all);

/// How far throughput from words alone is off.
FactorSummary throughput_summary_of(const std::vector<ScalingCheck>& checks);

/// Rows of the same model, precision and source are of the same work.
std::vector<Candidate> candidates_of(const std::vector<ScalingCheck>& checks);

/// Those of one class.
std::vector<ScalingCheck> of_class(const std::vector<ScalingCheck>& checks, const std::string& system_class);
/// The classes in order of appearance.
std::vector<std::string> system_classes(const std::vector<ScalingCheck>& checks);
/// Those that did not give the spread.
std::vector<ScalingCheck> held_out(const std::vector<ScalingCheck>& checks);

}  // namespace ringside
