#include "analysis/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "common/error.hpp"
#include "real/statistics.hpp"

namespace ringside {
namespace {

/// Seconds of all repetitions of a probe, by ranks and size.
using Repetitions = std::map<std::pair<int, Bytes>, std::vector<double>>;

Repetitions repetitions_of(std::span<const ProbeSample> samples, ProbeKind kind) {
  Repetitions result;
  for (const ProbeSample& sample : samples) {
    if (sample.key.kind != kind || sample.seconds.empty()) {
      continue;
    }
    for (const double seconds : sample.seconds) {
      RINGSIDE_CHECK(std::isfinite(seconds) && seconds > 0, "a probe took no time");
    }
    std::vector<double>& all = result[{sample.key.ranks, sample.key.bytes}];
    all.insert(all.end(), sample.seconds.begin(), sample.seconds.end());
  }
  return result;
}

/// Medians by ascending size, for probes between ranks 0 and 1.
std::vector<TransferPoint> medians_by_size(const Repetitions& repetitions) {
  std::map<Bytes, std::vector<double>> by_size;
  for (const auto& [key, seconds] : repetitions) {
    std::vector<double>& all = by_size[key.second];
    all.insert(all.end(), seconds.begin(), seconds.end());
  }
  std::vector<TransferPoint> result;
  result.reserve(by_size.size());
  for (const auto& [bytes, seconds] : by_size) {
    result.push_back({.bytes = bytes, .seconds = {summarize(seconds).median}});
  }
  return result;
}

/// Student's t, two-sided 95 %. Source: Abramowitz and Stegun, "Handbook of mathematical functions", table 26.10 for one to
/// three degrees of freedom, expansion 26.7.5 beyond (within 0.1 % from four on).
double student_t95(int degrees_of_freedom) {
  constexpr std::array kExact = {12.706, 4.303, 3.182};
  if (degrees_of_freedom <= static_cast<int>(kExact.size())) {
    return kExact.at(static_cast<std::size_t>(degrees_of_freedom - 1));
  }
  const double x = 1.959964;
  const double v = degrees_of_freedom;
  const double x3 = x * x * x;
  const double x5 = x3 * x * x;
  const double x7 = x5 * x * x;
  return x + (x3 + x) / (4 * v) + (5 * x5 + 16 * x3 + 3 * x) / (96 * v * v) +
         (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * v * v * v);
}

/// min ‖A·x − 1‖ over x ≥ 0 for two unknowns: the minimum is inside, or on one of the two edges.
Eigen::Vector2d solve_non_negative(const Eigen::MatrixX2d& a) {
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(a.rows());
  Eigen::Vector2d inside = a.colPivHouseholderQr().solve(ones);
  if (inside.minCoeff() >= 0) {
    return inside;
  }
  // All entries of A are non-negative, hence so is the best multiple of one column alone.
  Eigen::Vector2d best = Eigen::Vector2d::Zero();
  double best_residual = ones.squaredNorm();
  for (const Eigen::Index column : {0, 1}) {
    const double norm = a.col(column).squaredNorm();
    Eigen::Vector2d edge = Eigen::Vector2d::Zero();
    edge(column) = norm > 0 ? a.col(column).sum() / norm : 0;
    const double residual = (a * edge - ones).squaredNorm();
    if (residual < best_residual) {
      best = edge;
      best_residual = residual;
    }
  }
  return best;
}

void fit_transfers(std::span<const ProbeSample> samples, Calibrated& calibrated) {
  calibrated.transfers = medians_by_size(repetitions_of(samples, ProbeKind::ping_pong));
  std::vector<TransferPoint>& transfers = calibrated.transfers;
  if (transfers.size() < 2) {
    throw Error(
        ErrorKind::failed,
        "the ping_pong probes have fewer than two message sizes, latency and bandwidth cannot be told apart");
  }
  std::vector<TransferPoint> streamed = medians_by_size(repetitions_of(samples, ProbeKind::stream));
  std::erase_if(streamed, [&](const TransferPoint& point) { return point.bytes <= transfers.back().bytes; });

  const LinearCost cost = fit_line(transfers, streamed);
  if (cost.inverse_bandwidth.value <= 0) {
    throw Error(ErrorKind::failed,
                fmt::format("the ping_pong probes up to {} show no cost per byte, probe larger messages",
                            format(transfers.back().bytes)));
  }
  calibrated.latency = cost.latency;
  calibrated.latency_interval = cost.latency_interval;
  calibrated.bandwidth = inverse(cost.inverse_bandwidth);
  if (cost.per_byte_interval && cost.per_byte_interval->low > 0) {
    calibrated.bandwidth_interval = {.low = 1 / cost.per_byte_interval->high,
                                     .high = 1 / cost.per_byte_interval->low};
  }

  // The straight line is fitted to what was seen; only the curve that is looked up must not fall.
  std::vector<double> seconds;
  seconds.reserve(transfers.size());
  for (const TransferPoint& point : transfers) {
    seconds.push_back(point.seconds.value);
  }
  seconds = non_decreasing(seconds);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    transfers[i].seconds = {seconds[i]};
  }
}

void fit_reductions(std::span<const ProbeSample> samples, Calibrated& calibrated) {
  Repetitions repetitions = repetitions_of(samples, ProbeKind::reduction);
  std::erase_if(repetitions,
                [](const auto& entry) { return entry.first.first != 1 || entry.first.second.value <= 0; });
  if (repetitions.empty()) {
    return;
  }
  const Bytes largest = repetitions.rbegin()->first.second;
  std::vector<double> out_of_cache;
  for (const auto& [key, seconds] : repetitions) {
    const auto bytes = static_cast<double>(key.second.value);
    calibrated.reductions.push_back({.bytes = key.second, .cost = {summarize(seconds).median / bytes}});
    if (key.second.value >= largest.value / 4) {
      for (const double value : seconds) {
        out_of_cache.push_back(value / bytes);
      }
    }
  }
  const SampleSummary summary = summarize(out_of_cache);
  calibrated.reduction = {summary.median};
  if (out_of_cache.size() >= static_cast<std::size_t>(kMinSamplesOfInterval)) {
    calibrated.reduction_interval = {.low = summary.low, .high = summary.high};
  }
}

}  // namespace

LinearCost fit_line(std::span<const TransferPoint> times, std::span<const TransferPoint> streamed) {
  const auto num_rows = static_cast<Eigen::Index>(times.size() + streamed.size());
  // Columns of like size keep the problem well conditioned: β is fitted in units of the largest message.
  const auto scale = static_cast<double>((streamed.empty() ? times : streamed).back().bytes.value);
  Eigen::MatrixX2d a(num_rows, 2);
  Eigen::Index row = 0;
  const auto add = [&](const TransferPoint& point, double latency_share) {
    // Divided by the time, so that residuals are relative errors.
    a.row(row++) << latency_share / point.seconds.value,
        static_cast<double>(point.bytes.value) / scale / point.seconds.value;
  };
  for (const TransferPoint& point : times) {
    add(point, 1);
  }
  for (const TransferPoint& point : streamed) {
    add(point, 0);
  }

  const Eigen::Vector2d x = solve_non_negative(a);
  LinearCost cost = {.latency = {x(0)}, .inverse_bandwidth = {x(1) / scale}};
  const auto degrees_of_freedom = static_cast<int>(num_rows) - 2;
  if (degrees_of_freedom >= 1) {
    const double variance = (a * x - Eigen::VectorXd::Ones(num_rows)).squaredNorm() / degrees_of_freedom;
    const Eigen::Matrix2d covariance = variance * (a.transpose() * a).inverse();
    const double t = student_t95(degrees_of_freedom);
    const double latency_margin = t * std::sqrt(covariance(0, 0));
    const double per_byte_margin = t * std::sqrt(covariance(1, 1)) / scale;
    cost.latency_interval = {.low = std::max(0.0, x(0) - latency_margin), .high = x(0) + latency_margin};
    cost.per_byte_interval = {.low = x(1) / scale - per_byte_margin, .high = x(1) / scale + per_byte_margin};
  }
  return cost;
}

std::vector<double> non_decreasing(std::span<const double> values) {
  // Sorted values of neighbours that share one value, their lower median.
  using Block = std::vector<double>;
  const auto median = [](const Block& block) { return block[(block.size() - 1) / 2]; };
  std::vector<Block> blocks;
  for (const double value : values) {
    blocks.push_back({value});
    while (blocks.size() > 1 && median(blocks[blocks.size() - 2]) > median(blocks.back())) {
      const Block last = std::move(blocks.back());
      blocks.pop_back();
      blocks.back().insert(blocks.back().end(), last.begin(), last.end());
      std::sort(blocks.back().begin(), blocks.back().end());
    }
  }
  std::vector<double> result;
  for (const Block& block : blocks) {
    result.insert(result.end(), block.size(), median(block));
  }
  return result;
}

std::vector<PairPoint> pair_matrix(std::span<const ProbeSample> samples) {
  std::map<std::pair<Rank, Rank>, PairPoint> pairs;
  std::map<std::pair<Rank, Rank>, int> ways;
  const auto pair = [&](Rank from, Rank to) -> PairPoint& {
    ++ways[{from, to}];
    PairPoint& point = pairs[{from, to}];
    point.from = from;
    point.to = to;
    return point;
  };
  for (const ProbeSample& sample : samples) {
    const double seconds = summarize(sample.seconds).median;
    const BytesPerSecond bandwidth = {static_cast<double>(sample.key.bytes.value) / seconds};
    const Rank first = sample.key.first;
    const Rank second = sample.key.second;
    switch (sample.key.kind) {
      case ProbeKind::ping_pong:
        pair(first, second).latency = pair(second, first).latency = {seconds};
        break;
      case ProbeKind::stream:
        pair(first, second).bandwidth = bandwidth;
        break;
      case ProbeKind::both_ways:
        pair(first, second).both_ways = pair(second, first).both_ways = bandwidth;
        break;
      case ProbeKind::shift:
      case ProbeKind::reduction:
        break;
    }
  }
  std::vector<PairPoint> matrix;
  for (const auto& [key, point] : pairs) {
    if (ways[key] == 3) {
      matrix.push_back(point);
    }
  }
  return matrix;
}

Calibrated fit_probes(std::span<const ProbeSample> samples) {
  Calibrated calibrated;
  fit_transfers(samples, calibrated);
  fit_reductions(samples, calibrated);
  for (const auto& [key, seconds] : repetitions_of(samples, ProbeKind::shift)) {
    calibrated.shifts.push_back(
        {.ranks = key.first, .bytes = key.second, .seconds = {summarize(seconds).median}});
  }
  return calibrated;
}

}  // namespace ringside
