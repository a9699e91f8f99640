#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "requests.hpp"
#include "schedule/describe.hpp"
#include "tests/paths.hpp"

/// Holds docs/algorithms.md against the code.
namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAreArray;

constexpr int kRanksInTable = 8;

std::vector<std::string> lines_of_docs(const std::string& page = "/docs/algorithms.md") {
  std::ifstream file(RINGSIDE_SOURCE_DIR + page);
  EXPECT_TRUE(file.good());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Rows of the first table below a heading, without its two header lines.
std::vector<std::string> table_below(const std::vector<std::string>& lines, const std::string& heading) {
  std::vector<std::string> rows;
  bool below = false;
  for (const std::string& line : lines) {
    if (line.starts_with("## ")) {
      below = line == heading;
    } else if (below && line.starts_with("|")) {
      rows.push_back(line);
    }
  }
  if (rows.size() > 2) {
    rows.erase(rows.begin(), rows.begin() + 2);
  }
  return rows;
}

std::string first_cells(const Algorithm& algorithm) {
  return fmt::format("| `{}` | {} |", algorithm.name, name(algorithm.collective));
}

TEST(Docs, IndexNamesEveryAlgorithmInTheOrderOfTheRegistry) {
  std::vector<std::string> found;
  for (const std::string& row : table_below(lines_of_docs(), "## Index")) {
    const std::size_t second_cell_end = row.find('|', row.find('|', 1) + 1);
    found.push_back(row.substr(0, second_cell_end + 1));
  }
  std::vector<std::string> expected;
  for (const Algorithm& algorithm : all_algorithms()) {
    expected.push_back(first_cells(algorithm));
  }
  EXPECT_THAT(found, ElementsAreArray(expected));
}

TEST(Docs, NumbersForEightRanksAreThoseOfTheCode) {
  std::vector<std::string> expected;
  for (const Algorithm& algorithm : all_algorithms()) {
    const ScheduleTotals totals = total(Schedule(algorithm, {.num_ranks = kRanksInTable}));
    expected.push_back(fmt::format("{} {:.4g} | {:.4g} | {:.4g} | {:.4g} | {:.4g} |", first_cells(algorithm),
                                   totals.critical_path.messages, totals.critical_path.bytes,
                                   totals.critical_path.reduced_bytes, totals.bytes_sent_by_busiest,
                                   totals.bytes_reduced_by_busiest));
  }
  EXPECT_THAT(table_below(lines_of_docs("/lab/docs/algorithms.md"), "## With 8 ranks"),
              ElementsAreArray(expected));
}

TEST(Docs, TheSchemaOfScenariosOffersEveryAlgorithm) {
  std::ifstream file(std::string(RINGSIDE_SOURCE_DIR) + "/configs/scenario.schema.json");
  const std::string schema(std::istreambuf_iterator<char>(file), {});
  for (const Algorithm& algorithm : all_algorithms()) {
    EXPECT_THAT(schema, ::testing::HasSubstr(fmt::format("\"{}\"", algorithm.name)));
  }
}

TEST(Docs, EveryAlgorithmHasASection) {
  const std::vector<std::string> lines = lines_of_docs();
  for (const Algorithm& algorithm : all_algorithms()) {
    EXPECT_THAT(lines, Contains(fmt::format("### {}", algorithm.name)));
  }
}

}  // namespace
}  // namespace ringside
