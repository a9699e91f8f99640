#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/evaluation/interval_score.hpp"
#include "lab/nccl/nccl_fit.hpp"
#include "results/codec/record.hpp"
#include "scenario/machine/machine.hpp"

/// How well NCCL's own collectives are predicted on systems that other people measured.
namespace ringside {

/// A scenario with `measured:`.
struct EvaluationSystem {
  std::string name = {};
  std::string source = {};                    ///< Where it was published.
  std::string group = {};                     ///< Its source: held out of the fit together.
  std::optional<std::string> excluded = {};   ///< Why it is no fair test; it is listed apart.
  std::optional<std::string> uncertain = {};  ///< What of the machine's description is a guess.
  Machine machine = {};
  std::vector<Point> points =
      {};  ///< Measured, all of one collective; others than NCCL's own are passed over.
};

/// ringside_known knows the system's largest message, ringside_known2 1 KiB as well, ringside_known3 1 MiB,
/// too; tuner_known2 is NCCL's table, interpolated. ringside_every4 is conditioned on every fourth row, and
/// line_every4 a straight line between those (every_fourth.hpp).
enum class EvaluatedModel {
  ringside,
  ringside_known,
  ringside_known2,
  ringside_known3,
  ringside_every4,
  line_every4,
  nccl_tuner,
  tuner_known2,
  alpha_beta
};
/// held_out: fitted without the system's source; new_generation: without any GPU of its generation.
enum class Fold { held_out, new_generation, in_sample };

std::string_view name(EvaluatedModel model);
std::string_view name(Fold fold);

struct EvaluatedPoint {
  EvaluatedModel model = EvaluatedModel::ringside;
  Fold fold = Fold::held_out;
  SizeBand band = SizeBand::small;
  int ranks = 2;
  Bytes bytes;
  double measured = 0;   ///< Seconds.
  double predicted = 0;  ///< Seconds.
  std::optional<Interval<double>> interval = {};
  std::vector<Limit> limits = {};  ///< What decides the predicted time (Prediction::limits).

  bool in_interval() const { return interval && interval->low <= measured && measured <= interval->high; }
};

struct EvaluatedSystem {
  std::string name = {};
  std::string source = {};
  std::string group = {};
  std::optional<std::string> excluded = {};
  std::optional<std::string> uncertain = {};
  Collective collective = Collective::all_reduce;
  MachineClass machine_class = MachineClass::node_nvlink;
  NcclKind kind = NcclKind::nvlink;
  std::vector<std::string> traits = {};  ///< traits_of()
  std::vector<EvaluatedPoint> points = {};
  std::vector<Accuracy> records = {};  ///< One per model, fold and band that has points.
};

/// Means over systems of scores of distributions (lab/evaluation/interval_score.hpp).
struct IntervalScores {
  std::string part = {};  ///< A class or a kind of machines.
  std::string band = {};
  EvaluatedModel model = EvaluatedModel::ringside;
  Fold fold = Fold::held_out;
  int systems = 0;
  double crps = 0;
  std::optional<double> winkler = {};
  std::array<std::optional<double>, kReliabilityLevels.size()> held =
      {};  ///< Share of points inside, by level.
};

struct AccuracyReport {
  std::vector<EvaluatedSystem> systems = {};
  std::vector<Accuracy> summaries =
      {};  ///< Medians and means over fair systems, per class, band, model and fold.
  std::vector<IntervalScores> scores = {};
  /// `<system>: <why it was not evaluated>`; whoever knows of more adds it.
  std::vector<std::string> skipped = {};
  /// On how many fair systems of NCCL's cost table ours (held out) has the smaller mean error.
  int better_than_tuner = 0;
  int compared_with_tuner = 0;
  int better_than_tuner_pcie = 0;
  int compared_with_tuner_pcie = 0;
  bool fitted_to_these = false;  ///< The program's parameters come from just these systems.
};

/// What was published beside the systems and is not evaluated, `<table> (<source>): <why>`, from a CSV with
/// the columns `table`, `source` and `why`. Throws Error{bad_input} that names `origin`.
std::vector<std::string> parse_not_evaluated(std::string_view csv, const std::string& origin);

/// The tables of the fair systems, in the order of their names: what `ringside-lab fit` fits to.
std::vector<NcclTable> fit_tables(std::span<const EvaluationSystem> systems);

/// held_out: with the parameters that were fitted without the system's source (`folds`), or `all` where it
/// had no part in that. What a model is conditioned on it is not scored on; it is held_out otherwise.
AccuracyReport evaluate(std::span<const EvaluationSystem> systems, const NcclFit& all,
                        std::span<const NcclStudy::Fold> folds);

/// The record that says something; nullptr when there is none. `system` or `statistic` empty = none.
struct AccuracyQuestion {
  std::string_view statistic = {};
  std::string_view machine_class = {};
  std::string_view band = "all";
  EvaluatedModel model = EvaluatedModel::ringside;
  Fold fold = Fold::held_out;
};
const Accuracy* find(std::span<const Accuracy> records, const AccuracyQuestion& question);

/// What ringside says of one point of a system; nullptr when the report does not hold it.
const EvaluatedPoint* find_point(const AccuracyReport& report, std::string_view system, Bytes bytes,
                                 Fold fold = Fold::held_out);

}  // namespace ringside
