#pragma once

#include <vector>

#include "lab/evaluation/evaluation.hpp"

/// Predictions between a table's rows when every fourth is known, beside a straight line.
namespace ringside {

/// Every fourth point by size, and the largest; empty unless as many lie between them.
std::vector<Point> every_fourth(std::vector<Point> points);

/// Times of the other points, on the line through their neighbours in `known`, on logarithmic axes.
std::vector<EvaluatedPoint> on_lines_between(const std::vector<Point>& points,
                                             const std::vector<Point>& known);

}  // namespace ringside
