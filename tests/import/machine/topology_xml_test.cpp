#include "import/machine/topology_xml.hpp"

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

}  // namespace
}  // namespace ringside
