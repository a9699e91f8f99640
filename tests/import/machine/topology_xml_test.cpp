#include "import/machine/topology_xml.hpp"

#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::message_of;
using testing::HasSubstr;

std::string xml(const std::string& gpus) {
  return "<!-- one <node> -->\n<system version=\"1\">\n<cpu numaid=\"0\" vendor=\"GenuineIntel\">\n" + gpus +
         "</cpu>\n</system>\n";
}

TEST(TopologyXml, SaysLinksSlotsAndNics) {
  const std::string gpu =
      "<pci busid=\"1\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x26b9\" link_speed=\"16.0 GT/s PCIe\" "
      "link_width=\"8\"><gpu dev=\"0\" rank=\"0\"/></pci>\n";
  const std::string nic =
      "<pci class=\"0x020700\" vendor=\"0x15b3\" device=\"0x101b\"><nic><net name=\"mlx5_0\" "
      "speed=\"200000\" gdr=\"1\"/></nic></pci>\n";
  const TopologyMachine slots = machine_of_topology_xml(
      xml("<pci class=\"0x060400\">" + gpu + gpu + "</pci>" + nic), "x", std::nullopt);
  const Machine& machine = slots.machine;
  EXPECT_EQ(machine.gpus_per_node, 2);
  EXPECT_EQ(machine.gpu->model, "L40S");
  EXPECT_EQ(machine.intra->kind, IntraKind::pcie);
  EXPECT_EQ(machine.intra->generation, 4);
  EXPECT_EQ(machine.intra->lanes, 8);
  EXPECT_EQ(machine.intra->gpus_per_switch, 2);
  EXPECT_EQ(machine.cpu->vendor, CpuVendor::intel);
  EXPECT_EQ(machine.inter->kind, InterKind::infiniband);
  EXPECT_EQ(machine.inter->gpudirect, true);
  EXPECT_DOUBLE_EQ(machine.inter->rate->value, 25e9);
  const std::string module =
      "<pci class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\"><gpu dev=\"0\"><nvlink target=\"a\" "
      "count=\"9\" tclass=\"0x068000\"/><nvlink target=\"b\" count=\"9\" tclass=\"0x068000\"/></gpu></pci>";
  const auto switched = machine_of_topology_xml(xml(module + module), "x", std::nullopt);
  EXPECT_EQ(switched.machine.intra->links_per_gpu, 18);
  EXPECT_EQ(switched.machine.intra->nvswitch, true);
}

TEST(TopologyXml, NetworkDevicesWithoutARateAreCounted) {
  const std::string gpu = "<pci class=\"0x030200\" vendor=\"0x10de\" device=\"0x26b9\"/>\n";
  const std::string devices = gpu + gpu +
                              "<pci class=\"0x020700\" vendor=\"0x15b3\" device=\"0x101b\"/>\n"
                              "<pci class=\"0x010802\" vendor=\"0x144d\" device=\"0xa824\"/>\n"
                              "<pci class=\"0x010802\" vendor=\"0x144d\" device=\"0xa824\"/>\n";
  EXPECT_THAT(machine_of_topology_xml(xml(devices), "x", std::nullopt).notes,
              testing::Contains(HasSubstr("the rate of its 1 PCI network device;")));
}

TEST(TopologyXml, WhatIsCutOrUnknownIsNamedWithItsLine) {
  const auto why = [](const std::string& text) {
    return message_of(ErrorKind::bad_input, [&] { machine_of_topology_xml(text, "x.xml", std::nullopt); });
  };
  const std::string whole = xml("<pci class=\"0x030200\" vendor=\"0x10de\" device=\"0xffff\"/>\n");
  EXPECT_THAT(why(whole),
              HasSubstr("PCI devices 0x10de:0xffff, which ringside does not know; give --gpu MODEL"));
  EXPECT_THAT(why(whole.substr(0, whole.find("</cpu>"))), HasSubstr("x.xml:4: no XML from here on"));
  EXPECT_THAT(why(whole.substr(0, 75)), HasSubstr("was it cut?"));
  EXPECT_THAT(why("<system></cpu>"), HasSubstr("x.xml:1: no XML from here on"));
  EXPECT_THAT(why(xml("")), HasSubstr("lists no GPUs"));
}

TEST(TopologyXml, LinksThatDifferFromGpuToGpuAreRefused) {
  const auto module = [](int first, int second) {
    return fmt::format(
        "<pci class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\"><gpu dev=\"0\"><nvlink target=\"a\" "
        "count=\"{}\" tclass=\"0x068000\"/><nvlink target=\"b\" count=\"{}\" "
        "tclass=\"0x068000\"/></gpu></pci>",
        first, second);
  };
  const auto machine = [](const std::string& text) {
    return machine_of_topology_xml(xml(text), "x", std::nullopt).machine;
  };
  EXPECT_EQ(machine(module(9, 9) + module(12, 6)).intra->links_per_gpu, 18) << "the sums are alike";
  EXPECT_THAT(message_of(ErrorKind::bad_input, [&] { machine(module(9, 9) + module(9, 8)); }),
              HasSubstr("differ from GPU to GPU"));
}

TEST(TopologyXml, EightModulesWithoutLinksAreWiredAsTheirModelIs) {
  std::string devices;
  for (int i = 0; i < 8; ++i) {
    devices += "<pci class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\"/>";
  }
  const auto intra = [&](const char* gpu) {
    return *machine_of_topology_xml(xml(devices), "x", gpu).machine.intra;
  };
  EXPECT_EQ(intra("A100-SXM4-40GB").nvswitch, true);
  EXPECT_FALSE(intra("A100-SXM4-40GB").wiring);
  EXPECT_EQ(intra("V100-SXM2-32GB").nvswitch, false);
  EXPECT_EQ(intra("V100-SXM2-32GB").wiring, "hybrid_cube_mesh");
  EXPECT_EQ(intra("A100-PCIE-40GB").kind, IntraKind::pcie);
}

Machine machine_of(const std::string& devices, const std::optional<std::string>& gpu = std::nullopt) {
  return machine_of_topology_xml(xml(devices), "x", gpu).machine;
}

TEST(TopologyXml, DevicesOfThePciIdRepositoryAreModels) {
  const std::vector<std::tuple<const char*, const char*, const char*>> gpus = {
      {"0x10de", "0x1db1", "V100-SXM2-16GB"},
      {"0x10de", "0x1db5", "V100-SXM2-32GB"},
      {"0x10de", "0x20b0", "A100-SXM4-40GB"},
      {"0x10de", "0x20b2", "A100-SXM4-80GB"},
      {"0x10de", "0x20b5", "A100-PCIE-80GB"},
      {"0x10de", "0x20f1", "A100-PCIE-40GB"},
      {"0x10de", "0x2330", "H100-SXM"},
      {"0x10de", "0x2331", "H100-PCIe"},
      {"0x10de", "0x2335", "H200-SXM"},
      {"0x10de", "0x27b8", "L4"},
      {"0x10de", "0x2236", "A10"},
      {"0x10de", "0x2235", "A40"},
      {"0x10de", "0x2684", "RTX 4090"},
      {"0x10de", "0x2204", "RTX 3090"},
      {"0x10de", "0x2230", "RTX A6000"},
      {"0x10de", "0x2324", "H800-SXM"},
      {"0x10de", "0x26ba", "L20"},
      {"0x1002", "0x7408", "MI250X"},
      {"0x1002", "0x740c", "MI250X"},
      {"0x1002", "0x738c", "MI100"},
      {"0x1002", "0x74a1", "MI300X"},
      {"0x1002", "0x74b5", "MI300X"},
      {"0x1002", "0x74a5", "MI325X"},
      {"0x1002", "0x75a0", "MI350X"},
      {"0x1002", "0x75a3", "MI355X"}};
  for (const auto& [vendor, device, model] : gpus) {
    const std::string gpu =
        fmt::format("<pci class=\"0x030000\" vendor=\"{}\" device=\"{}\"/>", vendor, device);
    EXPECT_EQ(machine_of(gpu).gpu->model, model) << device;
    EXPECT_EQ(machine_of(gpu, "L40S").gpu->model, "L40S") << "who says it knows it";
  }
  EXPECT_EQ(message_of(ErrorKind::bad_input, [] { machine_of("<pci class=\"0x0302\"/>"); }),
            "x:1: does not say which GPUs these are; give --gpu MODEL, such as --gpu A100-SXM4-40GB");
}

TEST(TopologyXml, SlotsAreThoseThatAllGpusHave) {
  const auto gpu = [](const char* speed, int lanes) {
    return fmt::format(
        "<pci class=\"0x038000\" vendor=\"0x10de\" device=\"0x26b9\" link_speed=\"{}\" link_width=\"{}\"/>",
        speed, lanes);
  };
  for (const auto& [speed, generation] : {std::pair("2.5 GT/s PCIe", 1),
                                          {"5.0 GT/s", 2},
                                          {"8.0 GT/s PCIe", 3},
                                          {"16.0 GT/s PCIe", 4},
                                          {"32.0 GT/s PCIe", 5},
                                          {"64.0 GT/s PCIe", 6}}) {
    EXPECT_EQ(machine_of(gpu(speed, 16)).intra->generation, generation) << speed;
  }
  EXPECT_EQ(machine_of(gpu("Unknown", 16)).intra->generation, std::nullopt);
  EXPECT_EQ(machine_of(gpu("8.0 GT/s", 16) + gpu("16.0 GT/s", 8)).intra->generation, std::nullopt);
  EXPECT_EQ(machine_of(gpu("8.0 GT/s", 16) + gpu("16.0 GT/s", 8)).intra->lanes, std::nullopt);
  EXPECT_EQ(machine_of(gpu("8.0 GT/s", 0)).intra->lanes, std::nullopt);
  EXPECT_EQ(machine_of(gpu("8.0 GT/s", 1)).intra->lanes, 1);
  EXPECT_EQ(machine_of(gpu("8.0 GT/s", 16)).intra->sockets, std::nullopt);
  EXPECT_EQ(machine_of(gpu("8.0 GT/s", 16) + "</cpu><cpu>" + gpu("8.0 GT/s", 16)).intra->sockets, 2);
  const std::string on_switch =
      "<pci class=\"0x060400\">" + gpu("8.0 GT/s", 16) + gpu("8.0 GT/s", 16) + "</pci>";
  EXPECT_EQ(machine_of(on_switch + on_switch).intra->gpus_per_switch, 2);
  EXPECT_EQ(machine_of(on_switch + gpu("8.0 GT/s", 16)).intra->gpus_per_switch, std::nullopt);
  EXPECT_EQ(machine_of("<pci class=\"0x060400\">" + gpu("8.0 GT/s", 16) + "</pci>").intra->gpus_per_switch,
            std::nullopt)
      << "one GPU shares with none";
  EXPECT_EQ(machine_of(on_switch + "</cpu><cpu>" + gpu("8.0 GT/s", 16) + gpu("8.0 GT/s", 16))
                .intra->gpus_per_switch,
            std::nullopt);
  EXPECT_EQ(machine_of(on_switch + "<pci class=\"0x060400\">" + gpu("8.0 GT/s", 16) + "</pci>")
                .intra->gpus_per_switch,
            std::nullopt);
}

TEST(TopologyXml, ProcessorsAndNetworksAreThoseThatItNames) {
  const std::string gpu = "<pci class=\"0x120000\" vendor=\"0x10de\" device=\"0x26b9\"/>";
  const auto vendor = [&](const char* name) {
    const std::string text = fmt::format("<system><cpu vendor=\"{}\">{}</cpu></system>", name, gpu);
    const auto cpu = machine_of_topology_xml(text, "x", std::nullopt).machine.cpu;
    return cpu ? cpu->vendor : std::nullopt;
  };
  EXPECT_EQ(vendor("AuthenticAMD"), CpuVendor::amd);
  EXPECT_EQ(vendor("GenuineIntel"), CpuVendor::intel);
  EXPECT_EQ(vendor("IBM"), CpuVendor::other);
  EXPECT_EQ(vendor(""), std::nullopt);
  const auto nic = [](const char* pci_class, const char* pci_vendor, const char* device, const char* name,
                      int speed = 200000, int gdr = 0) {
    return fmt::format(
        "<pci class=\"{}\" vendor=\"{}\" device=\"{}\"><nic><net name=\"{}\" speed=\"{}\" "
        "gdr=\"{}\"/></nic></pci>",
        pci_class, pci_vendor, device, name, speed, gdr);
  };
  const auto kind = [&](const std::string& nics) {
    const auto inter = machine_of(gpu + nics).inter;
    return inter ? std::optional(inter->kind) : std::nullopt;
  };
  const std::string roce = nic("0x020000", "0x15b3", "0x101d", "mlx5_0");
  EXPECT_EQ(kind(nic("0x020700", "0x15b3", "0x101b", "mlx5_0")), InterKind::infiniband);
  EXPECT_EQ(kind(nic("0x020000", "0x1d0f", "0xefa1", "rdmap0")), InterKind::efa);
  EXPECT_EQ(kind(roce), InterKind::roce);
  EXPECT_EQ(kind(nic("0x020000", "0x15b3", "0x101d", "eth0")), std::nullopt);
  EXPECT_EQ(kind(nic("0x020000", "0x8086", "0x101d", "mlx5_0")), std::nullopt);
  EXPECT_EQ(kind(nic("0x020000", "0x15b3", "0x101d", "mlx5_0", 0)), std::nullopt);
  EXPECT_EQ(kind(roce + nic("0x020000", "0x15b3", "0x101d", "mlx5_1", 100000)), std::nullopt);
  EXPECT_EQ(kind(roce + nic("0x020700", "0x15b3", "0x101d", "mlx5_1")), std::nullopt);
  const Machine two = machine_of(gpu + roce + nic("0x020000", "0x15b3", "0x101d", "mlx5_1", 200000, 1));
  EXPECT_EQ(two.inter->nics, 2);
  EXPECT_EQ(two.inter->gpudirect, false) << "as the first";
  EXPECT_DOUBLE_EQ(two.inter->rate->value, 25e9);
  const auto notes = [&](const std::string& nics) {
    return machine_of_topology_xml(xml(gpu + nics), "x", std::nullopt).notes;
  };
  EXPECT_THAT(notes(nic("0x020000", "0x8086", "0x101d", "eth0")),
              testing::ElementsAre("It has 1 NICs that are not alike or of a kind that the file does not "
                                   "say; for several nodes add `inter`."));
  EXPECT_THAT(
      notes("<pci class=\"0x020000\"/><pci class=\"0x028000\"/>"),
      testing::ElementsAre(
          "The file does not say the rate of its 2 PCI network devices; for several nodes add `inter`."));
  EXPECT_THAT(notes(""), testing::IsEmpty());
}

TEST(TopologyXml, GpusThatAreJoinedOneByOneAreJoinedToAllOthers) {
  const auto module = [](const char* kind, int links, const char* tclass) {
    std::string text = "<pci class=\"0x030200\" vendor=\"0x1002\" device=\"0x74a1\"><gpu dev=\"0\">";
    for (int i = 0; i < links; ++i) {
      text += fmt::format("<{} target=\"{}\" count=\"1\" tclass=\"{}\"/>", kind, i, tclass);
    }
    return text + "</gpu></pci>";
  };
  const std::string of_three = module("xgmi", 2, "0x038000");
  const IntraLink meshed = *machine_of(of_three + of_three + of_three).intra;
  EXPECT_EQ(meshed.kind, IntraKind::xgmi);
  EXPECT_EQ(meshed.links_per_gpu, 2);
  EXPECT_EQ(meshed.nvswitch, std::nullopt);
  const std::string joined = module("nvlink", 1, "0x030200");
  EXPECT_EQ(machine_of(joined + joined, "A40").intra->nvswitch, false);
  const auto refused = [&](const std::string& devices) {
    return message_of(ErrorKind::bad_input, [&] { machine_of(devices, "A40"); });
  };
  EXPECT_EQ(refused(joined + joined + joined),
            "x:1: joins its GPUs by links that differ from GPU to GPU; describe them under `links`");
  EXPECT_EQ(refused(of_three + of_three),
            "x:1: joins its GPUs by links that differ from GPU to GPU; describe them under `links`");
  EXPECT_EQ(refused(""), "x:1: lists no GPUs");
}

TEST(TopologyXml, EightPlainDevicesAreABoardOnlyWhereTheModelIsOne) {
  const auto devices = [](int count, const char* inside = "") {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += fmt::format("<pci class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\">{}</pci>", inside);
    }
    return text;
  };
  EXPECT_EQ(machine_of(devices(8)).intra->kind, IntraKind::nvlink);
  EXPECT_EQ(machine_of(devices(7)).intra->kind, IntraKind::pcie);
  EXPECT_EQ(machine_of(devices(8, "<gpu/>")).intra->kind, IntraKind::pcie);
  EXPECT_THAT(machine_of_topology_xml(xml(devices(8)), "x", std::nullopt).notes,
              testing::ElementsAre("The file lists PCI devices alone, as for a virtual machine; that the "
                                   "GPUs are joined by NVLink follows from their model."));
  EXPECT_TRUE(is_topology_xml("<system><cpu>"));
  EXPECT_FALSE(is_topology_xml("<system>"));
  EXPECT_FALSE(is_topology_xml("<cpu>"));
  for (const auto& [text, number] :
       {std::pair("16.0 GT/s PCIe", 16.0), {"2.5", 2.5}, {"", 0.0}, {"x", 0.0}, {"Unknown speed", 0.0}}) {
    EXPECT_EQ(number_before_unit(text), number) << text;
  }
}

}  // namespace
}  // namespace ringside
