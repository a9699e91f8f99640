#include "cli/console.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/error.hpp"
#include "results/codec/reader.hpp"

namespace ringside::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr std::size_t kUsualWidth = 80;
/// Columns of text that a table keeps however narrow the terminal is.
constexpr std::size_t kNarrowestColumn = 16;

/// Characters in a line of the terminal; nothing where there is none.
std::optional<std::size_t> terminal_width(int descriptor) {
  winsize size{};
  if (isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) {
    return std::nullopt;
  }
  return size.ws_col;
}

/// Standard error may be closed, full or a pipe that nobody reads: what cannot be written is lost.
void write_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  std::fflush(stderr);
}

/// Columns that the text takes on a terminal: UTF-8 continuation bytes take none.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool acts_on_terminal(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
}

/// Cut to so many columns, with an ellipsis where something is missing.
std::string fitted(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) {
    return std::string(text);
  }
  std::string result;
  std::size_t taken = 0;
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (starts && ++taken >= columns) {
      break;
    }
    result += c;
  }
  return result + "…";
}

/// Narrows columns of text, the widest first, until a row fits the terminal; numbers stay whole.
void fit(std::vector<std::size_t>& widths, const std::vector<bool>& right, std::size_t columns) {
  constexpr std::size_t kGap = 2;
  std::size_t total = kGap * (widths.size() - 1);
  for (const std::size_t each : widths) {
    total += each;
  }
  while (total > columns) {
    std::size_t* widest = nullptr;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (!right[c] && widths[c] > kNarrowestColumn && (widest == nullptr || widths[c] > *widest)) {
        widest = &widths[c];
      }
    }
    if (widest == nullptr) {
      return;
    }
    const std::size_t cut = std::min(total - columns, *widest - kNarrowestColumn);
    *widest -= cut;
    total -= cut;
  }
}

[[noreturn]] void throw_unwritable() {
  throw Error(ErrorKind::environment,
              fmt::format("cannot write to standard output: {}", std::generic_category().message(errno)));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    // U+0080 to U+009F are the same orders in eight bits.
    const bool eight_bit_order =
        byte == 0xC2 && at + 1 < text.size() && (static_cast<unsigned char>(text[at + 1]) & 0xE0U) == 0x80;
    if (acts_on_terminal(text[at])) {
      result += fmt::format("\\u00{:02x}", byte);
    } else if (eight_bit_order) {
      result += fmt::format("\\u00{:02x}", static_cast<unsigned char>(text[++at]));
    } else {
      result += text[at];
    }
  }
  return result;
}

std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  const std::size_t columns = header.size();
  std::vector<bool> right(columns);
  std::vector<std::string> titles = header;
  std::vector<std::size_t> widths(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    right[c] = titles[c].starts_with('>');
    if (right[c]) {
      titles[c].erase(0, 1);
    }
    widths[c] = width(titles[c]);
    for (const auto& row : rows) {
      widths[c] = std::max(widths[c], width(row.at(c)));
    }
  }
  if (const auto columns_here = terminal_width(STDOUT_FILENO)) {
    fit(widths, right, *columns_here);
  }
  std::string text;
  const auto append_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string cell = fitted(cells[c], widths[c]);
      const std::string padding(widths[c] - width(cell), ' ');
      line += c == 0 ? "" : "  ";
      line += right[c] ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append_row(titles);
  for (const auto& row : rows) {
    append_row(row);
  }
  return text;
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { finish(); }

void Progress::stage(std::string_view what) {
  finish();
  stage_ = what;
  std::fflush(stdout);
  if (!quiet_ && !terminal_) {
    print_error(fmt::format("{} …", what));
  }
}

void Progress::update(double fraction, std::string_view what) {
  if (quiet_ || !terminal_) {
    return;
  }
  const double done = std::clamp(fraction, 0.0, 1.0);
  const int filled = static_cast<int>(std::lround(done * kBarWidth));
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) {
    bar += i < filled ? "█" : "·";
  }
  // One line, or the next redraw would leave the rest of this one behind.
  write_error("\r\033[K" +
              fitted(fmt::format("{} {} {:3.0f} %  {}", stage_, bar, 100 * done, printable(what)),
                     terminal_width(STDERR_FILENO).value_or(kUsualWidth) - 1));
  bar_shown_ = true;
}

void Progress::finish() {
  if (bar_shown_) {
    write_error("\r\033[K");
    bar_shown_ = false;
  }
}

void Progress::note(std::string_view text) {
  finish();
  if (!quiet_) {
    print_error(text);
  }
}

study::Observer Progress::observer() {
  return {.stage = [this](std::string_view what) { stage(what); },
          .progress = [this](double fraction, std::string_view what) { update(fraction, what); },
          .finished = [this] { finish(); },
          .note = [this](std::string_view sentence) { note(sentence); }};
}

void print(std::string_view text) {
  const std::string shown = printable(text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size()) {
    throw_unwritable();
  }
}

void print_error(std::string_view line) { write_error(printable(line) + "\n"); }

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void print_file(const std::filesystem::path& file) { print(read_text(file)); }

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw_unwritable();
  }
}

}  // namespace ringside::cli
