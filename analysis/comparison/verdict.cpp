#include "analysis/comparison/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "schedule/registry.hpp"

namespace ringside {
namespace {

std::optional<double> speedup(const Cell& cell, const AlgorithmPair& pair, Side side) {
  const std::optional<Interval<double>> factor = times_as_long(cell, pair.baseline, pair.candidate, side);
  return factor ? std::optional(factor->typical) : std::nullopt;
}

std::optional<std::string> fastest_but(const Cell& cell, const std::string& baseline, Side side) {
  for (const Contender& contender : ranking(cell, side)) {
    if (contender.algorithm != baseline) {
      return contender.algorithm;
    }
  }
  return std::nullopt;
}

/// The fastest algorithm but `baseline` in the last cell that knows a time of one.
std::optional<std::string> best_other(std::span<const Cell> all_cells, const std::string& baseline) {
  const auto last = deciding_cell(
      all_cells, [&](const Cell& cell, Side side) { return fastest_but(cell, baseline, side).has_value(); });
  return last ? fastest_but(*last->cell, baseline, last->side) : std::nullopt;
}

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
    const std::optional<double> factor = speedup(cell, pair, side);
    // A message of no bytes has no place on a logarithmic axis.
    if (factor && cell.question.bytes.value > 0) {
      curve.push_back({.log_bytes = std::log(static_cast<double>(cell.question.bytes.value)),
                       .log_speedup = std::log(*factor)});
    }
  }
  return curve;
}

}  // namespace

std::optional<AlgorithmPair> choose_pair(std::span<const Point> points) {
  std::vector<std::string> ours;
  for (const Point& point : points) {
    if (point.key.algorithm != kNative && std::ranges::find(ours, point.key.algorithm) == ours.end()) {
      ours.push_back(point.key.algorithm);
    }
  }
  if (ours.size() < 2) {
    return std::nullopt;
  }
  const auto has = [&](const char* algorithm) { return std::ranges::find(ours, algorithm) != ours.end(); };
  AlgorithmPair pair;
  pair.baseline = has("naive") ? "naive" : ours.front();
  if (pair.baseline != "ring" && has("ring")) {
    pair.candidate = "ring";
  } else {
    const std::string& other = ours.front() == pair.baseline ? ours[1] : ours.front();
    pair.candidate = best_other(cells(points), pair.baseline).value_or(other);
  }
  return pair;
}

std::vector<Verdict> verdicts(std::span<const Point> points, const AlgorithmPair& pair) {
  std::vector<Verdict> records;
  for (const Cell& cell : cells(points)) {
    if (cell.question.ranks < 2) {
      continue;
    }
    Verdict record = {.ranks = cell.question.ranks,
                      .bytes = cell.question.bytes,
                      .baseline = pair.baseline,
                      .candidate = pair.candidate,
                      .predicted_speedup = speedup(cell, pair, Side::predicted),
                      .measured_speedup = speedup(cell, pair, Side::measured),
                      .predicted_winner = fastest(cell, Side::predicted),
                      .measured_winner = fastest(cell, Side::measured)};
    if (ranking(cell, Side::predicted).size() > 1 || ranking(cell, Side::measured).size() > 1) {
      records.push_back(std::move(record));
    }
  }
  return records;
}

std::optional<Crossover> crossover_of(std::span<const Cell> sizes, const AlgorithmPair& pair) {
  const std::vector<LogPoint> predicted_curve = curve_of(sizes, pair, Side::predicted);
  const std::vector<LogPoint> measured_curve = curve_of(sizes, pair, Side::measured);
  if (predicted_curve.empty() && measured_curve.empty()) {
    return std::nullopt;
  }
  const Crossings predicted = crossings(predicted_curve, pair);
  const Crossings measured = crossings(measured_curve, pair);
  return Crossover{.ranks = sizes.front().question.ranks,
                   .baseline = pair.baseline,
                   .candidate = pair.candidate,
                   .predicted_bytes = predicted.last,
                   .measured_bytes = measured.last,
                   .predicted_crossings = predicted.count,
                   .measured_crossings = measured.count,
                   .predicted_winner = clear_winner(sizes, pair, predicted, Side::predicted),
                   .measured_winner = clear_winner(sizes, pair, measured, Side::measured)};
}

std::vector<Crossover> crossovers(std::span<const Point> points, const AlgorithmPair& pair) {
  std::vector<Crossover> records;
  for (const auto& [ranks, sizes] : cells_by_ranks(points)) {
    if (std::optional<Crossover> record = crossover_of(sizes, pair)) {
      records.push_back(*std::move(record));
    }
  }
  return records;
}

}  // namespace ringside
