#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace ringside {

/// Aligned bytes whose pages exist, so that first touches are not timed.
class OwnMemory {
 public:
  OwnMemory() = default;
  /// Throws std::bad_alloc. The bytes are zero.
  explicit OwnMemory(std::int64_t bytes);
  /// Somebody else's bytes, of which `give_back` takes the first when they are no longer needed.
  OwnMemory(std::span<std::byte> bytes, std::function<void(std::byte*)> give_back);

  std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[], std::function<void(std::byte*)>> bytes_;
  std::size_t size_ = 0;
};

}  // namespace ringside
