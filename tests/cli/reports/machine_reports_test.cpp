// What commands say of a machine that the one of the tests is not: with GPUs, or probed between nodes.

#include <cmath>

#include <gmock/gmock.h>

#include "cli/calibrate.hpp"
#include "cli/console.hpp"
#include "cli/doctor.hpp"

namespace ringside::cli {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::vector<std::string> lines_of(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const auto& [what, state, detail] : findings) {
    lines.push_back(what + " | " + state + " | " + detail);
  }
  return lines;
}

TEST(DoctorOfGpus, SaysWhatTheyAreAndHowTheyReachEachOther) {
  GpuMachine machine = {.built = true,
                        .cuda_built = "12.4",
                        .nccl_built = "2.21.5",
                        .driver_loaded = true,
                        .driver = "580.1",
                        .cuda_of_driver = "13.0",
                        .nccl_version = 22803,
                        .nccl_library = "/usr/lib/libnccl.so.2"};
  for (int i = 0; i < 5; ++i) {
    machine.gpus.push_back({.model = "NVIDIA H200",
                            .capability = "9.0",
                            .pci = "0000:1" + std::to_string(i) + ":00.0",
                            .memory = {std::int64_t{140} << 30},
                            .multiprocessors = 132,
                            .processes = i == 3 ? 1 : 0});
  }
  machine.gpus[4].processes = 2;
  machine.gpus[4].free = Bytes{std::int64_t{1} << 30};
  machine.links = {{.first = 0, .second = 1, .kind = "NVLink", .peer_access = true},
                   {.first = 0, .second = 2, .kind = "NVLink", .peer_access = true},
                   {.first = 0, .second = 4, .kind = "NVLink", .peer_access = true},
                   {.first = 0, .second = 3, .kind = "", .peer_access = false}};
  EXPECT_THAT(
      lines_of(gpu_findings(machine)),
      ElementsAre(
          "GPU ranks in this build | yes | CUDA 12.4, NCCL 2.21.5",
          "NVIDIA driver | 580.1 | runs CUDA up to 13.0", "NCCL | 2.28.3 | /usr/lib/libnccl.so.2",
          "GPUs | 5 | ",
          "GPU 0 | NVIDIA H200 | 140 GiB, compute capability 9.0, 132 multiprocessors, PCI 0000:10:00.0",
          "GPU 0 reaches |  | NVLink with peer access to 1–2, 4; unknown link, no peer access, to 3",
          "GPU 1 | NVIDIA H200 | 140 GiB, compute capability 9.0, 132 multiprocessors, PCI 0000:11:00.0",
          "GPU 1 reaches |  | NVLink with peer access to 0",
          "GPU 2 | NVIDIA H200 | 140 GiB, compute capability 9.0, 132 multiprocessors, PCI 0000:12:00.0",
          "GPU 2 reaches |  | NVLink with peer access to 0",
          "GPU 3 | NVIDIA H200 | 140 GiB, compute capability 9.0, 132 multiprocessors, PCI 0000:13:00.0; 1 "
          "process "
          "computing on it",
          "GPU 3 reaches |  | unknown link, no peer access, to 0",
          "GPU 4 | NVIDIA H200 | 140 GiB (1 GiB free), compute capability 9.0, 132 multiprocessors, PCI "
          "0000:14:00.0; 2 processes computing on it",
          "GPU 4 reaches |  | NVLink with peer access to 0"));
}

TEST(DoctorOfGpus, SaysWhatIsMissing) {
  EXPECT_THAT(
      lines_of(gpu_findings(
          {.built = true, .cuda_built = "12.4", .nccl_built = "2.21.5", .nccl_library = "not found"})),
      ElementsAre("GPU ranks in this build | yes | CUDA 12.4, NCCL 2.21.5",
                  "NVIDIA driver | no | no driver is loaded", "NCCL | no | not found", "GPUs | 0 | "));
  const GpuMachine in_trouble = {
      .built = true, .driver_loaded = true, .cuda_of_driver = "13.0", .trouble = "out of memory"};
  EXPECT_EQ(lines_of(gpu_findings(in_trouble)).at(1),
            "NVIDIA driver | – | runs CUDA up to 13.0; out of memory");
  EXPECT_THAT(gpu_findings({}), SizeIs(1));
  EXPECT_EQ(gpu_findings({}).front().state, "no");
}

Calibrated probed() {
  const auto curve = [](ProbeKind kind, int ranks, int messages, std::vector<CurvePoint> points) {
    Curve made;
    made.kind = kind;
    made.ranks = ranks;
    made.messages = messages;
    made.points = std::move(points);
    return made;
  };
  const auto point = [](std::int64_t bytes, double value) {
    CurvePoint made;
    made.bytes = Bytes{bytes};
    made.value = value;
    return made;
  };
  Calibrated calibrated;
  calibrated.latency = Seconds{12e-6};
  calibrated.bandwidth = BytesPerSecond{3e9};
  calibrated.reduction = SecondsPerByte{0.1e-9};
  calibrated.curves = {curve(ProbeKind::ping_pong, 2, 1, {point(1024, 1e-5), point(1 << 20, 1e-3)}),
                       curve(ProbeKind::neighbour_exchange, 2, 1, {point(1 << 20, 2e-3)}),
                       curve(ProbeKind::neighbour_exchange, 4, 2, {point(1 << 20, 3e-3)}),
                       curve(ProbeKind::neighbour_exchange, 4, 1, {point(1024, 4e-5), point(1 << 20, 4e-3)})};
  return calibrated;
}

TEST(CalibrationOnAScreen, ShowsCurvesOfOneMessageAndItsIntervals) {
  Calibrated calibrated = probed();
  calibrated.latency_interval = {.low = 11e-6, .typical = 12e-6, .high = 13e-6};
  calibrated.cores = 2;
  const Transcript said = said_by([&] { print_calibrated(calibrated); });
  EXPECT_EQ(said.before,
            "latency    12 µs  (95 %: 11 µs … 13 µs)\nbandwidth  3 GB/s\nreduction  0.1 ns/B\n"
            "cores      2, shared by all ranks\n\n");
  ASSERT_THAT(said.tables, SizeIs(1));
  EXPECT_THAT(said.tables[0].table.header,
              ElementsAre(">size", ">one message alone", ">2 ranks exchange", ">4 ranks exchange"));
  EXPECT_THAT(said.tables[0].table.rows, ElementsAre(ElementsAre("1 KiB", "10 µs", "–", "40 µs"),
                                                     ElementsAre("1 MiB", "1 ms", "2 ms", "4 ms")));
}

TEST(CalibrationOnAScreen, ShowsNodesAndPairsWhereTheyWereProbed) {
  Calibrated calibrated = probed();
  calibrated.curves.clear();
  calibrated.between_nodes = {
      .latency = Seconds{30e-6}, .bandwidth = BytesPerSecond{1e9}, .messages = 2, .native_exchange = 1.5};
  calibrated.between_nodes->bandwidth_interval = {.low = 0.9e9, .typical = 1e9, .high = 1.1e9};
  calibrated.pairs = {{.from = 0,
                       .to = 2,
                       .latency = Seconds{1e-6},
                       .bandwidth = BytesPerSecond{2e9},
                       .both_ways = BytesPerSecond{1e9}}};
  const Transcript said = said_by([&] { print_calibrated(calibrated); });
  EXPECT_EQ(said.before,
            "between two nodes\nlatency    30 µs\nbandwidth  1 GB/s  (95 %: 900 MB/s … 1.1 GB/s)\n"
            "at once    2 messages of a node at this bandwidth\n"
            "native     exchanges of long messages take 1.5 times as long\n\nwithin a node\n"
            "latency    12 µs\nbandwidth  3 GB/s\nreduction  0.1 ns/B\n\n");
  ASSERT_THAT(said.tables, SizeIs(2));
  EXPECT_THAT(said.tables[0].table.rows, SizeIs(0));
  EXPECT_EQ(said.tables[0].after, "\n");
  EXPECT_THAT(said.tables[1].table.rows, ElementsAre(ElementsAre("0", "2", "1 µs", "2 GB/s", "1 GB/s")));
  calibrated.between_nodes->native_exchange = 1;
  EXPECT_EQ(said_by([&] { print_calibrated(calibrated); }).before.find("native"), std::string::npos);
}

TEST(CalibrationOnAScreen, MapsHaveACellForEachPair) {
  const auto maps = pair_maps({{.from = 0,
                                .to = 2,
                                .latency = Seconds{1e-6},
                                .bandwidth = BytesPerSecond{2e9},
                                .both_ways = BytesPerSecond{1e9}},
                               {.from = 1,
                                .to = 0,
                                .latency = Seconds{4e-6},
                                .bandwidth = BytesPerSecond{5e9},
                                .both_ways = BytesPerSecond{6e9}}});
  ASSERT_THAT(maps, SizeIs(3));
  const char* const names[] = {"pair_latency", "pair_bandwidth", "pair_bandwidth_both_ways"};
  const char* const units[] = {"microseconds", "GB/s", "GB/s"};
  const double values[][2] = {{1, 4}, {2, 5}, {1, 6}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(maps[i].name, names[i]);
    EXPECT_EQ(maps[i].value_title, units[i]);
    EXPECT_THAT(maps[i].rows, ElementsAre("0", "1", "2"));
    EXPECT_THAT(maps[i].columns, ElementsAre("0", "1", "2"));
    EXPECT_EQ(maps[i].row_title, "from rank");
    EXPECT_EQ(maps[i].column_title, "to rank");
    EXPECT_DOUBLE_EQ(maps[i].values[0][2], values[i][0]);
    EXPECT_DOUBLE_EQ(maps[i].values[1][0], values[i][1]);
    EXPECT_TRUE(std::isnan(maps[i].values[2][0]));
  }
  EXPECT_EQ(maps[2].subtitle, "bandwidth of large messages, each way, both ways at once");
}

}  // namespace
}  // namespace ringside::cli
