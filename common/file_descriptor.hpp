#pragma once

#include <utility>

#include <unistd.h>

namespace ringside {

/// Owns what the operating system hands out as a file descriptor, and closes it. Every descriptor of ringside
/// has an owner of this type.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close() {
    if (open()) {
      ::close(std::exchange(number_, -1));
    }
  }
  /// The number, which from now on somebody else closes.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;  ///< Negative: none, as open(2) and its like return in vain.
};

}  // namespace ringside
