#include "results/import.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/job.hpp"
#include "common/error.hpp"
#include "results/reader.hpp"
#include "scenario/topology_matrix.hpp"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;

struct ImportFlags {
  std::vector<std::string> arguments;  ///< LOG, or `topo` and FILE.
  std::optional<int> ranks;
  std::optional<std::string> dtype;
  std::optional<std::string> gpu;
  bool in_place = false;
};

ImportDefaults defaults_of(const ImportFlags& flags) {
  ImportDefaults defaults;
  if (flags.ranks && (*flags.ranks < 1 || *flags.ranks > kMaxRanks)) {
    throw Error(ErrorKind::bad_input, fmt::format("--ranks {}: allowed is 1 to {}", *flags.ranks, kMaxRanks));
  }
  defaults.ranks = flags.ranks;
  if (flags.dtype) {
    defaults.dtype = parse_name<DataType>(*flags.dtype);
    if (!defaults.dtype) {
      throw Error(ErrorKind::bad_input, unknown_name("--dtype", *flags.dtype, names_of<DataType>()));
    }
  }
  return defaults;
}

/// results.jsonl for the first series, results-2.jsonl for the second.
fs::path file_of(const fs::path& directory, std::size_t index) {
  return directory / (index == 0 ? std::string("results.jsonl") : fmt::format("results-{}.jsonl", index + 1));
}

void write_series(const Series& series, const fs::path& log, const fs::path& file,
                  const CommonOptions& common) {
  RunHeader header;
  header.version = RINGSIDE_VERSION;
  header.command = common.command_line;
  header.scenario = {.name = log.stem().string(), .file = log.string()};
  header.started = timestamp(std::chrono::system_clock::now());
  header.seed = common.seed;
  if (const auto kept = keep_measurements(file, series.points)) {
    Progress(common.quiet).note(fmt::format("Earlier results are kept in {}.", kept->string()));
  }
  Journal journal = Journal::create(file, header);
  for (const Point& point : series.points) {
    journal.append(point);
  }
}

void import_log(const fs::path& log, const ImportFlags& flags, const CommonOptions& common) {
  const Import import = import_measurements(log, defaults_of(flags),
                                            flags.in_place ? Placement::in_place : Placement::out_of_place);
  if (import.series.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: holds no measurement", log.string()));
  }
  const fs::path directory = output_directory(common, log.stem().string());
  std::vector<std::vector<std::string>> rows;
  std::size_t points = 0;
  for (std::size_t i = 0; i < import.series.size(); ++i) {
    const Series& series = import.series[i];
    write_series(series, log, file_of(directory, i), common);
    points += series.points.size();
    const auto wrong = std::count_if(series.points.begin(), series.points.end(), [](const Point& point) {
      return point.measured->outcome == Outcome::wrong_result;
    });
    for (const std::string& kind : describe_kinds(series.points)) {
      rows.push_back({std::to_string(i + 1), std::to_string(series.line),
                      std::to_string(series.points.size()), std::to_string(wrong), kind,
                      file_of(directory, i).filename().string()});
    }
  }
  if (common.format == OutputFormat::json) {
    for (std::size_t i = 0; i < import.series.size(); ++i) {
      print_file(file_of(directory, i));
    }
    return;
  }
  print(table({">series", ">line", ">rows", ">wrong", "what", "file"}, rows));
  print_line(fmt::format("\n{}: {} row{} of {}{}{}", log.string(), points, points == 1 ? "" : "s",
                         import.format, import.nccl ? fmt::format(", NCCL {}", *import.nccl) : "",
                         import.gpu ? fmt::format(", on {}", *import.gpu) : ""));
  for (const std::string& note : import.notes) {
    print_line(note);
  }
  print_line(fmt::format("results: {}", directory.string()));
}

void import_topology(const fs::path& file, const ImportFlags& flags, const CommonOptions& common) {
  TopologyMachine imported = machine_of_topology(read_text(file), file.string(), flags.gpu);
  imported.machine.name = file.stem().string();
  // What cannot be predicted for is refused here, not when it is used.
  const std::string yaml = to_yaml(imported.machine);
  parse_machine(yaml, file.string());
  const fs::path target = output_directory(common, file.stem().string()) / "machine.yaml";
  std::ofstream out(target);
  for (const std::string& note : imported.notes) {
    out << "# " << note << '\n';
  }
  out << yaml;
  out.close();
  if (!out) {
    throw Error(ErrorKind::bad_input, fmt::format("cannot write {}", target.string()));
  }
  if (common.format == OutputFormat::json) {
    print_line(nlohmann::ordered_json{
        {"record", "machine"}, {"name", imported.machine.name}, {"file", target.string()}, {"yaml", yaml}}
                   .dump());
    return;
  }
  print_file(target);
  print_line(fmt::format("\nmachine: {}", target.string()));
}

}  // namespace

void add_import(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "import", "Read what another tool measured: nccl-tests, rccl-tests, OSU, CSV; or `nvidia-smi topo -m`");
  auto flags = std::make_shared<ImportFlags>();
  command
      ->add_option("LOG", flags->arguments,
                   "A log, or `topo FILE` for the output of nvidia-smi topo -m (docs/importing.md)")
      ->required()
      ->expected(1, 2);
  command->add_option("--ranks", flags->ranks, "Number of ranks, where the log does not say it");
  command->add_option("--dtype", flags->dtype,
                      "Type of the elements, where the log does not say it (float32)");
  command->add_flag("--in-place", flags->in_place, "Of nccl-tests take the in-place times");
  command->add_option("--gpu", flags->gpu, "topo: the model of the GPUs, such as A100-SXM4-40GB");
  command->callback([flags, &common] {
    if (flags->arguments.size() == 1) {
      import_log(flags->arguments.front(), *flags, common);
    } else if (flags->arguments.front() == "topo") {
      import_topology(flags->arguments.back(), *flags, common);
    } else {
      throw Error(ErrorKind::bad_input,
                  fmt::format("import takes one log, or `topo FILE`; found '{}' and '{}'",
                              flags->arguments.front(), flags->arguments.back()));
    }
  });
}

}  // namespace ringside::cli
