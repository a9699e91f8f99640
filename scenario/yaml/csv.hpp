#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Tables as text: comma-separated values with a header line (RFC 4180).
namespace ringside {

struct CsvRow {
  int line = 0;  ///< In which the row starts, 1-based.
  std::vector<std::string> cells;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;    ///< Empty lines are left out.
  std::vector<CsvRow> ragged;  ///< Rows of another length than the header, where they are kept.

  /// Index of the column of this name; nothing when there is none.
  std::optional<std::size_t> column(std::string_view name) const;
};

/// A row of another length than the header. Kept apart: in others' long listings one row must not cost all.
enum class RaggedRows { refused, kept_apart };

/// Cells may be quoted, with quotes inside doubled; lines end with LF or CRLF; what is no UTF-8 becomes
/// U+FFFD. Throws Error{bad_input} that names `origin` and line: no header, another length, an open quote.
CsvTable parse_csv(std::string_view text, const std::string& origin, RaggedRows ragged = RaggedRows::refused);

/// `has 3 cells, but the header has 9`
std::string why_ragged(const CsvTable& table, const CsvRow& row);

}  // namespace ringside
