#pragma once

#include <cstdint>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "schedule/schedule.hpp"

/// A schedule compiled for one rank: a flat list of steps over bytes. Nothing of the schedule is computed while it
/// runs, and whoever can send, receive, copy and reduce can run it (a CPU over sockets, a GPU).
namespace ringside {

/// Bytes of one buffer of a rank. Buffers 0 … num_buffers−1 are the schedule's; the last one, `landing`, takes what
/// arrives in order to be reduced.
struct Region {
  std::int32_t buffer = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;

  bool operator==(const Region&) const = default;
};

enum class StepKind : std::uint8_t {
  receive,  ///< Start to receive from `peer` into `target`.
  send,     ///< Start to send `source` to `peer`.
  wait,     ///< Wait for the transfer that step `transfer` started.
  copy,     ///< `target` becomes `source`.
  reduce,   ///< `source` is reduced into `target`.
  divide,   ///< `target` is divided by the number of ranks (op avg).
};

/// The move of the schedule that a step does its part of. The division of op avg comes after the last round.
struct StepOrigin {
  std::int64_t round = 0;
  std::int32_t first_chunk = 0;
  std::int32_t num_chunks = 1;

  bool operator==(const StepOrigin&) const = default;
};

struct Step {
  StepKind kind = StepKind::wait;
  Rank peer = 0;  ///< Of a transfer, and whose data is reduced; the own rank where nobody else is concerned.
  Region source = {};
  Region target = {};
  std::int32_t transfer = 0;  ///< Index of a receive or send step.
  StepOrigin origin = {};     ///< Of all but waits.

  bool operator==(const Step&) const = default;
};

struct Program {
  Rank rank = 0;
  int num_ranks = 1;
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::vector<std::int64_t> buffer_bytes = {};  ///< The schedule's buffers, then `landing`.
  std::vector<Step> steps = {};

  /// Returns the step's index.
  std::int32_t add(const Step& step);
  std::int32_t landing() const { return static_cast<std::int32_t>(buffer_bytes.size()) - 1; }
};

/// What is compiled besides the schedule.
struct Vector {
  std::int64_t num_elements = 0;
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;
};

/// What of a program's transfers overlaps. All ranks of a call must agree.
enum class Pacing {
  /// A rank starts a round's transfers when those of the round before are over.
  round_by_round,
  /// Receives start with an earlier round of the rank, where the same peers send in all rounds from then on and nothing
  /// else needs the memory. A message then need not wait until its sender has heard that the receiver is ready, and
  /// still none arrives before its turn.
  receive_ahead,
  /// The same; and where slicing_of() says so, long messages travel in slices, of which each goes its way through the
  /// rounds on its own. For ranks of one machine with cores of their own …
  in_slices_on_own_cores,
  /// … or with fewer cores than ranks.
  in_slices_on_shared_cores,
};

/// Follows the rules of docs/architecture.md ("How a schedule runs"): the transfers of a round start together; what
/// arrives for a `reduce` is reduced behind later transfers unless the rank's next round touches the same chunks;
/// moves without bytes vanish on both sides. The schedule must be one whose proof holds.
Program compile(const Schedule& schedule, const Vector& vector, Rank rank,
                Pacing pacing = Pacing::round_by_round);

}  // namespace ringside
