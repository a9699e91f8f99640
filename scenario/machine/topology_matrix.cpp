// nvidia-smi topo -m prints the nearest way between every two GPUs and NICs (its legend):
//
//           GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity
//   GPU0     X      NV12    PIX     0-23            0
//   GPU1    NV12     X      SYS     24-47           1
//   NIC0    PIX     SYS      X
//
// NV# = # NVLinks; PIX, PXB = PCIe switches only; PHB = host bridge; NODE = NUMA node; SYS = other socket.

#include "scenario/machine/topology_matrix.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

using Cells = std::vector<std::vector<std::string>>;

/// Colours of a terminal (`ESC [4m`) are no part of words, nor is a comment's mark before the line.
std::vector<std::string> words_of_row(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t#");
  std::string row(line.substr(line.find('#') < first && first != std::string_view::npos ? first : 0));
  for (std::size_t at = row.find('\x1b'); at != std::string::npos; at = row.find('\x1b', at)) {
    row.erase(at, std::min(row.find('m', at), row.size()) - at + 1);
  }
  return words_of(row, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

bool is_device(const std::string& word, std::string_view kind) {
  return word.size() > kind.size() && word.starts_with(kind) &&
         word.find_first_not_of("0123456789", kind.size()) == std::string::npos;
}

/// `mlx5_0` of old versions, `NIC0` of newer ones.
bool is_nic(const std::string& word) { return is_device(word, "NIC") || word.starts_with("mlx"); }

struct Matrix {
  Cells gpus;  ///< Between GPUs.
  int nics = 0;
  std::optional<std::string> gpu = {};
};

Matrix matrix_in(std::string_view text, const std::string& name) {
  Matrix matrix;
  std::size_t columns = 0;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = words_of_row(line);
    // `GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-…)` of nvidia-smi -L.
    if (words.size() > 2 && words[0] == "GPU" && words[1].ends_with(':') && !matrix.gpu) {
      const std::size_t start = line.find(':') + 2;
      matrix.gpu = std::string(line.substr(start, line.find(" (UUID") - start));
    } else if (words.size() > 1 && words[0] == "GPU0" && words[1] == "GPU1") {
      const auto gpus = static_cast<std::size_t>(
          std::ranges::count_if(words, [](const std::string& word) { return is_device(word, "GPU"); }));
      if (columns > 0 && gpus != columns) {
        throw bad_input("{}: holds a matrix of {} GPUs and one of {}; give one of them", name, columns, gpus);
      }
      columns = gpus;
      matrix.nics = static_cast<int>(std::ranges::count_if(words, is_nic));
    } else if (columns > 0 && matrix.gpus.size() < columns && !words.empty() &&
               words[0] == fmt::format("GPU{}", matrix.gpus.size())) {
      if (words.size() < columns + 1) {
        throw bad_input("{}: the row of {} is cut: it has {} of {} columns", name, words[0], words.size() - 1,
                        columns);
      }
      auto& row = matrix.gpus.emplace_back(words.begin() + 1,
                                           words.begin() + 1 + static_cast<std::ptrdiff_t>(columns));
      // What drivers before 2018 called the way to the other socket.
      std::replace(row.begin(), row.end(), std::string("SOC"), std::string("SYS"));
    }
  }
  if (columns == 0) {
    throw bad_input("{}: holds no matrix of at least two GPUs as `nvidia-smi topo -m` prints it", name);
  }
  if (matrix.gpus.size() < columns) {
    throw bad_input("{}: the matrix is cut: it has the rows of {} of {} GPUs", name, matrix.gpus.size(),
                    columns);
  }
  return matrix;
}

/// NVLinks between two GPUs; 0 = none.
int nvlinks(const std::string& cell) {
  std::string_view digits = cell;
  if (!digits.starts_with("NV")) {
    return 0;
  }
  digits.remove_prefix(2);
  return take_number<int>(digits).value_or(0);
}

/// How many groups GPUs form, joined by cells that `together` accepts; 0 when groups differ in size.
struct Groups {
  int count = 0;
  int size = 0;
};
template <typename Together>
Groups groups_of(const Cells& cells, Together together) {
  std::set<std::set<std::size_t>> groups;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::set<std::size_t> group = {i};
    for (std::size_t j = 0; j < cells.size(); ++j) {
      if (j != i && together(cells[i][j])) {
        group.insert(j);
      }
    }
    groups.insert(group);
  }
  std::set<std::size_t> sizes;
  for (const auto& group : groups) {
    sizes.insert(group.size());
  }
  return sizes.size() == 1 ? Groups{static_cast<int>(groups.size()), static_cast<int>(*sizes.begin())}
                           : Groups{};
}

/// What the slots say: sockets, and switches that GPUs share.
void describe_slots(const Cells& cells, IntraLink& intra) {
  if (const Groups sockets = groups_of(cells, [](const std::string& cell) { return cell != "SYS"; });
      sockets.count > 1) {
    intra.sockets = sockets.count;
  }
  if (const Groups switches =
          groups_of(cells, [](const std::string& cell) { return cell == "PIX" || cell == "PXB"; });
      switches.size > 1) {
    intra.gpus_per_switch = switches.size;
  }
}

IntraLink describe_nvlinks(const Cells& cells, const std::string& name) {
  /// More than any GPU without a switch has.
  constexpr int kMostLinks = 18;
  const std::size_t n = cells.size();
  IntraLink intra{.kind = IntraKind::nvlink};
  std::set<int> counts;
  int of_first = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j) {
        counts.insert(nvlinks(cells[i][j]));
        of_first += i == 0 ? nvlinks(cells[i][j]) : 0;
      }
    }
  }
  const int most = *counts.rbegin();
  if (counts.size() == 1) {
    // All pairs alike: through switches when that is more than a GPU could have links of its own.
    intra.nvswitch = of_first > kMostLinks;
    intra.links_per_gpu = *intra.nvswitch ? most : of_first;
  } else if (groups_of(cells, [](const std::string& cell) { return nvlinks(cell) > 0; }).size == 2 &&
             counts == std::set<int>{0, most}) {
    intra.wiring = "bridge_pairs";
    intra.links_per_gpu = most;
    describe_slots(cells, intra);
  } else if (n == 8 && (counts == std::set<int>{0, 1, 2} || counts == std::set<int>{0, 1})) {
    intra.wiring = "hybrid_cube_mesh";
    intra.links_per_gpu = of_first;
  } else {
    throw bad_input(
        "{}: joins its GPUs by NVLink in a way that `wiring` has no word for; describe them under `links`",
        name);
  }
  return intra;
}

/// `rocm-smi --showtopo` prints several matrices; this one says what joins the GPUs.
constexpr std::string_view kRocmLinks = "Link Type between two GPUs";

bool is_of_rocm(std::string_view text) {
  return text.find(kRocmLinks) != std::string_view::npos ||
         text.find("Weight between two GPUs") != std::string_view::npos ||
         text.find("Hops between two GPUs") != std::string_view::npos;
}

/// `GPU[0]  : (Topology) Numa Node: 1`
int numa_nodes_in(std::string_view text) {
  constexpr std::string_view kNode = "(Topology) Numa Node: ";
  std::set<int> nodes;
  for (std::size_t at = text.find(kNode); at != std::string_view::npos; at = text.find(kNode, at + 1)) {
    std::string_view number = text.substr(at + kNode.size());
    nodes.insert(take_number<int>(number).value_or(0));
  }
  return static_cast<int>(nodes.size());
}

IntraLink rocm_links(const Cells& cells, std::string_view text, const std::string& name) {
  std::set<std::string> kinds;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t j = 0; j < cells.size(); ++j) {
      if (i != j) {
        kinds.insert(cells[i][j]);
      }
    }
  }
  if (kinds == std::set<std::string>{"XGMI"}) {
    return {.kind = IntraKind::xgmi};
  }
  if (kinds != std::set<std::string>{"PCIE"}) {
    throw bad_input("{}: joins some GPUs by xGMI and others by PCIe; describe them under `links`", name);
  }
  IntraLink intra{.kind = IntraKind::pcie};
  if (const int sockets = numa_nodes_in(text); sockets > 1 && static_cast<int>(cells.size()) % sockets == 0) {
    intra.sockets = sockets;
  }
  return intra;
}

}  // namespace

bool holds_topology_matrix(std::string_view text) {
  return std::ranges::any_of(split(text, '\n'), [](std::string_view line) {
    const auto words = words_of_row(line);
    return words.size() > 1 && words[0] == "GPU0" && words[1] == "GPU1";
  });
}

TopologyMachine machine_of_topology(std::string_view text, const std::string& name,
                                    const std::optional<std::string>& gpu) {
  const bool rocm = is_of_rocm(text);
  if (rocm && text.find(kRocmLinks) == std::string_view::npos) {
    throw bad_input("{}: does not say what joins the GPUs; give all that `rocm-smi --showtopo` prints", name);
  }
  const Matrix matrix = matrix_in(rocm ? text.substr(text.find(kRocmLinks)) : text, name);
  const auto model = gpu ? gpu : matrix.gpu;
  if (!model) {
    throw bad_input("{}: does not say which GPUs these are; give --gpu MODEL, such as --gpu A100-SXM4-40GB",
                    name);
  }
  TopologyMachine result;
  Machine& machine = result.machine;
  machine.name = name;
  machine.gpus_per_node = static_cast<int>(matrix.gpus.size());
  machine.gpu = Gpu{.model = *model};
  const bool cabled = std::ranges::any_of(matrix.gpus, [](const auto& row) {
    return std::ranges::any_of(row, [](const std::string& cell) { return nvlinks(cell) > 0; });
  });
  if (rocm) {
    machine.intra = rocm_links(matrix.gpus, text, name);
  } else if (cabled) {
    machine.intra = describe_nvlinks(matrix.gpus, name);
  } else {
    machine.intra = IntraLink{.kind = IntraKind::pcie};
    describe_slots(matrix.gpus, *machine.intra);
    result.notes.emplace_back(
        "The matrix does not say how wide the slots are (`intra.lanes`, 16 when left out; nvidia-smi -q "
        "shows it), nor "
        "whether GPUs reach each other directly (`intra.peer_to_peer`; nvidia-smi topo -p2p w shows it).");
  }
  if (matrix.nics > 0) {
    result.notes.push_back(
        fmt::format("The matrix does not say the rate of its {}; for several nodes add `inter`, "
                    "such as {{kind: infiniband, "
                    "rate: 200 Gb/s, nics: {}}}.",
                    count_of(matrix.nics, "NIC"), matrix.nics));
  }
  return result;
}

}  // namespace ringside
