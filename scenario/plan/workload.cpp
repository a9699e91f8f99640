#include "scenario/plan/workload.hpp"

#include <cmath>
#include <fstream>

#include <fmt/ranges.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "results/codec/reader.hpp"
#include "scenario/yaml/csv.hpp"

namespace ringside {
namespace {

/// Bytes of a tensor list, which has thousands of lines at most.
constexpr std::uint64_t kMostTensors = std::uint64_t{64} << 20;

std::string text_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::ifstream(file) || std::filesystem::is_directory(file, ignored)) {
    throw bad_input("{}: there is no such file", file.string());
  }
  return read_text(file, kMostTensors);
}

}  // namespace

std::span<const std::string> gpu_classes() {
  static const std::array<std::string, 10> classes = {"pascal", "volta",     "turing",  "ampere", "ada",
                                                      "hopper", "blackwell", "geforce", "cdna",   "rdna"};
  return classes;
}

bool computes(const Workload& workload) {
  return !workload.compute.efficiency.empty() || workload.compute.family.has_value() ||
         !workload.compute.measured.empty() || workload.transformer.has_value();
}

Bytes gradient_bytes(const Workload& workload) {
  return {workload.parameters * static_cast<std::int64_t>(size_of(workload.gradients))};
}

std::vector<Tensor> load_tensors(const std::filesystem::path& file) {
  const std::string shown = file.string();
  const CsvTable table = parse_csv(text_of(file), shown);
  const auto name = table.column("name");
  if (!name || !table.column("elements")) {
    throw bad_input("{}: a tensor list has the columns name and elements, but this file has {}", shown,
                    fmt::join(table.header, ", "));
  }
  const auto number_in = [&](const CsvRow& row, const char* name_of_column) {
    const auto column = table.column(name_of_column);
    const std::string cell = column ? row.cells[*column] : "0";
    const std::optional<double> number = parse_number<double>(cell);
    constexpr double kMost = 9e15;  // Every whole number up to here is a double.
    if (!number || !(*number >= 0) || *number > kMost || *number != std::floor(*number)) {
      throw bad_input("{}:{}: {}: '{}' is not a whole number", shown, row.line, name_of_column, cell);
    }
    return *number;
  };
  std::vector<Tensor> tensors;
  for (const CsvRow& row : table.rows) {
    tensors.push_back({.name = row.cells[*name],
                       .elements = static_cast<std::int64_t>(number_in(row, "elements")),
                       .forward_flops = number_in(row, "forward_flops"),
                       .activations = static_cast<std::int64_t>(number_in(row, "activations"))});
    if (tensors.back().elements == 0) {
      throw bad_input("{}:{}: a tensor has no elements", shown, row.line);
    }
  }
  if (tensors.empty()) {
    throw bad_input("{}: lists no tensor", shown);
  }
  return tensors;
}

}  // namespace ringside
