#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "common/interval.hpp"
#include "results/point.hpp"
#include "results/prediction.hpp"
#include "scenario/machine/machine.hpp"

/// What the collectives of steps cost; each is predicted once.
namespace ringside {

/// Collectives of groups of a machine's ranks. All but the constructor throw Error{bad_input} where nothing
/// is known of an algorithm, where it cannot run, and for a machine that cannot be (sim/predict.hpp).
class GroupTimes {
 public:
  explicit GroupTimes(Machine machine) : machine_(std::move(machine)) {}

  const Machine& machine() const { return machine_; }

  struct Predicted {
    /// That of the key, or what stands in for a `native` that has no model here.
    std::string algorithm;
    Prediction prediction;
  };
  /// `interval`: with one, which takes three times as long to find. `stride`: ranks are so many GPUs apart,
  /// while the groups between do the same.
  const Predicted& predicted(const PointKey& key, bool interval, int stride = 1);

  /// As NCCL runs it, in bfloat16. `bytes` is the whole vector, of an all_to_all what one rank has for all.
  /// 0 for a single rank.
  Interval<Seconds> time(Collective collective, int ranks, int stride, Bytes bytes);

  /// One message from a GPU to one `stride` further.
  Interval<Seconds> send(int stride, Bytes bytes);

 private:
  Machine group_machine(int ranks, int stride) const;

  Machine machine_;
  std::map<std::tuple<PointKey, bool, int>, Predicted> known_;
};

}  // namespace ringside
