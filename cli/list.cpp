#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "common/failures.hpp"
#include "common/text.hpp"
#include "real/backend/backends.hpp"
#include "scenario/plan/workload.hpp"
#include "schedule/registry.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::cli {
namespace {

void print_rows(const CommonOptions& common, std::string_view record, const std::vector<std::string>& header,
                const Rows& rows) {
  if (common.format == OutputFormat::table) {
    print_table({header, rows});
    return;
  }
  for (const auto& row : rows) {
    nlohmann::ordered_json line = {{"record", record}};
    for (std::size_t c = 0; c < header.size(); ++c) {
      line[header[c]] = row[c];
    }
    print_record(line);
  }
}

void list_algorithms(const CommonOptions& common) {
  Rows rows;
  for (const Algorithm& algorithm : all_algorithms()) {
    rows.push_back({std::string(name(algorithm.collective)), std::string(algorithm.name),
                    std::string(algorithm.summary), std::string(algorithm.wins_when)});
  }
  rows.push_back({"any", std::string(kNative), "the backend's own implementation, whatever it chooses",
                  "usually; it is what the others are compared with"});
  print_rows(common, "algorithm", {"collective", "algorithm", "summary", "wins_when"}, rows);
}

std::string gpus(const Machine& machine) {
  const std::string model = machine.gpu ? machine.gpu->model : "ranks";
  const std::string each =
      machine.gpus_per_node ? fmt::format("{} x {}", *machine.gpus_per_node, model) : model;
  return machine.nodes > 1 ? fmt::format("{} x {}", machine.nodes, each) : each;
}

std::string inside(const Machine& machine) {
  if (!machine.intra) {
    return machine.links.empty() ? "" : "links, one by one";
  }
  const IntraLink& intra = *machine.intra;
  const std::string generation = intra.generation ? fmt::format(" {}", *intra.generation) : "";
  switch (intra.kind) {
    case IntraKind::nvlink:
      return intra.nvswitch.value_or(false)
                 ? "NVSwitch" + generation
                 : fmt::format("NVLink{}, {}", generation, intra.wiring.value_or("full_mesh"));
    case IntraKind::xgmi:
      return "xGMI" + generation;
    case IntraKind::pcie:
      return fmt::format("PCIe{} x{}{}{}", generation, intra.lanes.value_or(16),
                         intra.peer_to_peer == false ? ", no peer-to-peer" : "",
                         intra.sockets.value_or(1) > 1 ? fmt::format(", {} sockets", *intra.sockets) : "");
    case IntraKind::custom:
      break;
  }
  return fmt::format("{}, {}", format(*intra.bandwidth), intra.shared ? "shared" : "private");
}

std::string between(const Machine& machine) {
  if (!machine.inter) {
    return "";
  }
  const InterLink& inter = *machine.inter;
  const BytesPerSecond rate = inter.rate ? *inter.rate : *inter.bandwidth;
  return fmt::format("{} x {:g} Gb/s {}", inter.nics, rate.value * 8 / 1e9, name(inter.kind));
}

std::string price(const Machine& machine) {
  if (!machine.price) {
    return "";
  }
  const Price& listed = *machine.price;
  return fmt::format("{:.2f} {}/h{}", listed.per_hour, listed.currency,
                     listed.as_of ? fmt::format(" ({})", *listed.as_of) : "");
}

/// How many machines have each GPU, and their names as far as a line holds them.
void print_classes(const std::map<std::string, std::vector<std::string>>& classes) {
  constexpr std::size_t kMostText = 90;
  Rows rows;
  for (const auto& [gpu, names] : classes) {
    std::string listed;
    std::size_t shown = 0;
    while (shown < names.size() && listed.size() + names[shown].size() < kMostText) {
      listed += (shown == 0 ? "" : ", ") + names[shown];
      ++shown;
    }
    rows.push_back({gpu, std::to_string(names.size()), listed + (shown < names.size() ? ", …" : "")});
  }
  print_table({{"gpu", ">machines", "names"}, rows});
  print_line();
  print_line(
      "`list machines WORD` shows those whose row has the word, such as H100 or NVLink; `--all` shows "
      "all.");
}

/// A row for each machine, or those with the word; without one, and not for all, classes by GPU.
void list_machines(const CommonOptions& common, const std::string& word, bool all) {
  const bool as_json = common.format == OutputFormat::json;
  std::vector<std::string> header = {"name", "gpus", "inside", "between", "price"};
  Rows rows;
  std::map<std::string, std::vector<std::string>> classes;
  for (const auto& [name, machine, gpu] : study::shipped_machines()) {
    std::vector<std::string> row = {name, gpus(machine), inside(machine), between(machine), price(machine)};
    if (lower(fmt::format("{}", fmt::join(row, " "))).find(lower(word)) == std::string::npos) {
      continue;
    }
    classes[machine.gpu ? machine.gpu->model : "none"].push_back(row.front());
    if (as_json) {
      row.push_back(machine.described ? machine.described->by : "");
      row.push_back(machine.described ? machine.described->as_of : "");
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    throw bad_input("list machines {0}: no machine has '{0}' in its name, GPUs, links or price", word);
  }
  if (word.empty() && !all && !as_json) {
    print_classes(classes);
    return;
  }
  if (as_json) {
    header.insert(header.end(), {"source", "as_of"});
  }
  print_rows(common, "machine", header, rows);
}

void list_workloads(const CommonOptions& common) {
  Rows rows;
  const auto configs = study::configs_directory();
  for (const std::filesystem::path& file : study::shipped_configs("workloads")) {
    const Workload workload = load_workload(file, *configs / "workloads" / "tensors");
    rows.push_back({file.stem().string(), workload.name, fmt::format("{}", workload.parameters),
                    std::to_string(workload.tensors.size()),
                    fmt::format("{:.1f} MB {}", static_cast<double>(gradient_bytes(workload).value) / 1e6,
                                name(workload.gradients)),
                    fmt::format("{:.4g} GFLOP", workload.forward_flops / 1e9)});
  }
  print_rows(common, "workload", {"workload", "name", "parameters", "tensors", "gradients", "forward_pass"},
             rows);
}

void list_backends(const CommonOptions& common) {
  Rows rows;
  for (const RegisteredBackend& backend : all_backends()) {
    const std::optional<std::string> reason = backend.unavailable();
    rows.push_back(
        {std::string(name(backend.backend)), reason ? "no" : "yes", reason ? *reason : backend.describe()});
  }
  print_rows(common, "backend", {"backend", "available", "detail"}, rows);
}

}  // namespace

void add_list(CLI::App& app, CommonOptions& common) {
  struct ListFlags {
    std::string kind;
    std::string word;
    bool all = false;
  };
  auto* command = app.add_subcommand("list", "List algorithms, machines, workloads or backends");
  static const std::vector<std::string> kKinds = {"algorithms", "machines", "workloads", "backends"};
  auto flags = std::make_shared<ListFlags>();
  command->add_option("KIND", flags->kind, "algorithms, machines, workloads or backends")->required();
  command->add_option("WORD", flags->word, "Only machines whose row has this word, such as H100");
  command->add_flag("--all", flags->all, "A row for every machine");
  command->footer("list machines h100");
  command->callback([flags, &common] {
    const std::string& what = flags->kind;
    if (what == "machines") {
      list_machines(common, flags->word, flags->all);
      return;
    }
    if (std::ranges::find(kKinds, what) == kKinds.end()) {
      throw Error(ErrorKind::bad_input, unknown_name("list", what, kKinds));
    }
    if (!flags->word.empty() || flags->all) {
      throw bad_input("list {}: {} is for machines alone", what, flags->all ? "--all" : "a word");
    }
    if (what == "algorithms") {
      list_algorithms(common);
    } else if (what == "workloads") {
      list_workloads(common);
    } else {
      list_backends(common);
    }
  });
}

}  // namespace ringside::cli
