// 400 lines: what listings of all clouds and hosts say stands side by side.

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "import/offer_listing.hpp"
#include "results/codec/reader.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string shipped(const std::string& name) {
  return read_text(std::string(RINGSIDE_SOURCE_DIR) + "/tests/cli/offers/" + name);
}

std::vector<Offer> vast(const std::string& text) { return read_vast_offers(text, "offers.json").offers; }

/// The only offer of a listing whose first one has another field.
Offer one(const std::string& fields) {
  const std::vector<Offer> offers = vast(fmt::format("[{{\"id\":1,{}}}]", fields));
  EXPECT_THAT(offers, SizeIs(1));
  return offers.front();
}

std::string refused(const std::string& text) {
  try {
    listing_format(text, "offers.json");
    read_vast_offers(text, "offers.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "accepted";
}

std::optional<Machine> no_machine(const std::string& /*name*/) { return std::nullopt; }

const std::string kFour3090 =
    R"("gpu_name":"RTX 3090","num_gpus":4,"gpu_frac":0.5,"gpu_ram":24576,"pci_gen":4.0,"gpu_lanes":16,"dph_total":1.2)";

TEST(VastOffers, RealOnesAreUnderstood) {
  const std::vector<Offer> offers = vast(shipped("vast.json"));
  ASSERT_THAT(offers, SizeIs(4));
  for (const Offer& offer : offers) {
    EXPECT_THAT(offer.problem, IsEmpty()) << offer.name;
    EXPECT_TRUE(offer.per_hour);
  }
  const Machine& whole = offers[0].machine;
  EXPECT_EQ(whole.gpu->model, "H100-SXM");
  EXPECT_EQ(whole.intra->kind, IntraKind::nvlink);
  EXPECT_EQ(whole.intra->nvswitch, true);
  EXPECT_EQ(offers[0].gpus, 8);
  EXPECT_DOUBLE_EQ(offers[0].per_hour->amount, 35.159555555555556);
}

TEST(VastOffers, AFractionOfAMachineKeepsItsMachine) {
  const std::vector<Offer> offers = vast(shipped("vast.json"));
  EXPECT_EQ(offers[1].gpus, 4);
  EXPECT_EQ(offers[1].machine.gpus_per_node, 8);
  EXPECT_THAT(offers[1].assumptions, Contains(HasSubstr("The 4 rented of 8 GPUs")));
}

TEST(VastOffers, NvlinkIsTheRawSignallingRate) {
  EXPECT_THAT(vast(shipped("vast.json"))[0].assumptions,
              Contains(HasSubstr("450 GB/s usable, of 450 on the data sheet")));
}

TEST(VastOffers, ASlowSlotIsPredictedAsWhatItIs) {
  // Gen 4 x16 that measures 12.3 GB/s has lost half of its lanes; gen 3 x16 at 11.7 is healthy.
  const std::vector<Offer> offers = vast(shipped("vast.json"));
  EXPECT_EQ(offers[2].machine.intra->lanes, 8);
  EXPECT_EQ(offers[2].machine.intra->bandwidth, BytesPerSecond{12.3e9});
  EXPECT_THAT(offers[2].assumptions, Contains(HasSubstr("too few for PCIe 4.0 x16")));
  EXPECT_EQ(offers[3].machine.intra->lanes, 16);
  EXPECT_EQ(offers[3].machine.intra->bandwidth, BytesPerSecond{11.7e9});
}

TEST(VastOffers, ASlotThatMeasuresALittleLessIsPredictedALittleSlower) {
  // Gen 4: x8 carries 15.75 GB/s, and a healthy x16 reaches 18.9. What lies between is a slow x16.
  for (const double rate : {15.9, 18.8, 19.0}) {
    const Offer offer = one(kFour3090 + fmt::format(R"(,"pcie_bw":{})", rate));
    EXPECT_EQ(offer.machine.intra->lanes, 16) << rate;
    ASSERT_TRUE(offer.machine.intra->bandwidth) << rate;
    EXPECT_DOUBLE_EQ(offer.machine.intra->bandwidth->value, rate * 1e9);
  }
  EXPECT_EQ(one(kFour3090 + R"(,"pcie_bw":15.5)").machine.intra->lanes, 8);
}

TEST(VastOffers, WhatNoSlotCanCarryIsPassedOver) {
  const Offer offer = one(kFour3090 + R"(,"pcie_bw":50.0)");
  EXPECT_EQ(offer.machine.intra->bandwidth, std::nullopt);
  EXPECT_THAT(offer.assumptions, Contains(HasSubstr("ignored: 50 GB/s is more than PCIe 4.0 x16")));
}

TEST(VastOffers, GeForceHasNoPeerToPeer) {
  const Offer offer = one(kFour3090);
  EXPECT_EQ(offer.machine.intra->kind, IntraKind::pcie);
  EXPECT_EQ(offer.machine.intra->peer_to_peer, false);
  EXPECT_EQ(offer.machine.intra->sockets, 2);
  EXPECT_THAT(offer.assumptions, Contains(HasSubstr("No peer-to-peer")));
}

TEST(VastOffers, HostsOfVirtualMachinesAndSharedMachinesAreFlagged) {
  const std::vector<Offer> offers = vast(fmt::format(
      "{{\"offers\":[{{{0},\"machine_id\":7,\"vms_enabled\":true}},{{{0},\"machine_id\":7}}]}}", kFour3090));
  EXPECT_THAT(offers[0].warnings, Contains(HasSubstr("IOMMU")));
  EXPECT_THAT(offers[1].warnings, Contains(HasSubstr("2 offers of this listing are of machine 7")));
  EXPECT_THAT(one(kFour3090 + R"(,"machine_id":7)").warnings, IsEmpty());
}

TEST(VastOffers, OffersThatCanBeTakenAwayAndUnreliableHostsAreFlagged) {
  const Offer bid = one(kFour3090 + R"(,"is_bid":true)");
  EXPECT_TRUE(bid.interruptible);
  EXPECT_THAT(bid.warnings, Contains(HasSubstr("interruptible")));
  EXPECT_THAT(one(kFour3090 + R"(,"reliability":0.949)").warnings, Contains(HasSubstr("Its reliability is")));
  EXPECT_THAT(one(kFour3090 + R"(,"reliability":0.95)").warnings, IsEmpty());
}

TEST(VastOffers, WhatCannotBeRentedIsNotUsed) {
  const OfferListing listing = read_vast_offers(
      fmt::format("[{{{0},\"rentable\":false}},{{{0},\"rentable\":true}},{{{0},\"rentable\":\"no\"}}]",
                  kFour3090),
      "offers.json");
  EXPECT_EQ(listing.offers[0].problem, "it cannot be rented at the moment, as its listing says");
  EXPECT_THAT(listing.offers[1].problem, IsEmpty());
  EXPECT_EQ(listing.offers[2].problem, "rentable is \"no\" instead of true or false");
  EXPECT_EQ(listing.rows.offered, 2);
  EXPECT_EQ(listing.rows.not_understood, 1);
}

TEST(VastOffers, ASlotOfLanesThatThereAreNotIsAsIfItWereNotListed) {
  const auto lanes = [](const std::string& listed) {
    return one(R"("gpu_name":"RTX 3090","num_gpus":4,"gpu_frac":0.5,"pci_gen":4.0,"dph_total":1.2)" + listed)
        .machine.intra->lanes;
  };
  EXPECT_EQ(lanes(R"(,"gpu_lanes":3)"), lanes(""));
  EXPECT_EQ(lanes(R"(,"gpu_lanes":4)"), 4);
}

TEST(VastOffers, UnknownGpusAreKeptWithAReason) {
  EXPECT_THAT(one(R"("gpu_name":"RTX 9090","num_gpus":2,"dph_total":1)").problem, HasSubstr("RTX 9090"));
}

TEST(VastOffers, WhatIsWrongWithOneOfferStaysWithIt) {
  EXPECT_THAT(one(R"("gpu_name":"RTX 3090","num_gpus":4)").problem, HasSubstr("dph_total is missing"));
  EXPECT_THAT(one(R"("gpu_name":"RTX 3090","num_gpus":4,"dph_total":"cheap")").problem,
              HasSubstr("instead of a number"));
  EXPECT_THAT(one(R"("gpu_name":"RTX 3090","num_gpus":4,"dph_total":-1)").problem, HasSubstr("negative"));
  EXPECT_THAT(one(R"("gpu_name":"RTX 3090","num_gpus":2.5,"dph_total":1)").problem, HasSubstr("num_gpus"));
  EXPECT_THAT(one(R"("gpu_name":"RTX 3090","num_gpus":2,"gpu_frac":0,"dph_total":1)").problem,
              HasSubstr("gpu_frac"));
  EXPECT_THAT(vast("[7]").front().problem, HasSubstr("no map of fields"));
  EXPECT_THAT(one(R"("gpu_name":"RTX 3090","num_gpus":4,"gpu_frac":1.5,"dph_total":1)").problem,
              HasSubstr("gpu_frac is 1.5, which is no share of a machine"));
}

TEST(VastOffers, NullsAndUnknownKeysAreNothing) {
  const Offer offer = one(kFour3090 + R"(,"cpu_name":null,"bw_nvlink":null,"pcie_bw":null,"novelty":[1])");
  EXPECT_THAT(offer.problem, IsEmpty());
}

TEST(VastOffers, FilesThatAreNoListingAreRefusedInAWord) {
  EXPECT_THAT(refused("<!DOCTYPE html><html>"), HasSubstr("offers.json: is an HTML page"));
  EXPECT_THAT(refused("[{\"id\":1,\"gpu_name\":\"RTX"), HasSubstr("is cut off"));
  EXPECT_THAT(refused("[]"), HasSubstr("is an empty list"));
  EXPECT_THAT(refused("{\"offers\":[]}"), HasSubstr("is an empty list"));
  EXPECT_THAT(refused("{\"error\":\"login\"}"), HasSubstr("neither a list of offers"));
  EXPECT_THAT(refused("[1,]"), HasSubstr("is not JSON"));
  EXPECT_THAT(refused("  \n"), HasSubstr("is empty"));
}

TEST(SkypilotOffers, OneInstanceTypeStandsOnceAtItsCheapest) {
  const OfferListing listing = read_skypilot_offers(shipped("aws.csv"), "aws.csv", no_machine);
  ASSERT_THAT(listing.offers, SizeIs(2));
  EXPECT_DOUBLE_EQ(listing.offers.front().per_hour->amount, 8.1915);
  const Offer& offer = listing.offers.back();
  EXPECT_DOUBLE_EQ(offer.per_hour->amount, 21.957642);
  EXPECT_EQ(offer.machine.gpu->model, "A100-SXM4-40GB");
  EXPECT_THAT(offer.assumptions, Contains(HasSubstr("cheapest of 2 regions")));
  EXPECT_THAT(offer.assumptions, Contains(HasSubstr("does not say how GPUs are connected")));
  EXPECT_THAT(listing.notes, Contains(HasSubstr("1 row without GPUs")));
}

TEST(SkypilotOffers, TheCatalogueSaysHowKnownInstancesAreConnected) {
  const auto known = [](const std::string& name) -> std::optional<Machine> {
    Machine machine;
    machine.name = "from the catalogue: " + name;
    return machine;
  };
  const OfferListing listing = read_skypilot_offers(shipped("aws.csv"), "aws.csv", known);
  EXPECT_EQ(listing.offers.front().machine.name, "from the catalogue: p4d.24xlarge");
}

TEST(SkypilotOffers, ColumnsAreReadByTheirNames) {
  const OfferListing listing = read_skypilot_offers(shipped("vast.csv"), "vast.csv", no_machine);
  EXPECT_EQ(listing.offers.front().gpus, 8);
  EXPECT_EQ(listing.offers.front().machine.gpu->model, "RTX 4090");
  EXPECT_THROW(read_skypilot_offers("InstanceType,Price\nx,1\n", "x.csv", no_machine), Error);
}

/// The offer of a listing whose name begins so.
Offer skypilot(const std::string& file, const std::string& name) {
  for (const Offer& offer : read_skypilot_offers(shipped(file), file, no_machine).offers) {
    if (offer.name.starts_with(name)) {
      return offer;
    }
  }
  ADD_FAILURE() << file << " has no " << name;
  return {};
}

TEST(SkypilotOffers, NoRowOfAnyCloudIsLostSilently) {
  for (const char* cloud :
       {"aws", "azure", "do", "gcp", "lambda", "nebius", "oci", "runpod", "shadeform", "vast"}) {
    const std::string file = fmt::format("{}.csv", cloud);
    const std::string text = shipped(file);
    const OfferListing listing = read_skypilot_offers(text, file, no_machine);
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_EQ(listing.rows.total, lines - 1) << cloud;
    EXPECT_EQ(listing.rows.offered + listing.rows.without_gpus + listing.rows.not_understood,
              listing.rows.total)
        << cloud;
    EXPECT_THAT(listing.notes, Contains(HasSubstr(fmt::format("{} row", listing.rows.total)))) << cloud;
  }
}

TEST(SkypilotOffers, ARowThatLostACellCostsNoOther) {
  const OfferListing listing = read_skypilot_offers(
      "InstanceType,AcceleratorName,AcceleratorCount,Price,Region\ncut,T4\nwhole,T4,1,0.4,here\n", "x.csv",
      no_machine);
  ASSERT_EQ(listing.offers.size(), 2U);
  EXPECT_EQ(listing.offers[0].name, "whole");
  EXPECT_EQ(listing.offers[1].name, "cut");
  EXPECT_EQ(listing.offers[1].source, "x.csv:2");
  EXPECT_EQ(listing.offers[1].problem, "has 2 cells, but the header has 5");
  EXPECT_EQ(listing.rows.total, 2U);
  EXPECT_EQ(listing.rows.not_understood, 1U);
}

TEST(SkypilotOffers, GpusOfGoogleAreRentedWithTheirMachine) {
  const Offer two = skypilot("gcp.csv", "n1-highmem-16 + 2 × V100");
  EXPECT_EQ(two.gpus, 2);
  EXPECT_TRUE(two.interruptible);
  EXPECT_DOUBLE_EQ(two.per_hour->amount, 1.48 + 0.2);
  const Offer four = skypilot("gcp.csv", "n1-highmem-32 + 4 × V100");
  EXPECT_EQ(four.gpus, 4);
  const OfferListing listing = read_skypilot_offers(shipped("gcp.csv"), "gcp.csv", no_machine);
  EXPECT_DOUBLE_EQ(listing.offers[1].per_hour->amount, 4.96 + 0.9464);
  EXPECT_FALSE(listing.offers[1].interruptible);
  EXPECT_FALSE(skypilot("gcp.csv", "n1-highmem-16 + 2 × T4").per_hour);
  EXPECT_EQ(listing.rows.not_understood, 1U);
}

TEST(SkypilotOffers, CellsOfEveryKindTellCardsFromBoards) {
  const auto model = [](const std::string& file, const std::string& name) {
    return skypilot(file, name).machine.gpu->model;
  };
  EXPECT_EQ(model("runpod.csv", "8x_A100-80GB_SECURE"), "A100-PCIE-80GB");
  EXPECT_EQ(model("runpod.csv", "8x_A100-80GB-SXM_SECURE"), "A100-SXM4-80GB");
  EXPECT_EQ(model("shadeform.csv", "hyperstack_A100_80Gx8"), "A100-PCIE-80GB");
  EXPECT_EQ(model("shadeform.csv", "hyperstack_A100_80Gx8_NVLINK"), "A100-SXM4-80GB");
  EXPECT_EQ(model("azure.csv", "Standard_NC48ads_A100_v4"), "A100-PCIE-80GB");
  EXPECT_EQ(model("azure.csv", "Standard_ND40rs_v2"), "V100-SXM2-32GB");
  EXPECT_EQ(model("lambda.csv", "gpu_1x_h100_pcie"), "H100-PCIe");
  EXPECT_EQ(model("lambda.csv", "gpu_8x_h100_sxm5"), "H100-SXM");
  EXPECT_EQ(model("oci.csv", "BM.GPU.A100-v2.8"), "A100-SXM4-80GB");
}

TEST(SkypilotOffers, SpotPricesStandBesideTheOthersAndAlone) {
  EXPECT_TRUE(skypilot("azure.csv", "Standard_NC48ads_A100_v4 (spot)").interruptible);
  EXPECT_DOUBLE_EQ(skypilot("azure.csv", "Standard_NC48ads_A100_v4 (spot)").per_hour->amount, 1.5);
  const Offer alone = skypilot("runpod.csv", "1x_RTX3090_COMMUNITY");
  EXPECT_TRUE(alone.interruptible);
  EXPECT_DOUBLE_EQ(alone.per_hour->amount, 0.11);
}

TEST(VastOffers, NamesOfTodayAreKnown) {
  const std::vector<std::pair<const char*, const char*>> names = {
      {"RTX PRO 6000 S", "RTX PRO 6000 Blackwell"},
      {"RTX PRO 6000 WS", "RTX PRO 6000 Blackwell"},
      {"RTX 3080 Ti", "RTX 3080 Ti"},
      {"RTX 3090 Ti", "RTX 3090 Ti"},
      {"RTX 4080S", "RTX 4080 SUPER"},
      {"RTX 5080", "RTX 5080"},
      {"Titan RTX", "Titan RTX"},
      {"RTX 6000Ada", "RTX 6000 Ada"},
      {"Q RTX 8000", "Quadro RTX 8000"},
      {"RTX_4090", "RTX 4090"},
      {"A100 SXM4", "A100-SXM4-40GB"},
      {"H100 NVL", "H100-NVL"}};
  for (const auto& [listed, model] : names) {
    const Offer offer = one(fmt::format(R"("gpu_name":"{}","num_gpus":2,"dph_total":1)", listed));
    EXPECT_EQ(offer.problem, "") << listed;
    EXPECT_EQ(offer.machine.gpu ? offer.machine.gpu->model : "", model) << listed;
  }
}

TEST(VastOffers, WhatAHostIsAndHowLongItIsFreeAreTold) {
  EXPECT_THAT(one(kFour3090 + R"(,"verification":"deverified")").warnings,
              ElementsAre("Its host is deverified."));
  EXPECT_THAT(one(kFour3090 + R"(,"verification":"verified")").warnings, IsEmpty());
  EXPECT_THAT(one(kFour3090 + R"(,"reliability2":0.5)").warnings, SizeIs(1));
  EXPECT_THAT(one(kFour3090 + R"(,"reliability":0.99,"reliability2":0.5)").warnings, IsEmpty());
  EXPECT_THAT(one(kFour3090 + R"(,"rented":true)").warnings, SizeIs(1));
  EXPECT_THAT(one(kFour3090 + R"(,"rented":false,"is_bid":false,"vms_enabled":false)").warnings, IsEmpty());
  EXPECT_EQ(one(kFour3090 + R"(,"duration":3600)").available, Seconds{3600});
  EXPECT_EQ(one(kFour3090 + R"(,"duration":0)").available, std::nullopt);
}

TEST(VastOffers, ThoseWithoutAnIdAreCountedFromOne) {
  const std::vector<Offer> offers = vast(fmt::format("[{{{0}}},{{{0},\"id\":77}}]", kFour3090));
  EXPECT_EQ(offers.at(0).name, "4 × RTX 3090 (offer 1)");
  EXPECT_EQ(offers.at(0).source, "offers.json: offer 1");
  EXPECT_EQ(offers.at(1).name, "4 × RTX 3090 (77)");
  EXPECT_EQ(offers.at(1).source, "offers.json: offer 77");
}

TEST(VastOffers, NumbersOfGpusHaveALeastAndALargest) {
  const auto problem = [](const char* gpus, const char* share) {
    return one(fmt::format(R"("gpu_name":"RTX 3090","num_gpus":{},"gpu_frac":{},"dph_total":1)", gpus, share))
        .problem;
  };
  EXPECT_EQ(problem("1", "1"), "");
  EXPECT_EQ(problem("1024", "1"), "");
  EXPECT_THAT(problem("1025", "1"), HasSubstr("num_gpus is 1025"));
  EXPECT_THAT(problem("0", "1"), HasSubstr("num_gpus is 0"));
  EXPECT_EQ(problem("2", "0.001953125"), "") << "two of 1024";
  EXPECT_THAT(problem("2", "0.0019"), HasSubstr("gpu_frac"));
}

TEST(VastOffers, WhatIsFreeHasNoPrice) {
  EXPECT_EQ(one(R"("gpu_name":"RTX 3090","num_gpus":4,"dph_total":0)").per_hour, std::nullopt);
}

struct Board {
  const char* gpu;
  int rented;
  double share;
  const char* more;  ///< Further fields.
  IntraKind kind;
  std::string wiring;
  std::optional<bool> nvswitch;
  int gpus_per_node;
};

TEST(VastOffers, BoardsAreWiredAsTheirMakersWireThem) {
  const char* const links = R"(,"bw_nvlink":300)";
  const std::vector<Board> boards = {
      {"H100 SXM", 8, 1, "", IntraKind::nvlink, "", true, 8},
      {"H100 SXM", 2, 0.25, "", IntraKind::nvlink, "", true, 8},
      {"H100 SXM", 2, 0.25, R"(,"bw_nvlink":0)", IntraKind::pcie, "", std::nullopt, 8},
      {"Tesla V100", 2, 1, links, IntraKind::nvlink, "full_mesh", false, 4},
      {"Tesla V100", 4, 1, links, IntraKind::nvlink, "full_mesh", false, 4},
      {"Tesla V100", 5, 1, links, IntraKind::nvlink, "hybrid_cube_mesh", false, 8},
      {"Tesla V100", 8, 1, links, IntraKind::nvlink, "hybrid_cube_mesh", false, 8},
      {"Tesla V100", 16, 1, links, IntraKind::nvlink, "", true, 16},
      {"Tesla V100", 4, 1, "", IntraKind::pcie, "", std::nullopt, 4},
      {"A100 PCIE", 4, 1, "", IntraKind::pcie, "", std::nullopt, 4},
      {"A100 PCIE", 4, 1, links, IntraKind::nvlink, "bridge_pairs", false, 4},
      {"MI300X", 2, 1, "", IntraKind::xgmi, "", std::nullopt, 8},
      {"MI100", 2, 1, "", IntraKind::xgmi, "", std::nullopt, 4}};
  for (const Board& board : boards) {
    const std::string what = fmt::format("{} × {}{}", board.rented, board.gpu, board.more);
    const Offer offer = one(fmt::format(R"("gpu_name":"{}","num_gpus":{},"gpu_frac":{},"dph_total":1{})",
                                        board.gpu, board.rented, board.share, board.more));
    ASSERT_EQ(offer.problem, "") << what;
    ASSERT_TRUE(offer.machine.intra) << what;
    EXPECT_EQ(offer.machine.intra->kind, board.kind) << what;
    EXPECT_EQ(offer.machine.intra->wiring.value_or(""), board.wiring) << what;
    EXPECT_EQ(offer.machine.intra->nvswitch, board.nvswitch) << what;
    EXPECT_EQ(offer.machine.gpus_per_node, board.gpus_per_node) << what;
    EXPECT_TRUE(offer.machine.intra->generation) << what;
  }
}

TEST(VastOffers, CardsBeyondASocketHaveTwoAndMemoryTellsCardsApart) {
  const auto cards = [](int gpus) {
    return one(fmt::format(R"("gpu_name":"RTX 3090","num_gpus":{},"dph_total":1)", gpus)).machine.intra;
  };
  EXPECT_EQ(cards(4)->sockets, 1);
  EXPECT_EQ(cards(5)->sockets, 2);
  const auto sized = [](int mib) {
    return one(fmt::format(R"("gpu_name":"A100 SXM4","num_gpus":1,"gpu_ram":{},"dph_total":1)", mib))
        .machine.gpu->model;
  };
  EXPECT_EQ(sized(40960), "A100-SXM4-40GB");
  EXPECT_EQ(sized(81559), "A100-SXM4-80GB");
}

TEST(SkypilotOffers, EachPriceNamesTheRowThatItIsFrom) {
  const OfferListing listing = read_skypilot_offers(
      "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n"
      "p,T4,1,0.5,0.3,a\np,T4,1,0.4,0.2,b\np,T4,1,0.6,0.1,c\nq,T4,half,1,1,a\n",
      "x.csv", no_machine);
  ASSERT_THAT(listing.offers, SizeIs(3));
  EXPECT_EQ(listing.offers[0].name, "p (spot)");
  EXPECT_EQ(listing.offers[0].source, "x.csv:4");
  EXPECT_DOUBLE_EQ(listing.offers[0].per_hour->amount, 0.1);
  EXPECT_EQ(listing.offers[1].source, "x.csv:3");
  EXPECT_DOUBLE_EQ(listing.offers[1].per_hour->amount, 0.4);
  EXPECT_EQ(listing.offers[2].name, "q");
  EXPECT_EQ(listing.offers[2].source, "x.csv:5");
  EXPECT_THAT(listing.offers[2].problem, HasSubstr("'half'"));
  EXPECT_EQ(listing.rows.offered, 3U);
  EXPECT_EQ(listing.rows.not_understood, 1U);
}

TEST(SkypilotOffers, GpusOfGoogleAreInTheMachineThatIsMadeForThem) {
  const auto machine = [](const std::string& gpu, int count) {
    const Offer offer =
        read_skypilot_offers(
            fmt::format("InstanceType,AcceleratorName,AcceleratorCount,Price,Region\n,{},{},1,a\n", gpu,
                        count),
            "x.csv", no_machine)
            .offers.at(0);
    return offer.name.substr(0, offer.name.find(' '));
  };
  EXPECT_EQ(machine("A100", 8), "a2-highgpu-8g");
  EXPECT_EQ(machine("A100", 16), "a2-megagpu-16g");
  EXPECT_EQ(machine("H100", 16), "a3-highgpu-16g");
  EXPECT_EQ(machine("L4", 1), "g2-standard-4");
  EXPECT_EQ(machine("L4", 2), "g2-standard-24");
  EXPECT_EQ(machine("T4", 1), "n1-highmem-8");
  EXPECT_EQ(machine("T4", 16), "n1-highmem-64");
}

}  // namespace
}  // namespace ringside
