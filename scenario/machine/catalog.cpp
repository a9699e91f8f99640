#include "scenario/machine/catalog.hpp"

#include <string>
#include <utility>

#include "common/error.hpp"
#include "scenario/machine/catalog_text.hpp"
#include "scenario/yaml/document.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

ValueType<std::vector<std::string>> texts_type(const std::string& form) {
  return list_type(text_type("a text"), {.form = form});
}

ValueType<double> tflops_type() { return factor_type(0); }

Note required() { return {.meaning = {}, .required = true}; }

MapTable<GpuSheet> gpu_sheet_table() {
  return {
      .form = "a map such as `{model: L40S, memory: 48 GB}`",
      .rows =
          {
              row("model", &GpuSheet::model, text_type("a model such as `A100-SXM4-80GB`"),
                  {.meaning = "As the data sheet calls it.", .required = true}),
              row("vendor", &GpuSheet::vendor, choice_type<Vendor>("vendor", {Vendor::nvidia, Vendor::amd}),
                  required()),
              row("architecture", &GpuSheet::architecture, architecture_type(), required()),
              row("memory", &GpuSheet::memory, size_type(), required()),
              row("memory_bandwidth", &GpuSheet::memory_bandwidth, bandwidth_type(), required()),
              row("fp32_tflops", &GpuSheet::fp32, tflops_type(), {.meaning = {}}),
              row("tf32_tflops", &GpuSheet::tf32, tflops_type(), {.meaning = {}}),
              row("bf16_tflops", &GpuSheet::bf16, tflops_type(), {.meaning = {}}),
              row("fp16_tflops", &GpuSheet::fp16, tflops_type(), {.meaning = {}}),
              row("pcie_generation", &GpuSheet::pcie_generation, whole_number_type({.min = 1, .max = 6}),
                  required()),
              row("pcie_lanes", &GpuSheet::pcie_lanes, whole_number_type({.min = 1, .max = 16}),
                  {.meaning = {}}),
              row("nvlink_generation", &GpuSheet::nvlink_generation, whole_number_type({.min = 1, .max = 5}),
                  {.meaning = {}}),
              row("xgmi_generation", &GpuSheet::xgmi_generation, whole_number_type({.min = 1, .max = 4}),
                  {.meaning = {}}),
              row("links", &GpuSheet::links, whole_number_type({.min = 1, .max = 18}), {.meaning = {}}),
              row("links_bandwidth", &GpuSheet::links_bandwidth, bandwidth_type(), {.meaning = {}}),
              row("peer_to_peer", &GpuSheet::peer_to_peer, bool_type(), {.meaning = {}}),
              row("sources", &GpuSheet::sources, texts_type("a list of sources"), required()),
              row("unverified", &GpuSheet::unverified, texts_type("a list of keys"), {.meaning = {}}),
          },
  };
}

struct GpuFile {
  std::vector<GpuSheet> gpus = {};
};

std::vector<GpuSheet> parsed_gpu_sheets() {
  std::vector<Problem> problems;
  const auto document = parse_document("configs/catalog/gpus.yaml", std::string(kGpusYaml), problems);
  std::optional<GpuFile> file;
  if (document) {
    const MapTable<GpuFile> table = {
        .form = "a map of `gpus`",
        .rows = {row("gpus", &GpuFile::gpus,
                     list_type(map_type(gpu_sheet_table()), {.form = "a list of GPUs"}), required())}};
    Reader reader(*document, problems);
    file = read_map(reader, reader.root(), table);
  }
  if (!file) {
    throw_problems(std::move(problems));
  }
  return std::move(file->gpus);
}

}  // namespace

const std::vector<GpuSheet>& gpu_sheets() {
  static const std::vector<GpuSheet> sheets = parsed_gpu_sheets();
  return sheets;
}

}  // namespace ringside
