#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

#include "common/file_descriptor.hpp"
#include "common/units.hpp"
#include "real/system/posix.hpp"

/// How processes that know one folder find each other's shared memory.
namespace ringside {

/// What a rank tells the others.
struct RankAddress {
  pid_t process = 0;
  int file = -1;  ///< Number of its shared memory among its open files.
  Secret secret = {};
};

class ShmMeeting {
 public:
  /// Makes the folder if there is none. Throws Error{environment} when that cannot be done, and
  /// Error{bad_input} for a rendezvous that is no file:///folder.
  ShmMeeting(const std::string& rendezvous, std::string group);

  /// Throws Error{environment} when it cannot be written.
  void announce(Rank rank, const RankAddress& address);
  /// What `rank` has announced; one without a process when it has not yet.
  RankAddress find(Rank rank) const;

 private:
  std::filesystem::path place_of(Rank rank) const;

  std::filesystem::path folder_;
  std::string group_;
};

/// The shared memory of another process; not open where it cannot be reached (errno says why).
FileDescriptor open_shared_memory(const RankAddress& address);

}  // namespace ringside
