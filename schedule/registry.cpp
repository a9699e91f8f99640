#include "schedule/registry.hpp"

#include <array>

#include "schedule/algorithms/algorithms.hpp"

namespace ringside {

std::span<const Algorithm> all_algorithms() {
  static const std::array kTable = {
      naive_all_reduce(),
      tutorial_ring_all_reduce(),
      ring_all_reduce(),
  };
  return kTable;
}

std::vector<std::string> algorithm_names(Collective collective) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective == collective) {
      names.emplace_back(algorithm.name);
    }
  }
  return names;
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective == collective && algorithm.name == name) {
      return &algorithm;
    }
  }
  return nullptr;
}

}  // namespace ringside
