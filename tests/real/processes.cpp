#include "processes.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ringside {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();  // Empty when the process has ended meanwhile.
  return text.str();
}

/// "2" for the command line `<program> rank 2 of 4`; words end with a zero byte in /proc.
std::optional<std::string> rank_of_command(const std::string& command) {
  const std::string word("\0rank\0", 6);
  const std::size_t program_end = command.find('\0');
  if (program_end == std::string::npos || command.compare(program_end, word.size(), word) != 0) {
    return std::nullopt;
  }
  const std::size_t begin = program_end + word.size();
  return command.substr(begin, command.find('\0', begin) - begin);
}

}  // namespace

OwnTemporaryDirectory::OwnTemporaryDirectory()
    : path_(std::filesystem::temp_directory_path() / fmt::format("ringside-test-{}", ::getpid())) {
  std::filesystem::create_directory(path_);
  ::setenv("TMPDIR", path_.c_str(), 1);
}

OwnTemporaryDirectory::~OwnTemporaryDirectory() {
  ::unsetenv("TMPDIR");
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<pid_t> OwnTemporaryDirectory::ranks() const {
  std::vector<pid_t> result;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos &&
        rank_of_command(contents(entry.path() / "cmdline")) &&
        contents(entry.path() / "environ").find("TMPDIR=" + path_.string()) != std::string::npos) {
      result.push_back(std::stoi(name));
    }
  }
  return result;
}

pid_t OwnTemporaryDirectory::rank(Rank rank) const {
  for (const pid_t process : ranks()) {
    if (rank_of_command(contents(fmt::format("/proc/{}/cmdline", process))) == fmt::to_string(rank)) {
      return process;
    }
  }
  return 0;
}

bool OwnTemporaryDirectory::strike(Rank rank, int signal) const {
  const pid_t process = this->rank(rank);
  // 0 would be our own group, the runner of tests included.
  return process > 0 && ::kill(process, signal) == 0;
}

bool OwnTemporaryDirectory::wait_for_ranks(std::size_t count, std::chrono::milliseconds time) const {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (ranks().size() != count) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

BusyCores::BusyCores(const std::vector<std::size_t>& cores) {
  for (const std::size_t core : cores) {
    const pid_t process = ::fork();
    if (process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(core, &set);
      ::sched_setaffinity(0, sizeof(set), &set);
      for (volatile bool busy_on = true; busy_on;) {
      }
    }
    processes_.push_back(process);
  }
}

BusyCores::~BusyCores() {
  for (const pid_t process : processes_) {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
}

pid_t start(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  const pid_t process = ::fork();
  if (process == 0) {
    for (const std::string& variable : environment) {
      ::putenv(const_cast<char*>(variable.c_str()));
    }
    std::vector<char*> arguments;
    for (const std::string& word : command) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  return process;
}

}  // namespace ringside
