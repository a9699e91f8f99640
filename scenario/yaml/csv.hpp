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
  std::vector<CsvRow> rows;  ///< Empty lines are left out.

  /// Index of the column of this name; nothing when there is none.
  std::optional<std::size_t> column(std::string_view name) const;
};

/// Cells may be quoted, with quotes inside doubled; lines end with LF or CRLF. Throws Error{bad_input} that names `origin`
/// and the line: no header, a row of another length than the header, a quote that does not end.
CsvTable parse_csv(std::string_view text, const std::string& origin);

}  // namespace ringside
