#include "analysis/check/expected_times.hpp"

#include <cmath>
#include <variant>

#include <Eigen/Dense>

#include "common/error.hpp"
#include "common/mapped.hpp"
#include "sim/nccl/model.hpp"
#include "sim/nccl/native.hpp"
#include "sim/nccl/posterior.hpp"

namespace ringside {
namespace {

double square(double x) { return x * x; }

std::optional<NcclSystem> system_of(const Machine& machine, int ranks) {
  const auto read = nccl_system(machine, ranks);
  const auto* found = std::get_if<NcclSystem>(&read);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

}  // namespace

const std::optional<Prediction>& ExpectedTimes::predict(const PointKey& key) {
  const auto found = predictions_.find(key);
  return found != predictions_.end() ? found->second
                                     : predictions_.emplace(key, worked_out(key)).first->second;
}

std::optional<Prediction> ExpectedTimes::worked_out(const PointKey& key) {
  if (!machine_.known.empty()) {
    const auto outcome = predict_nccl_native(machine_, key, NativeModel::ringside, fit_);
    const auto* prediction = std::get_if<Prediction>(&outcome);
    return prediction != nullptr && prediction->low && prediction->high ? std::optional(*prediction)
                                                                        : std::nullopt;
  }
  if (!systems_.contains({Cause::none, key.ranks})) {
    // A description that contradicts itself is told here; with a cause in it, it only rules the cause out.
    systems_[{Cause::none, key.ranks}] = system_of(machine_, key.ranks);
  }
  const std::optional<NcclSystem>& described = system(Cause::none, key.ranks);
  if (!described) {
    return std::nullopt;
  }
  const Interval<double> range =
      NcclPosterior(fit_, *described, {})
          .predict(*described, key.collective, static_cast<double>(key.bytes.value));
  return Prediction{.seconds = {range.typical},
                    .low = Seconds{range.low},
                    .high = Seconds{range.high},
                    .fidelity = Fidelity::nccl,
                    .source = CostSource::spec};
}

const std::optional<NcclSystem>& ExpectedTimes::system(Cause cause, int ranks) {
  const auto [entry, is_new] = systems_.try_emplace({cause, ranks});
  if (is_new) {
    const Machine changed = with_cause(machine_, cause);
    try {
      if (cause == Cause::none || changed != machine_) {
        entry->second = system_of(changed, ranks);
      }
    } catch (const Error&) {
      // The changed machine contradicts itself: the cause cannot apply.
    }
  }
  return entry->second;
}

std::optional<double> ExpectedTimes::log_seconds(Cause cause, const PointKey& key) {
  const auto [entry, is_new] = log_seconds_.try_emplace({cause, key.ranks, key.collective, key.bytes.value});
  const std::optional<NcclSystem>& of_cause = system(cause, key.ranks);
  if (is_new && of_cause) {
    try {
      entry->second = std::log(
          nccl_collective(fit_.parameters, *of_cause, key.collective, static_cast<double>(key.bytes.value))
              .seconds);
    } catch (const Error&) {
      // What is forced does not exist there.
    }
  }
  return entry->second;
}

std::optional<double> ExpectedTimes::log_slowdown(Cause cause, const PointKey& key) {
  const auto with = log_seconds(cause, key);
  const auto without = log_seconds(Cause::none, key);
  return with && without ? std::optional(*with - *without) : std::nullopt;
}

class CurveLikelihood::Memory {
 public:
  struct Factors {
    Eigen::LDLT<Eigen::MatrixXd> cholesky = {};
    double log_determinant = 0;  ///< Half of the covariance's.
  };

  const Factors& factors(std::span<const Point> points, const NcclSpread& spread) {
    const std::vector<std::int64_t> sizes =
        mapped(points, [](const Point& point) { return point.key.bytes.value; });
    Question question = {spread.latency, spread.bytes, spread.shape, spread.doublings, sizes};
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

  static Factors worked_out(const std::vector<std::int64_t>& sizes, const NcclSpread& spread) {
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

  std::map<Question, Factors> known_;
  std::size_t numbers_ = 0;  ///< In the matrices of `known_`.
};

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
