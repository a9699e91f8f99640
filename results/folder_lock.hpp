#pragma once

#include <filesystem>

#include "common/file_descriptor.hpp"

namespace ringside {

/// Keeps a folder of results for one run: from its first file to its last no other run may write there.
/// Nothing is left behind; the system ends the lock with the process.
class FolderLock {
 public:
  /// Throws Error{bad_input} when another process holds it.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileDescriptor descriptor_;
};

}  // namespace ringside
