#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/check/check.hpp"
#include "lab/evaluation/evaluation.hpp"
#include "lab/nccl/nccl_fit.hpp"

/// How often a check alarms on healthy machines, and on the same machines with a cause put in: each machine
/// against a fit that never saw its source.
namespace ringside {

/// One published machine as it is.
struct CheckedSystem {
  std::string name = {};
  std::string group = {};
  NcclKind kind = NcclKind::nvlink;
  bool healthy = true;  ///< Neither excluded as an anomaly nor of an uncertain description.
  std::string why_not = {};
  bool alarmed = false;
  bool too_fast = false;  ///< Some band is faster than expected.
  std::vector<BandVerdict> bands = {};
};

/// One cause over all machines that can have it: measured times, longer as the cause predicts.
struct InjectedCause {
  Cause cause = Cause::none;
  int machines = 0;  ///< Where some band gets slower than the interval of such machines.
  int alarmed = 0;   ///< Among those.
  int among_first_two =
      0;  ///< Alarmed, and the true cause, or one that does the very same, is among the first two.
  int below_spread = 0;  ///< Machines on which the cause is smaller than that; not counted.
  int alarmed_below = 0;
};

struct FalseAlarms {
  std::vector<CheckedSystem> systems = {};
  std::vector<InjectedCause> injected = {};
  /// Share of healthy machines with an alarm; each source weighs the same, or each machine.
  double by_source = 0;
  double by_machine = 0;
  double too_fast_by_source = 0;
};

/// `folds`: the fit without each source.
FalseAlarms false_alarms(std::span<const EvaluationSystem> systems, const NcclFit& all,
                         std::span<const NcclStudy::Fold> folds);

}  // namespace ringside
