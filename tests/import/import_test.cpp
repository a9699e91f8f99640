// 400 lines: a log of each format stands here as its tool prints it.
//
// Foreign logs: the formats as their tools print them, what wraps them, and what spoils them.

#include "import/import.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "common/error.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The same cases on every run; RC_PARAMS in the environment chooses others.
const int kSeeded = ::setenv("RC_PARAMS", "seed=20261101 max_success=200", /*overwrite=*/0);

// nccl-tests 2.13 and later.
constexpr const char* kLog =
    R"(# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid  12345 on      node1 device  0 [0x17] NVIDIA L40S
#  Rank  1 Group  0 Pid  12345 on      node1 device  1 [0x31] NVIDIA L40S
NCCL version 2.18.3+cuda12.2
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    12.34    0.00    0.00      0    12.11    0.00    0.00      0
     1048576        262144     float     sum      -1    101.4   10.34   10.34      0    99.87   10.50   10.50      0
   134217728      33554432     float     sum      -1   8341.0   16.09   16.09      0   8333.1   16.11   16.11    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 8.81
#
)";

// nccl-tests 2.0: no root, the largest error instead of a count.
constexpr const char* kOldLog =
    R"(# nThread 1 nGpus 2 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid   4321 on      node1 device  0 [0x05] Tesla V100-SXM2-16GB
#   Rank  1 Pid   4321 on      node1 device  1 [0x06] Tesla V100-SXM2-16GB
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2   float     sum    28.71    0.00    0.00  4e-07    28.31    0.00    0.00  0e+00
     1048576        262144   float     sum    101.4   10.34   10.34  5e-07    99.87   10.50   10.50  5e-07
 Out of bounds values : 0 OK
 Avg bus bandwidth    : 5.2
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::vector<double> microseconds(const Import& import, std::size_t series = 0) {
  std::vector<double> result;
  for (const Point& point : import.series.at(series).points) {
    result.push_back(point.measured->seconds.value * 1e6);
  }
  return result;
}

std::string rejection(std::string_view text, const ImportDefaults& defaults = {}) {
  return message_of(ErrorKind::bad_input, [&] { import_text(text, "x.log", defaults); });
}

MATCHER_P(Near, value, "") { return std::abs(arg - value) < 1e-9 * value; }

void expect_the_log(const std::string& text) {
  const Import import = import_text(text, "x.log");
  ASSERT_THAT(import.series, SizeIs(1));
  EXPECT_THAT(microseconds(import), ElementsAre(Near(12.34), Near(101.4), Near(8341.0)));
  const Point& point = import.series[0].points[1];
  EXPECT_EQ(point.key.collective, Collective::all_reduce);
  EXPECT_EQ(point.key.algorithm, "native");
  EXPECT_EQ(point.key.ranks, 2);
  EXPECT_EQ(point.key.bytes, Bytes{1048576});
  EXPECT_EQ(point.measured->iterations, 20);
  EXPECT_EQ(point.measured->backend, Backend::nccl);
  EXPECT_EQ(import.gpu, "NVIDIA L40S");
  EXPECT_EQ(import.nccl, "2.18.3");
  EXPECT_THAT(import.notes, IsEmpty());
}

TEST(ImportNcclTests, ReadsATableAndWhatItsPreambleSays) { expect_the_log(kLog); }

TEST(ImportNcclTests, DoesNotMindWhatWrapsItsLines) {
  expect_the_log(replaced(kLog, "\n", "\r\n"));
  for (const char* prefix : {"[1,0]<stdout>: ", "2024-05-01T12:00:01.123456789Z stdout F ",
                             "0: ", "node1: ", "12:00:01 [INFO] 2024 - ", "| ", "\t"}) {
    SCOPED_TRACE(prefix);
    expect_the_log(prefix + replaced(kLog, "\n", std::string("\n") + prefix));
  }
  std::string json;
  for (const char* line = kLog; *line != '\0';) {
    const std::string_view rest(line);
    const std::size_t end = rest.find('\n');
    json += fmt::format("{{\"log\":\"{}\\n\",\"stream\":\"stdout\",\"time\":\"2024-05-01\"}}\n",
                        rest.substr(0, end));
    line += end + 1;
  }
  expect_the_log(json);
}

TEST(ImportNcclTests, ATimeStampMayFollowARow) {
  expect_the_log(replaced(replaced(kLog, "      0\n", "      0 2024-05-01 12:00:00\n"), "    N/A\n",
                          "    N/A 2024-05-01 12:00:00\n"));
}

TEST(ImportNcclTests, ReadsTheColumnsOfTheFirstVersions) {
  const Import import = import_text(kOldLog, "x.log");
  EXPECT_THAT(microseconds(import), ElementsAre(Near(28.71), Near(101.4)));
  EXPECT_EQ(import.series[0].points[0].key.ranks, 2);
  EXPECT_EQ(import.gpu, "Tesla V100-SXM2-16GB");
  // An error of 4e-07 is rounding, not a count of wrong elements.
  EXPECT_EQ(import.series[0].points[0].measured->outcome, Outcome::ok);
}

TEST(ImportNcclTests, ReadsTheMillisecondsOfTheFirstPrograms) {
  const Import import = import_text(
      R"(nThread 1 nGpus 2 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
# NCCL Tests compiled with NCCL 2.0
# Using devices
#   Rank  0 on      node1 device  0 [0x04] Tesla P100-SXM2-16GB
#   Rank  1 on      node1 device  1 [0x06] Tesla P100-SXM2-16GB

#                                                 out-of-place                    in-place
#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res
           8             2   float     sum    0.043   0.00   0.00    0e+00    0.044   0.00   0.00    0e+00
     1048576        262144   float     sum    0.043  24.61  24.61    4e-07    0.101  10.38  10.38    4e-07
)",
      "x.log");
  EXPECT_THAT(microseconds(import), ElementsAre(Near(43.0), Near(43.0)));
  EXPECT_EQ(import.series[0].points[0].key.ranks, 2);
  EXPECT_EQ(import.gpu, "Tesla P100-SXM2-16GB");
  EXPECT_THAT(import.notes, IsEmpty());
}

TEST(ImportNcclTests, SendrecvIsNoAllReduceOfTwo) {
  EXPECT_EQ(import_text("+ ./build/sendrecv_perf -b 8 -e 128M\n" + std::string(kLog), "x.log")
                .series[0]
                .points[0]
                .key.collective,
            Collective::send_recv);
  // Without its name its rows are those of an all_reduce on two ranks, but more are listed.
  const std::string more = replaced(kLog, "#  Rank  1", "#  Rank  7");
  ASSERT_NE(more, kLog);
  EXPECT_THAT(rejection(more), HasSubstr("although 8 ranks are listed, as sendrecv_perf prints"));
  EXPECT_EQ(import_text("all_reduce_perf\n" + more, "x.log").series[0].points[0].key.ranks, 2);
  const PointKey told =
      import_text(more, "x.log", {.collective = Collective::send_recv}).series[0].points[0].key;
  EXPECT_EQ(told.collective, Collective::send_recv);
  EXPECT_EQ(told.ranks, 8);
}

TEST(ImportNcclTests, TakesTheInPlaceTimesOnRequest) {
  const Import import = import_text(kLog, "x.log", {.placement = Placement::in_place});
  EXPECT_THAT(microseconds(import), ElementsAre(Near(12.11), Near(99.87), Near(8333.1)));
}

TEST(ImportNcclTests, TwoTablesAreTwoSeries) {
  const Import import = import_text(std::string(kLog) + kOldLog, "x.log");
  ASSERT_THAT(import.series, SizeIs(2));
  EXPECT_THAT(microseconds(import, 1), ElementsAre(Near(28.71), Near(101.4)));
  EXPECT_EQ(import.series[1].line, 26U);
  const Merged merged = merge(import.series);
  EXPECT_THAT(merged.points, SizeIs(3));
  EXPECT_EQ(merged.repeated, 2U);
}

TEST(ImportNcclTests, WrongSumsAreWrongResults) {
  const Import import = import_text(replaced(kLog, "10.34      0", "10.34     17"), "x.log");
  const Measurement& measured = *import.series[0].points[1].measured;
  EXPECT_EQ(measured.outcome, Outcome::wrong_result);
  EXPECT_EQ(measured.note, "17 elements were wrong");
  EXPECT_EQ(import.series[0].points[2].measured->outcome, Outcome::ok);
}

TEST(ImportNcclTests, AFileCutAnywhereGivesItsWholeRowsOrOneMessage) {
  const std::string whole = kLog;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    try {
      const Import import = import_text(whole.substr(0, length), "x.log");
      for (const Point& point : import.series.at(0).points) {
        const double us = point.measured->seconds.value * 1e6;
        EXPECT_TRUE(std::abs(us - 12.34) < 1e-6 || std::abs(us - 101.4) < 1e-6 || std::abs(us - 8341) < 1e-6)
            << length << ": " << us;
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    }
  }
}

TEST(ImportNcclTests, TheProgramOrTheColumnsSayWhichCollectiveItIs) {
  const auto collective_of = [](const std::string& text) {
    return import_text(text, "x.log").series.at(0).points.at(0).key.collective;
  };
  const std::string gather = replaced(kLog, "  sum      -1", " none      -1");
  EXPECT_EQ(collective_of("+ mpirun -np 2 ./build/all_gather_perf -b 8 -e 128M -f 2\n" + gather),
            Collective::all_gather);
  EXPECT_EQ(collective_of("# Collective test starting: all_gather_perf\n" + gather), Collective::all_gather);
  EXPECT_EQ(collective_of(replaced(kLog, "10.34   10.34", "10.34    5.17")), Collective::reduce_scatter);
  EXPECT_EQ(collective_of(replaced(kLog, "  sum      -1", "  sum       0")), Collective::reduce);
  EXPECT_EQ(collective_of(replaced(kLog, "  sum      -1", " none       0")), Collective::broadcast);
  EXPECT_THAT(rejection(gather), HasSubstr("names the collective"));
  EXPECT_EQ(collective_of("# Collective test starting: alltoall_perf\n" + gather), Collective::all_to_all);
  EXPECT_THAT(rejection("# Collective test starting: scatter_perf\n" + gather),
              HasSubstr("the collective of scatter_perf is none of ringside's"));
}

TEST(ImportNcclTests, SaysWhatOfTheDefaultsTheLogMakesUseless) {
  const ImportDefaults other{
      .ranks = 8, .dtype = DataType::int32, .op = ReduceOp::max, .collective = Collective::all_to_all};
  const auto notes = [&](const ImportDefaults& defaults) {
    return import_text(kOldLog, "x", defaults).notes;
  };
  for (const auto& [own, given] :
       {std::pair("2 ranks", "8"), {"float32", "int32"}, {"sum", "max"}, {"all_reduce", "all_to_all"}}) {
    EXPECT_THAT(notes(other),
                testing::Contains(fmt::format("the file itself says {}, so {} is not used", own, given)));
  }
  const ImportDefaults same{
      .ranks = 2, .dtype = DataType::float32, .op = ReduceOp::sum, .collective = Collective::all_reduce};
  EXPECT_EQ(notes(same), notes({}));
}

TEST(ImportNcclTests, BandwidthsSayTheNumberOfRanksWhereTheListIsMissingOrOfAnotherRun) {
  const std::string eight =
      replaced(replaced(kLog, "10.34   10.34", "10.34   18.10"), "16.09   16.09", "16.09   28.16");
  const Import listed = import_text(eight, "x.log");
  EXPECT_EQ(listed.series[0].points[0].key.ranks, 8);
  EXPECT_THAT(listed.notes, ElementsAre(HasSubstr("lists 2 ranks, but its bandwidths are those of 8")));
  const std::string rows = eight.substr(eight.find("           8 "));
  EXPECT_EQ(import_text(rows, "x.log").series[0].points[0].key.ranks, 8);
}

TEST(ImportNcclTests, SaysWhichRowsItSkipsAndWhy) {
  const std::string row =
      "     1048576       1048576      int8     sum      -1    101.4   10.34   10.34      0\n";
  const std::string odd =
      "     1048576        262144     float     sum      -1    55.55   10.34   10.34      0\n";
  const Import import = import_text(kLog + row + row + odd, "x.log");
  EXPECT_THAT(import.series[0].points, SizeIs(3));
  EXPECT_THAT(import.notes,
              ElementsAre("2 rows from line 17 on were skipped: elements of type int8 are none of ringside's",
                          "line 19 was skipped: its time and its bandwidth do not fit each other"));
}

TEST(ImportNcclTests, KnowsRcclAndTheCodeOfAVersion) {
  EXPECT_EQ(
      import_text(replaced(kLog, "NCCL version 2.18.3+cuda12.2", "RCCL version 2.20.5+hip6.2"), "x").nccl,
      "RCCL 2.20.5");
  EXPECT_EQ(import_text(replaced(kLog, "NCCL version 2.18.3+cuda12.2",
                                 "# nccl-tests version 2.17.1 nccl-headers=22803 nccl-library=22803"),
                        "x")
                .nccl,
            "2.28.3");
}

/// Any rows that nccl-tests could print read back as what they were.
RC_GTEST_PROP(ImportProperties, WhatIsPrintedReadsBack, ()) {
  const int ranks = *rc::gen::inRange(2, 64);
  const auto exponents = *rc::gen::unique<std::vector<int>>(rc::gen::inRange(21, 34));
  const std::string prefix =
      *rc::gen::element<std::string>("", "[1,3]<stdout>:", "2024-05-01 12:00:01 ", "7 ");
  RC_PRE(!exponents.empty());
  std::string text;
  std::vector<double> times;
  for (const int exponent : exponents) {
    const auto bytes = std::int64_t{1} << exponent;
    const double time =
        static_cast<double>(*rc::gen::inRange(1000, 99999)) / 10 * static_cast<double>(1 << (exponent - 21));
    const double algbw = static_cast<double>(bytes) / time / 1e3;
    text += fmt::format("{}{:12d}  {:12d}     float     sum      -1  {:7.1f}  {:6.2f}  {:6.2f}      0\n",
                        prefix, bytes, bytes / 4, time, algbw, algbw * 2 * (ranks - 1) / ranks);
    times.push_back(time);
  }
  const Import import = import_text(text, "x.log", {.ranks = ranks});
  RC_ASSERT(import.series.size() == 1U);
  RC_ASSERT(import.series[0].points.size() == times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    RC_ASSERT(std::abs(import.series[0].points[i].measured->seconds.value * 1e6 - times[i]) < 0.051);
    RC_ASSERT(import.series[0].points[i].key.ranks == ranks);
  }
}

/// Any bytes at all are refused in one sentence, or give what is in them.
RC_GTEST_PROP(ImportProperties, AnyBytesAreRowsOrOneMessage, (const std::string& noise)) {
  try {
    import_text(noise, "noise");
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::bad_input);
  }
  const Import import = import_text("\n" + noise + "\n" + kLog, "noise", {.ranks = 2});
  RC_ASSERT(import.series.size() >= 1U);
}

TEST(ImportJson, ReadsWhatNcclTestsWrites) {
  const std::string text =
      R"({"version":1,"args":["./build/all_reduce_perf","-J","x.json"],"nccl_version":"2.28.3",
    "devices":[{"rank":0,"name":"NVIDIA H100"},{"rank":1,"name":"NVIDIA H100"}],
    "results":[
      {"size":1048576,"count":262144,"type":"float","redop":"sum","root":"-1",
       "out_of_place":{"time":101.4,"alg_bw":10.34,"bus_bw":10.34,"nwrong":0},
       "in_place":{"time":99.87,"alg_bw":10.5,"bus_bw":10.5,"nwrong":null}},
      {"size":2097152,"count":524288,"type":"float","redop":"sum","root":"-1",
       "out_of_place":{"time":181.4,"alg_bw":11.56,"bus_bw":11.56,"nwrong":2},
       "in_place":{"time":199.87,"alg_bw":10.5,"bus_bw":10.5,"nwrong":0}}]})";
  const Import import = import_text(text, "x.json");
  ASSERT_THAT(import.series, SizeIs(1));
  EXPECT_EQ(import.series[0].points[0].key.ranks, 2);
  EXPECT_THAT(import.series[0].points[0].measured->seconds.value, Near(101.4e-6));
  EXPECT_EQ(import.series[0].points[1].measured->outcome, Outcome::wrong_result);
  EXPECT_THAT(rejection(text.substr(0, text.size() - 30)), HasSubstr("was it cut?"));
  EXPECT_THAT(rejection("{\"a\": 1}"), HasSubstr("has no list `results`"));
}

TEST(ImportOsu, ReadsTheShortAndTheFullTable) {
  const Import brief = import_text(
      "# OSU MPI-CUDA Allreduce Latency Test v5.7\n# Size       Avg Latency(us)\n"
      "4                      12.01\n1048576               412.20\n",
      "x", {.ranks = 4});
  EXPECT_THAT(microseconds(brief), ElementsAre(Near(12.01), Near(412.20)));
  const Import full = import_text(
      "[1,0]<stdout>: # OSU MPI Allreduce Latency Test v7.3\n[1,0]<stdout>: # Datatype: MPI_DOUBLE.\n"
      "[1,0]<stdout>: # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
      "[1,0]<stdout>: 8                       5.12              4.98              5.30        1000\n",
      "x", {.ranks = 4});
  EXPECT_EQ(full.series[0].points[0].key.dtype, DataType::float64);
  EXPECT_EQ(full.series[0].points[0].key.bytes, Bytes{8});
  EXPECT_EQ(full.series[0].points[0].measured->iterations, 1000);
  EXPECT_EQ(full.series[0].points[0].measured->backend, Backend::mpi);
  EXPECT_THAT(rejection("# OSU MPI Allreduce Latency Test v5.7\n# Size  Avg Latency(us)\n4  12.0\n"),
              HasSubstr("line 3: nothing says on how many ranks"));
}

TEST(ImportOsu, WhatStandsInFrontIsNoSize) {
  const std::string table =
      "# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)   Min Latency(us)   Max "
      "Latency(us)  "
      "Iterations\n8                       5.12              4.98              5.30        1000\n"
      "1048576               812.44            800.01            820.00         100\n";
  for (const char* prefix :
       {"1709546000 ", "Mar  4 10:11:12 node1 ", "[3] ", "2025-03-04T10:11:12Z stdout F "}) {
    const Import import =
        import_text(prefix + replaced(table, "\n", std::string("\n") + prefix), "x", {.ranks = 4});
    EXPECT_THAT(microseconds(import), ElementsAre(Near(5.12), Near(812.44))) << prefix;
    EXPECT_EQ(import.series[0].points[1].key.bytes, Bytes{1048576}) << prefix;
  }
  const Import interleaved =
      import_text(replaced(table, "1048576 ", "node1 NCCL INFO 12 13\n1048576 "), "x", {.ranks = 4});
  EXPECT_THAT(microseconds(interleaved), ElementsAre(Near(5.12), Near(812.44)));
}

TEST(ImportOsu, AFileCutAnywhereGivesItsWholeRowsOrOneMessage) {
  const std::string whole =
      "# OSU MPI Allreduce Latency Test v5.7\n# Size       Avg Latency(us)\n4            12.01\n1048576     "
      "1412.20\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    try {
      const Import import = import_text(whole.substr(0, length), "x.log", {.ranks = 4});
      for (const double us : microseconds(import)) {
        EXPECT_TRUE(std::abs(us - 12.01) < 1e-6 || std::abs(us - 1412.20) < 1e-6) << length << ": " << us;
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    }
  }
}

TEST(ImportOsu, OtherTestsAreNamed) {
  for (const char* title : {"OSU MPI Scatter Latency Test v7.3", "OSU MPI_Get latency Test v7.3"}) {
    EXPECT_THAT(rejection(std::string("# ") + title + "\n# Size       Avg Latency(us)\n8      5.12\n"),
                HasSubstr("this OSU test is of no collective of ringside's"))
        << title;
  }
}

TEST(ImportCsv, ReadsNamedColumns) {
  const Import import = import_text(
      "\xEF\xBB\xBF# a comment\nSize (bytes);GPUs;\"Time (us)\";type\r\n4 KiB;4;10.5;half\r\n"
      "8192;4;11;half\r\n8192;4\r\nx;4;1;half\r\n8;4;0;half\r\n",
      "x.csv");
  EXPECT_THAT(microseconds(import), ElementsAre(Near(10.5), Near(11.0)));
  EXPECT_EQ(import.series[0].points[0].key.bytes, Bytes{4096});
  EXPECT_EQ(import.series[0].points[0].key.dtype, DataType::float16);
  EXPECT_THAT(import.notes, SizeIs(3));
  for (const auto& [unit, seconds] : {std::pair("seconds", 2.0), {"time_ms", 2e-3}, {"latency_us", 2e-6}}) {
    const Import one = import_text(fmt::format("bytes,{}\n8,2\n", unit), "x.csv", {.ranks = 2});
    EXPECT_THAT(one.series[0].points[0].measured->seconds.value, Near(seconds)) << unit;
  }
}

TEST(ImportCsv, AsksForAColumnOfTimesWithAUnit) {
  EXPECT_THAT(rejection("bytes,time\n8,2\n"), HasSubstr("says no unit"));
  EXPECT_THAT(rejection("bytes,algbw\n8,2\n"), HasSubstr("no column is a time"));
  EXPECT_THAT(rejection("bytes,time_us,time_ms\n8,2,2\n"), HasSubstr("several columns are times"));
}

TEST(Import, ReadsOurOwnResults) {
  const Import import = import_text(examples::whole_file(), "run.jsonl");
  EXPECT_EQ(import.format, "ringside");
  EXPECT_THAT(import.series, SizeIs(1));
}

TEST(Import, WhatHoldsNothingGetsOneMessage) {
  EXPECT_THAT(rejection(""), HasSubstr("x.log: is empty: the run printed nothing"));
  EXPECT_THAT(rejection("nothing to see here\n"),
              HasSubstr("x.log: holds no measurement; ringside reads text and JSON of nccl-tests"));
  EXPECT_THAT(rejection(std::string("\x7f"
                                    "ELF\0\0\1\2\xff\n\0",
                                    11)),
              HasSubstr("is no text"));
  EXPECT_THAT(rejection(std::string("\xFF\xFE#\0 \0", 6)), HasSubstr("is UTF-16"));
  EXPECT_THAT(rejection("# Using devices\n#  size count type redop root time algbw busbw #wrong\n"),
              HasSubstr("holds no complete row"));
}

TEST(Import, KindsAreNamedForPeople) {
  EXPECT_THAT(describe_kinds(import_text(kLog, "x").series[0].points),
              ElementsAre("native all_reduce (sum) of float32 on 2 ranks, 8 B to 128 MiB"));
}

}  // namespace
}  // namespace ringside
