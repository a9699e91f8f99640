#pragma once

#include "schedule/schedule.hpp"

/// A slow, obvious interpreter of when things happen, on private full-duplex links between all pairs of
/// ranks. The closed forms are compared with it.
namespace ringside {

struct Costs {
  double alpha = 0;  ///< Per message.
  double beta = 0;   ///< Per message size S that is transferred.
  double gamma = 0;  ///< Per message size S that is reduced.
};

/// The time at which the last rank is done. All chunks are equally long. Throws std::logic_error when two
/// messages go from one rank to another at the same time: they would share a link.
double reference_replay(const Schedule& schedule, const Costs& costs);

}  // namespace ringside
