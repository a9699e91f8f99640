#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.hpp"
#include "scenario/scenario.hpp"
#include "study/inputs/sweep_values.hpp"
#include "study/predict.hpp"

namespace ringside::study {

struct Winner {
  std::string algorithm;  ///< Never `native`.
  Seconds seconds;
  std::optional<double> margin = {};  ///< The second's time over the winner's; none = there is no second.
  std::string tied_with =
      {};  ///< The second, where the two cannot be told apart or differ by nothing worth having.
};

/// One number of ranks and size at one combination of the swept values.
struct SweepCell {
  std::vector<std::string> values;  ///< In the order of the sweeps.
  int ranks = 1;
  Bytes bytes;
  std::vector<Point> points = {};  ///< Points of every algorithm that can be predicted.
  std::optional<Winner> winner = {};
};

struct SweepStudy {
  Scenario scenario;
  Machine machine;
  std::filesystem::path directory;       ///< For data and charts.
  std::optional<Error> unwritable = {};  ///< Why they cannot be written there.
  std::filesystem::path file =
      {};  ///< `sweep_<key>.jsonl`: the run's header, then records(); empty where it cannot be written.
  std::vector<Sweep> sweeps = {};
  std::vector<SweepCell> cells = {};
  std::vector<std::string> sentences = {};  ///< On algorithms that leave NICs idle.

  bool sweeps_key(std::string_view key) const;
  /// Whether all GPUs of swept nodes take part: nodes or ranks per node are swept, ranks are not.
  bool ranks_follow() const;
};

/// Predicts the scenario for every combination of the sweeps' values (`KEY=FROM:TO:STEP`). Throws
/// Error{bad_input} for a key that nothing has and for a value that the machine cannot have.
SweepStudy sweep(const std::vector<std::string>& sweeps, const PredictRequest& request,
                 const Invocation& invocation, const Observer& observer);

/// A table's cells: first, last, and where the winner changes, per number of ranks and size; all of a few.
std::vector<const SweepCell*> shown_cells(const SweepStudy& study);

/// The times of every algorithm over the one key that takes several values, all of them numbers; none
/// otherwise. Where the scenario has several sizes the largest is drawn.
struct SweepLines : KeyLines {
  int ranks = 0;  ///< 0: they change.
  std::optional<Bytes> bytes = {};
};
std::optional<SweepLines> sweep_lines(const SweepStudy& study);

/// Every point as a line of JSON, with the swept values as its `sweep`.
std::vector<std::string> records(const SweepStudy& study);

/// The winners over the two keys that take several values; none where there is another number of such keys.
struct WinnerMap {
  struct Axis {
    std::string key;
    std::vector<std::string> values;
  };
  Axis rows;
  Axis columns;
  std::vector<std::vector<std::optional<Winner>>> winners;  ///< [row][column]
};
std::optional<WinnerMap> winner_map(const SweepStudy& study);

}  // namespace ringside::study
