#include "real/execute/memory.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace ringside {
namespace {

constexpr std::align_val_t kPage{4096};

}  // namespace

OwnMemory::OwnMemory(std::int64_t bytes) : size_(static_cast<std::size_t>(bytes)) {
  if (size_ > 0) {
    bytes_ = {static_cast<std::byte*>(::operator new(size_, kPage)),
              [](std::byte* own) { ::operator delete(own, kPage); }};
    std::memset(bytes_.get(), 0, size_);
  }
}

OwnMemory::OwnMemory(std::span<std::byte> bytes, std::function<void(std::byte*)> give_back)
    : bytes_(bytes.data(), std::move(give_back)), size_(bytes.size()) {}

}  // namespace ringside
