#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/parts.hpp"

/// The reader of nccl-tests and rccl-tests: lines in nccl_tests.cpp, tables in nccl_tables.cpp.
namespace ringside {

class NcclTestsReader final : public LogReader {
 public:
  NcclTestsReader(const ImportDefaults& defaults, Placement placement)
      : LogReader("nccl-tests"), collective_(defaults.collective), placement_(placement) {}

  void read(std::size_t line_number, std::string_view line, bool is_whole) override;
  std::vector<ImportedTable> finish(Import& import) override;

 private:
  struct Row {
    ImportedRow row;
    bool has_redop = false;
    bool has_columns = true;  ///< Whether the columns of operation or root are there at all.
    bool has_root = false;    ///< Whether it is a rooted collective.
    std::int64_t count = 0;   ///< Elements, of one rank where the buffer is cut into one part per rank.
    std::vector<Bandwidths> bandwidths = {};  ///< The half that is taken comes first.
  };
  /// A table and what the lines before it said of its run.
  struct Table {
    std::size_t line = 0;
    std::optional<std::string> collective = {};
    std::set<int> rank_lines = {};
    int iterations = 0;
    bool in_milliseconds = false;
    bool names_redop_alone = false;  ///< Its title has a column of operations and none of roots.
    std::vector<Row> rows = {};
  };
  /// A row whose times other lines hold, because something was printed in between.
  struct Split {
    Row row;
    int halves = 0;  ///< That were found.
  };

  bool read_row(std::size_t line_number, const std::vector<std::string_view>& words, bool is_whole);
  bool read_rest(const std::vector<std::string_view>& words);
  void drop_split();
  void read_preamble(std::size_t line_number, std::string_view line,
                     const std::vector<std::string_view>& words);
  void read_run(std::string_view line, const std::vector<std::string_view>& words);
  void read_version(std::string_view line);
  void failed(std::size_t line_number, std::string_view what, std::string_view rest);
  Table& table_for_rows(std::size_t line_number);
  void start_run();
  std::optional<Collective> collective_of(const Table& table, int parts, std::string& why_not) const;
  ImportedTable finished(Table& table);

  std::optional<Collective> collective_;
  Placement placement_;
  Table coming_;  ///< What is known of the next table.
  bool in_table_ = false;
  bool in_titled_table_ = false;  ///< Another reader's (titled_table.cpp).
  std::vector<Table> printed_;
  std::optional<Split> split_;
  std::optional<std::size_t> elided_;  ///< Line of the first rows that were left out.
  std::optional<std::string> gpu_;
  std::optional<std::string> nccl_;
};

/// `all_reduce_perf` → all_reduce.
std::optional<Collective> collective_of_program(std::string_view name);

/// `22803` is 2.28.3 (NCCL_VERSION of nccl.h, since 2.9).
std::optional<std::string> nccl_version_of_code(std::string_view word);

}  // namespace ringside
