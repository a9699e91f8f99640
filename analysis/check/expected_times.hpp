#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/check/causes.hpp"
#include "results/point.hpp"
#include "results/prediction.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/nccl/parameters.hpp"
#include "sim/nccl/system.hpp"

/// What NCCL's own collectives take on one machine, as it is described and with each cause in it. Every
/// answer is worked out once, however many logs ask.
namespace ringside {

/// A whole curve's likelihood: log(measured/predicted) is Gaussian with NcclSpread's covariance, and what one
/// machine repeats differently. Runs over the same sizes share the work that does not depend on their times.
class CurveLikelihood {
 public:
  CurveLikelihood();
  ~CurveLikelihood();
  CurveLikelihood(const CurveLikelihood&) = delete;
  CurveLikelihood& operator=(const CurveLikelihood&) = delete;

  /// Logarithm of the likelihood, but for a constant; `residuals` one per point.
  double log_of(const std::vector<double>& residuals, std::span<const Point> points,
                const NcclSpread& spread);

 private:
  class Memory;
  std::unique_ptr<Memory> memory_;
};

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
