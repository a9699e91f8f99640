#include "analysis/check/expected_times.hpp"

#include <cmath>
#include <variant>

#include "common/error.hpp"
#include "sim/nccl/model.hpp"
#include "sim/nccl/native.hpp"
#include "sim/nccl/posterior.hpp"

namespace ringside {

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
    const auto read = nccl_system(machine_, key.ranks);
    const auto* described = std::get_if<NcclSystem>(&read);
    systems_[{Cause::none, key.ranks}] = described != nullptr ? std::optional(*described) : std::nullopt;
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
        const auto read = nccl_system(changed, ranks);
        const auto* found = std::get_if<NcclSystem>(&read);
        entry->second = found != nullptr ? std::optional(*found) : std::nullopt;
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

}  // namespace ringside
