// 400 lines: a log of each tool stands here as it is printed, with what spoils it.
//
// Benchmarks beside nccl-tests and OSU, as their tools print them.

#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "import/import.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct Row {
  Collective collective = Collective::all_reduce;
  int ranks = 0;
  std::int64_t bytes = 0;
  double microseconds = 0;
};

std::vector<Row> rows_of(const Import& import) {
  std::vector<Row> rows;
  for (const Series& series : import.series) {
    for (const Point& point : series.points) {
      rows.push_back({point.key.collective, point.key.ranks, point.key.bytes.value,
                      point.measured->seconds.value * 1e6});
    }
  }
  return rows;
}

MATCHER_P4(Is, collective, ranks, bytes, microseconds, "") {
  return arg.collective == collective && arg.ranks == ranks && arg.bytes == bytes &&
         std::abs(arg.microseconds - microseconds) < 1e-6 * microseconds;
}

std::string rejection(std::string_view text, const ImportDefaults& defaults = {}) {
  return message_of(ErrorKind::bad_input, [&] { import_text(text, "x.log", defaults); });
}

constexpr const char* kTitle =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n";

TEST(ImportNcclTests, ARowThatOtherLinesBrokeApartIsPutTogether) {
  const std::string text =
      std::string(kTitle) +
      "   268435456      67108864     float     sum      -138dc:1:1 [0] NCCL INFO AllReduce: 268435456 "
      "Bytes\n"
      "38dc:1:1 [0] NCCL INFO AllReduce: 268435456 Bytes -> Algo RING\n"
      "   892.85  300.65  300.65       038dc:1:1 [0] NCCL INFO AllReduce: 268435456 Bytes\n"
      "   893.35  300.48  300.48       0\n";
  EXPECT_THAT(rows_of(import_text(text, "x")), ElementsAre(Is(Collective::all_reduce, 2, 268435456, 892.85)));
  EXPECT_THAT(rows_of(import_text(text, "x", {.placement = Placement::in_place})),
              ElementsAre(Is(Collective::all_reduce, 2, 268435456, 893.35)));
  // Times that do not fit the size are another row's.
  EXPECT_THAT(rejection(std::string(kTitle) + "   268435456      67108864     float     sum      -138dc:1:1 "
                                              "[0] NCCL INFO\n   92.85  300.65  300.65 0\n"),
              HasSubstr("line 2 was skipped: it has no time"));
}

TEST(ImportNcclTests, TheCountOfOneRanksPartSaysHowManyRanksThereAre) {
  const std::string rows =
      "  8388608  131072  float  none  -1  784.9  10.69  10.02  0  775.9  10.81  10.14  0\n";
  EXPECT_THAT(rejection(kTitle + rows), HasSubstr("give --collective all_gather"));
  EXPECT_THAT(rows_of(import_text(kTitle + rows, "x", {.collective = Collective::all_gather})),
              ElementsAre(Is(Collective::all_gather, 16, 8388608, 784.9)));
  // Old versions give all_gather neither an operation nor a root.
  EXPECT_THAT(rows_of(import_text("# size count type time algbw busbw error time algbw busbw error\n"
                                  "  4096  128  float  34.62  0.12  0.10  N/A  34.81  0.12  0.10  N/A\n",
                                  "x")),
              ElementsAre(Is(Collective::all_gather, 8, 4096, 34.62)));
}

TEST(ImportNcclTests, FailuresElisionsAndEditedRowsAreNamedWithTheirLine) {
  EXPECT_THAT(
      rejection(
          "# nThread 1 nGpus 1 iters: 20\nhost: Test NCCL failure common.cu:1012 'unhandled system error'\n"),
      HasSubstr("line 2: the run failed: Test NCCL failure common.cu:1012 'unhandled system error'"));
  const std::string odd = std::string(kTitle) +
                          "  1024  256  float  sum  -1  17.94  0.06  0.11  0\n  ...\n"
                          "  17179869184  4294967296  float  sum  -1  18285.0  939.58  936.93  0\n";
  EXPECT_THAT(import_text(odd, "x", {.ranks = 8}).notes,
              ElementsAre(HasSubstr("line 4: its busbw is below its algbw"),
                          HasSubstr("line 3: rows were left out here")));
}

TEST(ImportNcclTests, SettingsOfPythonInFrontOfALogAreNoJson) {
  const std::string text = std::string("{'NUM_GPUS': 16, 'do_efa': 1}\n") + kTitle +
                           "  268435456  67108864  float  sum  -1  892.85  300.65  300.65  0\n";
  EXPECT_THAT(import_text(text, "x").series, SizeIs(1));
}

TEST(ImportImb, ReadsBlocksOfCollectivesAndNamesTheOthers) {
  const std::string text =
      "#    Intel(R) MPI Benchmarks 2021.2, MPI-1 part\n# MPI_Datatype for reductions    :   MPI_DOUBLE\n"
      "# Benchmarking PingPong\n# #processes = 2\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            0         1000         0.22         0.00\n\n"
      "# Benchmarking Allreduce\n# #processes = 4\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "            0         1000         0.07         0.09         0.08\n"
      "         1024         1000         2.40         2.61         2.50\n\n"
      "# Benchmarking Allgather\n# #processes = 4\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "         1024          500         2.40         2.61         3.50\n";
  const Import import = import_text(text, "x");
  EXPECT_EQ(import.format, "Intel MPI Benchmarks");
  // What each rank gives is a fourth of the buffer that all of them have.
  EXPECT_THAT(rows_of(import), ElementsAre(Is(Collective::all_reduce, 4, 1024, 2.5),
                                           Is(Collective::all_gather, 4, 4096, 3.5)));
  EXPECT_EQ(import.series[0].points[0].key.dtype, DataType::float64);
  EXPECT_THAT(import.notes, ElementsAre(HasSubstr("line 11 was skipped: a message of 0 bytes")));
  EXPECT_NEAR(import.transfers.latency->value, 0.22e-6, 1e-12);
}

TEST(ImportOsu, TheSizeOfAnAllgatherIsOneRanks) {
  const Import import =
      import_text("# OSU MPI Allgather Latency Test v5.7\n# Size       Avg Latency(us)\n1024   12.01\n", "x",
                  {.ranks = 8});
  EXPECT_THAT(rows_of(import), ElementsAre(Is(Collective::all_gather, 8, 8192, 12.01)));
  EXPECT_THAT(
      rejection("# OSU MPI Allgatherv Latency Test v5.7\n# Size       Avg Latency(us)\n1024   12.01\n"),
      HasSubstr("line 1: this OSU test is of no collective of ringside's: OSU MPI Allgatherv Latency Test"));
}

TEST(ImportOsu, MoreBytesThanCanBeCountedAreSkipped) {
  const Import import = import_text(
      "# OSU MPI Allgather Latency Test v5.7\n# Size       Avg Latency(us)\n9000000000000000000   "
      "12.01\n1024 1\n",
      "x", {.ranks = 8});
  EXPECT_THAT(rows_of(import), ElementsAre(Is(Collective::all_gather, 8, 8192, 1)));
  EXPECT_THAT(
      import.notes,
      ElementsAre(HasSubstr("line 3 was skipped: all ranks together have more bytes than can be counted")));
}

TEST(ImportImb, NoProcessesAreNoRanks) {
  EXPECT_THAT(rejection("# Benchmarking Allreduce\n# #processes = 0\n"
                        "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
                        "         1024         1000         2.40         2.61         2.50\n"),
              HasSubstr("line 4 was skipped: it has 0 ranks"));
}

TEST(ImportAllReduceBench, ReadsItsThreeForms) {
  EXPECT_THAT(
      rows_of(import_text("| payload |    busbw   |    algbw   |\n| ------: | ---------: | ---------: |\n"
                          "|    1GiB |  94.15GBps |  48.59GBps |\n|   16GiB |  91.69GBps |  47.32GBps |\n",
                          "x")),
      ElementsAre(
          Is(Collective::all_reduce, 32, 1 << 30, (1 << 30) / 48.59e3),
          Is(Collective::all_reduce, 32, std::int64_t{16} << 30, (std::int64_t{16} << 30) / 47.32e3)));
  EXPECT_THAT(rows_of(import_text(
                  "[h:0]:The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 16 ranks):\n"
                  "[h:0]: algbw: 44.947 GBps (359.6 Gbps)\n",
                  "x")),
              ElementsAre(Is(Collective::all_reduce, 16, 4'000'000'000, 4e9 / 44.947e3)));
  EXPECT_THAT(rows_of(import_text("0 data size: 6.0 GB\ntput_avg (Gbps): 1499.183349609375 busbw_avg (Gbps): "
                                  "1495.6475830078125\n",
                                  "x")),
              ElementsAre(Is(Collective::all_reduce, 424, 6'000'000'000, 16 * 6e9 / 1499.183349609375e3)));
  EXPECT_THAT(rows_of(import_text("0 data size: 6.0 GB\ntput_avg (Gbps): none busbw_avg (Gbps): none\n"
                                  "0 data size: 6.0 GB\ntput_avg (Gbps): 1499.183349609375 busbw_avg (Gbps): "
                                  "1495.6475830078125\n",
                                  "x")),
              ElementsAre(Is(Collective::all_reduce, 424, 6'000'000'000, 16 * 6e9 / 1499.183349609375e3)));
}

TEST(ImportDeepSpeed, ReadsWhatItDefines) {
  const Import import = import_text(
      "Comm. Op            Message Size        Count   Total Latency(ms)   Avg Latency(ms)  tput_avg (Gbps)  "
      "busbw_avg (Gbps)\n"
      "broadcast | [Caller Func: f]\n                    2.0 KB              146    11.12   0.08   0.43   "
      "0.41\n"
      "reduce_scatter_tensor\n                    678.86 MB           40     602.29   9.69   1468.06   "
      "1376.31\n",
      "x");
  EXPECT_THAT(rows_of(import), ElementsAre(Is(Collective::broadcast, 16, 2048, 80)));
  EXPECT_THAT(import.notes,
              ElementsAre(HasSubstr("line 5 was skipped: DeepSpeed does not say whether the size"),
                          HasSubstr("calls of a training run")));
}

TEST(ImportParam, ReadsRowsWhoseBandwidthFits) {
  const std::string head =
      "\tCOMMS-RES-all_reduce-float32\tsize (B)\tnElementsPerRank\tLatency(us):p50\tp75\tp95\tMin\tMax\n";
  EXPECT_THAT(rows_of(import_text(
                  head + "\tCOMMS-RES-all_reduce-float32\t1048576\t262144\t60\t61\t65\t58\t70\t17.4\t30.5\n",
                  "x", {.ranks = 8})),
              ElementsAre(Is(Collective::all_reduce, 8, 1048576, 60)));
  EXPECT_THAT(
      rejection(head + "\tCOMMS-RES-all_reduce-float32\t1048576\t262144\t60\t61\t65\t58\t70\t170.4\t30.5\n"),
      HasSubstr("do not fit each other"));
}

TEST(ImportGlooBenchmark, ReadsElementsOfFourBytes) {
  const Import import = import_text(
      "Algorithm:   allreduce_ring_chunked\nOptions:     processes=4, inputs=1, threads=1\n\n"
      "   elements   min (us)   p50 (us)   p99 (us)   max (us)   avg (GB/s)    samples\n"
      "  268435456    1443672    1443672    1443672    1443672        0.693          1\n",
      "x");
  EXPECT_THAT(rows_of(import), ElementsAre(Is(Collective::all_reduce, 4, 1073741824, 1443672)));
  EXPECT_EQ(import.series[0].points[0].key.algorithm, "allreduce_ring_chunked");
}

TEST(ImportImb, PingPongGivesOneBandwidthPerBlockAndOneLatency) {
  const std::string block =
      "# Benchmarking PingPong\n# #processes = 2\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            0         1000         0.00         0.00\n            1         1000         0.50         "
      "2.00\n"
      "         4000         1000         2.00      2000.00\n         8000         1000         5.00      "
      "1600.00\n\n";
  const std::string text = "#    Intel(R) MPI Benchmarks 2021.2, MPI-1 part\n" + block + block;
  const Import import = import_text(text, "x", {.transfers_suffice = true});
  EXPECT_THAT(import.transfers.bytes_per_second, ElementsAre(2e9, 2e9));
  EXPECT_DOUBLE_EQ(import.transfers.latency->value, 0.5e-6);
  EXPECT_EQ(import.format, "Intel MPI Benchmarks");
  EXPECT_EQ(
      rejection(text),
      "x.log: times transfers between two processes and no collective; `ringside import` makes a line for "
      "`known` of it");
}

TEST(ImportImb, WhatIsNoRowOrNoCollectiveIsNamed) {
  const std::string columns = "  #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n";
  const Import import =
      import_text("# Benchmarking Exchange\n# #processes = 4\n" + columns + "  8 1000 1 2 1.5\n" +
                      "1: # Benchmarking Reduce\n1: # #processes = 4\n1: " + columns +
                      "1:   8 1000 1.00 3.00 2.00\n1:   16 1000 1.00 3.00 0.00\n1:   32 1000 1.00 3.00\n1: "
                      "end\n1:   64 1000 1 3 2\n"
                      "1: # Benchmarking Reduce\n" +
                      "  #bytes #repetitions  t_min[usec]  t_max[usec]\n  8 1000 1.00 3.00\n",
                  "x");
  EXPECT_THAT(rows_of(import), ElementsAre(Is(Collective::reduce, 4, 8, 2)));
  EXPECT_EQ(import.series[0].line, 8U);
  EXPECT_THAT(import.notes,
              testing::UnorderedElementsAre(
                  "line 1 was skipped: the benchmark Exchange is of no collective of ringside's",
                  "line 9 was skipped: it has no time", "line 10 was skipped: the row is cut"));
}

TEST(ImportOsu, TransfersBetweenTwoAreNoCollective) {
  const std::string text =
      "# OSU MPI-CUDA Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1      2.50\n1024   9000.00\n2048  "
      "8000.00\n\n"
      "# OSU MPI-CUDA Latency Test v5.9\n# Size          Latency (us)\n0   1.20\n8  1.30\n"
      "# OSU MPI-CUDA Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1024   7000.00\n";
  const Import import = import_text(text, "x", {.transfers_suffice = true});
  EXPECT_THAT(import.transfers.bytes_per_second, ElementsAre(9e9, 7e9));
  EXPECT_DOUBLE_EQ(import.transfers.latency->value, 1.2e-6);
  EXPECT_THAT(import.series, SizeIs(0));
  EXPECT_THAT(
      rejection("# OSU MPI-CUDA Bi-Directional Bandwidth Test v5.9\n# Size  Bandwidth (MB/s)\n1 2.5\n"),
      HasSubstr("line 1: this OSU test is of no collective of ringside's: OSU MPI-CUDA Bi-Directional "
                "Bandwidth Test"));
}

TEST(ImportOsu, RowsThatAreCutHaveNoTimeOrFailed) {
  const std::string title = "# OSU MPI Allreduce Latency Test v5.7\n# Size       Avg Latency(us)\n";
  const auto notes = [&](const std::string& rows) {
    return import_text(title + rows, "x", {.ranks = 2}).notes;
  };
  EXPECT_THAT(notes("4 5.12\n8 0.00\n0 7.00\n16\n"),
              ElementsAre("line 5 was skipped: a message of 0 bytes", "line 4 was skipped: it has no time",
                          "line 6 was skipped: the row is cut"));
  EXPECT_THAT(notes("4 5.12\n8 7.1"), ElementsAre("line 4 was skipped: the row is cut"));
  EXPECT_THAT(notes("4 5.12\n8 7"), ElementsAre("line 4 was skipped: the row is cut"));
  EXPECT_THAT(notes("4 5.12\n8 7.10"), testing::IsEmpty());
  const Import import =
      import_text(title + "4 5.12 1.00 9.00 20 Fail\n8 5.12 1.00 9.00 20 Pass\n\n16 5.12\n# end\n32 5.12\n",
                  "x", {.ranks = 2});
  ASSERT_THAT(import.series.at(0).points, SizeIs(3))
      << "a blank line does not end the table, and a remark does";
  EXPECT_EQ(import.series[0].points[0].measured->outcome, Outcome::wrong_result);
  EXPECT_EQ(import.series[0].points[0].measured->note, "OSU's validation failed");
  EXPECT_EQ(import.series[0].points[1].measured->outcome, Outcome::ok);
  EXPECT_EQ(import.series[0].points[1].measured->iterations, 20);
}

TEST(ImportAllReduceBench, ARowWithoutRatesEndsTheTableAndTheFirstLineIsSaid) {
  const auto table = [](const char* first) {
    return fmt::format(
        "x\n| payload |    busbw   |    algbw   |\n| ------: | ---------: | ---------: |\n"
        "|    1GiB |  94.15{} |  48.59GBps |\n|    2GiB |  94.15GBps |  48.59GBps |\n",
        first);
  };
  EXPECT_THAT(rejection(table("Gbps")), HasSubstr("holds no complete row"));
  EXPECT_THAT(import_text(table("GBps"), "x").notes,
              ElementsAre("line 4: this script prints bandwidths; times were computed from them, with the "
                          "error of their last digit"));
}

TEST(ImportParam, OtherPartsOfARowAreKeptAndOtherCollectivesNamed) {
  const auto row = [](const std::string& tag, const std::string& rest) {
    return "\tCOMMS-RES-" + tag + "\t1048576\t262144\t" + rest + "\n";
  };
  const std::string fits = "60\t61\t65\t58\t70\t17.48\t26.22";
  const Import import = import_text(row("all_reduce-bfloat16", fits) + row("broadcast-float32", fits) +
                                        row("all_gather-float32", fits) + row("reduce-float32", "60\t61\t65"),
                                    "x", {.ranks = 2});
  ASSERT_THAT(rows_of(import), ElementsAre(Is(Collective::all_reduce, 4, 1048576, 60),
                                           Is(Collective::broadcast, 4, 1048576, 60)));
  const Point& point = import.series[0].points[0];
  EXPECT_EQ(point.key.dtype, DataType::bfloat16);
  EXPECT_DOUBLE_EQ(point.measured->min.value, 58e-6);
  EXPECT_DOUBLE_EQ(point.measured->p95.value, 65e-6);
  EXPECT_EQ(point.measured->backend, Backend::nccl);
  EXPECT_THAT(
      import.notes,
      testing::UnorderedElementsAre(
          "line 3 was skipped: PARAM's all_gather does not say whether its size is one rank's or that of the "
          "whole buffer, or is no collective of ringside's",
          "line 4 was skipped: the row is cut", "the file itself says 4 ranks, so 2 is not used"));
  // Up to twice the longest time and half of the shortest; a bandwidth below 0.1 says nothing.
  for (const auto& [rate, taken] : {std::pair("7.49", true),
                                    {"7.48", false},
                                    {"36.1", true},
                                    {"36.2", false},
                                    {"0.09", true},
                                    {"0.1", false}}) {
    const std::string text = row("all_reduce-float32", std::string("60\t61\t65\t58\t70\t") + rate + "\t1");
    EXPECT_EQ(rejection(text, {.ranks = 2}).empty(), taken) << rate;
  }
}

TEST(ImportGlooBenchmark, OtherAlgorithmsAndCutRowsAreNamed) {
  const auto table = [](const std::string& algorithm, const std::string& rows) {
    return algorithm +
           "Options:     processes=4, inputs=1\n"
           "   elements   min (us)   p50 (us)   p99 (us)   max (us)   avg (GB/s)    samples\n" +
           rows;
  };
  const Import import =
      import_text(table("Algorithm:   new_allreduce_ring\n",
                        "  256  10  20  30  40  0.693  77\n  512  10  20  30  40  0.693\n  1024  10  0  30  "
                        "40  0.693  1\nend\n  64 1 1 1 1 1 1\n") +
                      table("Algorithm:   barrier_all_to_all\n", "  256  10  20  30  40  0.693  77\n"),
                  "x");
  ASSERT_THAT(rows_of(import), ElementsAre(Is(Collective::all_reduce, 4, 1024, 20)));
  const Point& point = import.series[0].points[0];
  EXPECT_EQ(point.key.algorithm, "native");
  EXPECT_DOUBLE_EQ(point.measured->min.value, 10e-6);
  EXPECT_EQ(point.measured->iterations, 77);
  EXPECT_EQ(point.measured->backend, Backend::gloo);
  EXPECT_THAT(
      import.notes,
      ElementsAre("2 rows from line 5 on were skipped: the row is cut",
                  "line 12 was skipped: barrier_all_to_all is no all_reduce, whose elements have 4 bytes"));
  EXPECT_THAT(rejection(table("", "  256  10  20  30  40  0.693  77\n")),
              HasSubstr("line 3 was skipped: an algorithm that is not named is no all_reduce"));
  EXPECT_THAT(rejection(table("Algorithm: allreduce_x\n", "  0  10  20  30  40  0.693  77\n")),
              HasSubstr("allreduce_x is no"));
}

TEST(ImportDeepSpeed, SizesHaveUnitsOf1024AndRanksFollowFromBandwidths) {
  const std::string head =
      "Comm. Op            Message Size        Count   Total Latency(ms)   Avg Latency(ms)  tput_avg (Gbps)  "
      "busbw_avg (Gbps)\n";
  const Import import = import_text(head +
                                        "all_reduce | [Caller Func: f]\n"
                                        "    512.0 B    3    1.00   0.08   300.00   225.00\n    2.0 KB    4  "
                                        "  1.00   0.09   300.00   225.00\n"
                                        "    2.0 MB    5    1.00   0.10   300.00   225.00\n    2.0 GB    6   "
                                        " 1.00   0.11   300.00   225.00\n"
                                        "    0.0 KB    7    1.00   0.09   300.00   225.00\n    3.0 KB    7   "
                                        " 1.00   0.00   300.00   225.00\n"
                                        "    8.0 KB    7    1.00   0.09   300.00\n"  // Cut off.
                                        "    1000 TB    1    1.00   0.12   300.00   225.00\n    3.0 PB    7  "
                                        "  1.00   0.5   300.00   225.00\n"
                                        "barrier\n    2.0 KB    4    1.00   0.09   300.00   225.00\n",
                                    "x");
  EXPECT_THAT(rows_of(import),
              ElementsAre(Is(Collective::all_reduce, 4, 512, 80), Is(Collective::all_reduce, 4, 2048, 90),
                          Is(Collective::all_reduce, 4, 2 << 20, 100),
                          Is(Collective::all_reduce, 4, std::int64_t{2} << 30, 110)));
  EXPECT_EQ(import.series[0].points[1].measured->iterations, 4);
  EXPECT_THAT(
      import.notes,
      ElementsAre(
          "3 rows from line 7 on were skipped: it has no time or no size",
          "line 13 was skipped: the operation barrier is no collective of ringside's",
          "line 1: these are calls of a training run, rounded and beside its computation: no benchmark"));
}

TEST(ImportNcclTests, BothHalvesTogetherSayTheRanksThatNeitherSays) {
  // 20 ranks: each half fits its neighbours, too.
  EXPECT_THAT(rows_of(import_text(
                  std::string(kTitle) +
                      "  1048576  262144  float  sum  -1  514.0  2.04  3.88  0  362.8  2.89  5.49  0\n",
                  "x")),
              ElementsAre(Is(Collective::all_reduce, 20, 1048576, 514.0)));
  EXPECT_THAT(rejection(std::string(kTitle) + "  1048576  262144  float  sum  -1  514.0  2.04  3.88  0\n"),
              HasSubstr("nothing says on how many ranks"));
}

TEST(ImportNcclTests, ARootShiftsBothHalves) {
  const std::string row =
      std::string(kTitle) +
      "  1048576  262144  float  none  0  101.4  10.34  10.34  0  99.87  10.50  10.50  0\n";
  EXPECT_THAT(rows_of(import_text(row, "x", {.ranks = 4, .placement = Placement::in_place})),
              ElementsAre(Is(Collective::broadcast, 4, 1048576, 99.87)));
  EXPECT_THAT(rows_of(import_text(row, "x", {.ranks = 4})),
              ElementsAre(Is(Collective::broadcast, 4, 1048576, 101.4)));
}

TEST(ImportNcclTests, ThreePointsAreRowsThatWereLeftOut) {
  const std::string row = "  1024  256  float  sum  -1  17.94  0.06  0.06  0\n";
  EXPECT_THAT(import_text(kTitle + row + "...\n" + row, "x", {.ranks = 2}).notes,
              ElementsAre("line 3: rows were left out here; they stay absent"));
  EXPECT_THAT(import_text(kTitle + row + "..\n" + row, "x", {.ranks = 2}).notes, testing::IsEmpty())
      << "no word of a log is so short";
  EXPECT_THAT(import_text(kTitle + row + "…\n", "x", {.ranks = 2}).notes,
              ElementsAre("line 3: rows were left out here; they stay absent"));
}

TEST(ImportNcclTests, ARootMayStandApartFromWhatBrokeItsRow) {
  const std::string text = std::string(kTitle) +
                           "   268435456      67108864     float     sum      -1 38dc:1:1 [0] NCCL INFO\n   "
                           "892.85  300.65  300.65       0\n";
  EXPECT_THAT(rows_of(import_text(text, "x")), ElementsAre(Is(Collective::all_reduce, 2, 268435456, 892.85)));
}

TEST(ImportNcclTests, WithoutATitleNoColumnOfOperationsIsKnown) {
  EXPECT_THAT(
      rows_of(import_text("  4096  128  float  34.62  0.12  0.10  N/A  34.81  0.12  0.10  N/A\n", "x")),
      ElementsAre(Is(Collective::all_gather, 8, 4096, 34.62)));
}

TEST(ImportOfTransfers, ATableOfNoBenchmarkAndALastLineAreNoSurprise) {
  EXPECT_THAT(
      rejection("# Intel(R) MPI Benchmarks\n  #bytes #repetitions  t[usec]  Mbytes/sec\n  8 1000 1.0 8.0\n",
                {.transfers_suffice = true}),
      HasSubstr("holds no complete row"));
  EXPECT_THAT(import_text("# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1024   9000.5", "x",
                          {.transfers_suffice = true})
                  .notes,
              testing::IsEmpty());
}

}  // namespace
}  // namespace ringside
