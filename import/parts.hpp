#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text.hpp"
#include "import/import.hpp"

/// The parts of import_measurements, for its own files.
namespace ringside {

struct Bandwidths {
  double algbw = 0;
  double busbw = 0;
};

/// A row before it is a point: what the file says, nothing else.
struct ImportedRow {
  std::size_t line = 0;
  std::optional<Collective> collective = {};
  std::string algorithm = "native";
  std::optional<int> ranks = {};
  std::optional<DataType> dtype = {};
  std::optional<ReduceOp> op = {};
  std::int64_t bytes = 0;
  bool bytes_of_one_rank = false;  ///< The message is as many times as long as there are ranks.
  Measurement measurement = {};
  Bandwidths bandwidths = {};  ///< Where they may tell the ranks.
};

using ImportedTable = std::vector<ImportedRow>;

/// The rows of a table, made one by one when they are asked for: a long log has a million.
struct TableRows {
  std::size_t size = 0;
  std::function<ImportedRow(std::size_t index)> row;
};
TableRows rows_of(ImportedTable table);

/// Rows as points of series. What the file leaves out comes from the defaults; impossible rows are noted and
/// left out. Throws Error{bad_input} where nothing says on how many ranks a row was measured.
void add_series(std::vector<TableRows> tables, std::string_view name, const ImportDefaults& defaults,
                ReadLog& log);

/// Rows that were skipped, by reason.
class SkippedRows {
 public:
  void add(std::size_t line, const std::string& why);
  /// One sentence per reason.
  std::vector<std::string> sentences() const;

 private:
  struct Lines {
    std::size_t count = 0;
    std::size_t first = 0;
  };
  std::map<std::string, Lines> reasons_;
};

/// No collective takes less or more; times beyond are misprints that no statistics would survive.
inline constexpr Seconds kShortestTime{1e-9};
inline constexpr Seconds kLongestTime{1e9};

/// Whether each time of it that is known could be one.
bool has_possible_times(const Measurement& measurement);

bool is_hex(char c);

/// Calls `use(number, line)` for each line of a text, the first one being 1.
template <typename Use>
void each_line_of(std::string_view text, Use use) {
  std::size_t number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    use(++number, text.substr(start, end - start));
    start = end + 1;
  }
}

/// Words of a line: white space and the bars of a table of Markdown end them.
using Words = std::vector<std::string_view>;
Words words_of(std::string_view line);

/// The line with blanks for tabs, which spreadsheets and editors make of them; `blanks` holds it then.
std::string_view without_tabs(std::string_view line, std::string& blanks);

/// The line without mpirun's tags, also within a row: `[1,0]<stdout>:`; `kept` holds it then.
std::string_view without_rank_tags(std::string_view line, std::string& kept);

/// `60,12`: a number as some languages write it, which is neither a whole one nor two.
bool has_decimal_comma(std::string_view word);

/// Without what a log that wraps lines (JSON, quotes, colours) puts behind them.
std::string_view clean(std::string_view text);
/// `NVIDIA L40S` of `# Rank 0 Group 0 Pid 1 on host device 0 [0x17] NVIDIA L40S`; empty where there is none.
std::string gpu_of_rank(std::string_view line);

/// What is left of a line behind `marker`; nothing when it is not there.
std::optional<std::string_view> after(std::string_view line, std::string_view marker);
/// Empty when there is none.
std::string_view first_word(std::string_view text);

/// The number that a word is, whatever quoting or escapes follow; none for other words.
std::optional<double> number_in_word(std::string_view word);
/// Likewise for whole numbers of at least 0.
std::optional<std::int64_t> whole_in_word(std::string_view word);
/// A whole number of ranks; nothing for more than any machine has.
std::optional<int> ranks_in_word(std::string_view word);
/// How often something ran; 0 where the word does not say it.
int iterations_in_word(std::string_view word);

/// How nccl-tests spells a type (`half`, `float`, …); nothing for one that ringside does not have.
std::optional<DataType> nccl_dtype(std::string_view word);
/// Whether nccl-tests has such a type at all.
bool is_nccl_dtype(std::string_view word);

struct LogLine {
  std::size_t number = 0;  ///< 1-based.
  std::string_view text;
  bool is_whole = true;      ///< Only a last line without its break is not.
  Words words = {};          ///< The line cut up once, for all readers.
  bool is_like_row = false;  ///< It has small letters, digits, points and minuses alone.
  bool is_ascii = true;

  /// Sets the text, and what follows from it.
  void take(std::string_view taken);
};

/// A reader of one format of text, fed line by line; each sees all lines.
class LogReader {
 public:
  /// `format` is what people call it: `OSU`.
  explicit LogReader(std::string_view format) : format_(format) {}
  virtual ~LogReader() = default;

  /// Whether the line may be its own. What begins a table has other characters than rows.
  virtual bool may_read(const LogLine& line) const { return found_ || !line.is_like_row; }
  virtual void read(const LogLine& line) = 0;
  /// When all lines were read. Adds to `import`; returns the tables, without those that hold nothing.
  virtual std::vector<TableRows> finish(Import& import);
  /// Whether the text holds anything of this format.
  bool found() const { return found_; }
  std::string_view format() const { return format_; }

 protected:
  bool found_ = false;
  std::vector<ImportedTable> tables_;
  SkippedRows skipped_;
  std::vector<std::string> notes_;

 private:
  std::string_view format_;
};

std::unique_ptr<LogReader> nccl_tests_reader(const ImportDefaults& defaults);
std::unique_ptr<LogReader> osu_reader();
std::unique_ptr<LogReader> imb_reader();
std::unique_ptr<LogReader> all_reduce_bench_reader();
std::unique_ptr<LogReader> deepspeed_reader();
std::unique_ptr<LogReader> param_reader();
std::unique_ptr<LogReader> gloo_benchmark_reader();
std::unique_ptr<LogReader> inspector_reader();
std::unique_ptr<LogReader> titled_table_reader(const ImportDefaults& defaults);
/// Whether a line names columns of size, time and busbw with units: `size(B) … time(us) … busbw(GB/s)`.
bool is_table_title(std::string_view line);

/// The number of ranks that all rows' bus and algorithm bandwidths (printed to 0.01 GB/s) agree with, if
/// there is one only: busbw/algbw is 2(n−1)/n for all_reduce, (n−1)/n for all_gather and reduce_scatter
/// (nccl-tests doc/PERFORMANCE.md).
std::optional<int> ranks_of_bandwidths(Collective collective, const std::vector<Bandwidths>& rows);
/// The same for rows that do not say it themselves.
void add_ranks_of_bandwidths(Collective collective, ImportedTable& table);

/// Whole texts; nothing when it is not of that format.
std::optional<ImportedTable> read_nccl_tests_json(std::string_view text, std::string_view name,
                                                  const ImportDefaults& defaults, Import& import);
/// Throws Error{bad_input} for a CSV without a column of sizes or of times.
ImportedTable read_csv(std::string_view text, std::string_view name, const ImportDefaults& defaults,
                       Import& import);
/// Whether the first line of data looks like the names of columns, among them one of sizes.
bool is_csv(std::string_view start);

}  // namespace ringside
