#include "analysis/comparison/verdict.hpp"

#include <algorithm>

#include "analysis/comparison/cell.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

std::optional<double> speedup(const Cell& cell, const AlgorithmPair& pair, Side side) {
  const std::optional<Interval<double>> baseline = timing(cell, pair.baseline, side);
  const std::optional<Interval<double>> candidate = timing(cell, pair.candidate, side);
  return baseline && candidate ? std::optional(baseline->typical / candidate->typical) : std::nullopt;
}

std::optional<std::string> winner(const Cell& cell, Side side) {
  const std::vector<Contender> contenders = ranking(cell, side);
  const bool clear = contenders.size() >= 2 && clearly_faster(cell, contenders[0].algorithm,
                                                              contenders[1].algorithm, side, kWorthHaving);
  return clear ? std::optional(contenders.front().algorithm) : std::nullopt;
}

std::optional<std::string> fastest_but(const Cell& cell, const std::string& baseline, Side side) {
  for (const Contender& contender : ranking(cell, side)) {
    if (contender.algorithm != baseline) {
      return contender.algorithm;
    }
  }
  return std::nullopt;
}

/// The fastest algorithm but `baseline` in the last cell that knows a time of one; measured times come first.
std::optional<std::string> best_other(std::span<const Cell> all_cells, const std::string& baseline) {
  for (const Side side : {Side::measured, Side::predicted}) {
    const auto last = std::find_if(all_cells.rbegin(), all_cells.rend(), [&](const Cell& cell) {
      return fastest_but(cell, baseline, side).has_value();
    });
    if (last != all_cells.rend()) {
      return fastest_but(*last, baseline, side);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<AlgorithmPair> choose_pair(std::span<const Point> points) {
  std::vector<std::string> ours;
  for (const Point& point : points) {
    if (point.key.algorithm != kNative &&
        std::find(ours.begin(), ours.end(), point.key.algorithm) == ours.end()) {
      ours.push_back(point.key.algorithm);
    }
  }
  if (ours.size() < 2) {
    return std::nullopt;
  }
  const auto has = [&](const char* algorithm) {
    return std::find(ours.begin(), ours.end(), algorithm) != ours.end();
  };
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
                      .predicted_winner = winner(cell, Side::predicted),
                      .measured_winner = winner(cell, Side::measured)};
    if (ranking(cell, Side::predicted).size() > 1 || ranking(cell, Side::measured).size() > 1) {
      records.push_back(std::move(record));
    }
  }
  return records;
}

}  // namespace ringside
