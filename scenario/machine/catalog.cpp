#include "scenario/machine/catalog.hpp"

#include "scenario/machine/catalog_text.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

ValueType<std::vector<std::string>> texts_type(const std::string& form) {
  return list_type(text_type("a text"), {.form = form});
}

Note required() { return {.required = true}; }

MapTable<GpuSheet> gpu_sheet_table() {
  return {
      .form = "a map such as `{model: L40S, memory: 48 GB}`",
      .rows =
          {
              row("model", &GpuSheet::model, text_type("a model such as `A100-SXM4-80GB`"), required()),
              row("vendor", &GpuSheet::vendor, choice_type<Vendor>("vendor"), required()),
              row("architecture", &GpuSheet::architecture, choice_type<Architecture>("architecture"),
                  required()),
              row("memory", &GpuSheet::memory, size_type(), required()),
              row("memory_bandwidth", &GpuSheet::memory_bandwidth, bandwidth_type(), required()),
              row("fp32_tflops", &GpuSheet::fp32, factor_type(0)),
              row("tf32_tflops", &GpuSheet::tf32, factor_type(0)),
              row("bf16_tflops", &GpuSheet::bf16, factor_type(0)),
              row("fp16_tflops", &GpuSheet::fp16, factor_type(0)),
              row("pcie_generation", &GpuSheet::pcie_generation, whole_number_type({.min = 1, .max = 6}),
                  required()),
              row("pcie_lanes", &GpuSheet::pcie_lanes, whole_number_type({.min = 1, .max = 16})),
              row("nvlink_generation", &GpuSheet::nvlink_generation, whole_number_type({.min = 1, .max = 5})),
              row("xgmi_generation", &GpuSheet::xgmi_generation, whole_number_type({.min = 1, .max = 4})),
              row("links", &GpuSheet::links, whole_number_type({.min = 1, .max = 18})),
              row("links_bandwidth", &GpuSheet::links_bandwidth, bandwidth_type()),
              row("peer_to_peer", &GpuSheet::peer_to_peer, bool_type()),
              row("sources", &GpuSheet::sources, texts_type("a list of sources"), required()),
              row("unverified", &GpuSheet::unverified, texts_type("a list of keys")),
          },
  };
}

struct GpuFile {
  std::vector<GpuSheet> gpus = {};
};

MapTable<GpuFile> gpu_file_table() {
  return {.form = "a map of `gpus`",
          .rows = {row("gpus", &GpuFile::gpus,
                       list_type(map_type(gpu_sheet_table()), {.form = "a list of GPUs"}), required())}};
}

}  // namespace

const std::vector<GpuSheet>& gpu_sheets() {
  static const GpuFile file =
      parse_map(std::string(kGpusYaml), "configs/catalog/gpus.yaml", gpu_file_table());
  return file.gpus;
}

}  // namespace ringside
