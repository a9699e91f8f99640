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

/// What happens to a row of another length than the header. Kept apart: for long listings of others, of which one row must not cost all.
enum class RaggedRows { refused, kept_apart };

/// Cells may be quoted, with quotes inside doubled; lines end with LF or CRLF. Throws Error{bad_input} that names `origin`
/// and the line: no header, a row of another length than the header unless they are kept apart, a quote that does not end.
CsvTable parse_csv(std::string_view text, const std::string& origin, RaggedRows ragged = RaggedRows::refused);

/// `has 3 cells, but the header has 9`
std::string why_ragged(const CsvTable& table, const CsvRow& row);

}  // namespace ringside
