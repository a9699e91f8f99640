#include "schedule/program/staging.hpp"

#include <algorithm>

#include "common/error.hpp"

namespace ringside {

std::int64_t StagingAllocator::take(std::int64_t bytes, std::int64_t like) {
  const std::int64_t within_line = like % kCacheLine;
  const std::int64_t size = cache_lines(within_line + bytes);
  std::int64_t offset = 0;
  auto place = used_.begin();
  while (place != used_.end() && place->first - offset < size) {
    offset = place->second;
    ++place;
  }
  used_.insert(place, {offset, offset + size});
  peak_ = std::max(peak_, offset + size);
  return offset + within_line;
}

void StagingAllocator::give_back(std::int64_t offset) {
  const auto place = std::ranges::find_if(
      used_, [begin = offset - offset % kCacheLine](const auto& piece) { return piece.first == begin; });
  RINGSIDE_CHECK(place != used_.end(), "a piece of the staging buffer was given back twice");
  used_.erase(place);
}

}  // namespace ringside
