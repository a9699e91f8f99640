#pragma once

#include <functional>
#include <span>
#include <vector>

#include "real/measure/measure_options.hpp"
#include "results/measurement.hpp"
#include "results/point_key.hpp"

/// Runs points on this machine: starts ranks as processes of this program, measures, gathers, cleans up.
namespace ringside {

/// Called in the parent as soon as a point is known.
using PointMeasured = std::function<void(const PointKey&, const Measurement&)>;

/// Measures the points (any numbers of ranks; ranks are started once per number of ranks), in the order
/// given, in as many repetitions as asked for; `report` gets what all of them so far have measured of the
/// point, and just before it `made`, where there is one, what the last of them has. Repetitions that
/// `options.earlier` holds are not made again. A point that this backend cannot run becomes outcome
/// `unsupported` with the reason. Throws Error{peer_lost} naming the rank and its signal or exit status when
/// a rank dies or hangs, after every other rank has been ended and every finished point reported;
/// Error{environment} before anything is started when a
/// point needs more memory or ranks than this machine has, or the backend is missing.
///
/// When this process is itself one rank of mpirun, srun or torchrun (external_rank()), it measures as that
/// rank and calls `report` at rank 0 only; points of another number of ranks are `unsupported`.
///
/// While it runs, SIGINT, SIGTERM and SIGHUP end all ranks and remove temporary files first, and then do what
/// they would have done.
void measure(std::span<const PointKey> points, const MeasureOptions& options, const PointMeasured& report,
             const PointMeasured& made = {});

/// What measure() has to go through, in order: each point once per repetition that is missing.
std::vector<PointKey> missing_repetitions(std::span<const PointKey> points, const MeasureOptions& options);

/// One of several repetitions: its share of the budget and of the least number of calls.
MeasureOptions options_of_repetition(const MeasureOptions& options);

}  // namespace ringside
