// 400 lines: all that knows gnuplot, from the script of each element to how a picture is checked.
#include "plots/drawing/gnuplot.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
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

#include "common/error.hpp"
#include "common/file_descriptor.hpp"
#include "plots/drawing/layout.hpp"

namespace ringside::plots {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFontName = "DejaVu Sans";
constexpr std::uint32_t kGridColor = 0xDDDDDD;
constexpr std::uint32_t kFrameColor = 0x555555;

// How pictures end: PNG with the chunk IEND, which is empty, and its checksum.
constexpr std::string_view kPngEnd = "IEND\xAE\x42\x60\x82";
constexpr std::string_view kSvgEnd = "</svg>";

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorKind::environment, message); }

// ---- The language --------------------------------------------------------------------------------------

/// A single-quoted string: the only character with a meaning inside is the quote, doubled to stand for itself. One at the
/// beginning becomes an apostrophe, for gnuplot takes three quotes in a row for the end of a string.
std::string literal(std::string_view text) {
  std::string result = "'";
  if (text.starts_with('\'')) {
    result += "’";
    text.remove_prefix(1);
  }
  for (const char character : text) {
    if (character == '\'') {
      result += "''";
    } else {
      const bool control = static_cast<unsigned char>(character) < 0x20 || character == 0x7F;
      result += control ? ' ' : character;  // A line break would end the command.
    }
  }
  return result + "'";
}

std::string color(const Color& value) {
  const auto transparency = static_cast<unsigned>(std::lround((1 - value.opacity) * 255));
  return transparency == 0 ? fmt::format("rgb '#{:06x}'", value.rgb)
                           : fmt::format("rgb '#{:02x}{:06x}'", transparency, value.rgb);
}

std::string dash(Dash value) {
  switch (value) {
    case Dash::solid:
      return "solid";
    case Dash::dashed:
      return "(9,7)";
    case Dash::dotted:
      return "(1,5)";
    case Dash::dash_dot:
      return "(9,6,1,6)";
  }
  return "solid";
}

std::string stroke(const Stroke& value) {
  return fmt::format("lc {} lw {:.3g} dt {}", color(value.color), value.width, dash(value.dash));
}

/// gnuplot's numbers for filled shapes, and for their outlines.
std::pair<int, int> point_type(Shape shape) {
  switch (shape) {
    case Shape::circle:
      return {7, 6};
    case Shape::square:
      return {5, 4};
    case Shape::triangle:
      return {9, 8};
    case Shape::triangle_down:
      return {11, 10};
    case Shape::diamond:
      return {13, 12};
    case Shape::pentagon:
      return {15, 14};
    case Shape::cross:
      return {2, 2};
  }
  return {7, 6};
}

std::string number(double value) {
  RINGSIDE_CHECK(std::isfinite(value), "a chart was given a number that is not finite");
  return fmt::format("{:.10g}", value);
}

/// Writes the script of one figure.
class ScriptWriter {
 public:
  ScriptWriter(const Figure& figure, ImageFormat format) : figure_(figure), format_(format) {}

  std::string write() {
    line("set encoding utf8");
    line(terminal());
    line("set style textbox 1 opaque fillcolor rgb '#ffffff' noborder margins 0.6,0.4");
    line("set style fill solid noborder");
    line("set errorbars small");
    line("unset key");
    line("set multiplot");
    for (const Panel& panel : figure_.panels) {
      write_panel(panel);
    }
    line("unset multiplot");
    return std::move(script_);
  }

 private:
  void line(std::string_view text) {
    script_ += text;
    script_ += '\n';
  }

  std::string terminal() const {
    return fmt::format("set terminal {} size {},{} noenhanced font {} background rgb '#ffffff' rounded",
                       format_ == ImageFormat::png ? "pngcairo" : "svg", figure_.width, figure_.height,
                       font({}));
  }

  /// The png terminal takes points of 1/72 inch on a page of 96 pixels per inch; the svg terminal takes pixels.
  std::string font(const Font& value) const {
    const double size = format_ == ImageFormat::png ? value.size * 0.75 : value.size;
    return literal(fmt::format("{}{},{:.4g}", kFontName, value.bold ? " Bold" : "", size));
  }

  void write_panel(const Panel& panel) {
    RINGSIDE_CHECK(panel.area.width > 0 && panel.area.height > 0, "a chart has no room for a panel");
    const double width = figure_.width;
    const double height = figure_.height;
    line(fmt::format("set lmargin at screen {}", number(panel.area.left / width)));
    line(fmt::format("set rmargin at screen {}", number((panel.area.left + panel.area.width) / width)));
    line(fmt::format("set tmargin at screen {}", number(1 - panel.area.top / height)));
    line(fmt::format("set bmargin at screen {}", number(1 - (panel.area.top + panel.area.height) / height)));
    line(panel.frame ? fmt::format("set border 3 lw 1 lc rgb '#{:06x}'", kFrameColor) : "unset border");
    line(panel.title.empty() ? "unset title"
                             : fmt::format("set title {} font {} offset 0,-0.4", literal(panel.title),
                                           font({.size = 15, .bold = true})));
    write_axis('x', panel.x);
    write_axis('y', panel.y);
    line(panel.grid ? fmt::format("set grid xtics ytics back lt 1 lc rgb '#{:06x}' lw 1", kGridColor)
                    : "unset grid");

    line("unset label");
    clauses_.clear();
    // A panel of texts alone still needs something to plot: a point in white under everything else.
    const std::string corner = block(number(panel.x.min) + " " + number(panel.y.min) + "\n");
    clauses_.push_back(corner + " using 1:2 with dots lc rgb '#ffffff'");
    if (!panel.y.label.empty()) {
      const double x = panel.area.left - y_axis_room(panel.y) + Font{}.size;
      const double y = height - panel.area.top - panel.area.height / 2;
      line(fmt::format("set label {} at screen {},{} center rotate by 90 font {}", literal(panel.y.label),
                       number(x / width), number(y / height), font({})));
    }
    for (const Element& element : panel.elements) {
      std::visit([this](const auto& value) { write(value); }, element);
    }
    line("plot " + fmt::format("{}", fmt::join(clauses_, ", \\\n     ")));
  }

  void write_axis(char axis, const Axis& value) {
    // In this order: the range of the panel before may hold values that a logarithm does not have.
    line(fmt::format("unset logscale {}", axis));
    line(fmt::format("set {}range [{}:{}]", axis, number(value.min), number(value.max)));
    if (value.log) {
      line(fmt::format("set logscale {}", axis));
    }
    // The y label is placed by us: gnuplot's guess at the width of tic labels runs off the page.
    const bool horizontal = axis == 'x';
    line(value.label.empty() || !horizontal
             ? fmt::format("unset {}label", axis)
             : fmt::format("set {}label {} font {}", axis, literal(value.label), font({})));
    if (value.tics.empty()) {
      line(fmt::format("unset {}tics", axis));
      return;
    }
    std::string list;
    for (const Tic& tic : value.tics) {
      const bool labelled = !tic.label.empty();
      list += list.empty() ? "" : ", ";
      list +=
          literal(value.show_tic_labels ? tic.label : "") + " " + number(tic.at) + (labelled ? " 0" : " 1");
    }
    line(fmt::format("set {}tics nomirror out scale 0.8,0.4 font {} ({})", axis, font({.size = 15}), list));
  }

  /// Inline data; returns its name.
  std::string block(const std::string& rows) {
    const std::string name = fmt::format("$data{}", num_blocks_++);
    line(name + " << END_OF_DATA");
    script_ += rows;
    line("END_OF_DATA");
    return name;
  }

  void write(const Polyline& value) {
    if (value.points.empty()) {
      return;
    }
    std::string rows;
    for (const XY& point : value.points) {
      rows += number(point.x) + " " + number(point.y) + "\n";
    }
    clauses_.push_back(block(rows) + " using 1:2 with lines " + stroke(value.stroke));
  }

  void write(const Band& value) {
    if (value.points.empty()) {
      return;
    }
    std::string rows;
    for (const Band::At& at : value.points) {
      rows += number(at.x) + " " + number(at.low) + " " + number(at.high) + "\n";
    }
    clauses_.push_back(block(rows) + " using 1:2:3 with filledcurves fc " + color(value.fill));
  }

  void write(const Marks& value) {
    if (value.marks.empty()) {
      return;
    }
    std::string rows;
    bool intervals = false;
    for (const Marks::Mark& mark : value.marks) {
      intervals = intervals || mark.low < mark.high;
      rows += number(mark.x) + " " + number(mark.y) + " " + number(mark.low) + " " + number(mark.high) + "\n";
    }
    const std::string data = block(rows);
    const auto [filled, outline] = point_type(value.style.shape);
    const auto size = fmt::format("{:.3g}", value.style.size);
    clauses_.push_back(fmt::format("{} using {} pt {} ps {} lw 1.5 lc {}", data,
                                   intervals ? "1:2:3:4 with yerrorbars" : "1:2 with points", filled, size,
                                   color(value.style.color)));
    if (value.style.outlined) {
      clauses_.push_back(
          fmt::format("{} using 1:2 with points pt {} ps {} lw 1.5 lc rgb '#000000'", data, outline, size));
    }
  }

  void write(const Boxes& value) {
    if (value.boxes.empty()) {
      return;
    }
    std::string rows;
    for (const Boxes::Box& box : value.boxes) {
      rows += fmt::format("{} {} {} {} {} {} {}\n", number(box.left), number(box.low), number(box.left),
                          number(box.right), number(box.low), number(box.high), box.fill.rgb);
    }
    const std::string data = block(rows);
    clauses_.push_back(data + " using 1:2:3:4:5:6:7 with boxxyerror fs solid noborder lc rgb variable");
    if (value.border) {
      clauses_.push_back(data + " using 1:2:3:4:5:6 with boxxyerror fs empty " + stroke(*value.border));
    }
  }

  void write(const Arrows& value) {
    if (value.arrows.empty()) {
      return;
    }
    std::string rows;
    for (const Arrows::Arrow& arrow : value.arrows) {
      rows += fmt::format("{} {} {} {}\n", number(arrow.from.x), number(arrow.from.y),
                          number(arrow.to.x - arrow.from.x), number(arrow.to.y - arrow.from.y));
    }
    clauses_.push_back(fmt::format("{} using 1:2:3:4 with vectors head filled size screen {},18 {}",
                                   block(rows), number(11.0 / figure_.width), stroke(value.stroke)));
  }

  void write(const Text& value) {
    constexpr std::array kAlign = {"left", "center", "right"};
    line(fmt::format("set label {} at {},{} {} font {} tc {} front{}", literal(value.text),
                     number(value.at.x), number(value.at.y), kAlign[static_cast<std::size_t>(value.align)],
                     font(value.font), color(value.color), value.opaque ? " boxed bs 1" : ""));
  }

  /// gnuplot finds contours of a surface over linear axes; here they become one more set of lines.
  void write(const Contour& value) {
    std::string rows;
    for (std::size_t row = 0; row < value.y.size(); ++row) {
      for (std::size_t column = 0; column < value.x.size(); ++column) {
        rows += number(value.x[column]) + " " + number(value.y[row]) + " " +
                number(value.values[row][column]) + "\n";
      }
      rows += "\n";
    }
    const std::string data = block(rows);
    const std::string lines = fmt::format("$contour{}", num_blocks_++);
    line("set contour base");
    line("unset surface");
    line("set cntrparam linear levels discrete " + number(value.level));
    line("set table " + lines);
    line("splot " + data + " using 1:2:3");
    line("unset table");
    line("unset contour");
    line("set surface");
    clauses_.push_back(lines + " using 1:2 with lines " + stroke(value.stroke));
  }

  const Figure& figure_;
  ImageFormat format_;
  std::string script_;
  std::vector<std::string> clauses_;
  int num_blocks_ = 0;
};

// ---- The process ---------------------------------------------------------------------------------------

FileDescriptor opened(int number, std::string_view what) {
  if (number < 0) {
    fail(fmt::format("{}: {}", what, std::strerror(errno)));
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
      fail(fmt::format("cannot pass a script to gnuplot: {}", std::strerror(errno)));
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
  std::string result;
  for (const char character : text) {
    const bool blank = character == '\n' || character == ' ' || character == '\t' || character == '^';
    if (!blank) {
      result += character;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') {
    result.pop_back();
  }
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
    fail(fmt::format("'{}' is not installed (Debian package gnuplot-nox)", gnuplot.program));
  }
  if (status != 0) {
    fail(fmt::format("cannot start '{}': {}", gnuplot.program, std::strerror(status)));
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
      fail(fmt::format("lost track of gnuplot: {}", std::strerror(errno)));
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return std::nullopt;
    }
    std::this_thread::sleep_for(2ms);
  }
}

/// A file that goes away again unless it was renamed to where it belongs. Where the file system can, it has no name until
/// then, so that not even a killed process leaves it.
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
    const std::string_view end = format == ImageFormat::png ? kPngEnd : kSvgEnd;
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
    ::fchmod(file_.number(), 0644);  // mkostemp makes files that only their owner reads.
    if (::rename(path_.c_str(), target.c_str()) != 0) {
      fail(fmt::format("cannot write '{}': {}", target.string(), std::strerror(errno)));
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
      fail(fmt::format("cannot write '{}': {}", std::exchange(path_, {}), reason));
    }
  }

  std::string draft_;  ///< Its name for an instant, as mkostemp() takes it.
  std::string path_;   ///< Its name, where it has one.
  FileDescriptor file_;
};

}  // namespace

bool gnuplot_available(const Gnuplot& gnuplot) {
  if (gnuplot.program.find('/') != std::string::npos) {
    return ::access(gnuplot.program.c_str(), X_OK) == 0;
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (!folder.empty() && ::access((fs::path(folder) / gnuplot.program).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

std::string gnuplot_script(const Figure& figure, ImageFormat format) {
  return ScriptWriter(figure, format).write();
}

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
    fail(fmt::format("gnuplot did not finish within {:.3g} s and was ended",
                     std::chrono::duration<double>(gnuplot.deadline).count()));
  }
  if (WIFSIGNALED(*status)) {
    fail(fmt::format("gnuplot was ended by signal {}: {}", WTERMSIG(*status), one_line(said)));
  }
  if (WEXITSTATUS(*status) != 0) {
    fail(fmt::format("gnuplot exited with status {}: {}", WEXITSTATUS(*status), one_line(said)));
  }
  return said;
}

void write_image(const Figure& figure, ImageFormat format, const fs::path& file, const Gnuplot& gnuplot) {
  TemporaryFile image(file);
  std::string said;
  try {
    said = run_gnuplot(gnuplot_script(figure, format), image.descriptor(), gnuplot);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("cannot draw '{}': {}", file.string(), error.what()));
  }
  if (image.empty()) {
    fail(fmt::format("cannot draw '{}': gnuplot drew nothing{}", file.string(),
                     said.empty() ? "; is the disk full?" : ": " + one_line(said)));
  }
  if (!image.complete(format)) {
    // gnuplot does not say that it could not write everything.
    fail(fmt::format("cannot draw '{}': the picture is cut off; is the disk full?", file.string()));
  }
  image.rename_to(file);
}

}  // namespace ringside::plots
