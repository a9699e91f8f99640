#pragma once

#include <memory>
#include <span>
#include <vector>

#include "results/point.hpp"
#include "sim/nccl/parameters.hpp"

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

}  // namespace ringside
