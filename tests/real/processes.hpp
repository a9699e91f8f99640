#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/units.hpp"
#include "real/system/this_machine.hpp"

/// What tests of whole processes look at and do to them.
namespace ringside {

/// A temporary directory that this process and its children use for theirs. Tells them from those of other
/// tests that run at the same time.
class OwnTemporaryDirectory {
 public:
  OwnTemporaryDirectory();
  ~OwnTemporaryDirectory();
  OwnTemporaryDirectory(const OwnTemporaryDirectory&) = delete;
  OwnTemporaryDirectory& operator=(const OwnTemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool empty() const { return std::filesystem::is_empty(path_); }

  /// Rank processes whose temporary directory this is.
  std::vector<pid_t> ranks() const;
  /// 0 when there is none.
  pid_t rank(Rank rank) const;
  /// Sends it a signal; false when there is no such rank any more.
  bool strike(Rank rank, int signal) const;
  /// Waits until there are `count` of them; false when that takes too long.
  bool wait_for_ranks(std::size_t count, std::chrono::milliseconds time = std::chrono::seconds(5)) const;

 private:
  std::filesystem::path path_;
};

/// A process on each of some cores, by default all of ours, that computes while this lives.
class BusyCores {
 public:
  explicit BusyCores(const std::vector<std::size_t>& cores = allowed_cores());
  ~BusyCores();
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;

  const std::vector<pid_t>& processes() const { return processes_; }

 private:
  std::vector<pid_t> processes_;
};

/// Starts a program and does not wait for it.
pid_t start(const std::vector<std::string>& command, const std::vector<std::string>& environment = {});

}  // namespace ringside
