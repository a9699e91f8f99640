#include "analysis/check/curve_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <Eigen/Dense>

namespace ringside {
namespace {

double square(double x) { return x * x; }

}  // namespace

class CurveLikelihood::Memory {
 public:
  struct Factors {
    Eigen::LDLT<Eigen::MatrixXd> cholesky = {};
    double log_determinant = 0;  ///< Half of the covariance's.
  };

  const Factors& factors(std::span<const Point> points, const NcclSpread& spread) {
    Question question = {spread.latency, spread.bytes, spread.shape, spread.doublings, {}};
    std::vector<std::int64_t>& sizes = std::get<4>(question);
    for (const Point& point : points) {
      sizes.push_back(point.key.bytes.value);
    }
    const auto found = known_.find(question);
    if (found != known_.end()) {
      return found->second;
    }
    // A run that is checked after each row asks about ever more sizes; earlier answers are kept.
    constexpr std::size_t kMostNumbers = 8'000'000;
    numbers_ += sizes.size() * sizes.size();
    if (numbers_ > kMostNumbers) {
      known_.clear();
      numbers_ = sizes.size() * sizes.size();
    }
    Factors factors = worked_out(sizes, spread);
    return known_.emplace(std::move(question), std::move(factors)).first->second;
  }

 private:
  /// What a covariance depends on: the spread and the sizes.
  using Question = std::tuple<double, double, double, double, std::vector<std::int64_t>>;

  static Factors worked_out(const std::vector<std::int64_t>& sizes, const NcclSpread& spread);

  std::map<Question, Factors> known_;
  std::size_t numbers_ = 0;  ///< In the matrices of `known_`.
};

CurveLikelihood::Memory::Factors CurveLikelihood::Memory::worked_out(const std::vector<std::int64_t>& sizes,
                                                                     const NcclSpread& spread) {
  /// As in NcclPosterior, but for what no model has: rows that one machine repeats differently.
  constexpr double kNoise = 0.06;
  const auto count = static_cast<Eigen::Index>(sizes.size());
  Eigen::VectorXd doublings(count);
  Eigen::VectorXd shares(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    doublings(i) = std::log2(static_cast<double>(sizes[static_cast<std::size_t>(i)]));
    shares(i) = byte_share(doublings(i));
  }
  Eigen::MatrixXd covariance(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double apart = (doublings(i) - doublings(j)) / spread.doublings;
      covariance(i, j) = covariance(j, i) = square(spread.latency) * (1 - shares(i)) * (1 - shares(j)) +
                                            square(spread.bytes) * shares(i) * shares(j) +
                                            square(spread.shape) * std::exp(-0.5 * square(apart));
    }
    covariance(i, i) += square(kNoise);
  }
  Factors result{.cholesky = covariance.ldlt()};
  result.log_determinant = 0.5 * result.cholesky.vectorD().array().log().sum();
  return result;
}

CurveLikelihood::CurveLikelihood() : memory_(std::make_unique<Memory>()) {}
CurveLikelihood::~CurveLikelihood() = default;

double CurveLikelihood::log_of(const std::vector<double>& residuals, std::span<const Point> points,
                               const NcclSpread& spread) {
  const Memory::Factors& factors = memory_->factors(points, spread);
  const Eigen::Map<const Eigen::VectorXd> residual(residuals.data(),
                                                   static_cast<Eigen::Index>(residuals.size()));
  return -0.5 * residual.dot(factors.cholesky.solve(residual)) - factors.log_determinant;
}

}  // namespace ringside
