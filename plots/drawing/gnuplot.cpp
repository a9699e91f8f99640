#include "plots/drawing/gnuplot.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/failures.hpp"
#include "common/file_descriptor.hpp"
#include "common/programs.hpp"
#include "common/text.hpp"

namespace ringside::plots {
namespace {

namespace fs = std::filesystem;

// How pictures end: PNG with the chunk IEND, which is empty, and its checksum.
constexpr std::string_view kPngEnd = "IEND\xAE\x42\x60\x82";
constexpr std::string_view kSvgEnd = "</svg>";
constexpr std::string_view kPdfEnd = "%%EOF";

FileDescriptor opened(int number, std::string_view what) {
  if (number < 0) {
    throw lacking("{}: {}", what, std::strerror(errno));
  }
  return FileDescriptor(number);
}

/// A file in memory: what gnuplot reads or says never waits for us, so nothing can block on a full pipe.
FileDescriptor memory_file() {
  return opened(::memfd_create("ringside-plot", MFD_CLOEXEC), "cannot make a file in memory for gnuplot");
}

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      throw lacking("cannot pass a script to gnuplot: {}", std::strerror(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> buffer;
  ::lseek(file, 0, SEEK_SET);
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

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

/// A file that goes away again unless it was renamed to where it belongs. Where the file system can, it has
/// no name until then, so that not even a killed process leaves it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& beside)
      : draft_((beside.parent_path() / ("." + beside.filename().string() + ".XXXXXX")).string()) {
    const fs::path folder = beside.parent_path().empty() ? fs::path(".") : beside.parent_path();
    file_ = FileDescriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644));
    if (!file_.open()) {
      path_ = draft_;
      file_ = opened(::mkostemp(path_.data(), O_CLOEXEC),
                     fmt::format("cannot write beside '{}'", beside.string()));
    }
  }
  ~TemporaryFile() {
    if (!path_.empty()) {
      ::unlink(path_.c_str());
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return file_.number(); }

  bool empty() const {
    struct stat status {};
    return ::fstat(file_.number(), &status) != 0 || status.st_size == 0;
  }

  /// Whether the file ends as a picture of this format does, line ends aside.
  bool complete(ImageFormat format) const {
    const std::string_view end = format == ImageFormat::png   ? kPngEnd
                                 : format == ImageFormat::svg ? kSvgEnd
                                                              : kPdfEnd;
    std::array<char, 16> tail{};
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0) {
      return false;
    }
    const off_t from = std::max<off_t>(0, status.st_size - static_cast<off_t>(tail.size()));
    const ssize_t count = ::pread(file_.number(), tail.data(), tail.size(), from);
    return count > 0 &&
           std::string_view(tail.data(), static_cast<std::size_t>(count)).find(end) != std::string_view::npos;
  }

  void rename_to(const fs::path& target) {
    if (path_.empty()) {
      give_name();
    }
    // mkostemp makes files that only their owner reads.
    const mode_t mask = ::umask(S_IRWXG | S_IRWXO);
    ::umask(mask);
    ::fchmod(file_.number(), 0666 & ~mask);
    if (::rename(path_.c_str(), target.c_str()) != 0) {
      throw lacking("cannot write '{}': {}", target.string(), std::strerror(errno));
    }
    path_.clear();
  }

 private:
  /// A link replaces nothing, so it first has a name of its own.
  void give_name() {
    path_ = draft_;
    const FileDescriptor placeholder =
        opened(::mkostemp(path_.data(), O_CLOEXEC), fmt::format("cannot write '{}'", draft_));
    ::unlink(path_.c_str());
    const std::string itself = fmt::format("/proc/self/fd/{}", file_.number());
    if (::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      const std::string reason = std::strerror(errno);
      throw lacking("cannot write '{}': {}", std::exchange(path_, {}), reason);
    }
  }

  std::string draft_;  ///< Its name for an instant, as mkostemp() takes it.
  std::string path_;   ///< Its name, where it has one.
  FileDescriptor file_;
};

}  // namespace

bool gnuplot_available(const Gnuplot& gnuplot) { return !path_of_program(gnuplot.program).empty(); }

std::string run_gnuplot(std::string_view script, int output, const Gnuplot& gnuplot) {
  const FileDescriptor input = memory_file();
  const FileDescriptor error = memory_file();
  write_all(input.number(), script);
  ::lseek(input.number(), 0, SEEK_SET);

  const auto deadline = std::chrono::steady_clock::now() + gnuplot.deadline;
  const pid_t child = start(gnuplot, input.number(), output, error.number());
  const std::optional<int> status = wait_until(child, deadline);
  const std::string said = read_all(error.number());
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

void write_image(const Figure& figure, ImageFormat format, const fs::path& file, const Gnuplot& gnuplot) {
  TemporaryFile image(file);
  std::string said;
  try {
    said = run_gnuplot(gnuplot_script(figure, format), image.descriptor(), gnuplot);
  } catch (const Error& error) {
    const bool lacks_pdf = format == ImageFormat::pdf &&
                           contains(std::string_view(error.what()), "unknown or ambiguous terminal");
    throw Error(error.kind(), fmt::format("cannot draw '{}': {}", file.string(),
                                          lacks_pdf ? "this gnuplot has no terminal pdfcairo; SVG needs none"
                                                    : error.what()));
  }
  if (image.empty()) {
    throw lacking("cannot draw '{}': gnuplot drew nothing{}", file.string(),
                  said.empty() ? "; is the disk full?" : ": " + one_line(said));
  }
  if (!image.complete(format)) {
    // gnuplot does not say that it could not write everything.
    throw lacking("cannot draw '{}': the picture is cut off; is the disk full?", file.string());
  }
  image.rename_to(file);
}

}  // namespace ringside::plots
