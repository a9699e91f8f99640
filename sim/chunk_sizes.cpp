#include "sim/chunk_sizes.hpp"

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {

namespace {

std::int64_t whole_elements(Bytes size, DataType dtype) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  if (size.value < 0 || size.value % element != 0) {
    throw Error(ErrorKind::bad_input,
                fmt::format("a message of {} B is not a whole number of {} elements ({} B each)", size.value,
                            name(dtype), element));
  }
  return size.value / element;
}

}  // namespace

ChunkSizes::ChunkSizes(Bytes size, DataType dtype, std::int32_t num_chunks)
    : element_size_(static_cast<std::int64_t>(size_of(dtype))),
      layout_(whole_elements(size, dtype), num_chunks) {}

void write_moves(const Schedule& schedule, const ChunkSizes& sizes, std::int64_t round,
                 std::vector<Move>& moves) {
  schedule.write_round(round, moves);
  if (sizes.has_empty_chunks()) {
    std::erase_if(moves, [&sizes](const Move& move) { return sizes.bytes(move) == 0; });
  }
}

}  // namespace ringside
