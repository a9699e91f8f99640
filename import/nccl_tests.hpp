#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/parts.hpp"

/// The reader of nccl-tests and rccl-tests: lines in nccl_tests.cpp, tables in nccl_tables.cpp.
namespace ringside {

/// One half of a row: a time with its bandwidths and its count of wrong elements.
struct NcclTiming {
  double microseconds = 0;
  double rounding = 0;  ///< Rounding error of the time, microseconds.
  Bandwidths bandwidths = {};
  std::string_view wrong = {};
};

class NcclTestsReader final : public LogReader {
 public:
  explicit NcclTestsReader(const ImportDefaults& defaults)
      : LogReader("nccl-tests"), collective_(defaults.collective), placement_(defaults.placement) {}

  bool may_read(const LogLine& /*line*/) const override { return true; }
  void read(const LogLine& line) override;
  std::vector<TableRows> finish(Import& import) override;

 private:
  /// Small: a long log has a million, which are in memory until it is read.
  struct Row {
    std::size_t line = 0;
    std::int64_t bytes = 0;
    std::int64_t count = 0;  ///< Elements, of one rank where the buffer is cut into one part per rank.
    double microseconds = 0;
    std::int64_t wrong = 0;                     ///< Elements.
    std::array<Bandwidths, 2> bandwidths = {};  ///< The half that is taken comes first.
    std::uint8_t halves = 0;                    ///< That have bandwidths.
    bool has_redop = false;
    bool has_columns = true;  ///< Whether the columns of operation or root are there at all.
    bool has_root = false;    ///< Whether it is a rooted collective.
    std::optional<DataType> dtype = {};
    std::optional<ReduceOp> op = {};

    void take(const NcclTiming& timing);
  };
  using Rows = std::deque<Row>;
  /// A table and what the lines before it said of its run.
  struct Table {
    std::size_t line = 0;
    std::optional<std::string> collective = {};
    int ranks_listed = 0;  ///< 0: none.
    int iterations = 0;
    bool in_milliseconds = false;
    bool names_redop_alone = false;  ///< Its title has a column of operations and none of roots.
    std::size_t first = 0;           ///< Its first row; it ends where the next table begins.
  };
  /// A row whose times other lines hold, because something was printed in between.
  struct Split {
    Row row;
    int halves = 0;  ///< That were found.
  };

  bool read_row(const LogLine& line);
  bool read_rest(const Words& words);
  void drop_split();
  void read_preamble(std::size_t line_number, std::string_view line, const Words& words);
  void read_run(std::string_view line, const Words& words);
  void read_version(std::string_view line);
  void add_row(const Row& row);
  void start_run();
  template <typename RowsOfTable>
  std::optional<Collective> collective_of(const Table& table, const RowsOfTable& rows, int parts,
                                          std::string& why_not) const;
  TableRows finished(const Table& table, const std::shared_ptr<const Rows>& all, std::size_t end);

  std::optional<Collective> collective_;
  Placement placement_;
  Table coming_;  ///< What is known of the next table.
  bool in_table_ = false;
  bool in_titled_table_ = false;  ///< Another reader's (titled_table.cpp).
  std::vector<Table> printed_;
  Rows rows_;  ///< All tables have theirs here.
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
