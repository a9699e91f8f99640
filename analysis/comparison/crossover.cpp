#include "analysis/comparison/crossover.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/comparison/cell.hpp"

namespace ringside {
namespace {

/// Where one size lies on the two curves.
struct LogPoint {
  double log_bytes = 0;
  double log_speedup = 0;  ///< ln(baseline / candidate): positive where the candidate wins.
};

struct Crossings {
  std::optional<Bytes> last;
  std::optional<int> count;
  std::optional<std::string> winner;
};

/// Where the line through two points on either side of 0 crosses it.
double root_between(const LogPoint& a, const LogPoint& b) {
  return a.log_bytes - a.log_speedup * (b.log_bytes - a.log_bytes) / (b.log_speedup - a.log_speedup);
}

/// `curve` by ascending size.
Crossings crossings(std::span<const LogPoint> curve, const AlgorithmPair& pair) {
  Crossings result;
  if (curve.size() >= 2) {
    result.count = 0;
  }
  const LogPoint* decided = nullptr;  // The last size with a winner …
  const LogPoint* equal = nullptr;    // … and the last one since at which both take equally long.
  for (const LogPoint& point : curve) {
    if (point.log_speedup == 0) {
      equal = &point;
      continue;
    }
    if (decided != nullptr && std::signbit(decided->log_speedup) != std::signbit(point.log_speedup)) {
      ++*result.count;
      result.last = {
          std::llround(std::exp(equal != nullptr ? equal->log_bytes : root_between(*decided, point)))};
    }
    decided = &point;
    equal = nullptr;
  }
  if (decided != nullptr) {
    result.winner = decided->log_speedup > 0 ? pair.candidate : pair.baseline;
  }
  return result;
}

/// No curve is above the other where the largest size of both has no clear winner.
std::optional<std::string> clear_winner(std::span<const Cell> cells, const AlgorithmPair& pair,
                                        const Crossings& found, Side side) {
  if (!found.winner) {
    return std::nullopt;
  }
  const std::string& loser = *found.winner == pair.baseline ? pair.candidate : pair.baseline;
  const auto last = std::find_if(cells.rbegin(), cells.rend(), [&](const Cell& cell) {
    return timing(cell, loser, side) && timing(cell, *found.winner, side);
  });
  return clearly_faster(*last, *found.winner, loser, side, kWorthHaving) ? found.winner : std::nullopt;
}

std::vector<LogPoint> curve_of(std::span<const Cell> cells, const AlgorithmPair& pair, Side side) {
  std::vector<LogPoint> curve;
  for (const Cell& cell : cells) {
    const std::optional<Interval<double>> baseline = timing(cell, pair.baseline, side);
    const std::optional<Interval<double>> candidate = timing(cell, pair.candidate, side);
    // A message of no bytes has no place on a logarithmic axis.
    if (baseline && candidate && cell.question.bytes.value > 0) {
      curve.push_back({.log_bytes = std::log(static_cast<double>(cell.question.bytes.value)),
                       .log_speedup = std::log(baseline->typical / candidate->typical)});
    }
  }
  return curve;
}

}  // namespace

std::vector<Crossover> crossovers(std::span<const Point> points, const AlgorithmPair& pair) {
  std::map<int, std::vector<Cell>> by_ranks;
  for (Cell& cell : cells(points)) {
    if (cell.question.ranks > 1) {
      by_ranks[cell.question.ranks].push_back(std::move(cell));
    }
  }
  std::vector<Crossover> records;
  for (const auto& [ranks, sizes] : by_ranks) {
    const std::vector<LogPoint> predicted_curve = curve_of(sizes, pair, Side::predicted);
    const std::vector<LogPoint> measured_curve = curve_of(sizes, pair, Side::measured);
    if (predicted_curve.empty() && measured_curve.empty()) {
      continue;
    }
    const Crossings predicted = crossings(predicted_curve, pair);
    const Crossings measured = crossings(measured_curve, pair);
    records.push_back({.ranks = ranks,
                       .baseline = pair.baseline,
                       .candidate = pair.candidate,
                       .predicted_bytes = predicted.last,
                       .measured_bytes = measured.last,
                       .predicted_crossings = predicted.count,
                       .measured_crossings = measured.count,
                       .predicted_winner = clear_winner(sizes, pair, predicted, Side::predicted),
                       .measured_winner = clear_winner(sizes, pair, measured, Side::measured)});
  }
  return records;
}

}  // namespace ringside
