#pragma once

#include <string>
#include <vector>

#include "analysis/evaluation/evaluation.hpp"

/// What is predicted between the rows of a table when every fourth of them is known, beside a straight line between those.
namespace ringside {

/// Every fourth of the points by size, and the largest; empty unless at least as many as are told lie between them.
std::vector<Point> every_fourth(std::vector<Point> points);

/// Times of the points that were not told, each on the straight line through its neighbours among `told`, on logarithmic axes.
std::vector<EvaluatedPoint> on_lines_between(const std::vector<Point>& points,
                                             const std::vector<Point>& told);

/// By class, what both are off by, and on how many systems ours is not worse; a Markdown table.
std::string told_every_fourth(const AccuracyReport& report);

}  // namespace ringside
