#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "real/launch/launch_options.hpp"
#include "real/launch/rank_task.hpp"
#include "results/measurement.hpp"
#include "results/point.hpp"
#include "schedule/schedule.hpp"

/// Runs points on this machine: starts ranks as processes of this program, measures, gathers, cleans up.
namespace ringside {

struct MeasureOptions {
  LaunchOptions launch = {};
  Seconds budget_per_point{1.0};  ///< Timed iterations of one point stop here …
  double target_interval =
      kMeasuredInterval;  ///< … or when the 95 % interval of the median is this narrow, relative.
  int repetitions = 1;    ///< How often all points are gone through, each time with a part of the budget.
  /// What an earlier run measured: it counts as the first repetitions, and only those that are missing are
  /// made. A point that is here with another outcome than `ok` is not measured.
  std::map<PointKey, Measurement> earlier = {};
  /// Only the first so many repetitions are made now; none: all. Each keeps its budget.
  std::optional<int> repetitions_now = {};
  int min_iterations = 5;  ///< In all repetitions together, rounded up in each.
  int max_iterations = 10'000;
  /// Whether every result is compared with what it must be, outside the timer, or only the last one.
  bool check_every_call = true;
  std::uint64_t seed = 1;  ///< Seed of the input values.
  /// By number of ranks; where there is none, the ranks stand in one node and in order.
  std::map<int, RankPlacement> placements = {};

  RankPlacement placement_of(int num_ranks) const {
    const auto known = placements.find(num_ranks);
    return known == placements.end() ? RankPlacement{} : known->second;
  }
};

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

/// What is done with every point of a list, by ranks that somebody starts.
struct PointWork {
  /// Whether to work on the point at this place of the list; none: on every one. Of ranks that were started
  /// from outside, rank 0 decides for all.
  std::function<bool(std::size_t)> wanted = {};
  /// Why it cannot be done here; nothing when it can.
  std::function<std::optional<std::string>(const PointKey&)> unsupported = {};
  std::function<Task(const PointKey&)> task = {};
  std::function<void(const PointKey&, const std::string& result)> report = {};
  /// A point that is unsupported, or that failed, and why.
  std::function<void(const PointKey&, Outcome, const std::string&)> give_up = {};
};

/// Goes through the points in order, with ranks of its own or as one rank of another launcher; `purpose`
/// keeps several groups of one launch apart. Throws what measure() says.
void work_through(std::span<const PointKey> points, const LaunchOptions& launch, const PointWork& work,
                  const std::string& purpose);

}  // namespace ringside
