#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/check/causes.hpp"
#include "analysis/check/curve_likelihood.hpp"
#include "results/point_key.hpp"
#include "results/prediction.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/nccl/parameters.hpp"
#include "sim/nccl/system.hpp"

/// What NCCL's own collectives take on one machine, as it is described and with each cause in it. Every
/// answer is worked out once, however many logs ask.
namespace ringside {

class ExpectedTimes {
 public:
  /// `fit` must outlive this.
  ExpectedTimes(Machine machine, const NcclFit& fit) : machine_(std::move(machine)), fit_(fit) {}

  const Machine& machine() const { return machine_; }
  const NcclFit& fit() const { return fit_; }

  /// As predict_nccl_native(), with its 90 % interval; none where NCCL is not modelled. Throws as
  /// nccl_system() does.
  const std::optional<Prediction>& predict(const PointKey& key);

  /// The machine with the cause; Cause::none leaves it as it is. Nothing where the cause cannot apply,
  /// changes nothing, or contradicts the description.
  const std::optional<NcclSystem>& system(Cause cause, int ranks);

  /// Logarithm of the model's seconds; none without such a system or such a choice of NCCL's.
  std::optional<double> log_seconds(Cause cause, const PointKey& key);

  /// Logarithm of how many times as long it takes with the cause; nothing where the cause cannot apply.
  std::optional<double> log_slowdown(Cause cause, const PointKey& key);

  CurveLikelihood& likelihood() { return likelihood_; }

 private:
  using Question = std::tuple<Cause, int, Collective, std::int64_t>;

  std::optional<Prediction> worked_out(const PointKey& key);

  Machine machine_;
  const NcclFit& fit_;
  std::map<PointKey, std::optional<Prediction>> predictions_;
  std::map<std::pair<Cause, int>, std::optional<NcclSystem>> systems_;
  std::map<Question, std::optional<double>> log_seconds_;
  CurveLikelihood likelihood_;
};

}  // namespace ringside
