#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ringside {

/// Aligned bytes whose pages exist, so that first touches are not timed.
class Memory {
 public:
  Memory() = default;
  /// Throws std::bad_alloc. The bytes are zero.
  explicit Memory(std::int64_t bytes);

  std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };

  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace ringside
