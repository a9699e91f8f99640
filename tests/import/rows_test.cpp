// What a single word, row or field of a foreign file must not be mistaken for.

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "import/import.hpp"
#include "import/nccl_tests.hpp"
#include "import/parts.hpp"
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

TEST(ImportedRows, AMessageOfNoBytesIsNone) {
  const Import import = import_text(
      ranks_of_run(2) + "  0  0  float  sum  -1  12.34  0.00  0.00  0  12.11  0.00  0.00  0\n" + kRow, "x");
  EXPECT_THAT(import.notes, Contains("line 5 was skipped: a message of 0 bytes"));
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

TEST(Words, NumbersEndWhereQuotesEscapesAndColoursBegin) {
  for (const char* behind : {"", "\\n", "\"", "'", "<b>", "\x1b[0m", ",", ",7"}) {
    EXPECT_EQ(number_in_word(std::string("12.5") + behind), 12.5) << behind;
    EXPECT_EQ(whole_in_word(std::string("12") + behind), 12) << behind;
  }
  for (const char* word : {"", "a", "x12", "z", "12x", "12:", "12)", "12;", "12|", "12 ", "inf", "nan", "-",
                           ".", "1e999", ":1", "}"}) {
    EXPECT_EQ(number_in_word(word), std::nullopt) << word;
    EXPECT_EQ(whole_in_word(word), std::nullopt) << word;
  }
  EXPECT_EQ(number_in_word("-2.5"), -2.5);
  EXPECT_EQ(number_in_word("9e3"), 9000);
  EXPECT_EQ(whole_in_word("-1"), std::nullopt);
  EXPECT_EQ(whole_in_word("0"), 0);
  EXPECT_EQ(whole_in_word("1.5"), std::nullopt);
  EXPECT_EQ(ranks_in_word("100000000"), 100'000'000);
  EXPECT_EQ(ranks_in_word("100000001"), std::nullopt);
  EXPECT_EQ(ranks_in_word("x"), std::nullopt);
  EXPECT_EQ(iterations_in_word("1000000001"), 1'000'000'000);
  EXPECT_EQ(iterations_in_word("999999999"), 999'999'999);
  EXPECT_EQ(iterations_in_word("x"), 0);
}

TEST(Words, BlanksAndBarsEndThem) {
  EXPECT_THAT(words_of(" a\tb|c\r\nd "), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(words_of(""), IsEmpty());
  EXPECT_THAT(words_of(" | "), IsEmpty());
  EXPECT_EQ(first_word("  a b"), "a");
  EXPECT_EQ(first_word("ab"), "ab");
  EXPECT_EQ(first_word("  "), "");
  EXPECT_EQ(clean("a\\nb"), "a");
  EXPECT_EQ(clean("a\"b"), "a");
  EXPECT_EQ(clean("a<b"), "a");
  EXPECT_EQ(clean("a\x1b[0m"), "a");
  EXPECT_EQ(clean("a'b"), "a'b");
  EXPECT_EQ(after("x: y", "x:"), " y");
  EXPECT_EQ(after("x: y", "z"), std::nullopt);
  std::string kept;
  EXPECT_EQ(without_tabs("a\tb", kept), "a b");
  EXPECT_EQ(without_tabs("a b", kept), "a b");
  EXPECT_EQ(gpu_of_rank("# Rank 0 on n device 0 [0x17] NVIDIA  L40S\\n"), "NVIDIA L40S");
  EXPECT_EQ(gpu_of_rank("# Rank 0 on n device 0"), "");
}

TEST(Words, TagsOfMpirunGoFromEveryPlace) {
  std::string kept;
  EXPECT_EQ(without_rank_tags("[1,0]<stdout>: a [1,12]<stderr>:b", kept), " a b");
  EXPECT_EQ(without_rank_tags("[1,0]<stdin>: a", kept), "[1,0]<stdin>: a");
  EXPECT_EQ(without_rank_tags("1,0]<stdout>: a", kept), "1,0]<stdout>: a");
  EXPECT_EQ(without_rank_tags("8 [1,0]<stdout>:9", kept), "8 9");
}

TEST(Words, ADecimalCommaStandsAloneBetweenDigits) {
  EXPECT_TRUE(has_decimal_comma("60,12"));
  EXPECT_TRUE(has_decimal_comma("6,1"));
  for (const char* word : {",5", "5,", "5,5,5", "a,b", "1.5", "60,12 ", "6,x", ""}) {
    EXPECT_FALSE(has_decimal_comma(word)) << word;
  }
}

TEST(Words, ALineKnowsWhetherItMayBeARowAndIsAscii) {
  LogLine line;
  const auto is_like_row = [&](std::string_view text) {
    line.take(text);
    return line.is_like_row;
  };
  for (const char* text : {" 8 float sum -1 12.34", "a\tz\r", "0 9", ""}) {
    EXPECT_TRUE(is_like_row(text)) << text;
    EXPECT_TRUE(line.is_ascii) << text;
  }
  for (const char* text : {"| 8 |", "Size", "8 (B)", "#", "8/9", "8:9", "8 {", "8 `"}) {
    EXPECT_FALSE(is_like_row(text)) << text;
    EXPECT_TRUE(line.is_ascii) << text;
  }
  EXPECT_FALSE(is_like_row("8 µs"));
  EXPECT_FALSE(line.is_ascii);
}

TEST(SkippedRowsOfALog, TheReasonOfMostComesFirst) {
  SkippedRows skipped;
  skipped.add(3, "a");
  skipped.add(4, "b");
  skipped.add(5, "b");
  skipped.add(9, "c");
  EXPECT_THAT(skipped.sentences(), ElementsAre("2 rows from line 4 on were skipped: b",
                                               "line 3 was skipped: a", "line 9 was skipped: c"));
}

TEST(PossibleTimes, HaveALeastAndAMostInEachPart) {
  const auto possible = [](auto set, double value) {
    Measurement measurement{.outcome = Outcome::ok, .seconds = {1}};
    set(measurement, value);
    return has_possible_times(measurement);
  };
  const auto seconds = [](Measurement& it, double value) { it.seconds = {value}; };
  const auto low = [](Measurement& it, double value) { it.low = {value}; };
  const auto high = [](Measurement& it, double value) { it.high = {value}; };
  const auto least = [](Measurement& it, double value) { it.min = {value}; };
  const auto p95 = [](Measurement& it, double value) { it.p95 = {value}; };
  const auto sample = [](Measurement& it, double value) { it.samples = {1, value}; };
  const auto repetition = [](Measurement& it, double value) { it.repetitions = {1, value}; };
  const std::vector<std::function<void(Measurement&, double)>> parts = {seconds, low,    high,      least,
                                                                        p95,     sample, repetition};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_TRUE(possible(parts[i], 1e-9)) << i;
    EXPECT_TRUE(possible(parts[i], 1e9)) << i;
    EXPECT_FALSE(possible(parts[i], 0.9e-9)) << i;
    EXPECT_FALSE(possible(parts[i], 1.1e9)) << i;
    EXPECT_EQ(possible(parts[i], 0), i >= 1 && i <= 4) << i << ": only these may be unknown";
  }
  EXPECT_TRUE(has_possible_times({.outcome = Outcome::wrong_result})) << "it has none";
}

TEST(RanksOfBandwidths, AreThoseThatAllRowsAgreeOn) {
  const auto of_ring = [](int ranks, double algbw) {
    return Bandwidths{.algbw = algbw, .busbw = algbw * 2 * (ranks - 1) / ranks};
  };
  for (const int ranks : {2, 3, 7, 8, 64}) {
    EXPECT_EQ(ranks_of_bandwidths(Collective::all_reduce, {of_ring(ranks, 120), of_ring(ranks, 50)}), ranks);
  }
  EXPECT_EQ(ranks_of_bandwidths(Collective::all_gather, {{.algbw = 100, .busbw = 75}}), 4);
  EXPECT_EQ(ranks_of_bandwidths(Collective::all_reduce, {of_ring(4, 100), of_ring(8, 100)}), std::nullopt);
  EXPECT_EQ(ranks_of_bandwidths(Collective::all_reduce, {of_ring(64, 1)}), std::nullopt) << "too few digits";
  EXPECT_EQ(ranks_of_bandwidths(Collective::all_reduce, {of_ring(3, 1)}), 3);
  EXPECT_EQ(ranks_of_bandwidths(Collective::all_reduce, {{.algbw = 0.99, .busbw = 1.32}}), std::nullopt);
  EXPECT_EQ(ranks_of_bandwidths(Collective::all_reduce, {{.algbw = 1.2, .busbw = 0.99}}), std::nullopt);
  EXPECT_EQ(ranks_of_bandwidths(Collective::all_reduce, {}), std::nullopt);
  EXPECT_EQ(ranks_of_bandwidths(Collective::all_reduce, {{.algbw = 10, .busbw = 20}}), std::nullopt);
  ImportedTable table(2);
  table[0].ranks = 5;
  table[0].bandwidths = table[1].bandwidths = of_ring(8, 100);
  add_ranks_of_bandwidths(Collective::all_reduce, table);
  EXPECT_EQ(table[0].ranks, 5) << "it said so itself";
  EXPECT_EQ(table[1].ranks, 8);
}

TEST(NcclTypes, ThoseOfOthersAreKnownToBeTypes) {
  const std::vector<std::pair<std::string, std::optional<DataType>>> types = {
      {"float", DataType::float32},  {"half", DataType::float16}, {"bfloat16", DataType::bfloat16},
      {"double", DataType::float64}, {"int32", DataType::int32},  {"int64", DataType::int64},
      {"int", DataType::int32},      {"int8", std::nullopt},      {"uint8", std::nullopt},
      {"char", std::nullopt},        {"uint32", std::nullopt},    {"uint64", std::nullopt},
      {"f8e4m3", std::nullopt},      {"f8e5m2", std::nullopt},    {"fp8_e4m3", std::nullopt},
      {"fp8_e5m2", std::nullopt}};
  for (const auto& [word, dtype] : types) {
    EXPECT_TRUE(is_nccl_dtype(word)) << word;
    EXPECT_EQ(nccl_dtype(word), dtype) << word;
  }
  EXPECT_FALSE(is_nccl_dtype("complex"));
  EXPECT_EQ(nccl_dtype("complex"), std::nullopt);
}

TEST(NcclVersions, AreCodesSince29) {
  EXPECT_EQ(nccl_version_of_code("20900"), "2.9.0");
  EXPECT_EQ(nccl_version_of_code("20899"), std::nullopt);
  EXPECT_EQ(nccl_version_of_code("22803,"), "2.28.3");
  EXPECT_EQ(nccl_version_of_code("x"), std::nullopt);
  EXPECT_EQ(collective_of_program("all_gather_perf"), Collective::all_gather);
  EXPECT_EQ(collective_of_program("alltoall_perf_mpi"), Collective::all_to_all);
  EXPECT_EQ(collective_of_program("_perf"), std::nullopt);
  EXPECT_EQ(collective_of_program("scatter_perf"), std::nullopt);
}

}  // namespace
}  // namespace ringside
