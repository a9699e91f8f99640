#pragma once

#include <cstdint>
#include <string_view>

#include "schedule/schedule.hpp"

/// Valid schedules that nobody wrote, from random bytes.
namespace ringside::fuzz {

/// Takes decisions from bytes, one after another; 0 when they are used up.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  /// 0 … end−1; `end` is 1 … 65,536.
  std::uint32_t below(std::uint32_t end);
  bool coin() { return below(2) == 1; }

 private:
  std::string_view bytes_;
};

/// An all_reduce: every chunk is reduced along a random tree and copied along another, each move as
/// soon as it can be or some rounds later. The algorithm behind it is replaced by the next call.
Schedule random_all_reduce(Choices& choices, int num_ranks);

/// Some algorithm of the registry with some request, as far as it supports it: else the ring.
Schedule random_algorithm(Choices& choices, int num_ranks);

}  // namespace ringside::fuzz
