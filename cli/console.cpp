// 400 lines: what all commands print with.
#include "cli/console.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <system_error>

#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/colour.hpp"
#include "common/failures.hpp"
#include "common/mapped.hpp"
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
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
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

/// What a header says of a column of a table.
struct ShownColumn {
  std::string title;
  bool droppable = false;
  bool right = false;
  std::size_t width = 0;
};
using Columns = std::vector<ShownColumn>;

constexpr std::size_t kGap = 2;

std::size_t total(const Columns& columns) {
  return std::accumulate(columns.begin(), columns.end(), kGap * (columns.size() - 1),
                         [](std::size_t sum, const ShownColumn& column) { return sum + column.width; });
}

Columns columns_of(const std::vector<std::string>& header, const Rows& rows) {
  Columns columns;
  for (std::size_t c = 0; c < header.size(); ++c) {
    std::string_view title = header[c];
    const auto take = [&](char mark) {
      const bool marked = title.starts_with(mark);
      title.remove_prefix(marked ? 1 : 0);
      return marked;
    };
    ShownColumn& column = columns.emplace_back();
    column.droppable = take('?');
    column.right = take('>');
    column.title = title;
    column.width = width(title);
    for (const auto& row : rows) {
      column.width = std::max(column.width, width(row.at(c)));
    }
  }
  return columns;
}

/// Drops columns that may be, the last first, and narrows columns of text, the widest first, until a row fits
/// the terminal; numbers stay whole.
void fit(Columns& columns, Rows& rows, std::size_t width_here) {
  for (std::size_t c = columns.size(); c > 0 && total(columns) > width_here; --c) {
    if (columns[c - 1].droppable) {
      const auto at = static_cast<std::ptrdiff_t>(c - 1);
      columns.erase(columns.begin() + at);
      for (auto& row : rows) {
        row.erase(row.begin() + at);
      }
    }
  }
  for (std::size_t all = total(columns); all > width_here; all = total(columns)) {
    ShownColumn* widest = nullptr;
    for (ShownColumn& column : columns) {
      if (!column.right && column.width > kNarrowestColumn &&
          (widest == nullptr || column.width > widest->width)) {
        widest = &column;
      }
    }
    if (widest == nullptr) {
      return;
    }
    widest->width -= std::min(all - width_here, widest->width - kNarrowestColumn);
  }
}

/// Breaks between words where a line would be longer than `columns`; further lines begin with `indent`.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent) {
  std::string result;
  std::size_t used = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const bool first = start == 0;
    if (!first && used + 1 + width(word) > columns) {
      result += fmt::format("\n{}", indent);
      used = indent.size();
    } else if (!first) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width(word);
    start = end + 1;
  }
  return result;
}

/// Every row as `title value` after `title value`, for a terminal that no row fits.
std::string stacked(const Columns& columns, const Rows& rows, std::size_t width_here) {
  constexpr std::string_view kIndent = "  ";
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (row[c].empty()) {
        continue;
      }
      const std::string cell =
          columns[c].title.empty() ? row[c] : fmt::format("{} {}", columns[c].title, row[c]);
      const std::size_t gap = line.empty() ? 0 : kGap;
      if (width(line) + gap + width(cell) <= width_here) {
        line += std::string(gap, ' ') + cell;
        continue;
      }
      text += line.empty() ? "" : line + "\n";
      line = wrapped((line.empty() ? "" : "  ") + cell, width_here, kIndent);
      const std::size_t last = line.rfind('\n');
      if (last != std::string::npos) {
        text += line.substr(0, last + 1);
        line.erase(0, last + 1);
      }
    }
    text += line + "\n";
  }
  return text;
}

/// A line for each row below the titles.
std::string aligned(const Columns& columns, const Rows& rows) {
  std::string text;
  const auto append_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string cell = fitted(cells[c], columns[c].width);
      const std::string padding(columns[c].width - width(cell), ' ');
      line += c == 0 ? "" : "  ";
      line += columns[c].right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const std::vector<std::string> titles = mapped(columns, &ShownColumn::title);
  append_row(titles);
  std::for_each(rows.begin(), rows.end(), append_row);
  return text;
}

[[noreturn]] void throw_unwritable() {
  throw lacking("cannot write to standard output: {}", std::generic_category().message(errno));
}

/// What keeps all that is printed, while there is one; standard output is one for the whole program, too.
Transcript* kept = nullptr;

/// As it is: orders for a terminal act.
void print_raw(std::string_view text) {
  if (kept != nullptr) {
    (kept->tables.empty() ? kept->before : kept->tables.back().after) += text;
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw_unwritable();
  }
}

}  // namespace

std::string sentence_within(std::string_view text, std::optional<std::size_t> columns) {
  const bool stays = text.find_first_of(" {-#") == 0 || contains(text, "\n");
  return columns && !stays ? wrapped(text, *columns, "") : std::string(text);
}

bool fits_terminal(const TextTable& shown) {
  const auto width_here = terminal_width(STDOUT_FILENO);
  return !width_here || total(columns_of(shown.header, shown.rows)) <= *width_here;
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

void print(std::string_view text) { print_raw(printable(text)); }

std::string wrapped_for_terminal(std::string_view text, std::size_t taken) {
  const auto columns = terminal_width(STDOUT_FILENO);
  return columns && *columns > taken + kNarrowestColumn ? wrapped(text, *columns - taken, "")
                                                        : std::string(text);
}

void print_table(TextTable shown, std::string_view marked) {
  if (kept != nullptr) {
    kept->tables.push_back({std::move(shown)});
    return;
  }
  Columns columns = columns_of(shown.header, shown.rows);
  const std::size_t width_here = terminal_width(STDOUT_FILENO).value_or(total(columns));
  fit(columns, shown.rows, width_here);
  const std::string all =
      total(columns) > width_here ? stacked(columns, shown.rows, width_here) : aligned(columns, shown.rows);
  const bool coloured = !marked.empty() && is_coloured(STDOUT_FILENO);
  for (std::string_view text = all; !text.empty();) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const bool winner = coloured && line.ends_with(marked);
    print(line.substr(0, line.size() - (winner ? marked.size() : 0)));
    print_raw(winner ? fmt::format("{}{}{}", kWinnerColour, marked, kPlainColour) : "");
    print("\n");
    text.remove_prefix(end + 1);
  }
}

void print_verdict(std::string_view text) {
  const bool coloured = is_coloured(STDOUT_FILENO);
  print_raw(coloured ? kVerdictColour : "");
  print_line(text);
  print_raw(coloured ? kPlainColour : "");
}

void print_failure(std::string_view who, std::string_view what) {
  const bool coloured = is_coloured(STDERR_FILENO);
  const std::string text =
      sentence_within(printable(fmt::format("{}: {}", who, what)), terminal_width(STDERR_FILENO));
  const bool starts = coloured && text.starts_with(who);
  write_error(starts ? fmt::format("{}{}{}{}\n", kFailureColour, who, kPlainColour, text.substr(who.size()))
                     : text + "\n");
}

void print_error(std::string_view line) {
  write_error(sentence_within(printable(line), terminal_width(STDERR_FILENO)) + "\n");
}

void print_line(std::string_view text) {
  print(sentence_within(text, kept == nullptr ? terminal_width(STDOUT_FILENO) : std::nullopt));
  print("\n");
}

void print_lines(std::span<const std::string> lines) {
  for (const std::string& line : lines) {
    print_line(line);
  }
}

void print_record(const nlohmann::ordered_json& record) {
  print_line(record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  for (std::string line; std::getline(stream, line);) {
    print(stream.eof() ? line : line + '\n');
  }
  if (!stream.is_open() || stream.bad()) {
    read_text(file);  // Throws with the system's reason.
  }
}

Transcript said_by(const std::function<void()>& say) {
  Transcript transcript;
  kept = &transcript;
  struct Reset {
    ~Reset() { kept = nullptr; }
  } at_the_end;
  say();
  return transcript;
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw_unwritable();
  }
}

std::string for_a_shell(std::string_view argument) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("_./:=,@%+-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  const auto is_control = [](unsigned char c) { return std::iscntrl(c) != 0; };
  if (!argument.empty() && std::ranges::all_of(argument, is_plain)) {
    return std::string(argument);
  }
  const bool control = std::ranges::any_of(argument, is_control);
  std::string quoted = control ? "$'" : "'";
  for (const char c : argument) {
    if (is_control(static_cast<unsigned char>(c))) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (c == '\'') {
      quoted += control ? "\\'" : "'\\''";
    } else {
      quoted += control && c == '\\' ? "\\\\" : std::string(1, c);
    }
  }
  return quoted + "'";
}

}  // namespace ringside::cli
