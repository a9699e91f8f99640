#include "import/machine/copy_matrices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kCopies =
    "Device: 0, NVIDIA L40S, pciBusID: 1, pciDeviceID: 0, pciDomainID:0\n"
    "P2P Connectivity Matrix\n     D\\D     0     1\n     0       1     1\n     1       1     1\n"
    "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1      2\n"
    "     0 802.93  26.33  26.31\n     1  26.32 833.33   1.45\n     2  26.32  26.30 800.00\n"
    "P2P=Enabled Latency (P2P Writes) Matrix (us)\n   GPU     0      1      2\n     0   1.36   1.24   1.20\n "
    "    ...\n\n"
    "   CPU     0      1      2\n     0   1.78   1.43   1.50\n";

TEST(CopyMatrices, AreReadWithTheirTitlesAndWhatIsMissing) {
  ASSERT_TRUE(holds_copy_matrices(kCopies));
  const CopyMatrices copies = read_copy_matrices(kCopies, "x");
  ASSERT_THAT(copies.matrices, SizeIs(3));
  EXPECT_EQ(copies.matrices[0].title, "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)");
  EXPECT_EQ(copies.matrices[1].unit, "us");
  EXPECT_THAT(copies.matrices[1].rows, SizeIs(1));
  EXPECT_EQ(copies.matrices[2].title, "P2P=Enabled Latency (P2P Writes) Matrix (us), by the CPU's clock");
  EXPECT_THAT(copies.gpus, ElementsAre("NVIDIA L40S"));
  EXPECT_THAT(copies.notes, ElementsAre(HasSubstr("line 14: rows of this matrix were left out"),
                                        HasSubstr("line 16: the matrix is cut: it has 1 of 3 rows")));
  const auto rates = pair_rates(copies);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->rate.typical, 26.32e9);
  EXPECT_THAT(rates->slow_pairs, ElementsAre("1→2 at 1.45 GB/s"));
  EXPECT_THAT(message_of(ErrorKind::bad_input,
                         [] { read_copy_matrices("P2P=Enabled Matrix (GB/s)\n D\\D 0 1\n", "x"); }),
              HasSubstr("holds no row of a matrix"));
}

TEST(CopyMatrices, PairsHaveTheDirectionThatTheProgramMeans) {
  const auto pairs_in = [](const std::string& text) { return copy_pairs(read_copy_matrices(text, "x")); };
  const std::string rows = "   D\\D     0      1\n     0 802.93  26.00\n     1  13.00 833.33\n";
  const auto written =
      pairs_in("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n" + rows +
               "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 800.00 "
               " 50.00\n     1  50.00 800.00\n"
               "P2P=Enabled Latency (P2P Writes) Matrix (us)\n   GPU     0      1\n     0   1.36   "
               "1.25\n     1   1.20   1.40\n");
  ASSERT_THAT(written, SizeIs(2));
  EXPECT_EQ(written[0].from, 0);
  EXPECT_EQ(written[0].to, 1);
  EXPECT_DOUBLE_EQ(written[0].bandwidth, 26e9);
  EXPECT_DOUBLE_EQ(written[0].both_ways.value(), 25e9);  // Both directions were added up.
  EXPECT_DOUBLE_EQ(written[0].latency.value(), 1.25e-6);
  const auto read = pairs_in("Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n" + rows);
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_DOUBLE_EQ(read[0].bandwidth, 13e9);  // 0 → 1 is what 1 fetched.
  EXPECT_FALSE(read[0].both_ways || read[0].latency);
  const auto nvbandwidth = pairs_in(
      "Running device_to_device_memcpy_write_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n"
      "           0         1\n 0      N/A    26.00\n 1    13.00      N/A\n");
  ASSERT_THAT(nvbandwidth, SizeIs(2));
  EXPECT_DOUBLE_EQ(nvbandwidth[0].bandwidth, 13e9);
}

TEST(CopyMatrices, OfNvbandwidthHaveTheNameOfTheirTest) {
  const std::string text =
      "Device 0: NVIDIA GH200 480GB (00000009:01:00)\nDevice: x\nDevice 1: NVIDIA A40 (1)\n"
      "Device: 2, NVIDIA RTX 6000 Ada Generation, pciBusID: 1\n\nRunning host_to_device_memcpy_ce.\n"
      "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0     55.10     "
      "55.20\n\nSUM host 110.30\n\n"
      "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
      "           0         1\n 0      N/A    26.00\n 1    13.00      N/A\n\n"
      "Running device_to_device_bidirectional_memcpy_write_ce\nmemcpy CE GPU(row) <-> GPU(column) bandwidth "
      "(GB/s)\n"
      "           0         1\n 0      N/A    25.00\n 1    12.00      N/A\n"
      "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)  \r\n           0         1\n 0      N/A    1e9\n "
      "1    -1.00      2\n";
  const CopyMatrices copies = read_copy_matrices(text, "x");
  EXPECT_EQ(copies.format, "nvbandwidth");
  EXPECT_THAT(copies.gpus, ElementsAre("NVIDIA GH200 480GB", "NVIDIA A40", "NVIDIA RTX 6000 Ada Generation"));
  ASSERT_THAT(copies.matrices, SizeIs(4));
  EXPECT_EQ(copies.matrices[0].title, "host_to_device_memcpy_ce");
  EXPECT_EQ(copies.matrices[0].line, 7U);
  EXPECT_EQ(copies.matrices[0].columns, 2U);
  EXPECT_EQ(copies.matrices[0].unit, "GB/s");
  EXPECT_EQ(copies.matrices[2].title, "device_to_device_bidirectional_memcpy_write_ce");
  EXPECT_EQ(copies.matrices[3].title, copies.matrices[2].title);
  EXPECT_TRUE(copies.matrices[3].to_row);
  EXPECT_FALSE(copies.matrices[1].to_row);
  EXPECT_THAT(copies.matrices[3].rows,
              ElementsAre(ElementsAre(std::nullopt, std::nullopt), ElementsAre(std::nullopt, 2.0)));
  EXPECT_THAT(copies.notes, testing::IsEmpty()) << "of those only whole matrices are square";
  const std::vector<CopyPair> pairs = copy_pairs(copies);
  ASSERT_THAT(pairs, SizeIs(2));
  EXPECT_EQ(pairs[0].from, 0);
  EXPECT_DOUBLE_EQ(pairs[0].bandwidth, 26e9);
  EXPECT_DOUBLE_EQ(pairs[0].both_ways.value(), 25e9);
  EXPECT_DOUBLE_EQ(pairs[1].both_ways.value(), 12e9);
  EXPECT_EQ(pairs[0].latency, std::nullopt);
}

TEST(CopyMatrices, ThatOfWritesInOneDirectionIsTakenAndSlowPairsNamed) {
  const auto matrix = [](const std::string& title, const std::string& rows) {
    return title + " Bandwidth Matrix (GB/s)\n   D\\D     0      1      2\n" + rows;
  };
  const std::string rows =
      "     0 800.00  20.00  19.99\n     1  40.00 800.00  41.00\n     2  42.00  43.00 800.00\n";
  const CopyMatrices disabled = read_copy_matrices(
      matrix("Unidirectional P2P=Disabled", rows) + matrix("Bidirectional P2P=Disabled", rows) +
          matrix("Bidirectional P2P=Enabled", "     0 1 100 100\n") +
          "P2P=Disabled Latency Matrix (us)\n   GPU     0      1\n     0   1.36   1.25\n     1   0.00   "
          "1.40\n",
      "x");
  EXPECT_EQ(disabled.format, "p2pBandwidthLatencyTest");
  EXPECT_THAT(disabled.notes, ElementsAre("line 11: the matrix is cut: it has 1 of 3 rows"));
  const auto rates = pair_rates(disabled);
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->matrix, &disabled.matrices.front());
  EXPECT_DOUBLE_EQ(rates->rate.low, 19.99e9);
  EXPECT_DOUBLE_EQ(rates->rate.typical, 41e9);
  EXPECT_DOUBLE_EQ(rates->rate.high, 43e9);
  EXPECT_THAT(rates->slow_pairs, ElementsAre("1→0 at 20.00 GB/s", "2→0 at 19.99 GB/s"));
  const std::vector<CopyPair> pairs = copy_pairs(disabled);
  ASSERT_THAT(pairs, SizeIs(6));
  EXPECT_EQ(pairs[0].from, 0);
  EXPECT_EQ(pairs[0].to, 1);
  EXPECT_DOUBLE_EQ(pairs[0].bandwidth, 40e9) << "1 fetched it";
  EXPECT_DOUBLE_EQ(pairs[0].both_ways.value(), 20e9) << "half of the sum of both directions";
  EXPECT_EQ(pairs[0].latency, std::nullopt) << "0 is no time";
  EXPECT_DOUBLE_EQ(pairs[2].latency.value(), 1.25e-6);
  EXPECT_EQ(pairs[3].latency, std::nullopt) << "the matrix has no such row";
  const CopyMatrices both = read_copy_matrices(
      matrix("Unidirectional P2P=Disabled", rows) + matrix("Unidirectional P2P=Enabled", rows), "x");
  EXPECT_EQ(pair_rates(both)->matrix, &both.matrices.back());
  const CopyMatrices alone =
      read_copy_matrices("Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n D\\D 0\n 0 800\n", "x");
  EXPECT_FALSE(pair_rates(alone)) << "one GPU has no pair";
  EXPECT_THAT(copy_pairs(alone), testing::IsEmpty());
}

TEST(CopyMatrices, RowsAreWholeAndInTheirOrder) {
  const std::string head = "Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n";
  const auto read = [&](const std::string& rows) { return read_copy_matrices(head + rows, "x"); };
  EXPECT_THAT(read("     0 800.00  20.00\n     1  40.00\n").notes,
              ElementsAre("line 4: the row was skipped: it has 1 of 2 columns",
                          "line 1: the matrix is cut: it has 1 of 2 rows"));
  EXPECT_THAT(read("     0 800.00  20.00\n     2  40.00 1\n").matrices.at(0).rows, SizeIs(1));
  EXPECT_THAT(read("     0 800.00  20.00\n     ...\n     1 2 3\n").matrices.at(0).rows, SizeIs(2));
  EXPECT_THAT(read("     0 800.00  20.00\n     .\n     1 2 3\n").matrices.at(0).rows, SizeIs(1));
  EXPECT_THAT(read("     0 800.00  20.00 9\n     1 2 3\n").notes, testing::IsEmpty());
  EXPECT_FALSE(holds_copy_matrices("P2P=Enabled"));
  EXPECT_FALSE(holds_copy_matrices("Matrix (GB/s)"));
  EXPECT_FALSE(holds_copy_matrices("memcpy "));
  EXPECT_TRUE(holds_copy_matrices("memcpy CE GPU(row)"));
  EXPECT_THAT(
      message_of(ErrorKind::bad_input,
                 [&] {
                   read_copy_matrices("Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n 0 2\n 0 1 2\n",
                                      "x");
                 }),
      HasSubstr("x: holds no row of a matrix of p2pBandwidthLatencyTest or nvbandwidth; was it cut?"));
}

TEST(CopyMatrices, ACellThatIsAbsentIsNoPair) {
  const CopyMatrices copies = read_copy_matrices(
      "Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 800.00  N/A\n     1  "
      "40.00 800.00\n",
      "x");
  EXPECT_THAT(copy_pairs(copies), SizeIs(1));
}

}  // namespace
}  // namespace ringside
