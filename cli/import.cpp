#include "study/import.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "common/error.hpp"

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

void import_log(const fs::path& log, const ImportFlags& flags, const CommonOptions& common) {
  Progress progress(common.quiet);
  const study::ImportStudy study =
      study::import_log({.log = log,
                         .defaults = defaults_of(flags),
                         .placement = flags.in_place ? Placement::in_place : Placement::out_of_place},
                        common, progress.observer());
  if (common.format == OutputFormat::json) {
    for (const fs::path& file : study.files) {
      print_file(file);
    }
    return;
  }
  const Import& import = study.import;
  std::vector<std::vector<std::string>> rows;
  std::size_t points = 0;
  for (std::size_t i = 0; i < import.series.size(); ++i) {
    const Series& series = import.series[i];
    points += series.points.size();
    const auto wrong = std::count_if(series.points.begin(), series.points.end(), [](const Point& point) {
      return point.measured->outcome == Outcome::wrong_result;
    });
    for (const std::string& kind : describe_kinds(series.points)) {
      rows.push_back({std::to_string(i + 1), std::to_string(series.line),
                      std::to_string(series.points.size()), std::to_string(wrong), kind,
                      study.files[i].filename().string()});
    }
  }
  print(table({">series", ">line", ">rows", ">wrong", "what", "file"}, rows));
  print_line(fmt::format("\n{}: {} row{} of {}{}{}", log.string(), points, points == 1 ? "" : "s",
                         import.format, import.nccl ? fmt::format(", NCCL {}", *import.nccl) : "",
                         import.gpu ? fmt::format(", on {}", *import.gpu) : ""));
  for (const std::string& note : import.notes) {
    print_line(note);
  }
  print_line(fmt::format("results: {}", study.directory.string()));
}

void import_topology(const fs::path& file, const ImportFlags& flags, const CommonOptions& common) {
  const study::ImportedMachine imported = study::import_topology(file, flags.gpu, common);
  if (common.format == OutputFormat::json) {
    print_line(nlohmann::ordered_json{{"record", "machine"},
                                      {"name", imported.machine.name},
                                      {"file", imported.file.string()},
                                      {"yaml", imported.yaml}}
                   .dump());
    return;
  }
  print_file(imported.file);
  print_line(fmt::format("\nmachine: {}", imported.file.string()));
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
