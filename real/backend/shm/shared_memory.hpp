#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "common/file_descriptor.hpp"

/// Memory that several processes see: a file without a name, which is gone when the last of them is.
namespace ringside {

/// Bytes of a file in the address space of this process.
class Mapping {
 public:
  Mapping() = default;
  /// The whole pages of `file` from `offset` on. Throws std::bad_alloc without address space (ulimit -v).
  Mapping(int file, std::int64_t offset, std::int64_t bytes);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return data_; }
  std::int64_t size() const { return size_; }
  /// A longer piece of the same file; it may move. Throws std::bad_alloc.
  void grow(std::int64_t bytes);

 private:
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// The memory that a rank shows to the others. No name in /dev/shm stands for it and no limit of /dev/shm
/// holds for it; the memory of the machine, or of the container, does.
class SharedMemory {
 public:
  /// With `reserved` bytes at its beginning, zero at first. Throws Error{environment} if none is granted.
  explicit SharedMemory(std::int64_t reserved);

  int file() const { return file_.number(); }
  std::byte* reserved() const { return reserved_.data(); }

  /// Whole pages, which exist and are zero. Throws std::bad_alloc when there is not enough memory, and
  /// Error{environment} when files may not become so large (ulimit -f).
  std::span<std::byte> take(std::int64_t bytes);
  /// Kept for who takes next, if it is long enough: making pages takes longer than what is sent through them.
  void give_back(const std::byte* data);

  /// Where in the file these bytes are; negative when they are somebody else's.
  std::int64_t offset_of(std::span<const std::byte> bytes) const;

 private:
  struct Piece {
    std::int64_t offset = 0;
    Mapping mapping;
  };

  std::int64_t free_place(std::int64_t bytes) const;
  void drop_spare();
  Piece made(std::int64_t size);

  FileDescriptor file_;
  std::int64_t file_size_ = 0;
  Mapping reserved_;
  std::map<const std::byte*, Piece> pieces_;   ///< By address.
  std::multimap<std::int64_t, Piece> spare_;   ///< Given back; by size.
  std::map<std::int64_t, std::int64_t> used_;  ///< Offset → bytes.
};

/// The memory of another rank.
class PeerMemory {
 public:
  PeerMemory() = default;
  /// Throws std::bad_alloc.
  PeerMemory(FileDescriptor file, std::int64_t reserved);

  std::byte* reserved() const { return reserved_.data(); }
  /// Until the next call. Throws std::bad_alloc; null where the file is shorter.
  std::byte* at(std::int64_t offset, std::int64_t bytes);

 private:
  FileDescriptor file_;
  Mapping reserved_;
  Mapping whole_;
};

}  // namespace ringside
