#include "analysis/plan/collective_times.hpp"

#include <algorithm>
#include <variant>

#include "analysis/comparison/point_sentences.hpp"
#include "schedule/registry.hpp"
#include "sim/predict.hpp"

namespace ringside {
namespace {

/// The prediction; of a `native` that has no model here that of the nearest schedule, which `key` then names:
/// NCCL's large all_reduces within a node are rings or no better. Throws NotPredicted, and as predict() does.
Prediction prediction_of(const Machine& machine, PointKey& key, const PredictOptions& options) {
  auto outcome = predict(machine, key, options);
  if (key.algorithm == kNative && std::holds_alternative<Unpredicted>(outcome)) {
    key.algorithm = key.collective == Collective::all_to_all ? "pairwise" : "ring";
    outcome = predict(machine, key, options);
  }
  if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
    throw NotPredicted(unpredicted->reason);
  }
  return std::get<Prediction>(std::move(outcome));
}

}  // namespace

AllReduceTimes::AllReduceTimes(const Machine& machine, int ranks, const std::string& algorithm,
                               DataType dtype)
    : machine_(&machine), ranks_(ranks), algorithm_(algorithm), dtype_(dtype) {}

const Interval<Seconds>& AllReduceTimes::range(Bytes bytes) {
  const auto found = ranges_.find(bytes);
  return found != ranges_.end() ? found->second
                                : ranges_.emplace(bytes, predict_range(bytes, true)).first->second;
}

Seconds AllReduceTimes::typical(Bytes bytes) {
  if (const auto known = ranges_.find(bytes); known != ranges_.end()) {
    return known->second.typical;
  }
  const auto found = typical_.find(bytes);
  return found != typical_.end() ? found->second
                                 : typical_.emplace(bytes, predict_range(bytes, false).typical).first->second;
}

Interval<Seconds> AllReduceTimes::predict_range(Bytes bytes, bool interval) {
  PointKey key{.algorithm = algorithm_, .ranks = ranks_, .bytes = bytes, .dtype = dtype_};
  const Prediction prediction = [&] {
    try {
      return prediction_of(*machine_, key, {.interval = interval});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) {
        throw;
      }
      throw NotPredicted(error.what());  // One machine that cannot be spoils no other offer.
    }
  }();
  algorithm_ = key.algorithm;
  if (bytes >= largest_) {
    largest_ = bytes;
    limit_ = prediction.limits.empty() ? std::string{} : limit_sentence(prediction.limits.front());
    nics_ = prediction.nics;
  }
  return prediction.interval();
}

/// The machine as one group sees it: within a node the node itself, across nodes its share of NICs.
Machine GroupTimes::group_machine(int ranks, int stride) const {
  Machine machine = machine_;
  const int on_node = machine.gpus_per_node.value_or(ranks * stride);
  if (machine.nodes == 1 || stride == 1) {
    return machine;
  }
  if (ranks * stride <= on_node) {
    machine.nodes = 1;
    machine.inter.reset();
    return machine;
  }
  const int groups = std::min(stride, on_node);
  machine.gpus_per_node = std::max(1, on_node / stride);
  machine.nodes = std::max(2, ranks / *machine.gpus_per_node);
  machine.ring_order.reset();
  if (machine.inter) {
    InterLink& inter = *machine.inter;
    const int nics = std::max(1, inter.nics / groups);
    // Fewer NICs than groups: each has a part of one.
    const double part = static_cast<double>(inter.nics) / groups / nics;
    inter.nics = nics;
    if (inter.rate) {
      inter.rate->value *= part;
    }
    if (inter.bandwidth) {
      inter.bandwidth->value *= part;
    }
  }
  return machine;
}

const Interval<Seconds>& GroupTimes::time(Collective collective, int ranks, int stride, Bytes bytes) {
  const std::tuple key(collective, ranks, stride, bytes.value);
  const auto found = known_.find(key);
  if (found != known_.end()) {
    return found->second;
  }
  Interval<Seconds> time{};
  if (ranks > 1 && bytes.value > 0) {
    PointKey point{.collective = collective,
                   .algorithm = std::string(kNative),
                   .ranks = ranks,
                   .bytes = {std::max(bytes.value / 2 * 2, std::int64_t{2})},
                   .dtype = DataType::bfloat16};
    time = prediction_of(group_machine(ranks, stride), point, {}).interval();
  }
  return known_.emplace(key, time).first->second;
}

Interval<Seconds> GroupTimes::send(int stride, Bytes bytes) {
  // Half of what two ranks take to all_gather: each sends the other its half.
  return time(Collective::all_gather, 2, stride, {2 * bytes.value});
}

}  // namespace ringside
