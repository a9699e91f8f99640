#pragma once

#include <cstdint>
#include <vector>

#include "schedule/program/program.hpp"

/// A program as a GPU runs it: what is put on its streams, in order, without the host ever waiting. Pure;
/// knows nothing of CUDA or NCCL.
///
/// There are two streams. Group calls go one after another on the *communication* stream: each is one
/// ncclGroupStart … ncclGroupEnd and is complete when all its transfers are. Copies and arithmetic go on the
/// *arithmetic* stream, so that a reduction runs beside the next transfers exactly where the program allows
/// it (pipelined_ring). Two kinds of entries tie the streams together; both wait on the device.
namespace ringside {

enum class StreamOpKind : std::uint8_t {
  group,             ///< Communication: all `transfers` together.
  await_arrivals,    ///< The arithmetic stream waits for all groups so far.
  await_arithmetic,  ///< The communication stream waits for all copies and arithmetic so far.
  copy,              ///< Arithmetic: `target` becomes sources[0].
  reduce,            ///< Arithmetic: the sources are reduced into `target`, in order.
  divide,            ///< Arithmetic: `target` is divided by the number of ranks.
};

struct GroupTransfer {
  Rank peer = 0;
  bool sends = false;  ///< False: receives.
  Region region = {};

  bool operator==(const GroupTransfer&) const = default;
};

struct StreamOp {
  StreamOpKind kind = StreamOpKind::group;
  std::vector<GroupTransfer> transfers = {};
  Region target = {};
  std::vector<Region> sources = {};

  bool operator==(const StreamOp&) const = default;
};

/// Transfers that start together become one group; between two ranks they match in order, as in the program.
/// Reductions of several arrivals into one region become one, of up to `max_sources`.
std::vector<StreamOp> plan_group_calls(const Program& program, int max_sources);

}  // namespace ringside
