#include "analysis/plan/collective_times.hpp"

#include <algorithm>
#include <variant>

#include "common/failures.hpp"
#include "schedule/registry.hpp"
#include "sim/predict.hpp"

namespace ringside {

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

const GroupTimes::Predicted& GroupTimes::predicted(const PointKey& key, bool interval, int stride) {
  const std::tuple place(key, interval, stride);
  if (const auto found = known_.find(place); found != known_.end()) {
    return found->second;
  }
  const Machine machine = group_machine(key.ranks, stride);
  const PredictOptions options{.interval = interval};
  PointKey asked = key;
  auto outcome = predict(machine, asked, options);
  // NCCL's large all_reduces within a node are rings or no better.
  if (key.algorithm == kNative && std::holds_alternative<Unpredicted>(outcome)) {
    asked.algorithm = key.collective == Collective::all_to_all ? "pairwise" : "ring";
    outcome = predict(machine, asked, options);
  }
  if (const auto* unpredicted = std::get_if<Unpredicted>(&outcome)) {
    throw bad_input("{}", unpredicted->reason);
  }
  return known_.emplace(place, Predicted{asked.algorithm, std::get<Prediction>(std::move(outcome))})
      .first->second;
}

Interval<Seconds> GroupTimes::time(Collective collective, int ranks, int stride, Bytes bytes) {
  if (ranks < 2 || bytes.value <= 0) {
    return {};
  }
  const PointKey key{.collective = collective,
                     .algorithm = std::string(kNative),
                     .ranks = ranks,
                     .bytes = {std::max(bytes.value / 2 * 2, std::int64_t{2})},
                     .dtype = DataType::bfloat16};
  return predicted(key, true, stride).prediction.interval();
}

Interval<Seconds> GroupTimes::send(int stride, Bytes bytes) {
  // Half of what two ranks take to all_gather: each sends the other its half.
  return time(Collective::all_gather, 2, stride, {2 * bytes.value});
}

}  // namespace ringside
