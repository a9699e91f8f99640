#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace ringside {

/// A hash that is the same everywhere (FNV-1a, 64 bits): tells whether data changed, not who changed them.
class Fnv1a {
 public:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      add_byte(static_cast<unsigned char>(word >> (8 * byte)));
    }
  }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(const std::string& text) {
    for (const char c : text) {
      add_byte(static_cast<unsigned char>(c));
    }
    add_byte(0);
  }
  std::string digits() const { return fmt::format("{:016x}", hash_); }

 private:
  void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace ringside
