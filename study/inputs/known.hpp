#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/point.hpp"
#include "scenario/scenario.hpp"
#include "sim/predict.hpp"

/// What somebody measured on a machine, and what predictions of NCCL's own all_reduce make of it.
namespace ringside::study {

struct NativeChoices {
  NativeModel model = NativeModel::ringside;
  /// Entries as under a machine's key `known`, such as `{native: {ranks: 4, bytes: 1 GiB, seconds: 95 ms}}`, or files of
  /// native all_reduces, ours or another tool's (import/import.hpp).
  std::vector<std::string> known = {};
};

/// The machine with what is known added. Throws Error{bad_input} when it bears on nothing that the scenario asks for.
Machine with_known(Machine machine, const Scenario& scenario, const NativeChoices& choices);

/// Throws Error{bad_input} when something is known and none of the points was predicted with it.
void require_native(const std::vector<Point>& points, const NativeChoices& choices);

/// Sizes one after another whose predictions are limited by the same.
struct SizeRange {
  int ranks = 0;
  Bytes first;
  Bytes last;
  std::string reason;
};

/// What is to be said of predictions of NCCL's own all_reduce.
struct NativeFindings {
  std::vector<Point> points = {};  ///< Those that were predicted by a model of NCCL.
  std::vector<SizeRange> reasons = {};
  bool ours = false;  ///< By our own model, which alone has intervals and uses what is known.
  std::vector<std::string> unused = {};
  std::optional<NcclAdvice> advice = {};  ///< The one measurement that would narrow them most.
};
NativeFindings native_findings(const std::vector<Point>& points, const Machine& machine);

}  // namespace ringside::study
