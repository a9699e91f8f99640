#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "common/names.hpp"
#include "real/launch/launch_options.hpp"
#include "real/launch/rank_task.hpp"
#include "results/point_key.hpp"

namespace ringside {

/// What is done with every point of a list, by ranks that somebody starts.
struct PointWork {
  /// Whether to work on the point at this place of the list; none: on every one. Of ranks that were started
  /// from outside, rank 0 decides for all.
  std::function<bool(std::size_t)> wanted = {};
  /// Why it cannot be done here; nothing when it can.
  std::function<std::optional<std::string>(const PointKey&)> unsupported;
  std::function<Task(const PointKey&)> task;
  std::function<void(const PointKey&, const std::string& result)> report;
  /// A point that is unsupported, or that failed, and why.
  std::function<void(const PointKey&, Outcome, const std::string&)> give_up;
};

/// Goes through the points in order, with ranks of its own or as one rank of another launcher; `purpose`
/// keeps several groups of one launch apart. Throws what measure() says.
void work_through(std::span<const PointKey> points, const LaunchOptions& launch, const PointWork& work,
                  const std::string& purpose);

}  // namespace ringside
