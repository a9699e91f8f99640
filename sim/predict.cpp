#include "sim/predict.hpp"

#include <utility>

#include "schedule/registry.hpp"
#include "sim/engine/backend_models.hpp"
#include "sim/nccl/knowledge.hpp"

namespace ringside {

namespace {

std::variant<Prediction, Unpredicted> nccl_native(const Machine& machine, const PointKey& key,
                                                  const PredictOptions& options) {
  std::variant<Prediction, std::string> outcome = predict_nccl_native(machine, key, options.native_model);
  if (auto* reason = std::get_if<std::string>(&outcome)) {
    return Unpredicted{std::move(*reason)};
  }
  return std::get<Prediction>(std::move(outcome));
}

/// The knowledge that bears on a schedule of ours; none where there is none.
std::optional<NcclPosterior> posterior_of(const Machine& machine, const NcclSystem& system) {
  NcclPosterior posterior(nccl_fit(), system, nccl_knowledge(machine, system));
  return posterior.sharpened() ? std::optional(std::move(posterior)) : std::nullopt;
}

/// A schedule's prediction from the description, moved by what is known of the machine.
Prediction sharpened(const Machine& machine, const PointKey& key, const PredictOptions& options,
                     Prediction described) {
  const auto outcome = nccl_system(machine, key.ranks);
  const auto* system = std::get_if<NcclSystem>(&outcome);
  if (system == nullptr) {
    return described;
  }
  const std::optional<NcclPosterior> posterior = posterior_of(machine, *system);
  const Machine copied = system->nodes == 1 ? with_known_copies(machine) : machine;
  const std::optional<ScheduleTime> time = posterior ? schedule_time(copied, key) : std::nullopt;
  if (!time) {
    return described;
  }
  const auto end = [&](const std::optional<Seconds>& bound) {
    return bound ? bound->value / described.seconds.value : 1;
  };
  const Interval<double> range = posterior->predict({.system = *system,
                                                     .collective = key.collective,
                                                     .bytes = static_cast<double>(key.bytes.value),
                                                     .time = *time,
                                                     .low = end(described.low),
                                                     .high = end(described.high)});
  if (options.trace != nullptr) {
    const double longer = range.typical / described.seconds.value;
    for (TraceEvent& event : *options.trace) {
      event.start.value *= longer;
      event.end.value *= longer;
    }
  }
  described.seconds = {range.typical};
  if (options.interval) {
    described.low = Seconds{range.low};
    described.high = Seconds{range.high};
  }
  described.source = CostSource::spec_plus_known;
  return described;
}

/// predict() but for whether the point itself was known.
std::variant<Prediction, Unpredicted> predict_unknown(const Machine& machine, const PointKey& key,
                                                      const PredictOptions& options) {
  if (key.algorithm == kNative && key.ranks > 1 &&
      backend_model(machine, options.backend).own == OwnCollectives::nccl) {
    return nccl_native(machine, key, options);
  }
  std::variant<Prediction, Unpredicted> outcome = simulate(machine, key, options);
  if (auto* prediction = std::get_if<Prediction>(&outcome)) {
    const bool described = prediction->source == CostSource::spec && key.ranks > 1 && machine.gpu;
    if (described && !machine.known.empty()) {
      return sharpened(machine, key, options, std::move(*prediction));
    }
  }
  return outcome;
}

}  // namespace

std::variant<Prediction, Unpredicted> predict(const Machine& machine, const PointKey& key,
                                              const PredictOptions& options) {
  std::variant<Prediction, Unpredicted> outcome = predict_unknown(machine, key, options);
  if (auto* prediction = std::get_if<Prediction>(&outcome)) {
    prediction->known = is_known(machine, key);
  }
  return outcome;
}

}  // namespace ringside
