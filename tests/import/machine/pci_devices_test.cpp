#include "import/machine/pci_devices.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/machine/topology_xml.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A /sys with devices below bridges.
class FakeSystem {
 public:
  FakeSystem() {
    std::string pattern = (fs::temp_directory_path() / "ringside-sys-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(root_ / "bus/pci/devices");
  }
  ~FakeSystem() { fs::remove_all(root_); }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  fs::path add(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files) const {
    const fs::path at = root_ / "devices" / path;
    fs::create_directories(at);
    for (const auto& [name, text] : files) {
      write(at / name, text);
    }
    const fs::path link = root_ / "bus/pci/devices" / at.filename();
    if (!fs::exists(link)) {
      fs::create_symlink(at, link);
    }
    return at;
  }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

std::vector<std::pair<std::string, std::string>> gpu(const std::string& device, int numa,
                                                     const std::string& trained = "16") {
  return {{"class", "0x030200"},
          {"vendor", "0x10de"},
          {"device", device},
          {"numa_node", std::to_string(numa)},
          {"max_link_speed", "16.0 GT/s PCIe"},
          {"max_link_width", "16"},
          {"current_link_speed", "2.5 GT/s PCIe"},
          {"current_link_width", trained}};
}

TEST(PciDevices, SysfsSaysSwitchesSocketsSlotsAndNics) {
  const FakeSystem system;
  for (int i = 0; i < 4; ++i) {
    const std::string way = "pci0000:1" + std::to_string(i / 2) + "/0000:10:01.0/0000:2" +
                            std::to_string(i / 2) + ":00.0/0000:30:0" + std::to_string(i) + ".0/0000:4" +
                            std::to_string(i) + ":00.0";
    system.add(way, gpu("0x2235", i / 2));
  }
  const fs::path nic =
      system.add("pci0000:10/0000:10:02.0/0000:50:00.0",
                 {{"class", "0x020000"}, {"vendor", "0x15b3"}, {"device", "0x101b"}, {"numa_node", "0"}});
  system.write(nic / "infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)");
  system.write(nic / "infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
  system.write(system.root() / "module/nvidia_peermem/refcnt", "0");
  const PciTopology found = pci_topology_of_sysfs(system.root(), "AuthenticAMD");
  EXPECT_THAT(found.devices.gpus, SizeIs(4));
  EXPECT_THAT(found.notes, IsEmpty());
  const Machine machine = machine_of_topology_xml(found.devices, "x", std::nullopt).machine;
  EXPECT_EQ(machine.gpu->model, "A40");
  EXPECT_EQ(machine.gpus_per_node, 4);
  EXPECT_EQ(machine.intra->generation, 4);  // What the slot can do, not what an idle card does.
  EXPECT_EQ(machine.intra->lanes, 16);
  EXPECT_EQ(machine.intra->sockets, 2);
  EXPECT_EQ(machine.intra->gpus_per_switch, 2);
  EXPECT_EQ(machine.cpu->vendor, CpuVendor::amd);
  EXPECT_EQ(machine.inter->kind, InterKind::infiniband);
  EXPECT_DOUBLE_EQ(machine.inter->rate->value, 25e9);
  EXPECT_EQ(machine.inter->gpudirect, true);
}

TEST(PciDevices, ACardThatCameUpOnFewerLanesIsSaid) {
  const FakeSystem system;
  system.add("pci0000:16/0000:16:01.0/0000:17:00.0", gpu("0x26b9", 0, "8"));
  system.add("pci0000:64/0000:64:01.0/0000:65:00.0", gpu("0x26b9", 0));
  const PciTopology found = pci_topology_of_sysfs(system.root(), "");
  EXPECT_THAT(found.notes, ElementsAre("GPU 0000:17:00.0 runs on 8 of its 16 lanes."));
  const TopologyXml& xml = found.devices;
  EXPECT_EQ(xml.gpus.at(0).pcie_switch, -1);  // A root port is no switch.
  EXPECT_EQ(xml.gpus.at(0).lanes, 8);
}

TEST(PciDevices, VendorAndClassSayWhichAreGpusAndWhichNics) {
  const struct {
    std::string vendor;
    std::string pci_class;
    std::size_t gpus;
    int nics;
  } cases[] = {{"0x10de", "0x030000", 1, 0}, {"0x10de", "0x030200", 1, 0}, {"0x1002", "0x038000", 1, 0},
               {"0x1002", "0x120000", 1, 0}, {"0x10de", "0x040300", 0, 0}, {"0x10de", "0x068000", 0, 0},
               {"0x1a03", "0x030000", 0, 0}, {"0x15b3", "0x020700", 0, 1}, {"0x8086", "0x020000", 0, 1}};
  for (const auto& one : cases) {
    const FakeSystem system;
    auto files = gpu("0x2235", 0);
    files[0].second = one.pci_class;
    files[1].second = one.vendor;
    system.add("pci0000:16/0000:16:01.0/0000:17:00.0", files);
    const TopologyXml found = pci_topology_of_sysfs(system.root(), "").devices;
    EXPECT_THAT(found.gpus, SizeIs(one.gpus)) << one.vendor << " " << one.pci_class;
    EXPECT_EQ(found.pci_nics, one.nics) << one.vendor << " " << one.pci_class;
  }
}

TEST(PciDevices, APortSaysWhichNetworkItsNicIsOf) {
  const FakeSystem system;
  const auto nic = [&](const std::string& address, const std::string& name, const std::string& layer) {
    const fs::path at = system.add("pci0000:10/0000:10:02.0/" + address, {{"class", "0x020700"}});
    system.write(at / "infiniband" / name / "ports/1/rate", "100 Gb/sec (4X EDR)");
    system.write(at / "infiniband" / name / "ports/1/link_layer", layer);
  };
  nic("0000:50:00.0", "mlx5_0", "InfiniBand");
  nic("0000:51:00.0", "mlx5_1", "Ethernet");
  nic("0000:52:00.0", "mlx5_2", "Ethernet");
  system.write(system.root() / "devices/pci0000:10/0000:10:02.0/0000:52:00.0/infiniband/mlx5_2/ports/1/rate",
               "?");
  const auto nets = pci_topology_of_sysfs(system.root(), "").devices.nets;
  ASSERT_THAT(nets, SizeIs(2)) << "the third is down";
  EXPECT_EQ(nets[0].pci_class, "0x020700");
  EXPECT_EQ(nets[1].pci_class, "0x020000");
  EXPECT_EQ(nets[1].name, "mlx5_1");
  EXPECT_DOUBLE_EQ(nets[1].speed_mbps, 100'000);
  EXPECT_FALSE(nets[1].gpudirect);
}

TEST(PciDevices, ASlotIsAsFastAsTheSlowerOfItsEnds) {
  const FakeSystem system;
  const fs::path slot = system.add("pci0000:16/0000:16:01.0/0000:17:00.0", gpu("0x2235", 0)).parent_path();
  system.write(slot / "max_link_speed", "8.0 GT/s PCIe");
  system.write(slot / "max_link_width", "8");
  const PciTopology found = pci_topology_of_sysfs(system.root(), "");
  EXPECT_EQ(found.devices.gpus.at(0).link_speed, "8.0 GT/s PCIe");
  EXPECT_EQ(found.devices.gpus.at(0).lanes, 8);
  EXPECT_THAT(found.notes, SizeIs(1));
}

TEST(PciDevices, ASystemWithoutGpusHasNone) {
  const FakeSystem system;
  EXPECT_THAT(pci_topology_of_sysfs(system.root(), "").devices.gpus, IsEmpty());
  EXPECT_THAT(pci_topology_of_sysfs(system.root() / "absent", "").devices.gpus, IsEmpty());
}

TEST(PciDevices, LspciDrawsTheSameTree) {
  const std::string text =
      "-+-[0000:64]-+-00.0  Intel Corporation Device 09a2\n"
      " |           \\-01.0-[65-6a]----00.0-[66-6a]--+-00.0-[67]----00.0  NVIDIA Corporation GA102 [GeForce "
      "RTX 3090]\n"
      " |                                           +-01.0-[68]--+-00.0  NVIDIA Corporation GA102 [GeForce "
      "RTX "
      "3090]\n"
      " |                                           |            \\-00.1  NVIDIA Corporation GA102 High "
      "Definition Audio Controller\n"
      " |                                           \\-02.0-[69]----00.0  Mellanox Technologies MT28908 "
      "Family "
      "[ConnectX-6]\n"
      " \\-[0000:16]-+-00.0  Intel Corporation Device 09a2\n"
      "             \\-01.0-[17-1c]----00.0-[18-1c]--+-00.0-[19]----00.0  NVIDIA Corporation GA102 [GeForce "
      "RTX "
      "3090]\n"
      "                                             \\-01.0-[1a]----00.0  NVIDIA Corporation GA102 [GeForce "
      "RTX "
      "3090]\n";
  ASSERT_TRUE(is_lspci_tree(text));
  const PciTopology found = pci_topology_of_lspci(text);
  EXPECT_THAT(found.devices.gpus, SizeIs(4));
  EXPECT_EQ(found.gpu, "GeForce RTX 3090");
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("neither the slots' lanes nor the CPU sockets")));
  const TopologyXml& xml = found.devices;
  EXPECT_EQ(xml.pci_nics, 1);
  EXPECT_EQ(xml.gpus.at(0).pcie_switch, xml.gpus.at(1).pcie_switch);
  EXPECT_NE(xml.gpus.at(1).pcie_switch, xml.gpus.at(2).pcie_switch);
  EXPECT_EQ(machine_of_topology_xml(found.devices, "x", found.gpu).machine.intra->gpus_per_switch, 2);
}

TEST(PciDevices, RootComplexesOfLspciWhoseNumbersDifferInTheLastDigitAreTwo) {
  const PciTopology found = pci_topology_of_lspci(
      "-+-[0000:19]---01.0-[1a-1b]----00.0-[1b]----00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]\n"
      " \\-[0000:16]---01.0-[17-18]----00.0-[18]----00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]\n");
  ASSERT_THAT(found.devices.gpus, SizeIs(2));
  EXPECT_NE(found.devices.gpus[0].pcie_switch, found.devices.gpus[1].pcie_switch);
}

TEST(PciDevices, NamesOfLspciSayWhichAreGpus) {
  const struct {
    std::string name;
    std::size_t gpus;
    std::string vendor;
  } cases[] = {{"NVIDIA Corporation GA102 [GeForce RTX 3090]", 1, "0x10de:"},
               {"Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran [Instinct MI250X]", 1, "0x1002:"},
               {"NVIDIA Corporation Device 2331", 0, ""},
               {"NVIDIA Corporation GA102 High Definition Audio Controller [x]", 0, ""},
               {"NVIDIA Corporation TU104 USB 3.1 Host Controller [x]", 0, ""},
               {"NVIDIA Corporation TU104 UCSI Controller [x]", 0, ""},
               {"NVIDIA Corporation GH100 [H100 NVSwitch]", 0, ""},
               {"NVIDIA Corporation Bridge [x]", 0, ""},
               {"NVIDIA Corporation MT43244 [BlueField-3]", 0, ""},
               {"Intel Corporation Ethernet Controller [X710]", 0, ""}};
  for (const auto& one : cases) {
    const auto gpus =
        pci_topology_of_lspci("-+-[0000:16]-+-01.0-[17]----00.0  " + one.name + "\n").devices.gpus;
    ASSERT_THAT(gpus, SizeIs(one.gpus)) << one.name;
    EXPECT_TRUE(gpus.empty() || gpus[0].pci_device == one.vendor) << one.name;
  }
}

TEST(PciDevices, OtherTextsAreNoTree) {
  EXPECT_FALSE(is_lspci_tree("GPU0 X NV12"));
  EXPECT_FALSE(is_lspci_tree("[0000:65] hello"));
  EXPECT_THAT(pci_topology_of_lspci("-[0000:00]-+-00.0  Intel\n").devices.gpus, IsEmpty());
}

}  // namespace
}  // namespace ringside
