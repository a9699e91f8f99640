#include "analysis/all_reduce_prices.hpp"

#include "common/error.hpp"
#include "schedule/registry.hpp"
#include "sim/predict.hpp"

namespace ringside {
namespace {

/// NCCL's large all_reduces within a node are rings (or what does no better), so that a ring is the nearest schedule.
constexpr std::string_view kStandIn = "ring";

}  // namespace

AllReducePrices::AllReducePrices(const Machine& machine, int ranks, const std::string& algorithm,
                                 DataType dtype)
    : machine_(&machine), ranks_(ranks), algorithm_(algorithm), dtype_(dtype) {}

const TimeRange& AllReducePrices::range(Bytes bytes) {
  auto found = ranges_.find(bytes);
  if (found == ranges_.end()) {
    found = ranges_.emplace(bytes, price(bytes, true)).first;
  }
  return found->second;
}

Seconds AllReducePrices::typical(Bytes bytes) {
  if (const auto known = ranges_.find(bytes); known != ranges_.end()) {
    return known->second.typical;
  }
  auto found = typical_.find(bytes);
  if (found == typical_.end()) {
    found = typical_.emplace(bytes, price(bytes, false).typical).first;
  }
  return found->second;
}

TimeRange AllReducePrices::price(Bytes bytes, bool interval) {
  const PointKey key{.algorithm = algorithm_, .ranks = ranks_, .bytes = bytes, .dtype = dtype_};
  const auto outcome = predict(*machine_, key, {.interval = interval});
  if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
    if (algorithm_ != kNative) {
      throw Error(ErrorKind::bad_input, unpredicted->reason);
    }
    algorithm_ = kStandIn;
    return price(bytes, interval);
  }
  const auto& prediction = std::get<Prediction>(outcome);
  if (bytes >= largest_) {
    largest_ = bytes;
    limit_ = prediction.limits.empty() ? std::string{} : prediction.limits.front();
    nics_ = prediction.nics;
  }
  return {.typical = prediction.seconds,
          .low = prediction.low.value_or(prediction.seconds),
          .high = prediction.high.value_or(prediction.seconds)};
}

}  // namespace ringside
