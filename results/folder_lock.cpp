#include "results/folder_lock.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "common/key_error.hpp"

namespace ringside {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  // Folders that cannot be read and file systems without locks keep nobody out.
  if (descriptor_.open() && ::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw KeyError(fmt::format(
        "output: another ringside is writing its results to {}; wait for it, or name another folder",
        folder.string()));
  }
}

}  // namespace ringside
