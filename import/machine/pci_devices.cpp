// What sysfs says of a device at /sys/bus/pci/devices/0000:19:00.0, a link to where it hangs:
//
//   /sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0/0000:18:00.0/0000:19:00.0
//            root complex   root port    switch, up   switch, down  the device
//
// so every second one above the device is a switch (src/graph/xml.cc of NVIDIA/nccl). lspci -tv draws it:
//
//   -+-[0000:16]-+-00.0  Intel Corporation Device 09a2
//    |           \-01.0-[17-19]----00.0-[18-19]----00.0-[19]----00.0  NVIDIA Corporation GA100 [A100 SXM4 40GB]

#include "import/machine/pci_devices.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "import/parts.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

struct PciDevice {
  std::vector<std::string> above = {};  ///< Addresses from the root port on, outermost first.
  std::string address = {};
  std::string pci_class = {};  ///< `0x030200`
  std::string vendor = {};
  std::string device = {};
  std::string link_speed = {};
  std::string link_width = {};
  int numa_node = 0;
  std::string net = {};  ///< `mlx5_0`
  double net_megabits = 0;
  bool gpudirect = false;
};

bool is_gpu(const PciDevice& device) {
  return (device.vendor == "0x10de" || device.vendor == "0x1002") && is_gpu_class(device.pci_class);
}

int whole(const std::string& text) { return parse_number<int>(text).value_or(0); }

bool is_network(const PciDevice& device) { return device.pci_class.starts_with("0x02"); }

/// Every second address above a device is a switch: up there stand port, switch, port, switch, …, root port.
std::vector<std::string> switches_above(const PciDevice& device) {
  std::vector<std::string> switches;
  for (std::size_t depth = device.above.size() % 2; depth < device.above.size(); depth += 2) {
    switches.push_back(device.above[depth]);
  }
  return switches;
}

/// What an XML of them lists: CPUs by number, and below each its devices by the switches above them.
TopologyXml listed(const std::vector<PciDevice>& devices, const std::string& cpu_vendor) {
  using Place = std::pair<int, std::vector<std::string>>;
  std::map<Place, std::vector<const PciDevice*>> places;
  for (const PciDevice& device : devices) {
    places[{device.numa_node, switches_above(device)}].push_back(&device);
  }
  TopologyXml result{.cpu_vendor = cpu_vendor};
  int last_node = -1;
  int place_number = 0;
  for (const auto& [place, at_place] : places) {
    result.cpus += place.first != last_node ? 1 : 0;
    last_node = place.first;
    for (const PciDevice* device : at_place) {
      const std::string pci_device = device->vendor + ":" + device->device;
      if (is_gpu(*device)) {
        result.gpus.push_back({.pci_device = pci_device,
                               .link_speed = device->link_speed,
                               .lanes = whole(device->link_width),
                               .cpu = result.cpus - 1,
                               .pcie_switch = place.second.empty() ? -1 : place_number});
        continue;
      }
      ++result.pci_nics;
      if (!device->net.empty()) {
        result.nets.push_back({.name = device->net,
                               .speed_mbps = std::round(device->net_megabits),
                               .pci_class = device->pci_class,
                               .pci_device = pci_device,
                               .gpudirect = device->gpudirect});
      }
    }
    ++place_number;
  }
  return result;
}

/// The first line of a small file, without the blank at its end.
std::string line_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return std::string(trimmed(line));
}

/// What the slot can do, which is the lesser of its two ends: a GPU that does nothing runs its link slowly.
void read_slot(const fs::path& at, PciDevice& device) {
  device.link_speed = line_of(at / "max_link_speed");
  device.link_width = line_of(at / "max_link_width");
  const fs::path port = at.parent_path();
  const std::string speed = line_of(port / "max_link_speed");
  const std::string width = line_of(port / "max_link_width");
  if (number_before_unit(speed) > 0 && number_before_unit(speed) < number_before_unit(device.link_speed)) {
    device.link_speed = speed;
  }
  if (whole(width) > 0 && whole(width) < whole(device.link_width)) {
    device.link_width = width;
  }
  // How many lanes came up does not depend on what the GPU does.
  const std::string trained = line_of(at / "current_link_width");
  if (whole(trained) > 0 && whole(trained) < whole(device.link_width)) {
    device.link_width = trained;
  }
}

void read_port(const fs::path& at, PciDevice& device) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(at / "infiniband", error)) {
    const fs::path port = entry.path() / "ports/1";
    // `200 Gb/sec (4X HDR)`
    const double gigabits = number_before_unit(line_of(port / "rate"));
    if (gigabits > 0) {
      device.net = entry.path().filename().string();
      device.net_megabits = gigabits * 1000;
      device.pci_class = line_of(port / "link_layer") == "InfiniBand" ? "0x020700" : "0x020000";
    }
  }
}

/// The addresses above it, from the root port on, in the path that the link of the device leads to.
std::vector<std::string> addresses_above(const fs::path& at) {
  std::vector<std::string> above;
  for (const fs::path& part : at.parent_path()) {
    const std::string name = part.string();
    if (name.starts_with("pci")) {
      above.clear();
    } else if (std::ranges::count(name, ':') == 2) {
      above.push_back(name);
    }
  }
  return above;
}

/// `01.0` at `at` of a line of lspci's tree.
bool is_device_at(std::string_view line, std::size_t at) {
  return at + 4 <= line.size() && is_hex(line[at]) && is_hex(line[at + 1]) && line[at + 2] == '.' &&
         is_hex(line[at + 3]) && (at == 0 || !is_hex(line[at - 1]));
}

struct Level {
  std::size_t column = 0;
  std::string address = {};  ///< Empty: a root complex.
  std::string bus = {};      ///< Domain and bus below it: `0000:17`.
};

/// Names of devices that are no GPU, by the makers of GPUs.
bool is_named_gpu(std::string_view name) {
  const auto has = [&](std::string_view text) { return contains(name, text); };
  const bool maker = has("NVIDIA Corporation") || has("[AMD/ATI]");
  return maker && has("[") && !has("Audio") && !has("USB") && !has("UCSI") && !has("NVSwitch") &&
         !has("Bridge") && !has("BlueField");
}

bool is_named_network(std::string_view name) {
  const auto has = [&](std::string_view text) { return contains(name, text); };
  return has("ConnectX") || has("Ethernet") || has("InfiniBand") || has("Elastic Fabric");
}

/// `NVIDIA Corporation GA100 [A100 SXM4 40GB]` without what is before the last brackets with a name.
std::string name_in_brackets(std::string_view name) {
  std::string result;
  for (std::size_t open = name.find('['); open != std::string_view::npos; open = name.find('[', open + 1)) {
    const std::string_view inside = name.substr(open + 1, name.find(']', open) - open - 1);
    // `[10de:20b0]` of lspci -nn, and the maker's short name.
    if (!contains(inside, ":") && inside != "AMD/ATI") {
      result = std::string(inside);
    }
  }
  return result;
}

class LspciReader {
 public:
  void read(std::string_view line) {
    for (std::size_t at = 0; at < line.size(); ++at) {
      const std::size_t close = line[at] == '[' ? line.find(']', at) : std::string_view::npos;
      if (close != std::string_view::npos && (at == 0 || line[at - 1] == '-') && line.find(':', at) < close) {
        enter(at, {}, std::string(line.substr(at + 1, close - at - 1)));
        at = close;
      } else if (is_device_at(line, at)) {
        leave(at);
        const std::string bus = levels_.empty() ? std::string("0000:00") : levels_.back().bus;
        const std::string address = fmt::format("{}:{}", bus, line.substr(at, 4));
        const std::string_view rest = line.substr(at + 4);
        if (!rest.starts_with("-[")) {
          add(address, rest);
          return;
        }
        const std::size_t end = rest.find_first_of("-]", 2);
        enter(at, address, fmt::format("{}:{}", bus.substr(0, bus.find(':')), rest.substr(2, end - 2)));
        at += 4 + std::min(rest.find(']'), rest.size() - 1);
      }
    }
  }
  std::vector<PciDevice> devices;
  std::string gpu;

 private:
  void leave(std::size_t column) {
    while (!levels_.empty() && levels_.back().column >= column) {
      levels_.pop_back();
    }
  }

  void enter(std::size_t column, std::string address, std::string bus) {
    leave(column);
    levels_.push_back({.column = column, .address = std::move(address), .bus = std::move(bus)});
  }

  void add(const std::string& address, std::string_view name) {
    PciDevice device{.address = address};
    if (is_named_gpu(name)) {
      device.pci_class = "0x030200";
      device.vendor = contains(name, "NVIDIA") ? "0x10de" : "0x1002";
      gpu = gpu.empty() ? name_in_brackets(name) : gpu;
    } else if (!is_named_network(name)) {
      return;
    }
    for (const Level& level : levels_) {
      if (!level.address.empty()) {
        device.above.push_back(level.address);
      }
    }
    devices.push_back(std::move(device));
  }

  std::vector<Level> levels_;
};

}  // namespace

PciTopology pci_topology_of_sysfs(const fs::path& system, const std::string& cpu_vendor) {
  std::vector<PciDevice> devices;
  PciTopology result;
  std::error_code error;
  const bool peer_memory = fs::exists(system / "module/nvidia_peermem", error);
  std::vector<fs::path> links;
  for (const auto& entry : fs::directory_iterator(system / "bus/pci/devices", error)) {
    links.push_back(entry.path());
  }
  std::ranges::sort(links);
  for (const fs::path& link : links) {
    const fs::path at = fs::canonical(link, error);
    PciDevice device{.above = addresses_above(at),
                     .address = link.filename().string(),
                     .pci_class = line_of(at / "class"),
                     .vendor = line_of(at / "vendor"),
                     .device = line_of(at / "device"),
                     .numa_node = std::max(whole(line_of(at / "numa_node")), 0),
                     .gpudirect = peer_memory};
    if (is_gpu(device)) {
      const int widest = whole(line_of(at / "max_link_width"));
      read_slot(at, device);
      if (whole(device.link_width) < widest) {
        result.notes.push_back(
            fmt::format("GPU {} runs on {} of its {} lanes.", device.address, device.link_width, widest));
      }
      devices.push_back(std::move(device));
    } else if (is_network(device)) {
      read_port(at, device);
      devices.push_back(std::move(device));
    }
  }
  result.devices = listed(devices, cpu_vendor);
  return result;
}

bool is_lspci_tree(std::string_view text) {
  const std::size_t root = text.find("-[0000:");
  return root != std::string_view::npos && contains(text, "-00.0");
}

PciTopology pci_topology_of_lspci(std::string_view text) {
  LspciReader reader;
  each_line_of(text, [&](std::size_t, std::string_view line) { reader.read(line); });
  PciTopology result{.devices = listed(reader.devices, {})};
  if (!reader.gpu.empty()) {
    result.gpu = reader.gpu;
  }
  result.notes.emplace_back(
      "lspci says neither the slots' lanes nor the CPU sockets: `ringside doctor --topology` on the machine "
      "itself does.");
  return result;
}

}  // namespace ringside
