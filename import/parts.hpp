#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/import.hpp"

/// The parts of import_measurements, for its own files.
namespace ringside {

/// A row before it is a point: what the file says, nothing else.
struct ImportedRow {
  std::size_t line = 0;
  std::optional<Collective> collective = {};
  std::string algorithm = "native";
  std::optional<int> ranks = {};
  std::optional<DataType> dtype = {};
  std::optional<ReduceOp> op = {};
  std::int64_t bytes = 0;
  Measurement measurement = {};
};

/// What is common to a table: found before, in, or after it.
struct ImportedTable {
  std::size_t line = 0;
  std::vector<ImportedRow> rows = {};
};

/// Rows that were skipped, by reason.
class SkippedRows {
 public:
  void add(std::size_t line, const std::string& why);
  bool empty() const { return reasons_.empty(); }
  /// One sentence per reason.
  std::vector<std::string> sentences() const;

 private:
  struct Lines {
    std::size_t count = 0;
    std::size_t first = 0;
  };
  std::map<std::string, Lines> reasons_;
};

/// Words of a line: white space and the bars of a table of Markdown end them.
/// No collective takes less or more; times beyond are misprints that no statistics would survive.
inline constexpr Seconds kShortestTime{1e-9};
inline constexpr Seconds kLongestTime{1e9};

/// Whether each time of it that is known could be one.
bool has_possible_times(const Measurement& measurement);

std::vector<std::string_view> words_of(std::string_view line);

/// The number that a word is, whatever quoting and escapes of a wrapping log follow it; nothing for other words.
std::optional<double> number_in_word(std::string_view word);
/// Likewise for whole numbers of at least 0.
std::optional<std::int64_t> whole_in_word(std::string_view word);

/// How nccl-tests spells a type (`half`, `float`, …); nothing for one that ringside does not have.
std::optional<DataType> nccl_dtype(std::string_view word);
/// Whether nccl-tests has such a type at all.
bool is_nccl_dtype(std::string_view word);

/// A reader of one format, fed line by line.
class NcclTestsReader {
 public:
  explicit NcclTestsReader(Placement placement) : placement_(placement) {}

  void read(std::size_t line_number, std::string_view line, bool is_whole);
  /// When all lines were read. Adds to `import`; returns the tables.
  std::vector<ImportedTable> finish(Import& import);
  bool found() const { return found_; }

 private:
  struct Row {
    ImportedRow row;
    bool has_redop = false;
    bool has_root = false;  ///< Whether it is a rooted collective.
    double algbw = 0;       ///< GB/s.
    double busbw = 0;
  };
  /// A table and what the lines before it said of its run.
  struct Table {
    std::size_t line = 0;
    std::optional<std::string> collective = {};
    std::set<int> rank_lines = {};
    int iterations = 0;
    bool in_milliseconds = false;
    std::vector<Row> rows = {};
  };

  bool read_row(std::size_t line_number, const std::vector<std::string_view>& words, bool is_whole);
  void read_preamble(std::string_view line, const std::vector<std::string_view>& words);
  Table& table_for_rows(std::size_t line_number);
  void start_run();
  ImportedTable finished(Table& table);

  Placement placement_;
  bool found_ = false;
  Table coming_;  ///< What is known of the next table.
  bool in_table_ = false;
  std::vector<Table> tables_;
  SkippedRows skipped_;
  std::vector<std::string> notes_;
  std::optional<std::string> gpu_;
  std::optional<std::string> nccl_;
};

class OsuReader {
 public:
  void read(std::size_t line_number, std::string_view line, bool is_whole);
  std::vector<ImportedTable> finish(Import& import);
  bool found() const { return found_; }

 private:
  bool in_table_ = false;
  bool found_ = false;
  std::size_t prefix_ = 0;  ///< Words in front of the table's lines.
  std::optional<Collective> collective_;
  std::optional<DataType> dtype_;
  std::vector<ImportedTable> tables_;
  SkippedRows skipped_;
  std::vector<std::string> notes_;
};

/// The number of ranks that all rows' bus and algorithm bandwidths (printed to 0.01 GB/s) agree with, if there is one
/// only: busbw/algbw is 2(n−1)/n for all_reduce, (n−1)/n for all_gather and reduce_scatter (nccl-tests
/// doc/PERFORMANCE.md).
struct Bandwidths {
  double algbw = 0;
  double busbw = 0;
};
std::optional<int> ranks_of_bandwidths(Collective collective, const std::vector<Bandwidths>& rows);

/// Whole texts; nothing when it is not of that format.
std::optional<std::vector<ImportedTable>> read_nccl_tests_json(std::string_view text, std::string_view name,
                                                               Placement placement, Import& import);
/// Throws Error{bad_input} for a CSV without a column of sizes or of times.
std::vector<ImportedTable> read_csv(std::string_view text, std::string_view name, Import& import);
/// Whether the first line of data looks like the names of columns, among them one of sizes.
bool is_csv(std::string_view start);

}  // namespace ringside
