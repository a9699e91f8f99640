#include "results/folder_lock.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "common/error.hpp"

namespace ringside {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  // Folders that cannot be read and file systems without locks keep nobody out.
  if (descriptor_.open() && ::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("another ringside is writing its results to {}; wait for it, or name another folder "
                    "with --output",
                    folder.string()));
  }
}

}  // namespace ringside
