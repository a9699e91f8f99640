#include "plots/drawing/gnuplot.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "common/file_descriptor.hpp"
#include "common/programs.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"

namespace ringside::plots {
namespace {

// How pictures end: PNG with the chunk IEND, which is empty, and its checksum.
constexpr std::string_view kPngEnd = "IEND\xAE\x42\x60\x82";
constexpr std::string_view kSvgEnd = "</svg>";
constexpr std::string_view kPdfEnd = "%%EOF";

/// A file in memory: what gnuplot reads, draws or says never waits for us, so that no full pipe can block.
FileDescriptor memory_file() {
  const int file = ::memfd_create("ringside-plot", MFD_CLOEXEC);
  if (file < 0) {
    throw lacking("cannot make a file in memory for gnuplot: {}", std::strerror(errno));
  }
  return FileDescriptor(file);
}

std::string path_of(const FileDescriptor& file) { return fmt::format("/proc/self/fd/{}", file.number()); }

/// What gnuplot said, on one line and without the caret under the fault.
std::string one_line(const std::string& text) {
  const auto is_blank = [](char c) { return c == '\n' || c == ' ' || c == '\t' || c == '^'; };
  const std::string result = fmt::format("{}", fmt::join(words_of(text, is_blank), " "));
  constexpr std::size_t kEnough = 400;
  return result.size() > kEnough ? result.substr(0, kEnough) + " …" : result;
}

pid_t start(const Gnuplot& gnuplot, int input, int output, int error) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  std::string program = gnuplot.program;
  std::string plain_defaults = "-d";  // Whatever the user keeps in ~/.gnuplot must not change our charts.
  std::array<char*, 3> arguments = {program.data(), plain_defaults.data(), nullptr};
  pid_t child = -1;
  // Charts are written in UTF-8, which gnuplot takes from the locale; a machine may have none.
  std::string locale = "LC_ALL=C.UTF-8";
  std::vector<char*> environment = {locale.data()};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("LC_ALL=")) {
      environment.push_back(*entry);
    }
  }
  environment.push_back(nullptr);
  const int status =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (status == ENOENT) {
    throw lacking("'{}' is not installed (Debian package gnuplot-nox)", gnuplot.program);
  }
  if (status != 0) {
    throw lacking("cannot start '{}': {}", gnuplot.program, std::strerror(status));
  }
  return child;
}

/// The wait status of `child`, or nothing when it had to be killed at the deadline.
std::optional<int> wait_until(pid_t child, std::chrono::steady_clock::time_point deadline) {
  using namespace std::chrono_literals;
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return status;
    }
    if (ended < 0 && errno != EINTR) {
      throw lacking("lost track of gnuplot: {}", std::strerror(errno));
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return std::nullopt;
    }
    std::this_thread::sleep_for(2ms);
  }
}

/// Whether the picture ends as one of this format does, line ends aside.
bool is_complete(std::string_view picture, ImageFormat format) {
  const std::string_view end = format == ImageFormat::png   ? kPngEnd
                               : format == ImageFormat::svg ? kSvgEnd
                                                            : kPdfEnd;
  constexpr std::size_t kTail = 16;
  return contains(picture.substr(picture.size() - std::min(picture.size(), kTail)), end);
}

}  // namespace

bool gnuplot_available(const Gnuplot& gnuplot) { return !path_of_program(gnuplot.program).empty(); }

std::string run_gnuplot(std::string_view script, int output, const Gnuplot& gnuplot) {
  const FileDescriptor input = memory_file();
  const FileDescriptor error = memory_file();
  write_file(path_of(input), std::string(script));

  const auto deadline = std::chrono::steady_clock::now() + gnuplot.deadline;
  const pid_t child = start(gnuplot, input.number(), output, error.number());
  const std::optional<int> status = wait_until(child, deadline);
  const std::string said = read_text(path_of(error));
  if (!status) {
    throw lacking("gnuplot did not finish within {:.3g} s and was ended",
                  std::chrono::duration<double>(gnuplot.deadline).count());
  }
  if (WIFSIGNALED(*status)) {
    throw lacking("gnuplot was ended by signal {}: {}", WTERMSIG(*status), one_line(said));
  }
  if (WEXITSTATUS(*status) != 0) {
    throw lacking("gnuplot exited with status {}: {}", WEXITSTATUS(*status), one_line(said));
  }
  return said;
}

void write_image(const Figure& figure, ImageFormat format, const std::filesystem::path& file,
                 const Gnuplot& gnuplot) {
  const FileDescriptor drawn = memory_file();
  std::string said;
  try {
    said = run_gnuplot(gnuplot_script(figure, format), drawn.number(), gnuplot);
  } catch (const Error& error) {
    const bool lacks_pdf = format == ImageFormat::pdf &&
                           contains(std::string_view(error.what()), "unknown or ambiguous terminal");
    throw Error(error.kind(), fmt::format("cannot draw '{}': {}", file.string(),
                                          lacks_pdf ? "this gnuplot has no terminal pdfcairo; SVG needs none"
                                                    : error.what()));
  }
  const std::string picture = read_text(path_of(drawn));
  if (picture.empty()) {
    throw lacking("cannot draw '{}': gnuplot drew nothing{}", file.string(),
                  said.empty() ? "" : ": " + one_line(said));
  }
  if (!is_complete(picture, format)) {
    throw lacking("cannot draw '{}': the picture is cut off", file.string());
  }
  write_file(file, picture);
}

}  // namespace ringside::plots
