// What a single word, row or field of a foreign file must not be mistaken for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "import/import.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::message_of;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kTitle =
    "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n";
const std::string kRow =
    "  1048576  262144  float  sum  -1  101.4  10.34  10.34  0  99.87  10.50  10.50  0\n";
const std::string kTinyRow = "  8  2  float  sum  -1  12.34  0.00  0.00  0  12.11  0.00  0.00  0\n";

std::vector<Point> points_of(const std::string& text, const ImportDefaults& defaults = {}) {
  return merge(import_text(text, "x", defaults).series).points;
}

std::string rejection(const std::string& text) {
  return message_of(ErrorKind::bad_input, [&] { import_text(text, "x"); });
}

std::string ranks_of_run(int ranks) {
  std::string text = "# nThread 1 nGpus 1 iters: 20\n";
  for (int rank = 0; rank < ranks; ++rank) {
    text += "#  Rank  " + std::to_string(rank) + " Pid 1 on n device 0 [0x17] NVIDIA L40S\n";
  }
  return text + kTitle;
}

TEST(ImportedRows, VersionsAreThoseOfTheRunAndCodesThoseSince29) {
  EXPECT_FALSE(import_text("nccl-library=20805\n" + kTitle + kRow, "x").nccl);
  EXPECT_EQ(import_text("NCCL version 2.18.3+cuda12.2\n# nccl-library=22803\n" + kTitle + kRow, "x").nccl,
            "2.18.3");
}

TEST(ImportedRows, MillisecondsOfThreeDecimalsFitTheirBandwidth) {
  const auto points = points_of(
      "#  bytes  N  type  op  time  algbw  busbw  res  time  algbw  busbw  res\n"
      "  8192  2048  float  sum  0.002  3.41  3.41  4e-07  0.002  3.41  3.41  4e-07\n");
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_DOUBLE_EQ(points[0].measured->seconds.value, 2e-6);
}

TEST(ImportedRows, APointAloneAndWordsBeforeATypeAreNoRows) {
  const auto import =
      import_text(kTitle + kRow + "  .\n  size 256  float  sum  -1  17.94  0.06  0.11  0\n", "x");
  EXPECT_THAT(import.notes, IsEmpty());
  EXPECT_THAT(rejection(kTitle + "  -1024  256  float  sum  -1  17.94  0.06  0.11  0\n"),
              HasSubstr("holds no complete row"));
}

TEST(ImportedRows, WarmUpIsNoIterationWhereverItStands) {
  const auto points = points_of("# nThread 1 nGpus 2 iters: 20 warmup iters: 5\n" + kTitle + kRow);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].measured->iterations, 20);
}

TEST(ImportedRows, TheFirstGpuNamesThemAndARunHasItsOwnRanks) {
  const Import import = import_text(
      "# nThread 1\n#  Rank  0 Pid 1 on n device 0 [0x17] NVIDIA L40S\n"
      "#  Rank  1 Pid 1 on n device 1 [0x18] NVIDIA A40\n" +
          kTitle + kRow,
      "x");
  EXPECT_EQ(import.gpu, "NVIDIA L40S");
  const Import runs = import_text(ranks_of_run(4) + kTinyRow + ranks_of_run(2) + kTinyRow, "x");
  ASSERT_THAT(runs.series, SizeIs(2));
  EXPECT_EQ(runs.series[0].points[0].key.ranks, 4);
  EXPECT_EQ(runs.series[1].points[0].key.ranks, 2);
}

TEST(ImportedRows, TabsInPlaceOfBlanksAreRead) {
  std::string text = ranks_of_run(2) + kRow;
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    const bool in_name = text.compare(at, 5, " L40S") == 0;
    text[at] = in_name ? ' ' : '\t';
  }
  const std::vector<Point> points = points_of(text);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points.front().key.ranks, 2);
}

TEST(ImportedRows, AFooterThatFailedIsTold) {
  EXPECT_THAT(import_text(kTitle + kRow + "# Out of bounds values : 3 FAILED\n", "x").notes,
              Contains(HasSubstr("FAILED")));
}

TEST(ImportedRows, AResultOfJsonWithoutASizeOrATimeIsLeftOut) {
  const std::string start = R"({"args":["all_reduce_perf"],"devices":[{"rank":0},{"rank":1}],"results":[)";
  const std::string rest = R"(,"type":"float","redop":"sum","root":"-1")";
  const std::string whole =
      R"({"size":1024)" + rest + R"(,"out_of_place":{"time":9,"alg_bw":0.11,"bus_bw":0.11}})";
  for (const std::string& lacking :
       {R"({"size":2048)" + rest + R"(,"in_place":{"time":9,"alg_bw":0.11,"bus_bw":0.11}})",
        R"({"size":2048)" + rest + R"(,"out_of_place":{"alg_bw":0.11}})",
        std::string(R"({"type":"float","out_of_place":{"time":9}})"), std::string("7")}) {
    const Import import = import_text(start + whole + "," + lacking + "]}", "x.json");
    ASSERT_THAT(import.series, SizeIs(1)) << lacking;
    EXPECT_THAT(import.series[0].points, SizeIs(1)) << lacking;
    EXPECT_THAT(import.notes, Contains(HasSubstr("it has no size or no time"))) << lacking;
  }
}

TEST(ImportedRows, OsuRowsWithoutTheirPrefixWithAnotherTypeOrThatFailed) {
  const std::string title = "# OSU MPI Allreduce Latency Test v7.3\n";
  EXPECT_THAT(points_of(title + "node1 # Size       Avg Latency(us)\n4 5.12\n", {.ranks = 2}), SizeIs(1));
  const auto failed = points_of(title + "# Size  Avg Latency(us)  Validation\n4 5.12 Fail\n", {.ranks = 2});
  EXPECT_EQ(failed[0].measured->outcome, Outcome::wrong_result);
  const auto types = points_of(title + "# Datatype: MPI_INT.\n# Size  Avg Latency(us)\n4 5.12\n" + title +
                                   "# Size  Avg Latency(us)\n8 5.12\n",
                               {.ranks = 2});
  ASSERT_THAT(types, SizeIs(2));
  EXPECT_EQ(types[0].key.dtype, DataType::int32);
  EXPECT_EQ(types[1].key.dtype, DataType::float32);
}

TEST(ImportedRows, ABlockOfImbHasItsOwnRanksTypeAndColumns) {
  const std::string head = "# Intel(R) MPI Benchmarks\n# MPI_Datatype for reductions :   MPI_DOUBLE\n";
  const std::string columns = "  #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]  Mbytes/sec\n";
  const auto points = points_of(head + "# Benchmarking Allreduce\n# #processes = 4\n" + columns +
                                    "  1024 1000 2.40 2.61 2.50 1.0\n# Benchmarking Bcast\n" + columns +
                                    "  4096 1000 2.40 2.61 2.50 1.0\n",
                                {.ranks = 8});
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_EQ(points[0].key.ranks, 4);
  EXPECT_EQ(points[0].key.dtype, DataType::float64);
  EXPECT_EQ(points[0].measured->iterations, 1000);
  EXPECT_EQ(points[1].key.ranks, 8);
  EXPECT_EQ(points[1].key.dtype, DataType::float32);
  const Import cut = import_text(head + "# Benchmarking Allreduce\n# #processes = 4\n" + columns +
                                     "  1024 1000 2.40 2.61 2.50 1.0\n  2048 1000 2.40 2.61 2.50\n",
                                 "x");
  EXPECT_THAT(cut.notes, ElementsAre(HasSubstr("the row is cut")));
}

TEST(ImportedRows, CsvIsReadCellByCell) {
  EXPECT_EQ(points_of("bytes,ranks,time_us\n1024,2,5\n", {.ranks = 8})[0].key.ranks, 2);
  EXPECT_THAT(points_of("bytes,ranks,time_s\n1024,2,1e300\n4096,2,1\n"), SizeIs(1));
  EXPECT_EQ(points_of("algorithm,bytes,ranks,time_us\n\"ring, two\",1024,2,5\n")[0].key.algorithm,
            "ring, two");
  const Import skipped = import_text("bytes,ranks,time_us\n0,2,5\n1024,2,5\n2048,2,0\n", "x");
  EXPECT_THAT(skipped.notes,
              testing::UnorderedElementsAre(HasSubstr("a message of 0 bytes"), HasSubstr("no time above 0")));
}

TEST(ImportedRows, CsvOfSeveralSystemsIsReadForTheOneAskedFor) {
  const std::string table = "system,bytes,time_us\na,1024,1\nb,1024,2\na,2048,3\nb,oops,4\n";
  const Import of_a = import_text(table, "x", {.ranks = 2, .system = "a"});
  ASSERT_THAT(of_a.series, SizeIs(1));
  EXPECT_THAT(of_a.series[0].points, SizeIs(2));
  EXPECT_THAT(of_a.notes, testing::IsEmpty()) << "rows of b are not a's business";
  EXPECT_THROW(import_text(table, "x", {.ranks = 2, .system = "c"}), Error);
  EXPECT_THAT(points_of("bytes,time_us\n1024,1\n", {.ranks = 2, .system = "c"}), SizeIs(1))
      << "a table without the column is of one system";
}

TEST(ImportedRows, SizesOfAKindReachFromTheLeastToTheMost) {
  EXPECT_THAT(describe_kinds(points_of("bytes,ranks,time_us\n1048576,2,5\n4096,2,5\n")),
              ElementsAre(HasSubstr("4 KiB to 1 MiB")));
}

TEST(ImportedRows, EveryColumnOfACsvCounts) {
  const auto points = points_of(
      "# a comment\nbytes,time_us,ranks,collective,algorithm,dtype,op,remark\n"
      "1024,5,4,all_gather,ring,float64,max,x\n2 KiB,7,8,reduce,native,int32,min,\"a, b\"\n");
  ASSERT_THAT(points, SizeIs(2));
  const PointKey first = {.collective = Collective::all_gather,
                          .algorithm = "ring",
                          .ranks = 4,
                          .bytes = {1024},
                          .dtype = DataType::float64,
                          .op = ReduceOp::max};
  const PointKey second = {.collective = Collective::reduce,
                           .algorithm = "native",
                           .ranks = 8,
                           .bytes = {2048},
                           .dtype = DataType::int32,
                           .op = ReduceOp::min};
  EXPECT_EQ(points[0].key, first);
  EXPECT_EQ(points[1].key, second);
  EXPECT_DOUBLE_EQ(points[0].measured->seconds.value, 5e-6);
  EXPECT_DOUBLE_EQ(points[1].measured->seconds.value, 7e-6);
}

TEST(ImportedRows, BytesThatAreNoTextAreReplaced) {
  const Import import = import_text(
      "# nThread 1\n#  Rank  0 Pid 1 on n device 0 [0x17] NVIDIA L40\xFF\n"
      "#  Rank  1 Pid 1 on n device 1 [0x18] NVIDIA L40\xFF\n" +
          kTitle + kRow,
      "x");
  EXPECT_EQ(import.gpu, "NVIDIA L40\xEF\xBF\xBD");
}

}  // namespace
}  // namespace ringside
