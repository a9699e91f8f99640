#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "common/file_descriptor.hpp"

/// What the launcher needs of the operating system beside processes.
namespace ringside {

/// A temporary directory that only this user can read, removed with all it holds. Whoever makes
/// one removes those that killed processes of this user have left for a minute or longer.
class TemporaryDirectory {
 public:
  /// Throws Error{environment}.
  TemporaryDirectory();
  ~TemporaryDirectory() { remove(); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Before its time: nobody needs what it holds any more.
  void remove();

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;  ///< Held while somebody uses the directory.
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

/// The first word of a file; none where there is no such file, or it does not begin with one.
template <typename Value>
std::optional<Value> value_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  Value value{};
  return stream >> value ? std::optional(value) : std::nullopt;
}

/// The letter by which the kernel says what a process or a thread does (R: it could run, T: it is stopped),
/// from its folder in /proc; 0 when it is gone.
char process_state(const std::filesystem::path& folder);

/// 128 bits that nobody can guess, in hexadecimal digits. Throws Error{environment}.
using Secret = std::array<char, 32>;
Secret make_secret();

/// "Permission denied" for the current errno.
std::string errno_text();

}  // namespace ringside
