#include "study/logs/import.hpp"

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
