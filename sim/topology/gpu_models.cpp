#include "sim/topology/gpu_models.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/names.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside {

namespace {

/// Local copy over data sheet. 0.74: H100 SXM as rental hosts measure it (2483 of 3350 GB/s); 0.84: 2080 Ti
/// 518-543 of 616, 3090 766 of 936, A100-PCIe 1540-1588 of 1935; 0.88: 2080 Ti, V100 778-781 of 900.
constexpr Interval<double> kMemoryEfficiency{.low = 0.74, .typical = 0.84, .high = 0.88};
constexpr double kBytesMovedPerByteReduced = 3;

/// A name taken apart: `NVIDIA A100-SXM4-80GB` is model `a100`, form `sxm`, memory 80.
struct SpeltModel {
  std::string model;
  std::string form;
  int memory_gb = 0;
};

/// `rtx5090` without the name of its series.
std::string without_series(const std::string& word) {
  for (const std::string_view series : {"rtx", "gtx", "rx"}) {
    if (word.starts_with(series) && word.find_first_of("0123456789", series.size()) <= series.size() + 1) {
      return word.substr(series.size());
    }
  }
  return word;
}

/// `3090ti` and `titanv` are two words each.
std::vector<std::string> taken_apart(const std::vector<std::string>& words) {
  constexpr std::size_t kDigits = 4;
  std::vector<std::string> result;
  for (const std::string& one : words) {
    const std::string word = without_series(one);
    const bool numbered = word.size() > kDigits && word.find_first_not_of("0123456789") == kDigits;
    const std::string ending = numbered ? word.substr(kDigits) : "";
    const std::size_t cut =
        ending == "ti" || ending == "super" || ending == "xt" || ending == "xtx" || ending == "ada" ? kDigits
        : word == "titanv" || word == "titanrtx"                                                    ? 5
                                                 : word.size();
    result.push_back(word.substr(0, cut));
    if (cut < word.size()) {
      result.push_back(word.substr(cut));
    }
  }
  return result;
}

/// The number of `80gb`; 0 when the word is something else.
int memory_of(std::string_view word) {
  if (!word.ends_with("gb")) {
    return 0;
  }
  return parse_number<int>(word.substr(0, word.size() - 2)).value_or(0);
}

SpeltModel spelling_of(std::string_view text) {
  SpeltModel spelling;
  bool hbm3 = false;
  const auto is_between = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; };
  const std::vector<std::string> words = taken_apart(words_of(lower(text), is_between));
  const bool professional = std::ranges::find(words, "pro") != words.end();
  for (const std::string& word : words) {
    hbm3 = hbm3 || word == "hbm3";
    if (is_one_of(word, {"nvidia", "amd", "geforce", "tesla", "instinct", "oam", "vf", "rtx", "gtx", "rx",
                         "hbm2", "hbm2e", "hbm3", "hbm3e", "blackwell", "server", "workstation", "edition",
                         "generation"}) ||
        (professional && is_one_of(word, {"pro", "max", "q", "s", "ws"}))) {
      // Words for maker, memory, cooling or virtual machine. Max-Q of a GeForce is a notebook's.
      continue;
    }
    if (word == "pcie" || word == "nvl" || word.substr(0, 3) == "sxm") {
      spelling.form = word.substr(0, word == "pcie" ? 4 : 3);
    } else if (const int gigabytes = memory_of(word)) {
      spelling.memory_gb = gigabytes;
    } else {
      const std::string name = word == "q" ? "quadro" : word;
      spelling.model += spelling.model.empty() ? name : ' ' + name;
    }
  }
  if (professional) {
    spelling.model += " pro";
  }
  constexpr int kSxmGigabytes = 80;
  if (hbm3 && spelling.model == "h100" && spelling.form.empty() && spelling.memory_gb == kSxmGigabytes) {
    spelling.form = "sxm";  // As drivers call it; the H100 PCIe of as much memory has HBM2e.
  }
  return spelling;
}

/// Those of the catalogue, in its order: listings ask for thousands of names.
const std::vector<SpeltModel>& known_spellings() {
  static const std::vector<SpeltModel> spellings =
      mapped(gpu_sheets(), [](const GpuSheet& sheet) { return spelling_of(sheet.model); });
  return spellings;
}

bool is_meant(const GpuSheet& sheet, const SpeltModel& known, const SpeltModel& asked) {
  return known.model == asked.model &&
         (asked.form.empty() || known.form.empty() || known.form == asked.form) &&
         (asked.memory_gb == 0 || sheet.memory == Bytes{asked.memory_gb * std::int64_t{1'000'000'000}});
}

using Sheets = std::vector<const GpuSheet*>;

/// The value that all sheets agree on, if it is there at all.
template <typename T>
auto agreed(const Sheets& sheets, T GpuSheet::*member) {
  const T& first = sheets.front()->*member;
  const bool same =
      std::ranges::all_of(sheets, [&](const GpuSheet* sheet) { return sheet->*member == first; });
  using Agreed = decltype(std::optional(first));  // Itself where it is optional in a sheet.
  return same ? Agreed(first) : Agreed();
}

GpuModel summary_of(const Sheets& sheets, std::string name) {
  GpuModel gpu;
  gpu.name = std::move(name);
  gpu.vendor = agreed(sheets, &GpuSheet::vendor);
  gpu.architecture = agreed(sheets, &GpuSheet::architecture);
  constexpr auto bandwidth_of = &GpuSheet::memory_bandwidth;
  const double low = (*std::ranges::min_element(sheets, {}, bandwidth_of))->memory_bandwidth.value;
  const double high = (*std::ranges::max_element(sheets, {}, bandwidth_of))->memory_bandwidth.value;
  gpu.memory_bandwidth = {.low = low, .typical = std::sqrt(low * high), .high = high};
  gpu.pcie_generation = agreed(sheets, &GpuSheet::pcie_generation);
  gpu.nvlink_generation = agreed(sheets, &GpuSheet::nvlink_generation);
  gpu.xgmi_generation = agreed(sheets, &GpuSheet::xgmi_generation);
  gpu.num_links = agreed(sheets, &GpuSheet::links);
  if (const auto bandwidth = agreed(sheets, &GpuSheet::links_bandwidth); bandwidth && gpu.num_links) {
    gpu.link_rate = {bandwidth->value / 2 / *gpu.num_links};
  }
  gpu.peer_to_peer = agreed(sheets, &GpuSheet::peer_to_peer);
  return gpu;
}

/// The sheets that a name stands for; several when it is a family's, none when it is not known.
Sheets sheets_of(std::string_view text) {
  const SpeltModel asked = spelling_of(text);
  const std::vector<GpuSheet>& all = gpu_sheets();
  Sheets sheets;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_meant(all[i], known_spellings()[i], asked)) {
      sheets.push_back(&all[i]);
    }
  }
  return sheets;
}

/// Cards with such links, of the stated vendor and architecture; none where nothing is stated.
Sheets sheets_alike(const Gpu& words, const std::optional<IntraLink>& intra) {
  const bool cabled =
      intra && intra->generation && (intra->kind == IntraKind::nvlink || intra->kind == IntraKind::xgmi);
  Sheets sheets;
  for (const GpuSheet& sheet : gpu_sheets()) {
    const auto& generation =
        cabled && intra->kind == IntraKind::xgmi ? sheet.xgmi_generation : sheet.nvlink_generation;
    if ((cabled || words.architecture) && (!cabled || generation == intra->generation) &&
        (!words.vendor || sheet.vendor == *words.vendor) &&
        (!words.architecture || sheet.architecture == *words.architecture)) {
      sheets.push_back(&sheet);
    }
  }
  return sheets;
}

/// What a person says of a GPU counts more than the catalogue.
void apply_words(const Gpu& words, GpuModel& gpu) {
  gpu.vendor = words.vendor ? words.vendor : gpu.vendor;
  gpu.architecture = words.architecture ? words.architecture : gpu.architecture;
  if (words.memory_bandwidth) {
    const double rate = words.memory_bandwidth->value;
    gpu.memory_bandwidth = Interval<double>::exactly(rate);
  }
}

}  // namespace

std::vector<std::string> gpu_model_names() { return mapped(gpu_sheets(), &GpuSheet::model); }

std::vector<std::string> gpu_models_called(std::string_view text) {
  return mapped(sheets_of(text), [](const GpuSheet* sheet) { return sheet->model; });
}

std::optional<GpuSheet> find_gpu_sheet(std::string_view text) {
  const Sheets sheets = sheets_of(text);
  return sheets.empty() ? std::nullopt : std::optional(*sheets.front());
}

std::optional<GpuSheet> find_gpu_sheet(const Machine& machine) {
  return machine.gpu ? find_gpu_sheet(machine.gpu->model) : std::nullopt;
}

GpuModel gpu_model(std::string_view text) {
  const Sheets sheets = sheets_of(text);
  if (sheets.empty()) {
    throw bad_input(
        "{}. One that is not listed is described by hand: `gpu: {{model: {}, "
        "architecture: ada}}`, better with `memory_bandwidth`, and kind, generation and number of "
        "its links under `intra`",
        unknown_name("GPU model", text, gpu_model_names()), text);
  }
  return summary_of(sheets, std::string(text));
}

GpuModel gpu_model(const Machine& machine) {
  const Gpu& words = *machine.gpu;
  if (!sheets_of(words.model).empty()) {
    GpuModel gpu = gpu_model(words.model);
    apply_words(words, gpu);
    return gpu;
  }
  const bool said_of_it = words.vendor || words.architecture || words.memory_bandwidth;
  Sheets alike = sheets_alike(words, machine.intra);
  const bool resembles = !alike.empty();
  const auto& intra = machine.intra;
  if (alike.empty() && intra && (intra->generation || intra->bandwidth)) {
    // Its links are stated: what is not known of it bears on reductions alone.
    for (const GpuSheet& sheet : gpu_sheets()) {
      alike.push_back(&sheet);
    }
  }
  const bool a_slip = !said_of_it && nearest_name(words.model, gpu_model_names());
  if (a_slip || (alike.empty() && !words.memory_bandwidth)) {
    return gpu_model(words.model);  // Says that nobody knows it.
  }
  GpuModel gpu{.name = words.model};
  if (!alike.empty()) {
    gpu = summary_of(alike, words.model);
    // How many links a card has is its own affair.
    gpu.num_links.reset();
    gpu.link_rate.reset();
    gpu.taken_from = static_cast<int>(alike.size());
    gpu.alike = resembles;
  }
  apply_words(words, gpu);
  return gpu;
}

SecondsPerByte reduction_cost_of(const GpuModel& gpu, SpecNumbers numbers) {
  return {kBytesMovedPerByteReduced /
          (chosen_rate(kMemoryEfficiency, numbers) * chosen_rate(gpu.memory_bandwidth, numbers))};
}

}  // namespace ringside
