#include "analysis/comparison/policy_sentences.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/text.hpp"
#include "schedule/program/policy.hpp"

namespace ringside {
namespace {

/// Neighbouring sizes of which the same is to be said.
struct Difference {
  PointKey first;
  Bytes last;
  ExecutionPolicy predicted;
  ExecutionPolicy measured;
};

bool is_about(const Difference& difference, const Point& point) {
  return difference.first.algorithm == point.key.algorithm && difference.first.ranks == point.key.ranks &&
         difference.predicted == *point.predicted->policy && difference.measured == *point.measured->policy;
}

}  // namespace

bool policies_differ(const Point& point) {
  return point.predicted && point.predicted->policy && point.measured && point.measured->policy &&
         point.measured->outcome == Outcome::ok && *point.predicted->policy != *point.measured->policy;
}

std::string policy_difference(const ExecutionPolicy& predicted, const ExecutionPolicy& measured) {
  return fmt::format("predicted for {}, but measured with {}", describe(predicted), describe(measured));
}

std::vector<std::string> policy_sentences(std::span<const Point> points) {
  std::vector<Difference> differences;
  for (const Point& point : points) {
    if (!policies_differ(point)) {
      continue;
    }
    const auto known =
        std::find_if(differences.begin(), differences.end(),
                     [&](const Difference& difference) { return is_about(difference, point); });
    if (known != differences.end()) {
      known->last = std::max(known->last, point.key.bytes);
    } else {
      differences.push_back({.first = point.key,
                             .last = point.key.bytes,
                             .predicted = *point.predicted->policy,
                             .measured = *point.measured->policy});
    }
  }
  std::vector<std::string> sentences;
  for (const Difference& difference : differences) {
    const std::string sizes = from_to(difference.first.bytes, difference.last);
    sentences.push_back(fmt::format("{} on {} ranks, {}: {}", difference.first.algorithm,
                                    difference.first.ranks, sizes,
                                    policy_difference(difference.predicted, difference.measured)));
  }
  return sentences;
}

}  // namespace ringside
