#include "study/logs/this_system.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/failures.hpp"
#include "common/text.hpp"
#include "import/machine/pci_devices.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

ImportedMachine written(TopologyMachine found, const std::string& name, const std::string& origin,
                        const Invocation& invocation) {
  found.machine.name = name;
  ImportedMachine study{.machine = found.machine, .yaml = to_yaml(found.machine), .file = {}};
  // What cannot be predicted for is refused here, not when it is used.
  parse_machine(study.yaml, origin);
  study.file = output_directory(invocation, name) / "machine.yaml";
  std::string text;
  for (const std::string& note : found.notes) {
    text += "# " + note + '\n';
  }
  write_file(study.file, text + study.yaml);
  study.notes = std::move(found.notes);
  return study;
}

/// What a program prints; empty where there is no such program or it fails.
std::string output_of(const char* command) {
  struct Close {
    void operator()(FILE* stream) const { ::pclose(stream); }
  };
  const std::unique_ptr<FILE, Close> stream(::popen(command, "r"));
  std::string text;
  std::array<char, 4096> part = {};
  while (stream != nullptr) {
    const std::size_t read = std::fread(part.data(), 1, part.size(), stream.get());
    if (read == 0) {
      break;
    }
    text.append(part.data(), read);
  }
  return text;
}

std::string vendor_in(const fs::path& cpu_info) {
  std::ifstream stream(cpu_info);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("vendor_id")) {
      const std::size_t start = line.find_first_not_of(" \t:", line.find(':'));
      return start == std::string::npos ? std::string() : line.substr(start);
    }
  }
  return {};
}

/// The matrix says which links there are; slots, NICs and CPUs only the system does.
TopologyMachine with_what_pci_adds(TopologyMachine matrix, const std::optional<TopologyMachine>& pci) {
  if (!pci) {
    return matrix;
  }
  Machine& machine = matrix.machine;
  machine.cpu = machine.cpu ? machine.cpu : pci->machine.cpu;
  machine.inter = machine.inter ? machine.inter : pci->machine.inter;
  if (machine.intra && pci->machine.intra && pci->machine.intra->kind == IntraKind::pcie &&
      machine.intra->kind == IntraKind::pcie) {
    machine.intra->lanes = pci->machine.intra->lanes;
    machine.intra->generation = pci->machine.intra->generation;
    matrix.notes = pci->notes;
  }
  return matrix;
}

/// Small letters and digits alone: `DGX A100`, `DGXA100 920-23687` and `dgx-a100` begin alike.
std::string plain(const std::string& text) {
  std::string result = lower(text);
  std::erase_if(result, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); });
  return result;
}

/// The shipped machine of that name; servers of NVIDIA add numbers to theirs.
std::optional<std::string> shipped_named(const std::string& product) {
  if (product.empty() || !configs_directory()) {
    return std::nullopt;
  }
  for (const fs::path& file : shipped_configs("machines")) {
    const std::string name = file.stem().string();
    const bool server = name.starts_with("dgx");
    const std::string of_product = plain(product.starts_with("NVIDIA ") ? product.substr(7) : product);
    if (lower(name) == lower(product) || (server && of_product.starts_with(plain(name)))) {
      return name;
    }
  }
  return std::nullopt;
}

/// Every text under one of the clouds' keys for the type, anywhere in cloud-init's files.
void collect_types(const nlohmann::json& value, std::vector<std::string>& types) {
  if (!value.is_structured()) {
    return;
  }
  for (const auto& [key, item] : value.items()) {
    if (item.is_string() && is_one_of(key, {"instance-type", "instance_type", "machine-type", "machine_type",
                                            "vmSize", "shape"})) {
      // Google writes `projects/1/machineTypes/a3-highgpu-8g`.
      const std::string text = item.get<std::string>();
      types.push_back(text.substr(text.rfind('/') + 1));
    }
    collect_types(item, types);
  }
}

}  // namespace

ImportedMachine import_topology(const fs::path& text, const std::optional<std::string>& gpu,
                                const Invocation& invocation) {
  return written(machine_of_text(valid_utf8(read_text(text)), text.string(), gpu), text.stem().string(),
                 text.string(), invocation);
}

ImportedMachine find_topology(const LocalSystem& local, const std::optional<std::string>& gpu,
                              const Invocation& invocation) {
  constexpr const char* kName = "topology";
  for (const char* variable : {"NCCL_TOPO_FILE", "NCCL_TOPO_DUMP_FILE"}) {
    const char* const named = local.asks_programs ? std::getenv(variable) : nullptr;
    std::error_code error;
    if (named != nullptr && fs::is_regular_file(named, error)) {
      auto found = machine_of_text(valid_utf8(read_text(named)), named, gpu);
      found.notes.insert(found.notes.begin(), fmt::format("From {}, which {} names.", named, variable));
      return written(std::move(found), kName, named, invocation);
    }
  }
  const PciTopology pci = pci_topology_of_sysfs(local.system, vendor_in(local.cpu_info));
  const std::string matrix = local.asks_programs
                                 ? output_of("nvidia-smi -L 2>/dev/null && nvidia-smi topo -m 2>/dev/null")
                                 : std::string();
  if (holds_topology_matrix(matrix)) {
    std::optional<TopologyMachine> of_pci;
    try {
      of_pci = !pci.devices.gpus.empty() ? std::optional(machine_of_pci(pci, "sysfs", gpu)) : std::nullopt;
    } catch (const Error&) {
      // A GPU whose number is not known: the matrix alone then.
    }
    auto found = with_what_pci_adds(machine_of_topology(matrix, "nvidia-smi topo -m", gpu), of_pci);
    found.notes.insert(found.notes.begin(),
                       fmt::format("From nvidia-smi topo -m{}.", of_pci ? " and sysfs" : ""));
    return written(std::move(found), kName, "nvidia-smi topo -m", invocation);
  }
  if (pci.devices.gpus.empty()) {
    throw lacking(
        "no GPU here: {} lists none of NVIDIA or AMD{}; give a file of the machine in "
        "question: nvidia-smi topo -m, NCCL's topology XML, lspci -tv",
        (local.system / "bus/pci/devices").string(),
        local.asks_programs ? ", and nvidia-smi topo -m prints no matrix" : "");
  }
  auto found = machine_of_pci(pci, local.system.string(), gpu);
  found.notes.insert(found.notes.begin(),
                     fmt::format("From {}, which shows PCI alone: NVLink bridges between cards are not seen.",
                                 (local.system / "bus/pci/devices").string()));
  return written(std::move(found), kName, local.system.string(), invocation);
}

std::optional<Instance> this_instance(const fs::path& root) {
  const fs::path product = root / "sys/class/dmi/id/product_name";
  std::ifstream stream(product);
  std::string name;
  std::getline(stream, name);
  name.resize(std::min(name.find_last_not_of(" \t\r") + 1, name.size()));
  if (const auto machine = shipped_named(name)) {
    return Instance{.machine = *machine, .source = product.string()};
  }
  const fs::path kept = root / "run/cloud-init/instance-data.json";
  std::ifstream json(kept);
  const auto value = nlohmann::json::parse(json, nullptr, false);
  std::vector<std::string> types;
  if (!value.is_discarded()) {
    collect_types(value, types);
  }
  for (const std::string& type : types) {
    if (const auto machine = shipped_named(type)) {
      return Instance{.machine = *machine, .source = kept.string()};
    }
  }
  return std::nullopt;
}

}  // namespace ringside::study
