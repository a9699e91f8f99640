// What listings leave out is assumed in sentences, and what is wrong with a row is said with its field.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "import/offer_listing.hpp"
#include "import/offer_machine.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::message_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Offer described(const ListedGpus& gpus) {
  Offer offer;
  offer.name = "an offer";
  describe_machine(gpus, offer);
  return offer;
}

std::vector<std::string> assumptions(const ListedGpus& gpus) { return described(gpus).assumptions; }

constexpr const char* kNoSockets =
    "Sockets and PCIe switches are not listed; one socket and no switches are assumed.";
constexpr const char* kStaged =
    "No peer-to-peer: the stock driver refuses it on an RTX 3090, and every byte is staged in host memory.";

TEST(ListedMachines, WhatIsNotListedIsAssumedInSentences) {
  EXPECT_THAT(assumptions({.name = "RTX 3090"}),
              ElementsAre("Its slots are not listed; PCIe 4.0 x16 is assumed."));
  EXPECT_THAT(assumptions({.name = "RTX 3090", .pcie_generation = 3, .pcie_lanes = 8}), IsEmpty());
  EXPECT_THAT(assumptions({.name = "RTX 3090", .pcie_lanes = 8}),
              ElementsAre("Its slots are not listed; PCIe 4.0 x8 is assumed."));
  EXPECT_THAT(assumptions({.name = "RTX 3090", .pcie_generation = 3}),
              ElementsAre("Its slots are not listed; PCIe 3.0 x16 is assumed."));
  EXPECT_THAT(
      assumptions({.name = "RTX 3090", .rented = 2, .in_machine = 2, .pcie_generation = 4, .pcie_lanes = 16}),
      ElementsAre(kNoSockets, kStaged));
  EXPECT_THAT(
      assumptions({.name = "RTX 3090", .rented = 2, .in_machine = 8, .pcie_generation = 4, .pcie_lanes = 16}),
      ElementsAre("Sockets and PCIe switches are not listed; two sockets and no switches are assumed.",
                  kStaged,
                  "The 2 rented of 8 GPUs are neighbours and the others idle; whoever rents those shares the "
                  "machine's links."));
  EXPECT_THAT(
      assumptions({.name = "A40", .rented = 2, .in_machine = 2, .pcie_generation = 4, .pcie_lanes = 16}),
      ElementsAre(kNoSockets, "Peer-to-peer over PCIe is assumed: the driver allows it on an A40."));
  EXPECT_EQ(described({.name = "RTX 3090", .pcie_generation = 9}).machine.intra->generation, 4)
      << "as the card";
  EXPECT_EQ(described({.name = "RTX 3090", .pcie_generation = 1}).machine.intra->generation, 1);
  const Offer unknown = described({.name = "QX 1"});
  EXPECT_EQ(unknown.problem, "the catalogue does not know the GPU 'QX 1'");
  EXPECT_EQ(unknown.gpus, 1);
}

TEST(ListedMachines, ASlotIsWhatItsMeasuredRateNeeds) {
  const auto slot = [](int generation, int lanes, double rate) {
    return described(
        {.name = "RTX 3090", .pcie_generation = generation, .pcie_lanes = lanes, .pcie_rate = rate * 1e9});
  };
  EXPECT_THAT(slot(4, 16, 3.1).assumptions,
              ElementsAre("Measured 3.1 GB/s are too few for PCIe 4.0 x16; it is taken as x2."));
  EXPECT_EQ(slot(4, 16, 3.1).machine.intra->lanes, 2);
  EXPECT_EQ(slot(4, 16, 1.0).machine.intra->lanes, 1);
  EXPECT_EQ(slot(4, 16, 7.0).machine.intra->lanes, 4);
  EXPECT_EQ(slot(4, 8, 12).machine.intra->lanes, 8);
  EXPECT_EQ(slot(4, 4, 1.2).machine.intra->lanes, 1);
  EXPECT_EQ(slot(4, 1, 1.2).machine.intra->lanes, 1);
  EXPECT_THAT(slot(4, 16, 20).assumptions, IsEmpty());
  EXPECT_EQ(slot(4, 16, 0).machine.intra->bandwidth, std::nullopt) << "nothing was measured";
}

TEST(ListedMachines, LinksAreThoseOfTheBoard) {
  const std::string h100 = described({.name = "H100 SXM"}).machine.gpu->model;
  EXPECT_EQ(h100, "H100-SXM");
  EXPECT_THAT(assumptions({.name = "H100 SXM", .rented = 8, .in_machine = 8}),
              ElementsAre("Its NVLinks are not listed; all 18 of an H100-SXM are assumed."));
  EXPECT_THAT(
      assumptions({.name = "H100 SXM", .rented = 8, .in_machine = 8, .nvlink_rate = 478e9}),
      ElementsAre("bw_nvlink 478.0 is the raw signalling rate: 450 GB/s usable, of 450 on the data sheet."));
  EXPECT_THAT(assumptions({.name = "MI300X", .rented = 8, .in_machine = 8}),
              ElementsAre("Its links are not listed; xGMI between all GPUs is assumed."));
  EXPECT_THAT(assumptions({.name = "Tesla V100", .rented = 4, .in_machine = 4, .nvlink_rate = 150e9}),
              testing::Contains("V100 SXM2 boards are wired as a full mesh."));
  EXPECT_THAT(assumptions({.name = "Tesla V100", .rented = 8, .in_machine = 8, .nvlink_rate = 150e9}),
              testing::Contains("V100 SXM2 boards are wired as a hybrid cube mesh."));
  const Offer cards =
      described({.name = "A100 PCIE", .rented = 6, .in_machine = 6, .pcie_lanes = 8, .nvlink_rate = 300e9});
  EXPECT_THAT(cards.assumptions,
              testing::Contains("NVLink on a PCIe card is taken for bridges that join pairs."));
  EXPECT_EQ(cards.machine.intra->lanes, 8);
  EXPECT_EQ(cards.machine.intra->sockets, 2);
  EXPECT_EQ(cards.machine.intra->nvswitch, false);
  EXPECT_EQ(cards.machine.intra->peer_to_peer, true);
  EXPECT_EQ(described({.name = "A100 PCIE", .rented = 4, .in_machine = 4, .nvlink_rate = 300e9})
                .machine.intra->sockets,
            1);
  EXPECT_EQ(described({.name = "A100 PCIE", .rented = 4, .in_machine = 4, .nvlink_rate = 300e9})
                .machine.intra->lanes,
            16);
  EXPECT_EQ(described({.name = "MI300X", .rented = 2, .in_machine = 16}).machine.gpus_per_node, 16);
  EXPECT_THAT(assumptions({.name = "RTX PRO 6000 Max-Q"}),
              testing::Contains(
                  "A Max-Q card has half of the power of the workstation card, whose data sheet is taken."));
  EXPECT_THAT(assumptions({.name = "RTX PRO 6000 WS"}), SizeIs(1));
}

TEST(ListedMachines, NamesAreSpelledAsTheCatalogueDoes) {
  for (const auto& [listed, spelt] : {std::pair("RTX_3090Ti", "RTX 3090 Ti"),
                                      {"RTX3090", "RTX 3090"},
                                      {"GTX1080Ti", "GTX 1080 Ti"},
                                      {"RTX4080S", "RTX 4080 SUPER"},
                                      {"4080super", "4080 SUPER"},
                                      {"RTX6000Ada", "RTX 6000 Ada"},
                                      {"RTXPRO6000", "RTX PRO 6000 Blackwell"},
                                      {"RTX PRO 6000 S", "RTX PRO 6000 Blackwell"},
                                      {"RTX PRO 5000", "RTX PRO 5000"},
                                      {"rtx pro 6000", "RTX PRO 6000 Blackwell"},
                                      {"PRO 6000", "PRO 6000"},
                                      {"Q RTX 8000", "Quadro RTX 8000"},
                                      {"RTX A6000", "RTX A6000"},
                                      {"RTXA6000", "RTX A6000"},
                                      {"H100-MEGA", "H100"},
                                      {"A100-80GB", "A100 80GB"},
                                      {"308Ti", "308Ti"},
                                      {"30900", "30900"},
                                      {"RTX", "RTX"},
                                      {"", ""}}) {
    EXPECT_EQ(catalogue_gpu_name(listed), spelt) << listed;
  }
}

std::string problem(const std::string& fields) {
  return read_vast_offers("[{\"id\":1," + fields + "}]", "x.json").offers.front().problem;
}

TEST(VastListings, EveryFieldThatIsWrongIsNamed) {
  const std::string gpu = R"("gpu_name":"RTX 3090","num_gpus":2,"dph_total":1)";
  EXPECT_EQ(problem(gpu), "");
  EXPECT_EQ(problem(R"("num_gpus":2,"dph_total":1)"), "gpu_name is missing");
  EXPECT_EQ(problem(R"("gpu_name":7,"num_gpus":2,"dph_total":1)"), "gpu_name is missing");
  EXPECT_EQ(problem(R"("gpu_name":"RTX 3090","dph_total":1)"), "num_gpus is missing");
  EXPECT_EQ(problem(R"("gpu_name":"RTX 3090","num_gpus":null,"dph_total":1)"), "num_gpus is missing");
  EXPECT_EQ(problem(R"("gpu_name":"RTX 3090","num_gpus":2)"), "dph_total is missing");
  EXPECT_EQ(problem(R"("gpu_name":"RTX 3090","num_gpus":1.5,"dph_total":1)"),
            "num_gpus is 1.5, which is no number of GPUs");
  EXPECT_EQ(problem(R"("gpu_name":"RTX 3090","num_gpus":1025,"dph_total":1)"),
            "num_gpus is 1025, which is no number of GPUs");
  EXPECT_EQ(problem(gpu + R"(,"gpu_ram":"much")"), "gpu_ram is \"much\" instead of a number");
  EXPECT_EQ(problem(gpu + R"(,"gpu_ram":-0.5)"), "gpu_ram is negative: -0.5");
  EXPECT_EQ(problem(gpu + R"(,"pcie_bw":2e15)"), "pcie_bw is larger than any there is: 2e+15");
  EXPECT_EQ(problem(gpu + R"(,"duration":1e15)"), "");
  EXPECT_EQ(problem(gpu + R"(,"gpu_frac":1.01)"), "gpu_frac is 1.01, which is no share of a machine");
  EXPECT_EQ(problem(gpu + R"(,"rented":1)"), "rented is 1 instead of true or false");
  EXPECT_EQ(problem(R"("gpu_name":"RTX 3090","num_gpus":2,"dph_total":1.1e12)"),
            "dph_total is 1.1e+12, which nobody pays");
  EXPECT_EQ(problem(gpu + ",\"gpu_ram\":\"" + std::string(60, 'x') + "\""),
            "gpu_ram is \"" + std::string(39, 'x') + " instead of a number");
}

TEST(VastListings, WhatAHostIsIsWarnedOf) {
  const OfferListing listing = read_vast_offers(
      R"([{"id":3,"gpu_name":"RTX 3090","num_gpus":2,"dph_total":1.5,"gpu_frac":0.5,"pci_gen":4.9,"gpu_lanes":8,"vms_enabled":true,)"
      R"("rented":true,"is_bid":true,"verification":"unverified","reliability":0.9,"duration":60,"machine_id":5},)"
      R"({"id":4,"gpu_name":"QX","num_gpus":2,"dph_total":0,"machine_id":5},7,{"id":"x","gpu_name":"RTX 3090","num_gpus":1,"dph_total":1,"pci_gen":0.5,"machine_id":6}])",
      "x.json");
  ASSERT_THAT(listing.offers, SizeIs(4));
  const Offer& offer = listing.offers[0];
  EXPECT_EQ(offer.name, "2 × RTX 3090 (3)");
  EXPECT_EQ(offer.source, "x.json: offer 3");
  EXPECT_THAT(offer.warnings,
              ElementsAre("The host runs virtual machines: its IOMMU can slow peer-to-peer traffic, and "
                          "NVLink is not ensured.",
                          "It is rented out at the moment.", "It is interruptible: a higher bid ends it.",
                          "Its host is unverified.", "Its reliability is 90.0 %.",
                          "2 offers of this listing are of machine 5 and share its links."));
  EXPECT_EQ(offer.per_hour->currency, "USD");
  EXPECT_EQ(offer.machine.gpus_per_node, 4);
  EXPECT_EQ(offer.machine.intra->generation, 4);
  EXPECT_EQ(offer.machine.name, "2 × RTX 3090 (3)");
  EXPECT_THAT(listing.offers[1].warnings,
              ElementsAre("2 offers of this listing are of machine 5 and share its links."));
  EXPECT_EQ(listing.offers[2].problem, "it is no map of fields");
  EXPECT_EQ(listing.offers[2].name, "offer 3");
  EXPECT_EQ(listing.offers[2].source, "x.json: offer 3");
  EXPECT_EQ(listing.offers[3].machine.intra->generation, 4) << "none is older than the first";
  EXPECT_EQ(listing.rows.total, 4U);
  EXPECT_EQ(listing.rows.offered, 2U);
  EXPECT_EQ(listing.rows.not_understood, 2U);
  EXPECT_THAT(listing.notes, ElementsAre("x.json: 2 of 4 offers are not understood."));
}

TEST(VastListings, FilesAreRefusedInWholeSentences) {
  const auto why = [](const std::string& text) {
    return message_of(ErrorKind::bad_input, [&] { read_vast_offers(text, "x.json"); });
  };
  EXPECT_EQ(why("[1"), "x.json: is cut off: the JSON ends after 2 bytes in the middle of something");
  EXPECT_EQ(why("[1,]"), "x.json: is not JSON (at byte 4)");
  EXPECT_EQ(why("[1e999]"), "x.json: holds a number that no double can hold");
  EXPECT_EQ(why("[]"), "x.json: is an empty list: no offer matched the search");
  EXPECT_EQ(why("{\"offers\":7}"),
            "x.json: is JSON, but neither a list of offers nor {\"offers\": […]}, which `vastai search "
            "offers --raw` and the API write");
  const auto format = [](const std::string& text) { return listing_format(text, "x"); };
  EXPECT_EQ(format("\xEF\xBB\xBF [1]"), ListingFormat::json);
  EXPECT_EQ(format("\n{}"), ListingFormat::json);
  EXPECT_EQ(format("a,InstanceType\nb"), ListingFormat::csv);
  EXPECT_EQ(format("a\nInstanceType"), ListingFormat::yaml);
  EXPECT_EQ(message_of(ErrorKind::bad_input, [&] { format(" \t\r\n"); }),
            "x: is empty; a listing of offers is JSON, CSV or YAML");
  EXPECT_EQ(message_of(ErrorKind::bad_input, [&] { format("<a>"); }),
            "x: is an HTML page, not a listing; a login or an error page was saved instead of the answer");
}

std::optional<Machine> no_machine(const std::string& /*name*/) { return std::nullopt; }

OfferListing skypilot(const std::string& rows,
                      const std::string& columns =
                          "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region,GpuInfo") {
  return read_skypilot_offers(columns + "\n" + rows, "x.csv", no_machine);
}

TEST(SkypilotListings, PricesOfGpusAndTheirMachineAreAddedWhereBothAreListed) {
  const OfferListing listing = skypilot(
      "n1-highmem-8,,,1,0.5,a,\nn1-highmem-8,,,2,,b,\n,T4,1,0.5,0.25,a,\n,T4,1,0.1,0.2,b,\n,T4,1,0.3,0.1,c,"
      "\n,V100,2,0.3,0.1,c,\n");
  ASSERT_THAT(listing.offers, SizeIs(3));
  EXPECT_EQ(listing.offers[0].name, "n1-highmem-8 + 1 × T4 (spot)");
  EXPECT_DOUBLE_EQ(listing.offers[0].per_hour->amount, 0.75);
  EXPECT_EQ(listing.offers[0].source, "x.csv:4");
  EXPECT_DOUBLE_EQ(listing.offers[1].per_hour->amount, 1.5);
  EXPECT_FALSE(listing.offers[1].interruptible);
  EXPECT_THAT(
      listing.offers[1].assumptions,
      testing::IsSupersetOf({"Its price is that of the GPUs and of n1-highmem-8, which are listed apart.",
                             "Its price is that of the cheapest of 3 regions and zones."}));
  EXPECT_EQ(listing.offers[2].name, "n1-highmem-16 + 2 × V100");
  EXPECT_FALSE(listing.offers[2].per_hour);
  EXPECT_THAT(listing.offers[2].warnings,
              ElementsAre("c lists these GPUs without a machine, and no n1-highmem-16 to put them into: only "
                          "that of the GPUs is known of its price."));
  EXPECT_THAT(listing.notes, ElementsAre("x.csv: 6 rows: 3 offers in 4 rows, 2 rows without GPUs."));
}

TEST(SkypilotListings, WhatIsNotUnderstoodIsCounted) {
  const OfferListing listing = skypilot(
      "p,T4,1,free,,a,\nq,T4,0,1,,a,\nr,T4,1025,1,,a,\ns,T4,1024,1,,a,\n,T4,1.5,1,,a,\nt,QX,1,1,,a,\nu,T4,1,-"
      "1,0,a,\n");
  ASSERT_THAT(listing.offers, SizeIs(7));
  EXPECT_EQ(listing.offers[0].problem, "neither Price nor SpotPrice is an amount");
  EXPECT_EQ(listing.offers[0].source, "x.csv:2");
  EXPECT_EQ(listing.offers[1].problem, "AcceleratorCount is '0', which is no number of GPUs");
  EXPECT_EQ(listing.offers[2].problem, "AcceleratorCount is '1025', which is no number of GPUs");
  EXPECT_EQ(listing.offers[3].problem, "");
  EXPECT_EQ(listing.offers[4].name, "T4");
  EXPECT_EQ(listing.offers[5].problem, "the catalogue does not know the GPU 'QX'");
  EXPECT_EQ(listing.offers[6].problem, "neither Price nor SpotPrice is an amount");
  EXPECT_THAT(listing.notes, ElementsAre("x.csv: 7 rows: 1 offer in 1 row, 6 rows not understood."));
  EXPECT_EQ(message_of(ErrorKind::bad_input, [] { skypilot("n,,,1,,a,\n"); }),
            "x.csv: lists no instance with GPUs");
  for (const char* column : {"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"}) {
    std::string columns = "InstanceType,AcceleratorName,AcceleratorCount,Price,Region";
    columns.replace(columns.find(column), std::string(column).size(), "x");
    EXPECT_EQ(message_of(ErrorKind::bad_input, [&] { skypilot("p,T4,1,1,a\n", columns); }),
              fmt::format("x.csv:1: has no column {}, which vms.csv of every cloud has", column));
  }
}

TEST(SkypilotListings, MemoryOfOneGpuIsReadFromAPythonLiteral) {
  const auto model = [](const std::string& info, int count = 8) {
    const OfferListing listing = skypilot(fmt::format("p,A100,{},1,,a,\"{}\"\n", count, info));
    return listing.offers.front().machine.gpu->model;
  };
  EXPECT_EQ(model("{'SizeInMiB': 40960}"), "A100-SXM4-40GB");
  EXPECT_EQ(model("{'SizeInMiB': 81920}"), "A100-SXM4-80GB");
  EXPECT_EQ(model("{'SizeInMiB':80}"), "A100-SXM4-80GB") << "GB";
  EXPECT_EQ(model("{'TotalGpuMemoryInMiB': 81920}"), "A100-SXM4-80GB");
  EXPECT_EQ(model("{'SizeInMiB': 655360, 'TotalGpuMemoryInMiB': 655360}"), "A100-SXM4-80GB")
      << "of all eight";
  EXPECT_EQ(model("{'SizeInMiB': 81920, 'TotalGpuMemoryInMiB': 81920}", 1), "A100-SXM4-80GB");
  EXPECT_EQ(model("{'SizeInMiB': 81920, 'TotalGpuMemoryInMiB': 655360}"), "A100-SXM4-80GB");
  for (const char* none : {"", "{'SizeInMiB'}", "{'SizeInMiB': x}", "{'SizeInMiB': 0}"}) {
    EXPECT_EQ(model(none), "A100-SXM4-40GB") << none;
  }
  const OfferListing listing = skypilot("p,A100,8,1,,a,\np2,A100-SXM,8,1,,a,\n");
  EXPECT_THAT(
      listing.offers[0].assumptions,
      testing::Contains("The listing has A100-SXM besides, so that A100 is taken for the PCIe card."));
  EXPECT_THAT(
      listing.offers[0].assumptions,
      testing::Contains(
          "The listing does not say how GPUs are connected, and the catalogue has no p: PCIe is assumed."));
  EXPECT_THAT(listing.offers[1].assumptions,
              testing::Contains("The listing does not say how GPUs are connected, and the catalogue has no "
                                "p2: the board that this GPU is made for is assumed."));
}

TEST(SkypilotListings, TwoGpusShareWhatIsWrittenForAllAndOneNeedsNoLinks) {
  const Offer two =
      skypilot("p,A100,2,1,,a,\"{'SizeInMiB': 163840, 'TotalGpuMemoryInMiB': 163840}\"\n").offers.front();
  EXPECT_EQ(two.machine.gpu->model, "A100-SXM4-80GB");
  const Offer one = skypilot("p,T4,1,1,,a,\n").offers.front();
  EXPECT_THAT(one.assumptions, testing::Not(testing::Contains(testing::HasSubstr("how GPUs are connected"))))
      << "there is one";
}

TEST(VastListings, GenerationsThatThereMayBeAreTaken) {
  const auto assumed = [](double generation) {
    return read_vast_offers(
               fmt::format(
                   R"([{{"id":1,"gpu_name":"RTX 3090","num_gpus":1,"dph_total":1,"gpu_lanes":16,"pci_gen":{}}}])",
                   generation),
               "x")
        .offers.front()
        .assumptions.size();
  };
  EXPECT_EQ(assumed(1), 0U);
  EXPECT_EQ(assumed(99), 0U);
  EXPECT_EQ(assumed(100), 1U) << "as if it were not listed";
  EXPECT_EQ(assumed(0), 1U);
}

}  // namespace
}  // namespace ringside
