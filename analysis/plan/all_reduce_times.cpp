#include "analysis/plan/all_reduce_times.hpp"

#include "analysis/comparison/limit_sentences.hpp"
#include "schedule/registry.hpp"
#include "sim/predict.hpp"

namespace ringside {
namespace {

/// NCCL's large all_reduces within a node are rings (or what does no better), so that a ring is the nearest schedule.
constexpr std::string_view kStandIn = "ring";

}  // namespace

AllReduceTimes::AllReduceTimes(const Machine& machine, int ranks, const std::string& algorithm,
                               DataType dtype)
    : machine_(&machine), ranks_(ranks), algorithm_(algorithm), dtype_(dtype) {}

const Interval<Seconds>& AllReduceTimes::range(Bytes bytes) {
  auto found = ranges_.find(bytes);
  if (found == ranges_.end()) {
    found = ranges_.emplace(bytes, predict_range(bytes, true)).first;
  }
  return found->second;
}

Seconds AllReduceTimes::typical(Bytes bytes) {
  if (const auto known = ranges_.find(bytes); known != ranges_.end()) {
    return known->second.typical;
  }
  auto found = typical_.find(bytes);
  if (found == typical_.end()) {
    found = typical_.emplace(bytes, predict_range(bytes, false).typical).first;
  }
  return found->second;
}

Interval<Seconds> AllReduceTimes::predict_range(Bytes bytes, bool interval) {
  const PointKey key{.algorithm = algorithm_, .ranks = ranks_, .bytes = bytes, .dtype = dtype_};
  const auto outcome = [&] {
    try {
      return predict(*machine_, key, {.interval = interval});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) {
        throw;
      }
      throw NotPredicted(error.what());  // One machine that cannot be spoils no other offer.
    }
  }();
  if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
    if (algorithm_ != kNative) {
      throw NotPredicted(unpredicted->reason);
    }
    algorithm_ = kStandIn;
    return predict_range(bytes, interval);
  }
  const auto& prediction = std::get<Prediction>(outcome);
  if (bytes >= largest_) {
    largest_ = bytes;
    limit_ = prediction.limits.empty() ? std::string{} : limit_sentence(prediction.limits.front());
    nics_ = prediction.nics;
  }
  return {.low = prediction.low.value_or(prediction.seconds),
          .typical = prediction.seconds,
          .high = prediction.high.value_or(prediction.seconds)};
}

}  // namespace ringside
