#pragma once

#include <utility>
#include <vector>

#include "plots/drawing/figure.hpp"
#include "plots/drawing/text.hpp"
#include "plots/drawing/tics.hpp"

/// What the charts of a plan share.
namespace ringside::plots {

inline constexpr Font kPlanFont{.size = 13};
inline constexpr double kMaxPlanLabel = 330;

/// 1, 2 and 5 times powers of ten of a log axis in a unit; all are labelled where there is room.
std::vector<Tic> decade_tics(const Range& range, double unit, double pixels, bool horizontal);

inline Polyline line(std::vector<XY> points, const Stroke& stroke) {
  return {.points = std::move(points), .stroke = stroke};
}

}  // namespace ringside::plots
