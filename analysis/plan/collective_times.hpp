#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "common/error.hpp"
#include "common/interval.hpp"
#include "common/names.hpp"
#include "results/prediction.hpp"
#include "scenario/machine/machine.hpp"

/// What the collectives of steps cost; each is predicted once.
namespace ringside {

/// There is no prediction: nothing is known of the algorithm there, or it cannot run there. Says why.
class NotPredicted : public Error {
 public:
  explicit NotPredicted(const std::string& reason) : Error(ErrorKind::bad_input, reason) {}
};

/// What all_reduces of one algorithm cost on some ranks of one machine; every size is predicted once.
class AllReduceTimes {
 public:
  /// All but the constructor throw NotPredicted, also for a machine that cannot be (sim/predict.hpp).
  AllReduceTimes(const Machine& machine, int ranks, const std::string& algorithm, DataType dtype);

  /// Nothing to pay for a single rank. With its interval, which takes three times as long to find.
  const Interval<Seconds>& range(Bytes bytes);
  Seconds typical(Bytes bytes);

  /// What is predicted: the algorithm asked for, or what stands in for a `native` that has no model here.
  const std::string& algorithm() const { return algorithm_; }
  /// What shares the ranks' traffic, as predict() says it of the largest size that was predicted.
  const std::string& limit() const { return limit_; }
  /// Likewise: through how many of a node's NICs it goes.
  const std::optional<NicUse>& nics() const { return nics_; }

 private:
  Interval<Seconds> predict_range(Bytes bytes, bool interval);

  const Machine* machine_;  ///< Outlives this.
  int ranks_;
  std::string algorithm_;
  DataType dtype_;
  std::map<Bytes, Interval<Seconds>> ranges_;
  std::map<Bytes, Seconds> typical_;
  Bytes largest_{0};
  std::string limit_;
  std::optional<NicUse> nics_;
};

/// What collectives of groups of a machine's ranks cost, as NCCL runs them where that is modelled, else as
/// rings, and pairs in an all_to_all.
class GroupTimes {
 public:
  explicit GroupTimes(Machine machine) : machine_(std::move(machine)) {}

  const Machine& machine() const { return machine_; }

  /// Cost of one on `ranks` GPUs that are `stride` apart, while the groups between do the same. `bytes` is
  /// the whole vector, of an all_to_all what one rank has for all. 0 for a single rank. Throws
  /// Error{bad_input} as predict() does.
  const Interval<Seconds>& time(Collective collective, int ranks, int stride, Bytes bytes);

  /// One message from a GPU to one `stride` further.
  Interval<Seconds> send(int stride, Bytes bytes);

 private:
  Machine group_machine(int ranks, int stride) const;

  Machine machine_;
  std::map<std::tuple<Collective, int, int, std::int64_t>, Interval<Seconds>> known_;
};

}  // namespace ringside
