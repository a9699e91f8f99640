#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "real/execute/coordination.hpp"
#include "real/execute/executor.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/launch/rank_task.hpp"
#include "real/measure/point_request.hpp"
#include "real/measure/recording.hpp"
#include "results/trace_event.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

/// Records one point; called by all ranks of the point at once. Rank 0 returns all events, others none.
Recording record_point(const PointRequest& request, const RankBackend& backend, Coordination& coordination);
extern const TaskKind kRecordPoint;

/// What the programs of ranks 0 … N−1 did, when their steps took these times. The k-th send from one rank to
/// another belongs to the k-th receive there. Clocks that disagree never make an event end before it starts.
std::vector<TraceEvent> trace_events(std::span<const Program> programs,
                                     std::span<const std::vector<StepTime>> times);

/// The call that is shown of those that took `samples` (not empty): the lower median.
std::size_t index_of_median(const std::vector<double>& samples);

/// From when the times of each rank count, where its call began at `starts[rank]`: the first start of all
/// where ranks share one clock (`clocks` are equal), else its own.
std::vector<Seconds> zeros_of(std::span<const double> starts, std::span<const double> clocks);

}  // namespace ringside
