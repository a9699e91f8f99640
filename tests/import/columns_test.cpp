// Tables whose columns have names: titled ones, CSV, and JSON of nccl-tests and of NCCL's Inspector.

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
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Point> points_of(const Import& import) { return merge(import.series).points; }

std::vector<Point> points_of(const std::string& text, const ImportDefaults& defaults = {}) {
  return points_of(import_text(text, "x", defaults));
}

std::string rejection(std::string_view text, const ImportDefaults& defaults = {}) {
  return message_of(ErrorKind::bad_input, [&] { import_text(text, "x.log", defaults); });
}

MATCHER_P4(Is, collective, ranks, bytes, microseconds, "") {
  return arg.key.collective == collective && arg.key.ranks == ranks && arg.key.bytes.value == bytes &&
         std::abs(arg.measured->seconds.value * 1e6 - microseconds) < 1e-6 * microseconds;
}

TEST(ImportTitledTable, UnitsCollectivesAndTypesAreThoseThatItNames) {
  for (const auto& [unit, microseconds] :
       {std::pair("us", 58.0), {"usec", 58.0}, {"ms", 58e3}, {"ns", 58e-3}, {"s", 58e6}}) {
    const std::string text = fmt::format(
        "# all_reduce\n  size(B)  count(elems)  type  time:avg({})  algbw(GB/s)  busbw(GB/s)\n  1048576  "
        "262144  fp16  58  18.00  27.00\n",
        unit);
    const Import import = import_text(text, "x");
    EXPECT_EQ(import.format, "a titled table");
    EXPECT_THAT(points_of(import), ElementsAre(Is(Collective::all_reduce, 4, 1048576, microseconds))) << unit;
    EXPECT_EQ(import.series[0].points[0].key.dtype, DataType::float16);
  }
  const std::string rows =
      "#size[bytes]  latency[us]  busbw[GB/s]\n  1048576  58.00  10.00\n  0  1  1\n  64  0  1\n";
  for (const auto& [named, collective] : {std::pair("reducescatter", Collective::reduce_scatter),
                                          {"#reduce_scatter", Collective::reduce_scatter},
                                          {"x redsct", Collective::reduce_scatter},
                                          {"alltoall", Collective::all_to_all},
                                          {"fcollect", Collective::all_gather},
                                          {"allgather", Collective::all_gather},
                                          {"all_gather", Collective::all_gather},
                                          {"allg", Collective::all_gather},
                                          {"allr", Collective::all_reduce},
                                          {"all_reduce", Collective::all_reduce},
                                          {"reduction_on", Collective::all_reduce},
                                          {"sendrecv", Collective::send_recv},
                                          {"broadcast", Collective::broadcast}}) {
    const Import import = import_text(std::string(named) + "\n" + rows, "x", {.ranks = 2});
    ASSERT_THAT(points_of(import), SizeIs(1)) << named;
    EXPECT_EQ(points_of(import)[0].key.collective, collective) << named;
    EXPECT_EQ(import.series[0].line, 3U);
    EXPECT_THAT(import.notes, ElementsAre("line 4 was skipped: a message of 0 bytes",
                                          "line 5 was skipped: it has no time"));
  }
  EXPECT_THAT(rejection("xbroadcast\n" + rows.substr(0, rows.find("  0")), {.ranks = 2}),
              HasSubstr("line 3 was skipped: its collective is not stated; give --collective"));
  EXPECT_EQ(
      points_of(import_text(rows, "x", {.ranks = 2, .collective = Collective::reduce}))[0].key.collective,
      Collective::reduce);
  // Only all_reduce has a bus bandwidth above its algorithm bandwidth, which is 18.08 GB/s here.
  const auto bus = [&](const char* rate) {
    return fmt::format("size(B)  time(us)  busbw(GB/s)\n  1048576  58.00  {}\n", rate);
  };
  EXPECT_EQ(points_of(import_text(bus("31.64"), "x"))[0].key.ranks, 8);
  EXPECT_THAT(rejection(bus("18.2"), {.ranks = 2}), HasSubstr("its collective is not stated"));
  EXPECT_THAT(rejection("all_reduce\nsize(B)  type  time(us)  busbw(GB/s)\n  1048576 int8 58.00  30\n"),
              HasSubstr("line 3 was skipped: elements of type int8 are none of ringside's"));
  EXPECT_THAT(rejection("all_reduce\nsize(B)  time(min)  busbw(GB/s)\n  1048576 58.00  30\n"),
              HasSubstr("holds no measurement"));
}

TEST(ImportCsv, EveryNameOfAColumnIsKnown) {
  const auto only = [](const std::string& text) {
    const std::vector<Point> points = points_of(text, {.ranks = 2});
    return points.size() == 1 ? points[0] : Point{};
  };
  for (const char* name :
       {"bytes", "size", "Size (B)", "size_bytes", "message size", "message_bytes", "nbytes"}) {
    EXPECT_EQ(only(fmt::format("{},time_us\n4096,5\n", name)).key.bytes, Bytes{4096}) << name;
  }
  for (const char* name :
       {"ranks", "nranks", "num_ranks", "gpus", "ngpus", "num_gpus", "np", "n", "World-Size "}) {
    EXPECT_EQ(only(fmt::format("bytes,time_us,{}\n4096,5,7\n", name)).key.ranks, 7) << name;
  }
  for (const char* name : {"algorithm", "algo"}) {
    EXPECT_EQ(only(fmt::format("bytes,time_us,{}\n4096,5,ring\n", name)).key.algorithm, "ring") << name;
  }
  for (const char* name : {"dtype", "type", "datatype"}) {
    EXPECT_EQ(only(fmt::format("bytes,time_us,{}\n4096,5,half\n", name)).key.dtype, DataType::float16)
        << name;
  }
  for (const char* name : {"op", "redop"}) {
    EXPECT_EQ(only(fmt::format("bytes,time_us,{}\n4096,5,max\n", name)).key.op, ReduceOp::max) << name;
  }
  for (const char* name : {"time", "latency", "Avg Latency", "duration", "avg", "mean", "median", "t"}) {
    for (const auto& [unit, seconds] : {std::pair("s", 5.0), {"ms", 5e-3}, {"us", 5e-6}, {"ns", 5e-9}}) {
      const Point point = only(fmt::format("bytes;{} ({})\n4096;5\n", name, unit));
      ASSERT_TRUE(point.measured) << name << unit;
      EXPECT_DOUBLE_EQ(point.measured->seconds.value, seconds) << name << unit;
      EXPECT_EQ(point.measured->backend, Backend::nccl);
    }
    EXPECT_THAT(rejection(fmt::format("bytes,{}\n4096,5\n", name)),
                HasSubstr("the column of times says no unit"))
        << name;
  }
  for (const char* name : {"seconds", "time_seconds"}) {
    EXPECT_DOUBLE_EQ(only(fmt::format("bytes\t{}\n4096\t5\n", name)).measured->seconds.value, 5) << name;
  }
}

TEST(ImportCsv, WhatIsWrongWithACellIsSaidWithItsLine) {
  const std::string long_cell(50, 'x');
  const Import import = import_text(
      "\n# a remark\nbytes,time_us,ranks,collective,dtype,op\n1 KiB,5,2,all_reduce,float,sum\n"
      "1 KB,0,2,all_reduce,float,sum\n8 XB,5,2,all_reduce,float,sum\n8,5,0,all_reduce,float,sum\n"
      "8,5,2,all_to_none,float,sum\n8,5,2,all_reduce," +
          long_cell + ",sum\n8,5,2,all_reduce,float,xor\n8,5,2\n0,5,2,all_reduce,float,sum\n",
      "x.csv");
  EXPECT_EQ(import.format, "CSV");
  EXPECT_THAT(points_of(import), ElementsAre(Is(Collective::all_reduce, 2, 1024, 5)));
  EXPECT_EQ(import.series[0].line, 4U);
  EXPECT_THAT(import.notes,
              testing::UnorderedElementsAre(
                  "line 5 was skipped: '0' is no time above 0", HasSubstr("line 6 was skipped: '8 XB'"),
                  "line 7 was skipped: '0' is no number of ranks",
                  "line 8 was skipped: 'all_to_none' is no collective",
                  "line 9 was skipped: '" + long_cell.substr(0, 40) + "' is no type of ringside's",
                  "line 10 was skipped: 'xor' is no operation", "line 11 was skipped: it has not 6 columns",
                  "line 12 was skipped: a message of 0 bytes"));
  EXPECT_EQ(
      rejection("\nbytes,time_us,time_s\n1,2,3\n"),
      "x.log:2: several columns are times; write one column of times with its unit, such as bytes,time_us. "
      "Found: bytes, time_us, time_s");
  EXPECT_EQ(
      rejection("bytes,ranks\n1,2\n"),
      "x.log:1: no column is a time; write one column of times with its unit, such as bytes,time_us. Found: "
      "bytes, ranks");
  EXPECT_EQ(rejection("bytes,time_us\n"), "x.log: holds no measurement");
  EXPECT_EQ(rejection("bytes,time_us\nx,5\n"),
            "x.log: holds no measurement: line 2 was skipped: " +
                import_text("bytes,time_us\n1,2\nx,5\n", "x", {.ranks = 2}).notes.at(0).substr(20));
  EXPECT_EQ(
      rejection("bytes,time_us\n8,5\n"),
      "x.log: line 2: nothing says on how many ranks this was measured; give --ranks N (import), one number "
      "under `ranks` (scenario), or a column `ranks` (CSV)");
}

TEST(ImportCsv, QuotesKeepASeparatorAndColumnsOfNoNameAreLeftOut) {
  const std::vector<Point> points =
      points_of("host;\"Size, all\";size;time_us;algorithm\n\"a;b\";1;8;5;\"x;y\"\n", {.ranks = 2});
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].key.algorithm, "x;y");
  EXPECT_EQ(points[0].key.bytes, Bytes{8});
}

std::string json_of(const std::string& preamble, const std::string& entries) {
  return "{" + preamble + (preamble.empty() ? "" : ",") + "\"results\":[" + entries + "]}";
}

const std::string kEntry =
    R"({"size":1048576,"type":"float","redop":"sum","root":"-1","out_of_place":{"time":100,"alg_bw":10.49,"bus_bw":15.73,"nwrong":0},"in_place":{"time":90,"alg_bw":11.65,"bus_bw":17.48,"nwrong":3}})";

TEST(ImportJson, DevicesNamesAndVersionsStandWhereverTheyDo) {
  const auto read = [](const std::string& preamble) {
    return import_text(json_of(preamble, kEntry), "x.json");
  };
  for (const char* name : {"device_name", "name", "model", "gpu"}) {
    EXPECT_EQ(read(fmt::format(R"("devices":[{{"{}":"H100"}}])", name)).gpu, "H100") << name;
  }
  EXPECT_EQ(read(R"("config":{"devices":["H200","H100"]})").gpu, "H200");
  EXPECT_EQ(read(R"("devices":[7])").gpu, std::nullopt);
  EXPECT_EQ(read(R"("devices":[])").gpu, std::nullopt);
  EXPECT_EQ(read(R"("nccl_version":"2.28.3")").nccl, "2.28.3");
  EXPECT_EQ(read(R"("config":[{"nccl_version":22803}])").nccl, "2.28.3");
  EXPECT_EQ(read(R"("nccl_version":"22803")").nccl, "2.28.3");
  EXPECT_EQ(read(R"("version":1)").nccl, std::nullopt);
  const auto ranks = [&](const std::string& preamble) { return points_of(read(preamble)).at(0).key.ranks; };
  EXPECT_EQ(ranks(""), 4) << "by its bandwidths";
  EXPECT_EQ(ranks(R"("devices":["a","b","c"])"), 3);
  EXPECT_EQ(ranks(R"("devices":["a","b","c"],"ranks":[{"rank":0},{"rank":1},{"rank":1},{"rank":"x"},7])"), 2);
  EXPECT_EQ(read("").format, "nccl-tests JSON");
  EXPECT_THAT(read("").notes, IsEmpty());
  EXPECT_EQ(rejection("{\"a\": 1}").substr(0, 61),
            "x.log: is JSON, but has no list `results` of nccl-tests; ring");
  EXPECT_EQ(rejection("{\"results\": 7}").substr(0, 55),
            "x.log: is JSON, but has no list `results` of nccl-tests");
  EXPECT_EQ(rejection("{\"results\": [}"),
            "x.log: starts like JSON, but is none from some byte on; was it cut?");
}

TEST(ImportJson, AProgramNamesTheCollectiveAndElseTheColumns) {
  const auto of = [](const std::string& program) {
    return points_of(json_of("\"args\":[\"x\",\"" + program + "\"]", kEntry), {.ranks = 8}).at(0).key;
  };
  EXPECT_EQ(of("./build/all_gather_perf -b 8").collective, Collective::all_gather);
  EXPECT_EQ(of("mpirun sendrecv_perf").collective, Collective::send_recv);
  EXPECT_EQ(of("broadcast_perf").ranks, 8) << "its bandwidths say nothing of ranks";
  const auto why = [](const std::string& preamble, const std::string& what, const std::string& with) {
    std::string entry = kEntry;
    entry.replace(entry.find(what), what.size(), with);
    return rejection(json_of(preamble, entry), {.ranks = 2});
  };
  const std::string start = "x.log: holds no measurement: of the list of results, line 1 was skipped: ";
  EXPECT_EQ(why("", "\"-1\"", "\"0\""), start + "its collective is not stated");
  EXPECT_EQ(why("", "\"sum\"", "\"none\""), start + "its collective is not stated");
  EXPECT_EQ(why("\"args\":\"scatter_perf\"", "sum", "sum"),
            start + "the collective of scatter_perf is none of ringside's");
}

TEST(ImportJson, SizesTimesTypesAndErrorsOfAnEntryAreChecked) {
  const auto with = [](std::string entry, const std::string& what, const std::string& instead) {
    entry.replace(entry.find(what), what.size(), instead);
    return json_of("", entry + "," + kEntry);
  };
  const auto note = [&](const std::string& what, const std::string& instead) {
    const Import import = import_text(with(kEntry, what, instead), "x", {.ranks = 4});
    return import.notes.empty() ? "" : import.notes.front();
  };
  const std::string start = "of the list of results, line 1 was skipped: ";
  EXPECT_EQ(note("1048576", "0"), start + "it has no size or no time");
  EXPECT_EQ(note("1048576", "1e18"), start + "it has no size or no time");
  EXPECT_EQ(note("1048576", "1"), "");
  EXPECT_EQ(note("\"time\":100", "\"time\":0"), start + "it has no size or no time");
  EXPECT_EQ(note("float", "int8"), start + "elements of type int8 are none of ringside's");
  const Import in_place =
      import_text(json_of("", kEntry), "x", {.ranks = 4, .placement = Placement::in_place});
  const Measurement& measured = *in_place.series.at(0).points.at(0).measured;
  EXPECT_EQ(measured.outcome, Outcome::wrong_result);
  EXPECT_EQ(measured.note, "3 elements were wrong");
  EXPECT_EQ(measured.backend, Backend::nccl);
  EXPECT_THAT(points_of(json_of("", kEntry)), ElementsAre(Is(Collective::all_reduce, 4, 1048576, 100)));
}

std::string call_of(const std::string& rest,
                    const std::string& header = R"("id":"0xa","rank":1,"n_ranks":4)") {
  return "{\"header\":{" + header + "},\"metadata\":{},\"coll_perf\":{" + rest + "}}\n";
}

TEST(ImportInspector, TheFastestRankOfEachCallCounts) {
  const auto call = [](int number, int microseconds, const char* id = "0xa") {
    return call_of(
        fmt::format(R"("coll":"AllGather","coll_sn":{},"coll_msg_size_bytes":16384,"coll_exec_time_us":{})",
                    number, microseconds),
        fmt::format(R"("id":"{}","n_ranks":4)", id));
  };
  const Import import =
      import_text(call(1, 30) + call(1, 20) + call(1, 25) + call(2, 40) + call(1, 60, "0xb"), "x");
  EXPECT_EQ(import.format, "NCCL Inspector");
  EXPECT_THAT(points_of(import), ElementsAre(Is(Collective::all_gather, 4, 65536, 40)));
  const Measurement& measured = *import.series[0].points[0].measured;
  EXPECT_EQ(measured.iterations, 3);
  EXPECT_DOUBLE_EQ(measured.min.value, 20e-6);
  EXPECT_GT(measured.high.value, measured.low.value);
  EXPECT_GT(measured.p95.value, 40e-6);
  EXPECT_EQ(measured.backend, Backend::nccl);
  EXPECT_THAT(import.notes,
              ElementsAre("A time is the median over the recorded calls of a size; a rank's wait for "
                          "later ranks is part of it."));
}

TEST(ImportInspector, SizesOfPartsAreThoseOfAllRanksAndOtherCallsAreNamed) {
  const auto call = [](const char* name, const char* bytes, const char* time = "17") {
    return call_of(
        fmt::format(R"("coll":"{}","coll_msg_size_bytes":{},"coll_exec_time_us":{})", name, bytes, time));
  };
  const Import import = import_text(
      call("AllReduce", "1024") + call("ReduceScatter", "1024") + call("Broadcast", "35184372088832") +
          call("Broadcast", "35184372088833") + call("Broadcast", "0") + call("Broadcast", "8", "0") +
          call("Scatter", "8") + call("Broadcast", "\"x\"") + "{\"coll_perf\"\n",
      "x");
  EXPECT_THAT(points_of(import),
              testing::UnorderedElementsAre(Is(Collective::all_reduce, 4, 1024, 17),
                                            Is(Collective::reduce_scatter, 4, 4096, 17),
                                            Is(Collective::broadcast, 4, std::int64_t{1} << 45, 17)));
  EXPECT_THAT(import.notes, ElementsAre(HasSubstr("A time is"),
                                        "3 rows from line 4 on were skipped: it has no size or no time",
                                        "2 rows from line 8 on were skipped: the record is cut",
                                        "line 7 was skipped: Scatter is none of ringside's collectives"));
}

TEST(ImportOfLongTexts, RowsAreReadAcrossPiecesAndBeyondTheStartOfALine) {
  const std::string title = "# OSU MPI Allreduce Latency Test v5.7\n# Size       Avg Latency(us)\n";
  // What the format is told by is 64 KiB: a row lies across its end, and another across a further MiB.
  const std::string row = "1048576 1412.20\n";
  for (std::size_t before = 65520; before <= 65540; before += 4) {
    const std::string text = title + std::string(before - title.size() - 1, ' ') + "\n" + row;
    EXPECT_THAT(points_of(text, {.ranks = 2}), ElementsAre(Is(Collective::all_reduce, 2, 1048576, 1412.2)))
        << before;
  }
  const std::string much = title + std::string((std::size_t{1} << 20) + 65530 - title.size(), '\n') + row;
  EXPECT_THAT(points_of(much, {.ranks = 2}), SizeIs(1));
  EXPECT_EQ(import_text(much, "x", {.ranks = 2}).series[0].line,
            (std::size_t{1} << 20) + 65530 - title.size() + 3);
  // Only the start of a long line is looked at.
  const std::string wide = std::string(65530, ' ');
  EXPECT_THAT(rejection(title + wide + row, {.ranks = 2}), HasSubstr("line 3 was skipped: the row is cut"));
  EXPECT_THAT(points_of(title + row.substr(0, 15) + wide + "7\n", {.ranks = 2}), SizeIs(1));
  // A limit is the last length that is read.
  const std::string text = title + row;
  EXPECT_THAT(points_of(text, {.ranks = 2, .most_bytes = text.size()}), SizeIs(1));
  EXPECT_THAT(rejection(text, {.ranks = 2, .most_bytes = text.size() - 1}), HasSubstr("x.log"));
}

TEST(ImportOfResults, SeriesAreKeptAndImpossibleTimesSaid) {
  const auto point = [](int series, double seconds, int ranks = 2) {
    return fmt::format(
               R"({{"record":"point","series":{},"collective":"all_reduce","algorithm":"ring","ranks":{},"bytes":1024,"dtype":"float32","op":"sum","measured":{{"outcome":"ok","seconds":{},"backend":"gloo"}}}})",
               series, ranks, seconds) +
           "\n";
  };
  const std::string head =
      R"({"record":"run","schema":"ringside/1","version":"0.1.0","command":"c","scenario":{"name":"s"},"host":{},"started":"2026-03-01T12:34:56Z","seed":7})"
      "\n";
  const Import import =
      import_text(head + point(1, 1, 8) + point(2, 2) + point(2, 3, 4) + point(3, 2e9, 16), "x");
  ASSERT_THAT(import.series, SizeIs(2));
  EXPECT_THAT(import.series[0].points, SizeIs(1));
  ASSERT_THAT(import.series[1].points, SizeIs(2));
  EXPECT_EQ(import.series[1].line, 1U);
  EXPECT_DOUBLE_EQ(import.series[1].points[1].measured->seconds.value, 3);
  EXPECT_THAT(import.notes,
              ElementsAre("a point of ring was skipped: a time is not between 1 ns and 1e+09 s"));
  std::vector<Series> twice = import.series;
  twice.push_back(twice[1]);
  EXPECT_THAT(merge(twice).points, SizeIs(3));
  EXPECT_EQ(merge(twice).repeated, 2U);
}

TEST(ImportedFiles, ThatCannotBeReadAreRefusedWithTheirName) {
  const examples::ScratchFolder folder;
  const auto why = [&](std::string_view name) {
    return message_of(ErrorKind::bad_input, [&] { import_measurements(folder / name); });
  };
  EXPECT_THAT(why("none.log"), HasSubstr("none.log"));
  EXPECT_THAT(why(""), HasSubstr((folder / "").string().substr(0, 8)));
  examples::write_file(folder / "x.csv", "bytes,time_us,ranks\n8,5,2\n");
  EXPECT_THAT(import_measurements(folder / "x.csv").series, SizeIs(1));
  examples::write_file(folder / "empty.log", "");
  EXPECT_THAT(why("empty.log"), HasSubstr("empty.log: is empty: the run printed nothing"));
}

TEST(ImportTitledTable, IsNoTableOfNcclTestsWhoseRowsLookLikeIt) {
  const Import import = import_text(
      "all_reduce\nsize(B)  count(elems)  type  time:avg(us)  algbw(GB/s)  busbw(GB/s)\n"
      "1048576  262144  float  58.15  18.03  27.05\n# size count type redop root time algbw busbw #wrong\n"
      "2097152  524288  float  sum  -1  101.4  20.68  31.02  0\n",
      "x");
  EXPECT_THAT(points_of(import),
              testing::UnorderedElementsAre(Is(Collective::all_reduce, 4, 1048576, 58.15),
                                            Is(Collective::all_reduce, 4, 2097152, 101.4)));
  EXPECT_THAT(import.notes, IsEmpty());
}

TEST(ImportJson, ASeriesBeginsWithItsFirstEntryThatIsTaken) {
  EXPECT_EQ(import_text(json_of("", "7," + kEntry), "x").series.at(0).line, 2U);
}

}  // namespace
}  // namespace ringside
