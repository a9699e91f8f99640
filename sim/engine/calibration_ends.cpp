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

/// How far predictions are off where nothing disturbs and messages are processors' work, as deviations of
/// logarithms (docs/model.md): what the model knows least is how ranks wake up and share cores.
constexpr double kProcessorDeviation = 0.1;
/// Neither happens to ranks that copy through memory and have a core each.
constexpr double kOwnCoreDeviation = 0.05;

/// Beside other work a measurement differs more from pass to pass than probes do, which are shorter.
constexpr double kDisturbed = 1.25;

/// The factor to the slow end of the 90 % interval: medians differ by `spread` from pass to pass, the
/// probes' and the measurement's alike, and the model is off by `model`.
double at_slow_end(double spread, double model) {
  constexpr double kNormal90 = 1.645;
  return std::exp(kNormal90 * std::hypot(std::sqrt(2.0) * spread, model));
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

/// How far the model is off for these ranks and messages: in proportion to the share of a message's time for
/// which its sender's processor is busy with it. 0 where no probe tells that share.
double model_deviation(const std::optional<ProcessorCurves>& processor, std::optional<int> cores, int ranks,
                       Bytes bytes) {
  if (!processor) {
    return 0;
  }
  const auto size = static_cast<double>(bytes.value);
  const bool own_cores = processor->through_memory() && cores && ranks <= *cores;
  return (own_cores ? kOwnCoreDeviation : kProcessorDeviation) * processor->send(size) /
         processor->transfer(size);
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
  const double disturbed = calibrated.disturbance ? kDisturbed : 1;
  const auto moved = [&](std::span<const SpreadPoint> spread, int ranks,
                         Bytes bytes) -> std::optional<double> {
    if (spread.empty()) {
      return std::nullopt;
    }
    const double slow = at_slow_end(disturbed * spread_at(spread, bytes, fast),
                                    model_deviation(processor, calibrated.cores, ranks, bytes));
    return fast ? 1 / slow : slow;
  };
  const std::vector<SpreadPoint>& of_reductions =
      calibrated.reduction_spread.empty() ? calibrated.spread : calibrated.reduction_spread;
  for (Curve& curve : calibrated.curves) {
    const bool reduces = row_of(curve.kind).unit == CurveUnit::seconds_per_byte;
    for (CurvePoint& point : curve.points) {
      point.value *=
          reduces ? moved(of_reductions, curve.ranks, point.bytes)
                        .value_or(reduction.value > 0 ? calibrated.reduction.value / reduction.value : 1)
                  : moved(calibrated.spread, curve.ranks, point.bytes).value_or(ratio(point.bytes));
    }
  }
  return calibrated;
}

}  // namespace ringside
