// <system version="1">
//   <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" …>
//     <pci busid="0000:0d:00.0" class="0x060400" … link_speed="32.0 GT/s PCIe" link_width="16">      a switch
//       <pci busid="0000:0f:00.0" class="0x030200" vendor="0x10de" device="0x2330" …>                a GPU
//         <gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="0000:1c:00.0" count="5" tclass="0x068000"/></gpu>
//       <pci … class="0x020700" …><nic><net name="mlx5_0" speed="200000" gdr="1" …/></nic></pci>
//
// Only elements and their attributes count (src/graph/xml.cc of NVIDIA/nccl).

#include "import/machine/topology_xml.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

[[noreturn]] void reject_xml(const std::string& name, std::size_t line, const std::string& problem) {
  throw bad_input("{}:{}: {}", name, line, problem);
}

/// What an element means for those inside.
struct Open {
  int pcie_switch = -1;
  int gpu = -1;
  std::string pci_class = {};
  std::string pci_device = {};
};

std::string text_at(const pugi::xml_node& node, const char* key) { return node.attribute(key).value(); }

template <typename Number>
Number number_at(const pugi::xml_node& node, const char* key) {
  return parse_number<Number>(text_at(node, key)).value_or(0);
}

/// Sees every element after those that it is inside of.
class XmlReader final : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node& node) override {
    above_.resize(static_cast<std::size_t>(depth()));
    Open open = above_.empty() ? Open{} : above_.back();
    const std::string_view name = node.name();
    if (name == "cpu") {
      ++result.cpus;
      result.cpu_vendor = text_at(node, "vendor");
      open.pcie_switch = -1;
    } else if (name == "pci") {
      read_pci(node, open);
    } else if (name == "gpu") {
      ++result.gpu_elements;
    } else if (name == "nvlink" || name == "xgmi") {
      ++(name == "nvlink" ? result.nvlink_elements : result.xgmi_elements);
      if (open.gpu >= 0) {
        TopologyXml::Gpu& gpu = result.gpus[static_cast<std::size_t>(open.gpu)];
        gpu.links.push_back(number_at<int>(node, "count"));
        gpu.to_switches = gpu.to_switches || text_at(node, "tclass").starts_with("0x0680");
      }
    } else if (name == "net") {
      result.nets.push_back({.name = text_at(node, "name"),
                             .speed_mbps = number_at<double>(node, "speed"),
                             .pci_class = open.pci_class,
                             .pci_device = open.pci_device,
                             .gpudirect = text_at(node, "gdr") == "1"});
    }
    above_.push_back(std::move(open));
    return true;
  }

  TopologyXml result;

 private:
  void read_pci(const pugi::xml_node& node, Open& open) {
    open.pci_class = text_at(node, "class");
    open.pci_device = text_at(node, "vendor") + ":" + text_at(node, "device");
    if (open.pci_class.starts_with("0x0604")) {
      open.pcie_switch = switches_++;
    } else if (is_gpu_class(open.pci_class)) {
      open.gpu = static_cast<int>(result.gpus.size());
      result.gpus.push_back({.pci_device = open.pci_device,
                             .link_speed = text_at(node, "link_speed"),
                             .lanes = number_at<int>(node, "link_width"),
                             .cpu = result.cpus - 1,
                             .pcie_switch = open.pcie_switch});
    } else if (open.pci_class.starts_with("0x02")) {
      ++result.pci_nics;
    }
  }

  std::vector<Open> above_;  ///< Outermost first.
  int switches_ = 0;
};

// The PCI ID Repository (pci-ids.ucw.cz), for models of the catalogue.
constexpr std::pair<std::string_view, std::string_view> kGpus[] = {
    {"0x10de:0x1db1", "V100-SXM2-16GB"},
    {"0x10de:0x1db5", "V100-SXM2-32GB"},
    {"0x10de:0x20b0", "A100-SXM4-40GB"},
    {"0x10de:0x20b2", "A100-SXM4-80GB"},
    {"0x10de:0x20b5", "A100-PCIE-80GB"},
    {"0x10de:0x20f1", "A100-PCIE-40GB"},
    {"0x10de:0x2330", "H100-SXM"},
    {"0x10de:0x2331", "H100-PCIe"},
    {"0x10de:0x2335", "H200-SXM"},
    {"0x10de:0x26b9", "L40S"},
    {"0x10de:0x27b8", "L4"},
    {"0x10de:0x2236", "A10"},
    {"0x10de:0x2235", "A40"},
    {"0x10de:0x2684", "RTX 4090"},
    {"0x10de:0x2204", "RTX 3090"},
    {"0x10de:0x2230", "RTX A6000"},
    {"0x10de:0x2324", "H800-SXM"},
    {"0x10de:0x26ba", "L20"},
    {"0x1002:0x7408", "MI250X"},
    {"0x1002:0x740c", "MI250X"},
    {"0x1002:0x738c", "MI100"},
    {"0x1002:0x74a1", "MI300X"},
    {"0x1002:0x74b5", "MI300X"},
    {"0x1002:0x74a5", "MI325X"},
    {"0x1002:0x75a0", "MI350X"},
    {"0x1002:0x75a3", "MI355X"},
};

std::optional<int> pcie_generation(const std::string& speed) {
  const std::map<double, int> kGenerations = {{2.5, 1}, {5, 2}, {8, 3}, {16, 4}, {32, 5}, {64, 6}};
  const auto found = kGenerations.find(number_before_unit(speed));
  return found == kGenerations.end() ? std::nullopt : std::optional(found->second);
}

IntraLink cabled(const TopologyXml& xml, const std::string& name) {
  IntraLink intra{.kind = xml.xgmi_elements > 0 ? IntraKind::xgmi : IntraKind::nvlink};
  std::set<int> sums;
  std::set<std::size_t> targets;
  for (const TopologyXml::Gpu& gpu : xml.gpus) {
    sums.insert(std::accumulate(gpu.links.begin(), gpu.links.end(), 0));
    targets.insert(gpu.links.size());
  }
  const bool switched = xml.gpus.front().to_switches;
  if (sums.size() != 1 || (!switched && (targets.size() != 1 || *targets.begin() + 1 != xml.gpus.size()))) {
    reject_xml(name, 1, "joins its GPUs by links that differ from GPU to GPU; describe them under `links`");
  }
  intra.links_per_gpu = *sums.begin();
  if (intra.kind == IntraKind::nvlink) {
    intra.nvswitch = switched;
  }
  return intra;
}

IntraLink slots(const TopologyXml& xml) {
  IntraLink intra{.kind = IntraKind::pcie};
  const auto alike = [&](auto value) {
    return std::ranges::all_of(
        xml.gpus, [&](const TopologyXml::Gpu& gpu) { return value(gpu) == value(xml.gpus.front()); });
  };
  if (alike([](const TopologyXml::Gpu& gpu) { return gpu.link_speed; })) {
    intra.generation = pcie_generation(xml.gpus.front().link_speed);
  }
  if (alike([](const TopologyXml::Gpu& gpu) { return gpu.lanes; }) && xml.gpus.front().lanes > 0) {
    intra.lanes = xml.gpus.front().lanes;
  }
  std::map<int, int> on_switch;
  std::set<int> sockets;
  for (const TopologyXml::Gpu& gpu : xml.gpus) {
    ++on_switch[gpu.pcie_switch];
    sockets.insert(gpu.cpu);
  }
  if (sockets.size() > 1) {
    intra.sockets = static_cast<int>(sockets.size());
  }
  const int first = on_switch.begin()->second;
  if (!on_switch.contains(-1) && first > 1 &&
      std::ranges::all_of(on_switch, [&](const auto& of) { return of.second == first; })) {
    intra.gpus_per_switch = first;
  }
  return intra;
}

std::optional<InterKind> network_of(const TopologyXml::Net& net) {
  if (net.pci_class.starts_with("0x0207")) {
    return InterKind::infiniband;
  }
  if (net.pci_device.starts_with("0x1d0f:0xefa")) {
    return InterKind::efa;
  }
  // An Ethernet port of a card that speaks RoCE.
  if (net.pci_device.starts_with("0x15b3") && net.name.starts_with("mlx5")) {
    return InterKind::roce;
  }
  return std::nullopt;
}

void describe_network(const TopologyXml& xml, TopologyMachine& result) {
  constexpr double kBytesPerMegabit = 1e6 / 8;
  if (xml.nets.empty()) {
    if (xml.pci_nics > 0) {
      result.notes.push_back(
          fmt::format("The file does not say the rate of its {}; for several nodes add `inter`.",
                      count_of(xml.pci_nics, "PCI network device")));
    }
    return;
  }
  const TopologyXml::Net& first = xml.nets.front();
  const bool alike = std::ranges::all_of(xml.nets, [&](const TopologyXml::Net& net) {
    return net.speed_mbps == first.speed_mbps && network_of(net) == network_of(first);
  });
  const auto kind = network_of(first);
  if (!alike || !kind || first.speed_mbps <= 0) {
    result.notes.push_back(
        fmt::format("It has {} NICs that are not alike or of a kind that the file does not say; for "
                    "several nodes add `inter`.",
                    xml.nets.size()));
    return;
  }
  result.machine.inter = InterLink{.kind = *kind,
                                   .rate = BytesPerSecond{first.speed_mbps * kBytesPerMegabit},
                                   .nics = static_cast<int>(xml.nets.size()),
                                   .gpudirect = first.gpudirect};
}

}  // namespace

double number_before_unit(std::string_view text) {
  return parse_number<double>(text.substr(0, text.find_first_not_of("0123456789."))).value_or(0);
}

bool is_gpu_class(std::string_view pci_class) {
  return pci_class.starts_with("0x0302") || pci_class.starts_with("0x0300") ||
         pci_class.starts_with("0x0380") || pci_class.starts_with("0x1200");  // MI300 is an accelerator.
}

bool is_topology_xml(std::string_view text) { return contains(text, "<system") && contains(text, "<cpu"); }

TopologyMachine machine_of_topology_xml(std::string_view text, const std::string& name,
                                        const std::optional<std::string>& gpu) {
  pugi::xml_document document;
  // Comments or lines of a log may stand around the root; values are taken as they are.
  const pugi::xml_parse_result parsed = document.load_buffer(
      text.data(), text.size(), pugi::parse_minimal | pugi::parse_fragment, pugi::encoding_utf8);
  if (!parsed) {
    const std::string_view before = text.substr(0, static_cast<std::size_t>(parsed.offset));
    const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n') + 1);
    reject_xml(name, line, fmt::format("no XML from here on ({}); was it cut?", parsed.description()));
  }
  XmlReader reader;
  document.traverse(reader);
  return machine_of_topology_xml(reader.result, name, gpu);
}

TopologyMachine machine_of_topology_xml(const TopologyXml& xml, const std::string& name,
                                        const std::optional<std::string>& gpu) {
  if (xml.gpus.empty()) {
    reject_xml(name, 1, "lists no GPUs");
  }
  std::optional<std::string> model = gpu;
  for (const auto& [device, known] : kGpus) {
    if (!model && xml.gpus.front().pci_device == device) {
      model = std::string(known);
    }
  }
  if (!model) {
    const std::string& device = xml.gpus.front().pci_device;
    const std::string what =
        device == ":" ? "does not say which GPUs these are"
                      : fmt::format("its GPUs are PCI devices {}, which ringside does not know", device);
    reject_xml(name, 1, what + "; give --gpu MODEL, such as --gpu A100-SXM4-40GB");
  }
  TopologyMachine result;
  result.machine.name = name;
  result.machine.gpus_per_node = static_cast<int>(xml.gpus.size());
  result.machine.gpu = Gpu{.model = *model};
  if (!xml.cpu_vendor.empty()) {
    result.machine.cpu = Cpu{.vendor = xml.cpu_vendor == "AuthenticAMD"   ? CpuVendor::amd
                                       : xml.cpu_vendor == "GenuineIntel" ? CpuVendor::intel
                                                                          : CpuVendor::other};
  }
  if (xml.nvlink_elements + xml.xgmi_elements > 0) {
    result.machine.intra = cabled(xml, name);
  } else if (xml.gpu_elements == 0 && contains(*model, "SXM") && xml.gpus.size() == 8) {
    result.machine.intra = IntraLink{.kind = IntraKind::nvlink, .nvswitch = !contains(*model, "V100")};
    if (!*result.machine.intra->nvswitch) {
      result.machine.intra->wiring = "hybrid_cube_mesh";
    }
    result.notes.emplace_back(
        "The file lists PCI devices alone, as for a virtual machine; that the GPUs are joined by "
        "NVLink follows from their model.");
  } else {
    result.machine.intra = slots(xml);
  }
  describe_network(xml, result);
  return result;
}

}  // namespace ringside
