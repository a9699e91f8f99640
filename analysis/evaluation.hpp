#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/nccl_fit.hpp"
#include "results/record.hpp"
#include "scenario/machine.hpp"

/// How well NCCL's own all_reduce is predicted on systems that other people measured.
namespace ringside {

/// A scenario with `measured:`.
struct EvaluationSystem {
  std::string name = {};
  std::string source = {};               ///< Where it was published.
  std::string group = {};                ///< Source and GPU family: left out of the fit together.
  std::optional<std::string> odd = {};   ///< Why it is no fair test; it is listed apart.
  std::optional<std::string> weak = {};  ///< Which words of the machine are guesses.
  Machine machine = {};
  std::vector<Point> points = {};  ///< Measured; others than NCCL's own all_reduce are left alone.
};

enum class EvaluatedModel { ringside, ringside_known, nccl_tuner, alpha_beta };
enum class Fold { left_out, in_sample };

std::string_view name(EvaluatedModel model);
std::string_view name(Fold fold);

struct EvaluatedPoint {
  EvaluatedModel model = EvaluatedModel::ringside;
  Fold fold = Fold::left_out;
  SizeBand band = SizeBand::small;
  int ranks = 2;
  Bytes bytes;
  double measured = 0;   ///< Seconds.
  double predicted = 0;  ///< Seconds.
  std::optional<Interval> interval = {};
  std::vector<std::string> limits = {};  ///< What decides the predicted time (Prediction::limits).

  bool in_interval() const { return interval && interval->low <= measured && measured <= interval->high; }
};

struct EvaluatedSystem {
  std::string name = {};
  std::string source = {};
  std::string group = {};
  std::optional<std::string> odd = {};
  std::optional<std::string> weak = {};
  MachineClass machine_class = MachineClass::node_nvlink;
  bool rdma = false;  ///< Several nodes on InfiniBand or RoCE with two or more GPUs each.
  std::vector<EvaluatedPoint> points = {};
  std::vector<Accuracy> records = {};  ///< One per model, fold and band that has points.
};

struct AccuracyReport {
  std::vector<EvaluatedSystem> systems = {};
  std::vector<Accuracy> summaries =
      {};  ///< Medians and means over fair systems, per class, band, model and fold.
  /// `<system>: <why it was not evaluated>`; whoever knows of more adds it.
  std::vector<std::string> skipped = {};
  /// Of the fair systems that NCCL's cost table covers, on how many ours (left out) has the smaller mean error.
  int better_than_tuner = 0;
  int compared_with_tuner = 0;
  bool fitted_to_these = false;  ///< The program's parameters come from just these systems.
};

/// What was published beside the systems and is not evaluated, `<table> (<source>): <why>`, from a CSV with the columns `table`,
/// `source` and `why`. Throws Error{bad_input} that names `origin`.
std::vector<std::string> parse_not_evaluated(std::string_view csv, const std::string& origin);

/// The tables of the fair systems, in the order of their names: what `--fit` fits to.
std::vector<NcclTable> fit_tables(std::span<const EvaluationSystem> systems);

/// left_out: with the parameters that were fitted without the system's group (`folds`), or `all` where it had no part in that.
/// ringside_known is told the time of the system's largest message above 16 MiB and not scored on it; it is left_out
/// otherwise.
AccuracyReport evaluate(std::span<const EvaluationSystem> systems, const NcclFit& all,
                        std::span<const NcclStudy::Fold> folds);

/// The record that says something; nullptr when there is none. `system` or `statistic` empty = none.
struct AccuracyQuestion {
  std::string_view statistic = {};
  std::string_view machine_class = {};
  std::string_view band = "all";
  EvaluatedModel model = EvaluatedModel::ringside;
  Fold fold = Fold::left_out;
};
const Accuracy* find(std::span<const Accuracy> records, const AccuracyQuestion& question);

/// What ringside says of one point of a system; nullptr when the report does not hold it.
const EvaluatedPoint* find_point(const AccuracyReport& report, std::string_view system, Bytes bytes,
                                 Fold fold = Fold::left_out);

}  // namespace ringside
