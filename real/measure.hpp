#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/point_key.hpp"
#include "real/measurement.hpp"

/// Runs points on this machine: starts ranks as processes of this program, measures, gathers, cleans up.
namespace ringside {

struct LaunchOptions {
  Backend backend = Backend::gloo;
  std::chrono::milliseconds timeout{60'000};  ///< For every single wait.
  std::optional<std::string>
      wrap;  ///< Command put in front of each rank; `{rank}` and `{host}` are replaced.
  std::optional<std::string> interface;  ///< Network interface to bind; none = loopback.
  std::optional<std::string>
      rendezvous;  ///< file:///path or redis://host:port; none = a private temporary directory.
};

struct MeasureOptions {
  LaunchOptions launch;
  Seconds budget_per_point{1.0};  ///< Timed iterations of one point stop here …
  double target_interval = 0.05;  ///< … or when the 95 % interval of the median is this narrow, relative.
  int min_iterations = 5;
  int max_iterations = 10'000;
  std::uint64_t seed = 1;  ///< Of the input values.
};

/// Called in the parent as soon as a point is known.
using PointMeasured = std::function<void(const PointKey&, const Measurement&)>;

/// Measures the points (any numbers of ranks; ranks are started once per number of ranks), in the order given.
/// A point that this backend cannot run becomes outcome `unsupported` with the reason. Throws
/// Error{peer_lost} naming the rank and its signal or exit status when a rank dies or hangs, after every other
/// rank has been ended and every finished point reported.
void measure(std::span<const PointKey> points, const MeasureOptions& options, const PointMeasured& report);

/// The body of a rank process: `ringside rank …`, started by measure(). Returns the exit status.
int run_rank_process(std::span<const std::string> arguments);

}  // namespace ringside
