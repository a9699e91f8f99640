#include "scenario/yaml/csv.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

[[noreturn]] void reject(const std::string& origin, int line, const std::string& what) {
  throw bad_input("{}:{}: {}", origin, line, what);
}

/// Takes one row at a time off the front of the text.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  bool at_end() const { return at_ >= text_.size(); }

  CsvRow next_row() {
    CsvRow row{.line = line_, .cells = {}};
    for (bool more = true; more;) {
      row.cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted_cell() : plain_cell());
      more = at_ < text_.size() && text_[at_] == ',';
      if (more) {
        ++at_;
      }
    }
    end_line();
    return row;
  }

 private:
  std::string plain_cell() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    const std::size_t start = std::exchange(at_, end);
    return std::string(text_.substr(start, end - start));
  }

  std::string quoted_cell() {
    const int first_line = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') {
          ++at_;
          return cell;
        }
        ++at_;
      }
      line_ += text_[at_] == '\n' ? 1 : 0;
      cell += text_[at_];
    }
    reject(origin_, first_line, "the quote that starts in this line does not end");
  }

  void end_line() {
    if (at_ < text_.size() && text_[at_] == '\r') {
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] != '\n') {
      reject(origin_, line_, "a quoted cell is followed by more text; separate cells by commas");
    }
    ++at_;
    ++line_;
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t at_ = 0;
  int line_ = 1;
};

bool is_blank(const CsvRow& row) { return row.cells.size() == 1 && row.cells.front().empty(); }

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(header, name);
  return found == header.end() ? std::nullopt
                               : std::optional(static_cast<std::size_t>(found - header.begin()));
}

std::string why_ragged(const CsvTable& table, const CsvRow& row) {
  return fmt::format("has {} cells, but the header has {}", row.cells.size(), table.header.size());
}

CsvTable parse_csv(std::string_view as_written, const std::string& origin, RaggedRows ragged) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::string valid = valid_utf8(std::string(as_written));
  std::string_view text = valid;
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  CsvReader reader(text, origin);
  CsvTable table;
  while (!reader.at_end()) {
    CsvRow row = reader.next_row();
    if (is_blank(row)) {
      continue;
    }
    if (table.header.empty()) {
      table.header = std::move(row.cells);
    } else if (row.cells.size() == table.header.size()) {
      table.rows.push_back(std::move(row));
    } else if (ragged == RaggedRows::kept_apart) {
      table.ragged.push_back(std::move(row));
    } else {
      reject(origin, row.line, why_ragged(table, row));
    }
  }
  if (table.header.empty()) {
    reject(origin, 1, "is empty; the first line names the columns");
  }
  return table;
}

}  // namespace ringside
