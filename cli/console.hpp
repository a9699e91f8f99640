#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

#include "common/text.hpp"
#include "study/ranks/observer.hpp"

/// What the commands share in talking to people. Only cli/ prints.
namespace ringside::cli {

/// What stands in a table where there is no value.
inline constexpr std::string_view kAbsent = "–";

/// What `text_of` makes of a value, where there is one.
template <typename T, typename TextOf>
std::string or_absent(const std::optional<T>& value, TextOf text_of) {
  return value ? std::string(text_of(*value)) : std::string(kAbsent);
}
template <typename T>
std::string or_absent(const std::optional<T>& value) {
  return or_absent(value, [](const T& it) { return format(it); });
}

/// The cells of a table.
using Rows = std::vector<std::vector<std::string>>;

/// A column of a table of things of one kind: its header, and its cell of one of them.
template <typename T>
struct Column {
  std::string header;
  std::function<std::string(const T&)> cell;
};

template <typename T>
TextTable table_of(const std::vector<Column<T>>& columns, const std::vector<T>& things) {
  TextTable table;
  for (const Column<T>& column : columns) {
    table.header.push_back(column.header);
  }
  for (const T& thing : things) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const Column<T>& column : columns) {
      cells.push_back(column.cell(thing));
    }
  }
  return table;
}

/// Columns aligned, numbers (columns whose header starts with '>') to the right. On a terminal that is too
/// narrow, columns whose header starts with '?' are left out, the last first; then text is cut, and where
/// that is not enough rows are written out one below the other. Lines that end with `marked` are coloured.
void print_table(TextTable shown, std::string_view marked = {});
/// Whether it needs nothing of that.
bool fits_terminal(const TextTable& shown);

/// Stages and progress on standard error: a bar on a terminal, one line per stage elsewhere.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Starts a stage: `calibrating this machine`.
  void stage(std::string_view what);
  /// `fraction` of the stage is done, 0 … 1; `what` is going on now.
  void update(double fraction, std::string_view what);
  /// Ends the stage and clears the bar.
  void finish();
  /// A line that stays.
  void note(std::string_view text);

  /// What shows a study's stages, progress and notes here; it ends before this does.
  study::Observer observer();

 private:
  bool quiet_;
  bool terminal_;
  bool bar_shown_ = false;
  std::string stage_;
};

/// A sentence over several lines where it is longer than one of so many columns. What is indented, JSON and
/// YAML stay as they are: people copy them.
std::string sentence_within(std::string_view text, std::optional<std::size_t> columns);

/// The text, broken where a line of the terminal has no room left behind `taken` columns.
std::string wrapped_for_terminal(std::string_view text, std::size_t taken);

/// print_line() of the answer, in bold.
void print_verdict(std::string_view text);

/// What is printable() of the text.
void print(std::string_view text);
/// A line on standard error. Where nobody can read it, it is lost: the exit status still says what happened.
void print_error(std::string_view line);
/// `who: what` of a failure, `who` in colour.
void print_failure(std::string_view who, std::string_view what);
/// Sentences are wrapped between words where standard output is a terminal.
void print_line(std::string_view text = {});
template <typename Part, typename... Parts>
void print_line(fmt::format_string<Part, Parts...> text, Part&& part, Parts&&... parts) {
  print_line(fmt::format(text, std::forward<Part>(part), std::forward<Parts>(parts)...));
}
void print_lines(std::span<const std::string> lines);
/// A line of JSON; bytes of other programs that are no UTF-8 are replaced.
void print_record(const nlohmann::ordered_json& record);
/// Prints a file of JSON Lines as it is.
void print_file(const std::filesystem::path& file);

/// What was to be printed: lines, and tables with the lines after each.
struct Transcript {
  struct Part {
    TextTable table;
    std::string after = {};
  };
  std::string before = {};
  std::vector<Part> tables = {};
};

/// Calls `say`, and keeps what it prints instead of printing it.
Transcript said_by(const std::function<void()>& say);

/// At the end, and where somebody waits for a line: everything printed is out. But for print_error() all
/// throw Error{environment} with the system's reason when it cannot be written, a full disk for example.
void finish_output();

/// An argument as one would type it: in quotes where a shell would take it apart.
std::string for_a_shell(std::string_view argument);

}  // namespace ringside::cli
