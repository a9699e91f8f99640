#include "analysis/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <utility>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "analysis/repetitions.hpp"
#include "common/error.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

/// What one value of the curve is, of a median in seconds.
double value_of(CurveUnit unit, double seconds, Bytes bytes) {
  return unit == CurveUnit::seconds ? seconds : seconds / static_cast<double>(bytes.value);
}

/// One curve for each number of ranks and messages that was probed.
std::vector<Curve> curves_of(const ProbeKindRow& row, std::span<const ProbeSample> samples) {
  std::vector<Curve> curves;
  for (const auto& [place, repeated] : repetitions_of(samples, row)) {
    if (curves.empty() || curves.back().ranks != place.ranks || curves.back().messages != place.messages) {
      curves.push_back({.kind = row.kind, .ranks = place.ranks, .messages = place.messages});
    }
    curves.back().points.push_back(
        {.bytes = place.bytes, .value = value_of(row.unit, common_median(repeated), place.bytes)});
  }
  return curves;
}

/// The points of a kind of which there is one curve.
std::vector<CurvePoint> points_of(ProbeKind kind, std::span<const ProbeSample> samples) {
  const std::vector<Curve> curves = curves_of(row_of(kind), samples);
  return curves.empty() ? std::vector<CurvePoint>{} : curves.front().points;
}

/// Student's t, two-sided 95 %. Source: Abramowitz and Stegun, "Handbook of mathematical functions", table
/// 26.10 for one to three degrees of freedom, expansion 26.7.5 beyond (within 0.25 %).
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

/// min Σ|A·x − 1| over x ≥ 0 for two unknowns. A minimum is where two of the rows, or a row and an edge, are
/// met exactly, so all of them are tried.
Eigen::Vector2d solve_non_negative(const Eigen::MatrixX2d& a) {
  const auto deviation = [&](const Eigen::Vector2d& x) { return ((a * x).array() - 1).abs().sum(); };
  Eigen::Vector2d best = Eigen::Vector2d::Zero();
  double least = deviation(best);
  const auto consider = [&](const Eigen::Vector2d& x) {
    if (!x.allFinite() || x.minCoeff() < 0) {
      return;
    }
    const double sum = deviation(x);
    if (sum < least) {
      best = x;
      least = sum;
    }
  };
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    consider({1 / a(i, 0), 0});
    consider({0, 1 / a(i, 1)});
    for (Eigen::Index j = 0; j < i; ++j) {
      const double determinant = a(i, 0) * a(j, 1) - a(i, 1) * a(j, 0);
      consider({(a(j, 1) - a(i, 1)) / determinant, (a(i, 0) - a(j, 0)) / determinant});
    }
  }
  return best;
}

void make_non_decreasing(std::vector<CurvePoint>& points) {
  const std::vector<double> values = non_decreasing(mapped(points, &CurvePoint::value));
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].value = values[i];
  }
}

/// `transfers`: the ping_pong medians, of at least one size.
LinearCost fit_transfers(std::span<const CurvePoint> transfers, std::span<const ProbeSample> samples) {
  std::vector<CurvePoint> streamed = points_of(ProbeKind::stream, samples);
  std::erase_if(streamed, [&](const CurvePoint& point) { return point.bytes <= transfers.back().bytes; });
  return fit_line(transfers, streamed);
}

/// `calibrated`: Calibrated or BetweenNodes.
template <typename T>
void fit_latency_and_bandwidth(std::span<const ProbeSample> samples, T& calibrated) {
  const std::vector<CurvePoint> transfers = points_of(ProbeKind::ping_pong, samples);
  if (transfers.size() < 2) {
    throw Error(
        ErrorKind::failed,
        "the ping_pong probes have fewer than two message sizes, latency and bandwidth cannot be told apart");
  }
  const LinearCost cost = fit_transfers(transfers, samples);
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
                                     .typical = calibrated.bandwidth.value,
                                     .high = 1 / cost.per_byte_interval->low};
  }
}

/// The straight line is fitted to what was seen; only curves that are looked up must not fall.
std::vector<Curve> fit_curves(std::span<const ProbeSample> samples) {
  std::vector<Curve> result;
  for (const ProbeKindRow& row : probe_kinds()) {
    if (!row.curve) {
      continue;
    }
    for (Curve& curve : curves_of(row, samples)) {
      if (row.monotone) {
        make_non_decreasing(curve.points);
      }
      result.push_back(std::move(curve));
    }
  }
  return result;
}

void fit_reduction(std::span<const ProbeSample> samples, Calibrated& calibrated) {
  const std::map<ProbePlace, Repeated> repetitions = repetitions_of(samples, row_of(ProbeKind::reduction));
  Bytes largest = {};
  for (const auto& [place, repeated] : repetitions) {
    largest = std::max(largest, place.bytes);
  }
  std::vector<double> out_of_cache;
  for (const auto& [place, repeated] : repetitions) {
    const auto bytes = static_cast<double>(place.bytes.value);
    if (place.ranks == 1 && place.bytes.value >= largest.value / 4) {
      for (const std::vector<double>& repetition : repeated) {
        for (const double seconds : repetition) {
          out_of_cache.push_back(seconds / bytes);
        }
      }
    }
  }
  if (out_of_cache.empty()) {
    return;
  }
  const SampleSummary summary = summarize(out_of_cache);
  calibrated.reduction = {summary.median};
  if (out_of_cache.size() >= static_cast<std::size_t>(kMinSamplesOfInterval)) {
    calibrated.reduction_interval = {.low = summary.low, .typical = summary.median, .high = summary.high};
  }
}

}  // namespace

LinearCost fit_line(std::span<const CurvePoint> times, std::span<const CurvePoint> streamed) {
  const auto num_rows = static_cast<Eigen::Index>(times.size() + streamed.size());
  // Columns of like size keep the problem well conditioned: β is fitted in units of the largest message.
  const auto scale = static_cast<double>((streamed.empty() ? times : streamed).back().bytes.value);
  Eigen::MatrixX2d a(num_rows, 2);
  Eigen::Index row = 0;
  const auto add = [&](const CurvePoint& point, double latency_share) {
    // Divided by the time, so that residuals are relative errors.
    a.row(row++) << latency_share / point.value, static_cast<double>(point.bytes.value) / scale / point.value;
  };
  for (const CurvePoint& point : times) {
    add(point, 1);
  }
  for (const CurvePoint& point : streamed) {
    add(point, 0);
  }

  const Eigen::Vector2d x = solve_non_negative(a);
  LinearCost cost = {.latency = {x(0)}, .inverse_bandwidth = {x(1) / scale}};
  const auto degrees_of_freedom = static_cast<int>(num_rows) - 2;
  if (degrees_of_freedom >= 1) {
    // σ = √(π/2)·mean|r| of normal residuals, and the variance is π/2 times that of least squares.
    const double deviation = (a * x - Eigen::VectorXd::Ones(num_rows)).lpNorm<1>() / degrees_of_freedom;
    const double scale_of_error = std::numbers::pi / 2 * deviation;
    const Eigen::Matrix2d covariance = scale_of_error * scale_of_error * (a.transpose() * a).inverse();
    const double t = student_t95(degrees_of_freedom);
    const double latency_margin = t * std::sqrt(covariance(0, 0));
    const double per_byte_margin = t * std::sqrt(covariance(1, 1)) / scale;
    cost.latency_interval = {
        .low = std::max(0.0, x(0) - latency_margin), .typical = x(0), .high = x(0) + latency_margin};
    cost.per_byte_interval = {.low = x(1) / scale - per_byte_margin,
                              .typical = x(1) / scale,
                              .high = x(1) / scale + per_byte_margin};
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
      std::ranges::sort(blocks.back());
    }
  }
  std::vector<double> result;
  for (const Block& block : blocks) {
    result.insert(result.end(), block.size(), median(block));
  }
  return result;
}

std::optional<SecondsPerByte> cost_per_byte(std::span<const ProbeSample> samples) {
  const std::vector<CurvePoint> transfers = points_of(ProbeKind::ping_pong, samples);
  if (transfers.size() <= 1) {
    return std::nullopt;
  }
  const SecondsPerByte cost = fit_transfers(transfers, samples).inverse_bandwidth;
  return cost.value > 0 ? std::optional(cost) : std::nullopt;
}

std::optional<std::string> contradiction(std::span<const ProbeSample> samples) {
  constexpr double kContradiction = 3;
  const std::vector<CurvePoint> alone = points_of(ProbeKind::ping_pong, samples);
  if (alone.size() >= 2 && fit_line(alone).inverse_bandwidth.value <= 0) {
    return fmt::format("messages of {} take no longer than those of {}", format(alone.back().bytes),
                       format(alone.front().bytes));
  }
  for (const Curve& together : curves_of(row_of(ProbeKind::neighbour_exchange), samples)) {
    for (const CurvePoint& point : together.points) {
      const auto same = std::ranges::find(alone, point.bytes, &CurvePoint::bytes);
      if (same != alone.end() && same->value > kContradiction * point.value) {
        return fmt::format("a message of {} takes {} alone, and {} while {} ranks send at once",
                           format(point.bytes), format(Seconds{same->value}), format(Seconds{point.value}),
                           together.ranks);
      }
    }
  }
  return std::nullopt;
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
    const ProbeKind kind = sample.key.kind;
    if (kind == ProbeKind::ping_pong) {
      pair(first, second).latency = pair(second, first).latency = {seconds};
    } else if (kind == ProbeKind::stream) {
      pair(first, second).bandwidth = bandwidth;
    } else if (kind == ProbeKind::both_ways) {
      pair(first, second).both_ways = pair(second, first).both_ways = bandwidth;
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

namespace {

/// How far predictions over links between nodes are off, as a deviation of logarithms (docs/model.md).
constexpr double kLinkDeviation = 0.07;

/// What all ranks of a node send to the next node at once, both ways, in bytes per second: by the two longest
/// messages, so that what comes before their bytes does not count. `alone` where that was not probed.
double bandwidth_together(std::span<const ProbeSample> samples, double alone) {
  const std::vector<CurvePoint> points = points_of(ProbeKind::neighbour_exchange, samples);
  if (points.size() < 2) {
    return alone;
  }
  const CurvePoint& longest = points.back();
  const CurvePoint& before = points[points.size() - 2];
  const auto bytes = static_cast<double>(longest.bytes.value - before.bytes.value);
  return samples.front().key.second * bytes / std::max(longest.value - before.value, longest.value / 1e3);
}

/// Beside what a node's ranks get by our own messages, `together` bytes per second.
void fit_native_exchange(std::span<const ProbeSample> samples, double together, BetweenNodes& between) {
  std::vector<double> factors;
  for (const ProbeSample& sample : samples) {
    if (sample.key.kind == ProbeKind::native_exchange) {
      const auto bytes = static_cast<double>(sample.key.second * sample.key.bytes.value);
      for (const double seconds : sample.seconds) {
        factors.push_back(std::max(1.0, (seconds - between.latency.value) * together / bytes));
      }
    }
  }
  if (!factors.empty()) {
    const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
    between.native_exchange = summarize(factors).median;
    between.native_exchange_interval = {.low = *least, .typical = between.native_exchange, .high = *most};
  }
}

BetweenNodes fit_between_nodes(std::span<const ProbeSample> samples) {
  BetweenNodes between;
  fit_latency_and_bandwidth(samples, between);
  // The line tells the latency alone: short messages, which links let pass at once, would make it too steep.
  const CurvePoint longest = points_of(ProbeKind::ping_pong, samples).back();
  const double alone = static_cast<double>(longest.bytes.value) /
                       std::max(longest.value - between.latency.value, longest.value / 2);
  const double together = bandwidth_together(samples, alone);
  // Where both ways at once each way is slower than alone, a schedule may be of either kind.
  const double least = std::min(alone, together);
  const double margin = std::exp(kNormal90 * kLinkDeviation);
  between.bandwidth = {least};
  between.bandwidth_interval = {.low = least / margin, .typical = least, .high = alone * margin};
  between.messages =
      std::clamp(static_cast<int>(std::lround(together / alone)), 1, samples.front().key.second);
  fit_native_exchange(samples, together, between);
  return between;
}

/// Fitted to probes among neighbours.
Calibrated fit_within(std::span<const ProbeSample> samples) {
  Calibrated calibrated;
  fit_latency_and_bandwidth(samples, calibrated);
  fit_reduction(samples, calibrated);
  calibrated.curves = fit_curves(samples);
  calibrated.spread = spread_of(samples, [](const ProbeKindRow& row) { return row.in_spread; });
  calibrated.reduction_spread =
      spread_of(samples, [](const ProbeKindRow& row) { return row.unit == CurveUnit::seconds_per_byte; });
  return calibrated;
}

}  // namespace

Calibrated fit_probes(std::span<const ProbeSample> samples) {
  std::vector<ProbeSample> within(samples.begin(), samples.end());
  const auto first_between = std::stable_partition(
      within.begin(), within.end(), [](const ProbeSample& sample) { return sample.key.distance() == 1; });
  const std::vector<ProbeSample> between(first_between, within.end());
  within.erase(first_between, within.end());
  Calibrated calibrated = fit_within(within);
  if (!between.empty()) {
    calibrated.between_nodes = fit_between_nodes(between);
  }
  return calibrated;
}

}  // namespace ringside
