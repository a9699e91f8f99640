#include "study/logs/import.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "common/error.hpp"
#include "results/codec/reader.hpp"
#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

TEST(ImportStudy, EverySeriesBecomesAJournal) {
  Workspace workspace;
  const ImportStudy study =
      import_log({.log = workspace.write("log.csv",
                                         "collective,algorithm,ranks,bytes,dtype,seconds\n"
                                         "all_reduce,ring,4,8000000,float32,0.0013\n")},
                 workspace.invocation(), workspace.observer());
  ASSERT_TRUE(study.file);
  EXPECT_EQ(read_results(*study.file).points.size(), 1U);
}

TEST(ImportStudy, EveryRowOfALongLogStandsOnce) {
  Workspace workspace;
  std::string rows = "bytes,time_us\n";
  constexpr std::size_t kRows = 600;  // Written in several pieces.
  for (std::size_t row = 1; row <= kRows; ++row) {
    rows += std::to_string(4 * row) + ",5\n";
  }
  const ImportStudy study = import_log({.log = workspace.write("log.csv", rows), .defaults = {.ranks = 2}},
                                       workspace.invocation(), workspace.observer());
  EXPECT_EQ(study.series.at(0).rows, kRows);
  ASSERT_TRUE(study.file);
  const std::vector<Point> points = read_results(*study.file).points;
  ASSERT_EQ(points.size(), kRows);
  EXPECT_EQ(points.back().key.bytes.value, 4 * static_cast<std::int64_t>(kRows));
  const std::string text = read_text(*study.file);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + static_cast<std::ptrdiff_t>(kRows));
}

TEST(ImportStudy, EarlierResultsAreKept) {
  Workspace workspace;
  const std::string head = "collective,algorithm,ranks,bytes,dtype,seconds\n";
  import_log({.log = workspace.write("a.csv", head + "all_reduce,ring,4,8000000,float32,0.0013\n")},
             workspace.invocation(), workspace.observer());
  import_log({.log = workspace.write("b.csv", head + "all_reduce,ring,2,8000000,float32,0.0013\n")},
             workspace.invocation(), workspace.observer());
  EXPECT_THAT(workspace.notes(), testing::ElementsAre(testing::HasSubstr("Earlier results are kept")));
}

}  // namespace
}  // namespace ringside::study
