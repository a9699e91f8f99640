#include "real/launch/rank_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/failures.hpp"

namespace ringside {
namespace {

/// So many of the last bytes of a rank's standard error are kept.
constexpr std::size_t kMaxErrorText = 4096;

[[noreturn]] void throw_cannot_start(Rank rank, const std::string& program) {
  throw lacking("rank {} cannot be started as {}: {}", rank, program, errno_text());
}

struct Channel {
  FileDescriptor own;
  FileDescriptor other;
};

/// `open` makes the two ends.
template <typename Open>
Channel make_channel(Rank rank, const std::string& program, const Open& open) {
  std::array<int, 2> ends{};
  if (open(ends.data()) != 0) {
    throw_cannot_start(rank, program);
  }
  return {.own = FileDescriptor(ends[0]), .other = FileDescriptor(ends[1])};
}

Channel make_pipe(Rank rank, const std::string& program) {
  return make_channel(rank, program, [](int* ends) { return ::pipe2(ends, O_CLOEXEC); });
}

/// In the child: signals as usual, a process group of its own, and no life without its parent.
void detach(pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(EXIT_FAILURE);  // The parent died before the request to die with it.
  }
}

}  // namespace

RankChild::RankChild(Rank rank, const std::vector<std::string>& command) : rank_(rank) {
  const std::string program = fmt::format("`{}`", command.front());
  Channel error_output = make_pipe(rank, program);
  Channel report = make_pipe(rank, program);  // Closed by a successful exec.
  std::vector<char*> arguments;
  for (const std::string& word : command) {
    arguments.push_back(const_cast<char*>(word.c_str()));  // exec's interface; it does not write.
  }
  arguments.push_back(nullptr);
  // Between fork and exec: nothing but calls that are safe in the child of a process with threads.
  copy_process(program, [&](int control) {
    if (::dup2(control, STDIN_FILENO) >= 0 && ::dup2(control, STDOUT_FILENO) >= 0 &&
        ::dup2(error_output.other.number(), STDERR_FILENO) >= 0) {
      ::execvp(arguments[0], arguments.data());
    }
    const int cause = errno;
    const ssize_t ignored = ::write(report.other.number(), &cause, sizeof(cause));
    static_cast<void>(ignored);
    return EXIT_FAILURE;
  });
  report.other.close();
  int cause = 0;
  if (::read(report.own.number(), &cause, sizeof(cause)) == sizeof(cause)) {
    ::waitpid(process_, nullptr, 0);
    errno = cause;
    throw_cannot_start(rank, program);
  }
  error_output_ = std::move(error_output.own);
  ::fcntl(error_output_.number(), F_SETFL, O_NONBLOCK);
}

RankChild::RankChild(Rank rank, const std::function<int(int control)>& body) : rank_(rank) {
  copy_process("a copy of this process", body);
}

void RankChild::copy_process(const std::string& program, const std::function<int(int control)>& body) {
  Channel control = make_channel(
      rank_, program, [](int* ends) { return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); });
  std::fflush(nullptr);  // What is buffered would be written by parent and child.
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    detach(parent);
    control.own.close();
    ::_exit(body(control.other.number()));
  }
  if (process_ < 0) {
    throw_cannot_start(rank_, program);
  }
  ::setpgid(process_, process_);  // Both sides do, so that it is done whoever runs first.
  control_ = std::move(control.own);
  ::fcntl(control_.number(), F_SETFL, O_NONBLOCK);
}

RankChild::~RankChild() {
  kill();
  ::waitpid(process_, nullptr, 0);
}

bool RankChild::send(const std::string& line) {
  // A job fits into the socket's buffer many times over, so a partial send means that the rank does not read.
  return ::send(control_.number(), line.data(), line.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(line.size());
}

bool RankChild::read_control() {
  std::array<char, 65536> piece;
  while (true) {
    const ssize_t count = ::read(control_.number(), piece.data(), piece.size());
    if (count > 0) {
      lines_.append(piece.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }
  }
}

void RankChild::read_error_output() {
  std::array<char, 4096> piece;
  while (error_output_.open()) {
    const ssize_t count = ::read(error_output_.number(), piece.data(), piece.size());
    if (count > 0) {
      error_text_.append(piece.data(), static_cast<std::size_t>(count));
      if (error_text_.size() > kMaxErrorText) {
        error_text_.erase(0, error_text_.size() - kMaxErrorText);
      }
    } else if (count == 0) {
      error_output_.close();
    } else if (errno != EINTR) {
      return;
    }
  }
}

std::optional<std::string> RankChild::end() {
  // Not reaped: until it is, nobody else can get its number, and kill() ends this group and no other.
  siginfo_t ended{};
  if (!end_ && ::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      ended.si_pid == process_) {
    if (ended.si_code == CLD_EXITED) {
      end_ = fmt::format("ended with exit status {}", ended.si_status);
    } else {
      end_ = fmt::format("was killed by signal {} ({})", ended.si_status, ::strsignal(ended.si_status));
    }
  }
  return end_;
}

bool RankChild::stopped() const { return process_state(fmt::format("/proc/{}", process_)) == 'T'; }

std::string RankChild::output_tail() const { return error_text_; }

void RankChild::close_control() { ::shutdown(control_.number(), SHUT_WR); }

void RankChild::kill() {
  ::kill(-process_, SIGKILL);  // The group: a wrapper and the rank behind it.
}

}  // namespace ringside
