#include "sim/gpu_models.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "common/error.hpp"
#include "common/names.hpp"

namespace ringside {

namespace {

enum class PeerToPeer { no, yes, unknown };

/// Rates in GB/s.
struct Row {
  const char* name;
  int memory_gb;
  double memory_bandwidth;
  int pcie_generation;
  int nvlink_generation;  ///< 0 = none.
  int xgmi_generation;    ///< 0 = none.
  int num_links;
  double links_both_ways;  ///< All links of the GPU, both directions, as data sheets print it.
  PeerToPeer peer_to_peer;
};

// Memory: vendor data sheets as collected in stas00/ml-engineering (compute/accelerator), Lightning-AI/pytorch-lightning
// (fabric/utilities/throughput.py), cli99/llm-analysis (gpu_configs) and ai-dynamo/aiconfigurator (systems). NVLink and
// xGMI: stas00/ml-engineering (network). Peer-to-peer over PCIe: what the vendor's driver allows; GeForce cards refuse
// (github.com/NVIDIA/nccl issue 1127 for the 3090, tinygrad/open-gpu-kernel-modules for the 4090). A10G: not published.
constexpr auto kNo = PeerToPeer::no;
constexpr auto kYes = PeerToPeer::yes;
constexpr auto kRows = std::to_array<Row>({
    {"P100-SXM2-16GB", 16, 732, 3, 1, 0, 4, 160, kYes},
    {"P100-PCIE-16GB", 16, 732, 3, 0, 0, 0, 0, kYes},
    {"V100-SXM2-16GB", 16, 900, 3, 2, 0, 6, 300, kYes},
    {"V100-SXM2-32GB", 32, 900, 3, 2, 0, 6, 300, kYes},
    {"V100-PCIE-16GB", 16, 900, 3, 0, 0, 0, 0, kYes},
    {"V100-PCIE-32GB", 32, 900, 3, 0, 0, 0, 0, kYes},
    {"T4", 16, 320, 3, 0, 0, 0, 0, kYes},
    {"RTX 2080 Ti", 11, 616, 3, 2, 0, 2, 100, kNo},
    {"A100-SXM4-40GB", 40, 1555, 4, 3, 0, 12, 600, kYes},
    {"A100-SXM4-80GB", 80, 2039, 4, 3, 0, 12, 600, kYes},
    {"A100-PCIE-40GB", 40, 1555, 4, 3, 0, 12, 600, kYes},
    {"A100-PCIE-80GB", 80, 1935, 4, 3, 0, 12, 600, kYes},
    {"A30", 24, 933, 4, 3, 0, 4, 200, kYes},
    {"A10", 24, 600, 4, 0, 0, 0, 0, kYes},
    {"A10G", 24, 600, 4, 0, 0, 0, 0, PeerToPeer::unknown},
    {"A40", 48, 696, 4, 3, 0, 4, 112.5, kYes},
    {"RTX A6000", 48, 768, 4, 3, 0, 4, 112.5, kYes},
    {"RTX A5000", 24, 768, 4, 3, 0, 4, 112.5, kYes},
    {"RTX 3090", 24, 936, 4, 3, 0, 4, 112.5, kNo},
    {"H100-SXM", 80, 3350, 5, 4, 0, 18, 900, kYes},
    {"H100-PCIe", 80, 2000, 5, 4, 0, 12, 600, kYes},
    {"H100-NVL", 94, 3938, 5, 4, 0, 12, 600, kYes},
    {"H200-SXM", 141, 4800, 5, 4, 0, 18, 900, kYes},
    {"H200-NVL", 141, 4800, 5, 4, 0, 18, 900, kYes},
    {"GH200", 96, 4000, 5, 4, 0, 18, 900, kYes},
    {"B200", 180, 8000, 5, 5, 0, 18, 1800, kYes},
    {"GB200", 186, 8000, 5, 5, 0, 18, 1800, kYes},
    {"B300", 288, 8000, 6, 5, 0, 18, 1800, kYes},
    {"L4", 24, 300, 4, 0, 0, 0, 0, kYes},
    {"L40", 48, 864, 4, 0, 0, 0, 0, kYes},
    {"L40S", 48, 864, 4, 0, 0, 0, 0, kYes},
    {"RTX 4090", 24, 1008, 4, 0, 0, 0, 0, kNo},
    {"RTX 6000 Ada", 48, 960, 4, 0, 0, 0, 0, kYes},
    {"RTX 5090", 32, 1792, 5, 0, 0, 0, 0, kNo},
    {"RTX PRO 6000 Blackwell", 96, 1792, 5, 0, 0, 0, 0, kYes},
    {"MI250X", 128, 3277, 4, 0, 3, 7, 700, PeerToPeer::unknown},
    {"MI300X", 192, 5300, 5, 0, 4, 7, 896, PeerToPeer::unknown},
});

/// What a device-local copy moves, of the data sheet. 0.74: H100 SXM as rental hosts measure it (2483 of 3350 GB/s);
/// 0.84: 2080 Ti 518-543 of 616, 3090 766 of 936, A100-PCIe 1540-1588 of 1935; 0.88: 2080 Ti, V100 778-781 of 900.
constexpr Range kMemoryEfficiency{.low = 0.74, .typical = 0.84, .high = 0.88};
constexpr double kBytesMovedPerByteReduced = 3;

/// A name taken apart: `NVIDIA A100-SXM4-80GB` is model `a100`, form `sxm`, memory 80.
struct Spelling {
  std::string model;
  std::string form;
  int memory_gb = 0;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) {
      words.back() += static_cast<char>(std::tolower(letter));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The number of `80gb`; 0 when the word is something else.
int memory_of(std::string_view word) {
  if (word.size() < 3 || word.size() > 6 || word.substr(word.size() - 2) != "gb") {
    return 0;
  }
  int gigabytes = 0;
  for (const char c : word.substr(0, word.size() - 2)) {
    if (c < '0' || c > '9') {
      return 0;
    }
    gigabytes = 10 * gigabytes + (c - '0');
  }
  return gigabytes;
}

Spelling spelling_of(std::string_view text) {
  Spelling spelling;
  for (const std::string& word : words_of(text)) {
    if (is_one_of(word, {"nvidia", "amd", "geforce", "tesla", "instinct", "rtx", "hbm2", "hbm2e", "hbm3",
                         "hbm3e"})) {
      continue;  // Says who makes it or what memory it has, not which card it is.
    }
    if (word == "pcie" || word == "nvl" || word.substr(0, 3) == "sxm") {
      spelling.form = word.substr(0, word == "pcie" ? 4 : 3);
    } else if (const int gigabytes = memory_of(word)) {
      spelling.memory_gb = gigabytes;
    } else {
      spelling.model += spelling.model.empty() ? word : ' ' + word;
    }
  }
  return spelling;
}

bool is_meant(const Row& row, const Spelling& asked) {
  const Spelling known = spelling_of(row.name);
  return known.model == asked.model &&
         (asked.form.empty() || known.form.empty() || known.form == asked.form) &&
         (asked.memory_gb == 0 || row.memory_gb == asked.memory_gb);
}

/// The value that all rows agree on, if it is there at all.
template <typename T, typename Of>
std::optional<T> agreed(const std::vector<const Row*>& rows, Of of) {
  const std::optional<T> first = of(*rows.front());
  const bool same = std::all_of(rows.begin(), rows.end(), [&](const Row* row) { return of(*row) == first; });
  return same ? first : std::nullopt;
}

std::optional<int> present(int value) { return value > 0 ? std::optional<int>(value) : std::nullopt; }

GpuModel summary_of(const std::vector<const Row*>& rows, std::string name) {
  GpuModel gpu;
  gpu.name = std::move(name);
  const auto [slowest, fastest] = std::minmax_element(
      rows.begin(), rows.end(),
      [](const Row* a, const Row* b) { return a->memory_bandwidth < b->memory_bandwidth; });
  const double low = (*slowest)->memory_bandwidth * 1e9;
  const double high = (*fastest)->memory_bandwidth * 1e9;
  gpu.memory_bandwidth = {.low = low, .typical = std::sqrt(low * high), .high = high};
  gpu.pcie_generation = agreed<int>(rows, [](const Row& row) { return present(row.pcie_generation); });
  gpu.nvlink_generation = agreed<int>(rows, [](const Row& row) { return present(row.nvlink_generation); });
  gpu.xgmi_generation = agreed<int>(rows, [](const Row& row) { return present(row.xgmi_generation); });
  gpu.num_links = agreed<int>(rows, [](const Row& row) { return present(row.num_links); });
  gpu.link_rate = agreed<BytesPerSecond>(rows, [](const Row& row) -> std::optional<BytesPerSecond> {
    if (row.num_links == 0) {
      return std::nullopt;
    }
    return BytesPerSecond{row.links_both_ways * 1e9 / 2 / row.num_links};
  });
  gpu.peer_to_peer = agreed<bool>(rows, [](const Row& row) -> std::optional<bool> {
    if (row.peer_to_peer == PeerToPeer::unknown) {
      return std::nullopt;
    }
    return row.peer_to_peer == PeerToPeer::yes;
  });
  return gpu;
}

}  // namespace

std::vector<std::string> gpu_model_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) {
    names.emplace_back(row.name);
  }
  return names;
}

GpuModel gpu_model(std::string_view text) {
  const Spelling asked = spelling_of(text);
  std::vector<const Row*> rows;
  for (const Row& row : kRows) {
    if (is_meant(row, asked)) {
      rows.push_back(&row);
    }
  }
  if (rows.empty()) {
    throw Error(ErrorKind::bad_input, unknown_name("GPU model", text, gpu_model_names()));
  }
  return summary_of(rows, std::string(text));
}

SecondsPerByte reduction_cost_of(const GpuModel& gpu, SpecNumbers numbers) {
  switch (numbers) {
    case SpecNumbers::fastest:
      return {kBytesMovedPerByteReduced / (kMemoryEfficiency.high * gpu.memory_bandwidth.high)};
    case SpecNumbers::slowest:
      return {kBytesMovedPerByteReduced / (kMemoryEfficiency.low * gpu.memory_bandwidth.low)};
    case SpecNumbers::typical:
      break;
  }
  return {kBytesMovedPerByteReduced / (kMemoryEfficiency.typical * gpu.memory_bandwidth.typical)};
}

}  // namespace ringside
