#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/point_key.hpp"
#include "real/measurement.hpp"
#include "schedule/placement.hpp"

/// Runs points on this machine: starts ranks as processes of this program, measures, gathers, cleans up.
namespace ringside {

/// What is said about ranks on GPUs; of no meaning to other backends.
struct GpuOptions {
  int ranks_per_gpu = 1;  ///< More than one is for trying the path where GPUs are few.
  /// Environment variables of NCCL for every rank, such as {"NCCL_ALGO", "Ring"}.
  std::vector<std::pair<std::string, std::string>> settings = {};
};

struct LaunchOptions {
  Backend backend = Backend::gloo;
  GpuOptions gpu = {};
  std::chrono::milliseconds timeout{60'000};  ///< For every single wait.
  /// Command put in front of each rank, split into words as a shell would (quotes, backslash). `{rank}` becomes the
  /// rank; `{host}` becomes `host<rank>`.
  std::optional<std::string> wrap = {};
  std::optional<std::string> interface = {};  ///< Network interface to bind; none = loopback.
  /// file:///path or redis://host:port; none = a private temporary directory.
  std::optional<std::string> rendezvous = {};
  /// What to start as `<program> rank …`; none = this program.
  std::optional<std::filesystem::path> program = {};
};

struct MeasureOptions {
  LaunchOptions launch = {};
  Seconds budget_per_point{1.0};  ///< Timed iterations of one point stop here …
  double target_interval = 0.05;  ///< … or when the 95 % interval of the median is this narrow, relative.
  int passes = 1;  ///< How often all points are gone through, each time with a part of the budget.
  int min_iterations = 5;
  int max_iterations = 10'000;
  std::uint64_t seed = 1;  ///< Of the input values.
  /// By number of ranks; where there is none, the ranks stand in one node and in order.
  std::map<int, RankPlacement> placements = {};
};

/// Throws Error{environment} when a point needs more memory, ranks or GPUs than this machine has. measure() asks this
/// before it starts any rank; whoever has other work to do first asks earlier.
void require_points(std::span<const PointKey> points, const LaunchOptions& options);

inline RankPlacement placement_of(const MeasureOptions& options, int num_ranks) {
  const auto known = options.placements.find(num_ranks);
  return known == options.placements.end() ? RankPlacement{} : known->second;
}

/// Called in the parent as soon as a point is known.
using PointMeasured = std::function<void(const PointKey&, const Measurement&)>;

/// Measures the points (any numbers of ranks; ranks are started once per number of ranks), in the order given, in as
/// many passes as asked for; `report` gets what all passes so far have measured of the point.
/// A point that this backend cannot run becomes outcome `unsupported` with the reason. Throws
/// Error{peer_lost} naming the rank and its signal or exit status when a rank dies or hangs, after every other
/// rank has been ended and every finished point reported; Error{environment} before anything is started when a
/// point needs more memory or ranks than this machine has, or the backend is missing.
///
/// When this process is itself one rank of mpirun, srun or torchrun (external_rank()), it measures as that rank and
/// calls `report` at rank 0 only; points of another number of ranks are `unsupported`.
///
/// While it runs, SIGINT, SIGTERM and SIGHUP end all ranks and remove temporary files first, and then do what they
/// would have done.
void measure(std::span<const PointKey> points, const MeasureOptions& options, const PointMeasured& report);

/// Why `backend` cannot run this point; nothing when it can. Throws Error{bad_input} for an unknown algorithm.
std::optional<std::string> unsupported(const PointKey& key, Backend backend,
                                       const RankPlacement& placement = {});

/// Why this build or machine cannot measure with `backend` at all; nothing when it can.
std::optional<std::string> unavailable(Backend backend);

/// The body of a rank process: `ringside rank …`, started by measure(). Returns the exit status.
int run_rank_process(std::span<const std::string> arguments);

/// This process as mpirun, srun or torchrun started it.
struct ExternalRank {
  Rank rank = 0;
  int num_ranks = 1;
  int local_rank = 0;    ///< Among the ranks of this machine.
  std::string launcher;  ///< "Open MPI", "PMI", "Slurm" or "torchrun"
  std::string job;       ///< Names this run among others of the same launcher; may be empty.
};

/// From the environment variables of these launchers; nothing when this process stands alone. Throws
/// Error{bad_input} when they contradict themselves.
std::optional<ExternalRank> external_rank();

}  // namespace ringside
