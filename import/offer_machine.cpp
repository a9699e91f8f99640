#include "import/offer_machine.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "common/text.hpp"
#include "sim/topology/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {
namespace {

/// NVML's rate counts what the link's encoding takes away (16/17: stas00/ml-engineering, network/README.md).
constexpr double kNvlinkUsable = 0.9412;
/// Below this share of the data sheet a slot has lost lanes or a generation: healthy ones reach 0.61 and more
/// (configs/catalog/links.yaml).
constexpr double kHealthySlot = 0.6;
constexpr int kGpusOfOneSocket = 4;
/// V100 in greater numbers go through NVSwitches, as in a DGX-2.
constexpr int kGpusOfAMesh = 8;

/// The sheet of the GPU that the listing means; its memory tells cards of one name apart.
std::optional<GpuSheet> sheet_of(const ListedGpus& gpus) {
  std::string name = catalogue_gpu_name(gpus.name);
  // Listings leave out what a Tesla V100 is; only the SXM2 card has NVLink.
  if (contains(name, "V100") && !contains(name, "SXM") && !contains(name, "PCI")) {
    name += gpus.nvlink_rate.value_or(0) > 0 ? " SXM2" : " PCIE";
  }
  if (gpus.memory_mib) {
    const auto sized = find_gpu_sheet(fmt::format("{} {:.0f}GB", name, std::round(*gpus.memory_mib / 1024)));
    if (sized) {
      return sized;
    }
  }
  return find_gpu_sheet(name);
}

bool is_sxm(const GpuSheet& gpu) {
  return contains(gpu.model, "SXM") || contains(gpu.model, "B200") || contains(gpu.model, "B300");
}

/// Lanes that explain what was measured: enough for a healthy slot, or more than half could carry.
int lanes_of_rate(int generation, int lanes, double rate) {
  const auto sheet = [&](int width) { return pcie_slot(generation, width, true).data_sheet.value; };
  for (const int fewer : {16, 8, 4, 2}) {
    if (fewer <= lanes && (rate >= kHealthySlot * sheet(fewer) || rate > sheet(fewer / 2))) {
      return fewer;
    }
  }
  return 1;
}

/// What the listing measured, unless no such slot can carry it.
void take_measured(double rate, Offer& offer, IntraLink& intra) {
  try {
    measured_speed(pcie_slot(*intra.generation, *intra.lanes, true), 1, {rate});
    intra.bandwidth = BytesPerSecond{rate};
  } catch (const Error& error) {
    offer.assumptions.push_back(fmt::format("Its slots' measured bandwidth is ignored: {}", error.what()));
  }
}

void add_slots(const ListedGpus& listed, const GpuSheet& gpu, Offer& offer, IntraLink& intra) {
  intra.generation = listed.pcie_generation.value_or(gpu.pcie_generation);
  if (*intra.generation > gpu.pcie_generation) {
    intra.generation = gpu.pcie_generation;
  }
  intra.lanes = listed.pcie_lanes.value_or(gpu.pcie_lanes);
  if (!listed.pcie_generation || !listed.pcie_lanes) {
    offer.assumptions.push_back(
        fmt::format("Its slots are not listed; PCIe {}.0 x{} is assumed.", *intra.generation, *intra.lanes));
  }
  if (listed.pcie_rate && *listed.pcie_rate > 0) {
    const int lanes = lanes_of_rate(*intra.generation, *intra.lanes, *listed.pcie_rate);
    if (lanes < *intra.lanes) {
      offer.assumptions.push_back(
          fmt::format("Measured {:.3g} GB/s are too few for PCIe {}.0 x{}; it is taken as x{}.",
                      *listed.pcie_rate / kGiga, *intra.generation, *intra.lanes, lanes));
      intra.lanes = lanes;
    }
    take_measured(*listed.pcie_rate, offer, intra);
  }
  intra.sockets = listed.in_machine > kGpusOfOneSocket ? 2 : 1;
  if (listed.rented > 1) {
    offer.assumptions.push_back(
        fmt::format("Sockets and PCIe switches are not listed; {} and no switches are assumed.",
                    *intra.sockets == 1 ? "one socket" : "two sockets"));
  }
}

void note_nvlink(const ListedGpus& listed, const GpuSheet& gpu, Offer& offer) {
  if (!listed.nvlink_rate) {
    offer.assumptions.push_back(fmt::format("Its NVLinks are not listed; all {} of an {} are assumed.",
                                            gpu.links.value_or(0), gpu.model));
    return;
  }
  const double usable = kNvlinkUsable * *listed.nvlink_rate;
  const double sheet = gpu.links_bandwidth ? gpu.links_bandwidth->value / 2 : usable;
  offer.assumptions.push_back(fmt::format(
      "bw_nvlink {:.1f} is the raw signalling rate: {:.0f} GB/s usable, of {:.0f} on the data sheet.",
      *listed.nvlink_rate / kGiga, usable / kGiga, sheet / kGiga));
}

IntraLink link_of(const ListedGpus& listed, const GpuSheet& gpu, Offer& offer) {
  IntraLink intra;
  const bool has_links = gpu.links.value_or(0) > 0;
  if (gpu.vendor == Vendor::amd && gpu.xgmi_generation) {
    intra.kind = IntraKind::xgmi;
    intra.generation = gpu.xgmi_generation;
    offer.assumptions.push_back("Its links are not listed; xGMI between all GPUs is assumed.");
    return intra;
  }
  // A single GPU says nothing of its neighbours, and needs none.
  const bool linked =
      has_links && (is_sxm(gpu) ? listed.nvlink_rate.value_or(1) > 0 : listed.nvlink_rate.value_or(0) > 0);
  if (!linked) {
    intra.kind = IntraKind::pcie;
    add_slots(listed, gpu, offer, intra);
    intra.peer_to_peer = gpu.peer_to_peer.value_or(false);
    if (listed.rented > 1) {
      offer.assumptions.push_back(
          *intra.peer_to_peer
              ? fmt::format("Peer-to-peer over PCIe is assumed: the driver allows it on an {}.", gpu.model)
              : fmt::format(
                    "No peer-to-peer: {} on an {}, and every byte is staged in host memory.",
                    gpu.vendor == Vendor::amd ? "it is not known to work" : "the stock driver refuses it",
                    gpu.model));
    }
    return intra;
  }
  intra.kind = IntraKind::nvlink;
  intra.generation = gpu.nvlink_generation;
  intra.links_per_gpu = gpu.links;
  if (!is_sxm(gpu)) {
    intra.nvswitch = false;
    intra.wiring = "bridge_pairs";
    intra.lanes = listed.pcie_lanes.value_or(gpu.pcie_lanes);
    intra.sockets = listed.in_machine > kGpusOfOneSocket ? 2 : 1;
    intra.peer_to_peer = gpu.peer_to_peer.value_or(false);
    offer.assumptions.push_back("NVLink on a PCIe card is taken for bridges that join pairs.");
  } else if (gpu.architecture == Architecture::volta && listed.in_machine <= kGpusOfAMesh) {
    intra.nvswitch = false;
    intra.wiring = listed.in_machine > kGpusOfOneSocket ? "hybrid_cube_mesh" : "full_mesh";
    offer.assumptions.push_back(
        fmt::format("V100 SXM2 boards are wired as a {}.",
                    listed.in_machine > kGpusOfOneSocket ? "hybrid cube mesh" : "full mesh"));
  } else {
    intra.nvswitch = true;
  }
  note_nvlink(listed, gpu, offer);
  return intra;
}

/// GPUs on the meshed board; fewer may be rented, with fewer links among them.
int gpus_of_board(const ListedGpus& listed, const GpuSheet& gpu, const IntraLink& intra) {
  constexpr int kHalfMesh = 4;
  if (intra.kind == IntraKind::xgmi) {
    return std::max(listed.in_machine, gpu.model == "MI100" ? kHalfMesh : kGpusOfAMesh);
  }
  if (intra.wiring == "full_mesh" || intra.wiring == "hybrid_cube_mesh") {
    return listed.in_machine <= kHalfMesh ? kHalfMesh : kGpusOfAMesh;
  }
  return listed.in_machine;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// `RTXPRO6000` is three words, and `3090Ti` two.
void add_taken_apart(const std::string& word, std::vector<std::string>& words) {
  const std::string loud = upper(word);
  for (const std::string_view front : {"RTX", "GTX", "PRO"}) {
    if (loud.size() > front.size() && loud.starts_with(front)) {
      words.emplace_back(front);
      add_taken_apart(word.substr(front.size()), words);
      return;
    }
  }
  constexpr std::size_t kDigits = 4;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEndings = {
      {{"ADA", "Ada"}, {"TI", "Ti"}, {"S", "SUPER"}, {"SUPER", "SUPER"}}};
  const bool numbered = loud.size() > kDigits && std::all_of(loud.begin(), loud.begin() + kDigits, is_digit);
  for (const auto& [listed, spelt] : kEndings) {
    if (numbered && loud.substr(kDigits) == listed) {
      words.push_back(word.substr(0, kDigits));
      words.emplace_back(spelt);
      return;
    }
  }
  words.push_back(word);
}

/// The server, workstation and Max-Q cards have one data sheet here.
bool is_rtx_pro_6000(const std::vector<std::string>& words) {
  return words.size() >= 3 && upper(words[0]) == "RTX" && upper(words[1]) == "PRO" && words[2] == "6000";
}

}  // namespace

void describe_machine(const ListedGpus& listed, Offer& offer) {
  offer.gpus = listed.rented;
  const auto gpu = sheet_of(listed);
  if (!gpu) {
    offer.problem = fmt::format("the catalogue does not know the GPU '{}'", listed.name);
    return;
  }
  offer.machine.name = offer.name;
  offer.machine.gpu = Gpu{.model = gpu->model};
  offer.machine.intra = link_of(listed, *gpu, offer);
  const int board = gpus_of_board(listed, *gpu, *offer.machine.intra);
  offer.machine.gpus_per_node = board;
  if (gpu->model == "RTX PRO 6000 Blackwell" && contains(listed.name, "Max")) {
    offer.assumptions.push_back(
        "A Max-Q card has half of the power of the workstation card, whose data sheet is taken.");
  }
  if (listed.rented > 1 && listed.rented < board) {
    offer.assumptions.push_back(
        fmt::format("The {} rented of {} GPUs are neighbours and the others idle; whoever rents "
                    "those shares the machine's links.",
                    listed.rented, board));
  }
}

std::string catalogue_gpu_name(std::string_view listed) {
  std::vector<std::string> words;
  for (const std::string& word : words_of(listed, [](char c) { return c == ' ' || c == '_' || c == '-'; })) {
    add_taken_apart(word, words);
  }
  if (!words.empty() && upper(words.front()) == "Q") {
    words.front() = "Quadro";
  }
  if (is_rtx_pro_6000(words)) {
    return "RTX PRO 6000 Blackwell";
  }
  // The network of the node, not the card.
  std::erase_if(words, [](const std::string& word) { return upper(word) == "MEGA"; });
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace ringside
