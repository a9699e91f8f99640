#include "cli/console.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "common/error.hpp"

namespace ringside::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr std::size_t kTextWidth = 48;

/// Columns that the text takes on a terminal: UTF-8 continuation bytes take none.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

[[noreturn]] void throw_unwritable() {
  throw Error(ErrorKind::environment,
              fmt::format("cannot write to standard output: {}", std::generic_category().message(errno)));
}

}  // namespace

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
  std::string text;
  const auto append_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string padding(widths[c] - width(cells[c]), ' ');
      line += c == 0 ? "" : "  ";
      line += right[c] ? padding + cells[c] : cells[c] + padding;
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
    fmt::print(stderr, "{} …\n", what);
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
  fmt::print(stderr, "\r\033[K{} {} {:3.0f} %  {}", stage_, bar, 100 * done, what.substr(0, kTextWidth));
  std::fflush(stderr);
  bar_shown_ = true;
}

void Progress::finish() {
  if (bar_shown_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    bar_shown_ = false;
  }
}

void Progress::note(std::string_view text) {
  finish();
  if (!quiet_) {
    fmt::print(stderr, "{}\n", text);
  }
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw_unwritable();
  }
}

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw_unwritable();
  }
}

}  // namespace ringside::cli
