#include "real/execute/memory.hpp"

#include <cstring>
#include <new>

namespace ringside {
namespace {

constexpr std::align_val_t kPage{4096};

}  // namespace

Memory::Memory(std::int64_t bytes) : size_(static_cast<std::size_t>(bytes)) {
  if (size_ > 0) {
    bytes_.reset(static_cast<std::byte*>(::operator new(size_, kPage)));
    std::memset(bytes_.get(), 0, size_);
  }
}

void Memory::Free::operator()(std::byte* bytes) const { ::operator delete(bytes, kPage); }

}  // namespace ringside
