#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ringside::fuzz {

/// Texts made from others by a few random changes: bytes, lines, numbers, others' words. A seed fixes them.
class Mutator {
 public:
  /// `seeds` is not empty.
  Mutator(std::vector<std::string> seeds, std::uint64_t seed);

  std::string next();

 private:
  std::uint64_t below(std::uint64_t end);
  void change(std::string& text);

  std::vector<std::string> seeds_;
  std::uint64_t state_;
};

}  // namespace ringside::fuzz
