#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

/// Owners of what the operating system hands out by number or by name.
namespace ringside {

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
  void close();

 private:
  int number_ = -1;
};

/// A directory under the system's temporary directory that only this user can read, removed with all it holds.
class TemporaryDirectory {
 public:
  /// Throws Error{environment}.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Lines out of bytes that arrive in pieces.
class LineBuffer {
 public:
  void append(const char* data, std::size_t size) { text_.append(data, size); }
  /// The next whole line, without its end.
  std::optional<std::string> next();

 private:
  std::string text_;
};

/// "Permission denied" for the current errno.
std::string errno_text();

}  // namespace ringside
