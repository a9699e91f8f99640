#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace ringside {

/// Pieces of the staging buffer lie within a cache line as the regions do into which they are reduced, so
/// that a reduction's operands are aligned alike.
inline constexpr std::int64_t kCacheLine = 64;

/// `bytes`, rounded up to whole cache lines.
constexpr std::int64_t cache_lines(std::int64_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

/// Hands out pieces of a program's staging buffer while it is compiled; what is given back is used again.
class StagingAllocator {
 public:
  /// Returns the offset of the piece. `like` is the offset of the region that it will be reduced into.
  std::int64_t take(std::int64_t bytes, std::int64_t like);
  /// What take() returned.
  void give_back(std::int64_t offset);

  /// Bytes that the buffer needs for all that was ever taken at once.
  std::int64_t peak() const { return peak_; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> used_;  ///< [begin, end), ascending.
  std::int64_t peak_ = 0;
};

}  // namespace ringside
