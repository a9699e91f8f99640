#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/file_descriptor.hpp"
#include "common/units.hpp"
#include "real/system/posix.hpp"

namespace ringside {

/// A rank process as its parent sees it. The destructor kills it and all that it started.
class RankChild {
 public:
  /// Starts `command` in a process group of its own, with a control socket as standard input and output. It
  /// dies with this thread. Throws Error{environment} when it cannot be started.
  RankChild(Rank rank, const std::vector<std::string>& command);
  /// Runs `body` in a copy of this (single-threaded) process, with its end of the control socket; what
  /// it returns is the exit status. Input and output stay those of this process. Dies with this thread, too.
  RankChild(Rank rank, const std::function<int(int control)>& body);
  ~RankChild();
  RankChild(const RankChild&) = delete;
  RankChild& operator=(const RankChild&) = delete;

  Rank rank() const { return rank_; }
  /// The rank's process, or that of a wrapper that started it.
  pid_t process() const { return process_; }
  int control() const { return control_.number(); }
  /// -1 when nothing more comes.
  int error_output() const { return error_output_.number(); }

  /// False when the rank no longer reads.
  bool send(const std::string& line);
  /// Reads what there is. False at the end of the rank's output.
  bool read_control();
  void read_error_output();
  std::optional<std::string> next_line() { return lines_.next(); }

  /// "was killed by signal 9 (Killed)" or "ended with exit status 3", once it has ended.
  std::optional<std::string> end();
  /// Whether somebody has stopped it (SIGSTOP).
  bool stopped() const;
  /// The last lines that it wrote to standard error, where that is ours to read.
  std::string output_tail() const;

  /// Tells it that there is no more work.
  void close_control();
  void kill();

 private:
  void copy_process(const std::string& program, const std::function<int(int control)>& body);

  Rank rank_;
  pid_t process_ = -1;
  FileDescriptor control_;
  FileDescriptor error_output_;
  LineBuffer lines_;
  std::string error_text_;
  std::optional<std::string> end_;
};

}  // namespace ringside
