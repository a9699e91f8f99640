#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/interval.hpp"
#include "common/names.hpp"
#include "common/units.hpp"
#include "results/codec/fields.hpp"
#include "results/limit.hpp"
#include "results/policy.hpp"

namespace ringside {

/// Where α, β and γ came from.
enum class CostSource {
  spec,             ///< A data sheet or a listing.
  calibrated,       ///< Point-to-point probes on the machine.
  given,            ///< Numbers in the scenario's machine.
  spec_plus_known,  ///< A specification sharpened by what somebody measured; spelt `spec+known`.
};

constexpr auto spellings_of(CostSource /*any*/) {
  using enum CostSource;
  return std::to_array<Spelling<CostSource>>(
      {{spec, "spec"}, {calibrated, "calibrated"}, {given, "given"}, {spec_plus_known, "spec+known"}});
}

/// How many of a node's NICs carry something.
struct NicUse {
  int used = 0;  ///< NICs of the node that uses most.
  int of = 0;

  bool operator==(const NicUse&) const = default;
};

struct Prediction {
  Seconds seconds;
  /// 90 % interval, where one can be stated.
  std::optional<Seconds> low;
  std::optional<Seconds> high;
  Fidelity fidelity = Fidelity::closed_form;
  CostSource source = CostSource::given;
  /// What the prediction assumes of how the schedule runs; none for native and where there is nothing to do.
  std::optional<ExecutionPolicy> policy = {};
  /// What holds the time back, most important first.
  std::vector<Limit> limits = {};
  /// The time of this very point was given as `known` of the machine: comparing the two proves nothing.
  bool known = false;
  /// Where ranks are on several nodes and the simulation saw through which NICs they talk.
  std::optional<NicUse> nics = {};
  /// Where a flow simulation of many messages simulated one rank of each class of ranks that do the same at
  /// the same time: how many classes there are; and where it could not, the reason, a clause.
  std::optional<int> rank_classes = {};
  std::optional<std::string> no_classes = {};

  /// 90 % of cases; the time alone where no interval can be stated.
  Interval<Seconds> interval() const {
    return {.low = low.value_or(seconds), .typical = seconds, .high = high.value_or(seconds)};
  }
};

FieldTable<NicUse> table_of(const NicUse* any);
FieldTable<Prediction> table_of(const Prediction* any);

}  // namespace ringside
