#pragma once

#include <map>
#include <tuple>
#include <utility>

#include "common/interval.hpp"
#include "common/names.hpp"
#include "scenario/machine/machine.hpp"

namespace ringside {

/// What collectives of groups of a machine's ranks cost, as NCCL runs them where that is modelled, else as rings, and pairs in an
/// all_to_all.
class GroupTimes {
 public:
  explicit GroupTimes(Machine machine) : machine_(std::move(machine)) {}

  const Machine& machine() const { return machine_; }

  /// What one costs on `ranks` of the machine's GPUs that stand `stride` apart, while the groups between them do the same. `bytes` is the whole
  /// vector, of an all_to_all what one rank has for all. Nothing to pay for a single rank. Throws Error{bad_input} as predict() does.
  const Interval<Seconds>& time(Collective collective, int ranks, int stride, Bytes bytes);

  /// One message from a GPU to one `stride` further.
  Interval<Seconds> send(int stride, Bytes bytes);

 private:
  Machine group_machine(int ranks, int stride) const;

  Machine machine_;
  std::map<std::tuple<Collective, int, int, std::int64_t>, Interval<Seconds>> known_;
};

}  // namespace ringside
