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

}  // namespace
}  // namespace ringside
