#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.hpp"
#include "results/codec/record.hpp"

namespace ringside {

/// Two algorithms that are compared with each other.
struct AlgorithmPair {
  std::string baseline;
  std::string candidate;
};

/// What is compared with what. Baseline: `naive`, else the algorithm of the first point. Candidate: `ring`,
/// else the fastest other at the largest size on most ranks (measured where it was, else predicted). `native`
/// is neither. None with fewer than two algorithms of our own.
std::optional<AlgorithmPair> choose_pair(std::span<const Point> points);

/// One record per cell (ranks above 1, size) with something to say, by ranks, then size. A winner is the
/// fastest of two or more times, where it is clearly faster than the second.
std::vector<Verdict> verdicts(std::span<const Point> points, const AlgorithmPair& pair);

/// The verdict in sentences, the most important first, without full stops. `points` are of one collective,
/// dtype and op, one point per key, in the scenario's order. Empty without a time or a failure.
///
/// For each number of ranks: who wins at the largest size that has an answer, by how much, what was
/// predicted, and below which size the other one wins. A difference of less than 5 % is "no difference worth
/// having"; measured times whose 95 % intervals overlap "cannot be told apart". Then, for the most ranks: a
/// third algorithm that beats both, native, algorithms that leave NICs idle, tutorial_ring. Then where
/// predicted and measured winner differ, what failed, how good the predictions were, and what limits.
std::vector<std::string> verdict_sentences(std::span<const Point> points);

/// One record for each number of ranks above 1 at which both algorithms have a time at some size, ascending.
///
/// Time over size is taken as straight between neighbouring sizes in a doubly logarithmic plot. A size at
/// which both take exactly as long is a crossing only if the other one wins on its other side. Only sizes at
/// which both have a time (measured: outcome ok) count, each side for itself.
std::vector<Crossover> crossovers(std::span<const Point> points, const AlgorithmPair& pair);

/// The one of these cells, which are of one number of ranks, by ascending size.
std::optional<Crossover> crossover_of(std::span<const Cell> sizes, const AlgorithmPair& pair);

}  // namespace ringside
