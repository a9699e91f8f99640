#include "real/system/posix.hpp"

#include <cerrno>
#include <ctime>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/failures.hpp"

namespace ringside {

namespace {

namespace fs = std::filesystem;

// The letters X are mkdtemp()'s to choose.
constexpr std::string_view kName = "ringside-ranks-XXXXXX";
constexpr std::string_view kStem = kName.substr(0, kName.size() - 6);
/// Between making a directory and locking it nobody must take it for forsaken.
constexpr time_t kForsakenSeconds = 60;

FileDescriptor opened_directory(const fs::path& directory) {
  return FileDescriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool locked(const FileDescriptor& directory) { return ::flock(directory.number(), LOCK_EX | LOCK_NB) == 0; }

/// Ours, made as this process makes them, and nobody holds its lock.
bool forsaken(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kStem) || name.size() != kName.size()) {
    return false;
  }
  const FileDescriptor directory = opened_directory(path);
  struct stat facts {};
  return directory.open() && ::fstat(directory.number(), &facts) == 0 && facts.st_uid == ::geteuid() &&
         (facts.st_mode & 07777) == 0700 && facts.st_mtime + kForsakenSeconds < ::time(nullptr) &&
         locked(directory);
}

void remove_forsaken(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (forsaken(entry.path())) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    throw lacking("TMPDIR names no directory for temporary files: {}", error.message());
  }
  remove_forsaken(parent);
  std::string name = (parent / kName).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw lacking("no temporary directory can be made as {}: {}", name, errno_text());
  }
  path_ = name;
  lock_ = opened_directory(path_);
  static_cast<void>(locked(lock_));  // Where a file system has no locks, nothing is removed there either.
}

void TemporaryDirectory::remove() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::optional<std::string> LineBuffer::next() {
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos) {
    return std::nullopt;
  }
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

char process_state(const std::filesystem::path& folder) {
  // pid (name) state …; the name may hold anything, so look behind its last parenthesis.
  std::ifstream file(folder / "stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && name_end + 2 < text.size() ? text[name_end + 2] : '\0';
}

Secret make_secret() {
  constexpr std::string_view kLetters = "0123456789abcdef";
  Secret secret;
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    throw lacking("there are no random numbers here: {}", errno_text());
  }
  for (char& letter : secret) {
    letter = kLetters[static_cast<unsigned char>(letter) % kLetters.size()];
  }
  return secret;
}

std::string errno_text() { return std::generic_category().message(errno); }

}  // namespace ringside
