#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// What the peers of our executor share: the rule by which each is timed, and the values that they add up.
/// Nothing of ringside is linked, so that a peer runs as its own users run it.
namespace peer {

/// The ranks that take part, as the library under test provides them.
struct Ranks {
  int rank = 0;
  int num_ranks = 1;
  std::function<void()> barrier;
  std::function<void(std::span<double>)> maximum;  ///< In place, element by element, over all ranks.
};

struct Call {
  std::function<void()> before;  ///< Not timed, before each call: restores the input.
  std::function<void()> run;
};

struct Time {
  double seconds = 0;  ///< Median over calls of the slowest rank's time.
  int calls = 0;
};

/// The rule of docs/measuring.md: after a barrier each rank times its call, the slowest counts, first calls
/// are dropped. Calls go on for about `budget` seconds, but at least five are made. The same at every rank.
Time time_calls(const Call& call, double budget, const Ranks& ranks);

/// What a rank contributes: small whole numbers by rank and index: sums are exact in any order.
std::vector<float> contribution(int rank, std::size_t count);

/// Throws std::runtime_error naming rank and element when `message` is not the sum of all contributions.
void require_sum(const Ranks& ranks, std::span<const float> message);

/// One line for side_by_side, printed by rank 0 alone.
void print(const Ranks& ranks, const std::string& library, const std::string& variant, std::size_t bytes,
           const Time& time);

}  // namespace peer
