#include "sim/engine/calibration_ends.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/shared_processor.hpp"

namespace ringside {
namespace {

/// How far predictions are off where nothing disturbs and messages are processors' work, as a deviation of
/// logarithms: how threads wake up is what the model knows least. From 23 comparisons (docs/measuring.md).
constexpr double kProcessorDeviation = 0.07;

/// The factor to the slow end of the 90 % interval: medians differ by `spread` from pass to pass, the
/// probes' and the measurement's alike, and processors are busy for `processor_share` of the time.
double at_slow_end(double spread, double processor_share) {
  constexpr double kNormal90 = 1.645;
  return std::exp(kNormal90 * std::hypot(std::sqrt(2.0) * spread, kProcessorDeviation * processor_share));
}

double deviation_of(const SpreadPoint& point, bool fast) {
  return fast ? point.deviation : point.slow_deviation.value_or(point.deviation);
}

/// How far medians differ at this size on the fast or on the slow side: straight lines over the logarithm of
/// the size, beyond the ends the value there. `spread` is not empty.
double spread_at(std::span<const SpreadPoint> spread, Bytes bytes, bool fast) {
  const auto above =
      std::ranges::find_if(spread, [bytes](const SpreadPoint& point) { return point.bytes >= bytes; });
  if (above == spread.begin() || above == spread.end()) {
    return deviation_of(above == spread.end() ? spread.back() : spread.front(), fast);
  }
  const SpreadPoint& below = *std::prev(above);
  const auto log_of = [](Bytes size) { return std::log(static_cast<double>(size.value)); };
  const double share = (log_of(bytes) - log_of(below.bytes)) / (log_of(above->bytes) - log_of(below.bytes));
  return std::lerp(deviation_of(below, fast), deviation_of(*above, fast), share);
}

std::optional<ProcessorCurves> processor_of(const Calibrated& calibrated) {
  if (find_curve(calibrated.curves, ProbeKind::ping_pong) == nullptr) {
    return std::nullopt;
  }
  return ProcessorCurves(SharedProcessor{.cores = calibrated.cores, .curves = calibrated.curves},
                         calibrated.reduction);
}

/// For which share of a message's time its sender's processor is busy with it; 0 where no probe tells.
double busy_share(const std::optional<ProcessorCurves>& processor, Bytes bytes) {
  const auto size = static_cast<double>(bytes.value);
  return processor ? processor->send(size) / processor->transfer(size) : 0;
}

/// Calibrated or BetweenNodes.
template <typename T>
void move_to_end(T& calibrated, bool fast) {
  if (const auto& interval = calibrated.latency_interval) {
    calibrated.latency = {std::max(0.0, fast ? interval->low : interval->high)};
  }
  if (const auto& interval = calibrated.bandwidth_interval) {
    calibrated.bandwidth = {fast ? interval->high : interval->low};
  }
}

}  // namespace

bool has_intervals(const Calibrated& calibrated) {
  return calibrated.latency_interval || calibrated.bandwidth_interval || calibrated.reduction_interval ||
         !calibrated.spread.empty() || !calibrated.reduction_spread.empty();
}

Calibrated end_of_intervals(Calibrated calibrated, bool fast) {
  const Seconds latency = calibrated.latency;
  const BytesPerSecond bandwidth = calibrated.bandwidth;
  const SecondsPerByte reduction = calibrated.reduction;
  move_to_end(calibrated, fast);
  if (calibrated.between_nodes) {
    move_to_end(*calibrated.between_nodes, fast);
  }
  if (const auto& interval = calibrated.reduction_interval) {
    calibrated.reduction = {fast ? interval->low : interval->high};
  }
  const auto ratio = [&](Bytes bytes) {
    const double before = (latency + bytes / bandwidth).value;
    return before > 0 ? (calibrated.latency + bytes / calibrated.bandwidth).value / before : 1;
  };
  const std::optional<ProcessorCurves> processor = processor_of(calibrated);
  const auto moved = [fast, &processor](std::span<const SpreadPoint> spread,
                                        Bytes bytes) -> std::optional<double> {
    if (spread.empty()) {
      return std::nullopt;
    }
    const double slow = at_slow_end(spread_at(spread, bytes, fast), busy_share(processor, bytes));
    return fast ? 1 / slow : slow;
  };
  const std::vector<SpreadPoint>& of_reductions =
      calibrated.reduction_spread.empty() ? calibrated.spread : calibrated.reduction_spread;
  for (Curve& curve : calibrated.curves) {
    const bool reduces = row_of(curve.kind).unit == CurveUnit::seconds_per_byte;
    for (CurvePoint& point : curve.points) {
      point.value *=
          reduces ? moved(of_reductions, point.bytes)
                        .value_or(reduction.value > 0 ? calibrated.reduction.value / reduction.value : 1)
                  : moved(calibrated.spread, point.bytes).value_or(ratio(point.bytes));
    }
  }
  return calibrated;
}

}  // namespace ringside
