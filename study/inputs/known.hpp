#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/point.hpp"
#include "scenario/scenario.hpp"
#include "sim/predict.hpp"

/// What somebody measured on a machine, and what predictions make of it.
namespace ringside::study {

struct NativeChoices {
  NativeModel model = NativeModel::ringside;
  /// Entries as under a machine's key `known`, such as `{native: {ranks: 4, bytes: 1 GiB, seconds: 95 ms}}`,
  /// or files of measurements, ours or another tool's (import/import.hpp).
  std::vector<std::string> known = {};
};

/// The time of a collective as an entry of `known`.
Known known_time(const PointKey& key, Seconds seconds);

/// The machine with what is known added. Throws Error{bad_input} for what cannot be read.
Machine with_known(Machine machine, const NativeChoices& choices);

/// Throws Error{bad_input}, with the reason, when something is known that bears on none of the predicted
/// points; of a file that `choices` name one value has to. `machine` is with_known().
void require_use_of_known(const std::vector<Point>& points, const Machine& machine,
                          const NativeChoices& choices);

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
  std::optional<NcclAdvice> advice = {};  ///< The one measurement that would narrow them most.
};
NativeFindings native_findings(const std::vector<Point>& points, const Machine& machine);

}  // namespace ringside::study
