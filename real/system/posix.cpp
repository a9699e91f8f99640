#include "real/system/posix.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "common/error.hpp"

namespace ringside {

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "ringside-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    throw Error(ErrorKind::environment, fmt::format("no temporary directory can be made as {}: {}", name,
                                                    error ? error.message() : errno_text()));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
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

std::string errno_text() { return std::generic_category().message(errno); }

}  // namespace ringside
