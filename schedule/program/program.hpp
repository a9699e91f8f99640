#pragma once

#include <cstdint>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "results/policy.hpp"
#include "schedule/schedule.hpp"

/// A schedule compiled for one rank: a flat list of steps over bytes. Nothing of the schedule is computed
/// while it runs, and whoever can send, receive, copy and reduce can run it (a CPU over sockets, a GPU).
namespace ringside {

/// Bytes of one buffer of a rank. Buffers 0 … num_buffers−1 are the schedule's; the last one, the staging
/// buffer, takes what arrives in order to be reduced.
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
  Rank peer = 0;  ///< The other side of a transfer, or whose data is reduced; else the own rank.
  Region source = {};
  Region target = {};
  std::int32_t transfer = 0;  ///< Index of a receive or send step.
  StepOrigin origin = {};     ///< Which move it belongs to; waits have none.

  bool operator==(const Step&) const = default;
};

struct Program {
  Rank rank = 0;
  int num_ranks = 1;
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  ExecutionPolicy policy = {};                  ///< Under which it was compiled.
  std::vector<std::int64_t> buffer_bytes = {};  ///< The schedule's buffers, then the staging buffer.
  std::vector<Step> steps = {};

  /// Returns the step's index.
  std::int32_t add(const Step& step);
  std::int32_t staging() const { return static_cast<std::int32_t>(buffer_bytes.size()) - 1; }
};

/// What is compiled besides the schedule.
struct Vector {
  std::int64_t num_elements = 0;
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;
};

/// The steps of one rank of a proved schedule. All ranks of a call run programs of one policy.
///
/// docs/architecture.md ("How a schedule runs") has the rules. The transfers of a round start together; what
/// arrives for a `reduce` is reduced behind later transfers unless the rank's next round touches the same
/// chunks; moves without bytes vanish on both sides. Receives of later rounds are posted as early as
/// may_post_ahead() allows where the policy says so. With segments in flight several rounds are under way.
Program compile(const Schedule& schedule, const Vector& vector, Rank rank,
                const ExecutionPolicy& policy = {});

}  // namespace ringside
