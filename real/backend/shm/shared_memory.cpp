#include "real/backend/shm/shared_memory.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/failures.hpp"
#include "common/units.hpp"
#include "real/system/posix.hpp"
#include "real/system/this_machine.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kHugePage = 2LL << 20;
/// From this size on it is asked whether there is so much memory, which takes a hundredth of a millisecond.
constexpr std::int64_t kLarge = 1LL << 20;

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Growing beyond this limit would end the process with a signal.
void require_file_size(std::int64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < static_cast<rlim_t>(bytes)) {
    throw lacking("a rank needs {} of shared memory, but files may have at most {} here (ulimit -f)",
                  format(Bytes{bytes}), format(Bytes{static_cast<std::int64_t>(limit.rlim_cur)}));
  }
}

}  // namespace

Mapping::Mapping(int file, std::int64_t offset, std::int64_t bytes) : size_(round_up(bytes, kPage)) {
  void* place =
      ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
  if (place == MAP_FAILED) {
    throw std::bad_alloc();
  }
  ::madvise(place, static_cast<std::size_t>(size_), MADV_HUGEPAGE);  // Where the system gives them.
  data_ = static_cast<std::byte*>(place);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) {
    ::munmap(data_, static_cast<std::size_t>(size_));
  }
}

void Mapping::grow(std::int64_t bytes) {
  const std::int64_t size = round_up(bytes, kPage);
  void* place =
      ::mremap(data_, static_cast<std::size_t>(size_), static_cast<std::size_t>(size), MREMAP_MAYMOVE);
  if (place == MAP_FAILED) {
    throw std::bad_alloc();
  }
  data_ = static_cast<std::byte*>(place);
  size_ = size;
}

SharedMemory::SharedMemory(std::int64_t reserved)
    : file_(::memfd_create("ringside-rank", MFD_CLOEXEC)), file_size_(round_up(reserved, kHugePage)) {
  if (!file_.open()) {
    throw lacking("there is no shared memory here: {}", errno_text());
  }
  require_file_size(file_size_);
  if (::ftruncate(file_.number(), file_size_) != 0) {
    throw lacking("there is no shared memory of {} here: {}", format(Bytes{file_size_}), errno_text());
  }
  reserved_ = Mapping(file_.number(), 0, reserved);
  used_.emplace(0, file_size_);
}

/// The first gap that is large enough. Large pieces begin where a huge page may.
std::int64_t SharedMemory::free_place(std::int64_t bytes) const {
  const std::int64_t unit = bytes < kHugePage ? kPage : kHugePage;
  std::int64_t place = 0;
  for (const auto& [offset, size] : used_) {
    if (offset - place >= bytes) {
      break;
    }
    place = round_up(offset + size, unit);
  }
  return place;
}

std::span<std::byte> SharedMemory::take(std::int64_t bytes) {
  if (bytes == 0) {
    return {};
  }
  const std::int64_t size = round_up(bytes, kPage);
  auto spare = spare_.lower_bound(size);
  if (spare == spare_.end()) {
    drop_spare();
    Piece piece = made(size);
    spare = spare_.emplace(size, std::move(piece));
  } else {
    std::memset(spare->second.mapping.data(), 0, static_cast<std::size_t>(bytes));
  }
  std::byte* const data = spare->second.mapping.data();
  pieces_.emplace(data, std::move(spare->second));
  spare_.erase(spare);
  return {data, static_cast<std::size_t>(bytes)};
}

SharedMemory::Piece SharedMemory::made(std::int64_t size) {
  // The kernel would not refuse it: it would end processes until there is enough.
  if (size >= kLarge && size > available_memory().value) {
    throw std::bad_alloc();
  }
  const std::int64_t offset = free_place(size);
  if (offset + size > file_size_) {
    require_file_size(offset + size);
    if (::ftruncate(file_.number(), offset + size) != 0) {
      throw std::bad_alloc();
    }
    file_size_ = offset + size;
  }
  Mapping mapping(file_.number(), offset, size);
  // All now: a page missing later ends the process by a signal. They lie near the asking core. Only what is
  // mapped gets huge pages; kernels before 5.14 know just the other call.
  int granted = 0;
  do {
    granted = ::madvise(mapping.data(), static_cast<std::size_t>(size), MADV_POPULATE_WRITE);
    if (granted != 0 && errno == EINVAL) {
      granted = ::fallocate(file_.number(), 0, offset, size);
    }
  } while (granted != 0 && errno == EINTR);
  if (granted != 0) {
    throw std::bad_alloc();
  }
  used_.emplace(offset, size);
  return {.offset = offset, .mapping = std::move(mapping)};
}

void SharedMemory::give_back(const std::byte* data) {
  const auto piece = pieces_.find(data);
  RINGSIDE_CHECK(piece != pieces_.end(), "shared memory is given back once");
  spare_.emplace(piece->second.mapping.size(), std::move(piece->second));
  pieces_.erase(piece);
}

void SharedMemory::drop_spare() {
  for (const auto& [size, piece] : spare_) {
    ::fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, piece.offset, size);
    used_.erase(piece.offset);
  }
  spare_.clear();
}

std::int64_t SharedMemory::offset_of(std::span<const std::byte> bytes) const {
  auto piece = pieces_.upper_bound(bytes.data());
  if (piece == pieces_.begin()) {
    return -1;
  }
  --piece;
  const std::int64_t within = bytes.data() - piece->first;
  return within + static_cast<std::int64_t>(bytes.size()) <= piece->second.mapping.size()
             ? piece->second.offset + within
             : -1;
}

PeerMemory::PeerMemory(FileDescriptor file, std::int64_t reserved)
    : file_(std::move(file)), reserved_(file_.number(), 0, reserved) {}

std::byte* PeerMemory::at(std::int64_t offset, std::int64_t bytes) {
  if (offset + bytes > whole_.size()) {
    struct stat facts {};
    if (::fstat(file_.number(), &facts) != 0 || facts.st_size < offset + bytes) {
      return nullptr;
    }
    if (whole_.data() == nullptr) {
      whole_ = Mapping(file_.number(), 0, facts.st_size);
    } else {
      whole_.grow(facts.st_size);
    }
  }
  return whole_.data() + offset;
}

}  // namespace ringside
