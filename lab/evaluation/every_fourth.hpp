#pragma once

#include <vector>

#include "lab/evaluation/evaluation.hpp"

/// What is predicted between the rows of a table when every fourth of them is known, beside a straight line between those.
namespace ringside {

/// Every fourth of the points by size, and the largest; empty unless at least as many as are known lie between them.
std::vector<Point> every_fourth(std::vector<Point> points);

/// Times of the points that are not known, each on the straight line through its neighbours among `known`, on logarithmic axes.
std::vector<EvaluatedPoint> on_lines_between(const std::vector<Point>& points,
                                             const std::vector<Point>& known);

}  // namespace ringside
