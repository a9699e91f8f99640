#include "schedule/chunk_layout.hpp"

#include "common/error.hpp"

namespace ringside {

ChunkLayout::ChunkLayout(std::int64_t num_elements, std::int32_t num_chunks)
    : num_elements_(num_elements), num_chunks_(num_chunks), small_(0), num_large_(0) {
  RINGSIDE_CHECK(num_elements >= 0, "a message has a negative number of elements");
  RINGSIDE_CHECK(num_chunks >= 1, "a message is cut into less than one chunk");
  small_ = num_elements / num_chunks;
  num_large_ = num_elements % num_chunks;
}

}  // namespace ringside
