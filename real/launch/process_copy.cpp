#include "real/launch/process_copy.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.hpp"
#include "common/file_descriptor.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

// The first byte of an answer.
constexpr char kNothing = '0';
constexpr char kText = '1';

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return;  // Nobody reads it any more.
    }
    text.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 1024> piece{};
  ssize_t count = 0;
  while ((count = ::read(file, piece.data(), piece.size())) > 0 || (count < 0 && errno == EINTR)) {
    text.append(piece.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::optional<std::string> asked_in_a_copy(const std::function<std::optional<std::string>()>& question) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw Error(ErrorKind::environment, fmt::format("this process cannot be copied: {}", errno_text()));
  }
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  std::fflush(nullptr);  // What is buffered would be written by both.
  const pid_t process = ::fork();
  if (process == 0) {
    try {
      const std::optional<std::string> answer = question();
      write_all(writing.number(), answer ? kText + *answer : std::string(1, kNothing));
    } catch (const std::exception& error) {
      write_all(writing.number(), kText + std::string(error.what()));
    }
    ::_exit(EXIT_SUCCESS);
  }
  if (process < 0) {
    throw Error(ErrorKind::environment, fmt::format("this process cannot be copied: {}", errno_text()));
  }
  writing.close();
  const std::string answer = read_all(reading.number());
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty()) {
    throw Error(ErrorKind::failed,
                "a copy of this process ended before it could say what this machine lacks");
  }
  return answer.front() == kText ? std::optional(answer.substr(1)) : std::nullopt;
}

}  // namespace ringside
