#include "study/logs/import.hpp"

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
#include "cli/launch_flags.hpp"
#include "common/error.hpp"
#include "study/logs/topology.hpp"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;

struct ImportFlags {
  std::vector<std::string> arguments;  ///< LOG, or `topo` and FILE.
  std::optional<int> ranks;
  std::optional<std::string> dtype;
  std::optional<std::string> collective;
  std::optional<std::string> gpu;
  bool in_place = false;
  bool anonymise = false;
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
  if (flags.collective) {
    defaults.collective = parse_name<Collective>(*flags.collective);
    if (!defaults.collective) {
      throw Error(ErrorKind::bad_input,
                  unknown_name("--collective", *flags.collective, names_of<Collective>()));
    }
  }
  return defaults;
}

std::string cell_text(const std::optional<double>& cell) { return cell ? fmt::format("{:.2f}", *cell) : ""; }

void import_copies(const fs::path& log, const CommonOptions& common) {
  const study::ImportedCopies study = study::import_copies(log);
  if (common.format == OutputFormat::json) {
    for (const CopyMatrix& matrix : study.copies.matrices) {
      nlohmann::ordered_json rows = nlohmann::ordered_json::array();
      for (const auto& row : matrix.rows) {
        nlohmann::ordered_json cells = nlohmann::ordered_json::array();
        for (const auto& cell : row) {
          cells.push_back(cell ? nlohmann::ordered_json(*cell) : nlohmann::ordered_json());
        }
        rows.push_back(cells);
      }
      print_line(nlohmann::ordered_json{
          {"record", "copies"},
          {"title", matrix.title},
          {"unit", matrix.unit},
          {"line", matrix.line},
          {"columns", matrix.columns},
          {"rows",
           rows}}.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }
    const auto or_null = [](const std::optional<double>& value) {
      return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
    };
    for (const CopyPair& pair : copy_pairs(study.copies)) {
      print_line(nlohmann::ordered_json{{"record", "pair"},
                                        {"from", pair.from},
                                        {"to", pair.to},
                                        {"bytes_per_second", pair.bandwidth},
                                        {"both_ways", or_null(pair.both_ways)},
                                        {"latency", or_null(pair.latency)}}
                     .dump());
    }
    return;
  }
  for (const CopyMatrix& matrix : study.copies.matrices) {
    std::vector<std::string> head = {""};
    for (std::size_t i = 0; i < matrix.columns; ++i) {
      head.push_back(fmt::format(">{}", i));
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& row : matrix.rows) {
      rows.push_back({std::to_string(rows.size())});
      std::transform(row.begin(), row.end(), std::back_inserter(rows.back()), cell_text);
    }
    print_line(fmt::format("{} ({}), line {}", matrix.title, matrix.unit, matrix.line));
    print(table(head, rows));
    print_line();
  }
  print_line(
      fmt::format("{}: {} matrices of {}", log.string(), study.copies.matrices.size(), study.copies.format));
  for (const std::string& note : study.copies.notes) {
    print_line(note);
  }
  if (const auto rates = pair_rates(study.copies)) {
    print_line(fmt::format("pairs of GPUs ({}): {:.2f} to {:.2f}, median {:.2f} GB/s", rates->matrix->title,
                           rates->rate.low * 1e-9, rates->rate.high * 1e-9, rates->rate.typical * 1e-9));
    for (const std::string& pair : rates->slow_pairs) {
      print_line("below half of the median: " + pair);
    }
    print_line("known: [" + study.known + "]");
  }
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
  print_line(fmt::format(
      "\n{}: {} row{} of {}{}{}", log.string(), points, points == 1 ? "" : "s", import.format,
      import.nccl ? fmt::format(", {}{}", import.nccl->starts_with("RCCL") ? "" : "NCCL ", *import.nccl) : "",
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
      "import", "Read what another tool measured or saw: nccl-tests, OSU, IMB, …; copies; topologies");
  auto flags = std::make_shared<ImportFlags>();
  command
      ->add_option("LOG", flags->arguments,
                   "A log, or `topo FILE` for nvidia-smi topo -m and NCCL's topology XML (docs/importing.md)")
      ->required()
      ->expected(1, 2);
  command->add_option("--ranks", flags->ranks, "Number of ranks, where the log does not say it");
  command->add_option("--dtype", flags->dtype,
                      "Type of the elements, where the log does not say it (float32)");
  command->add_option("--collective", flags->collective,
                      "Which collective it is, where two programs print the same columns");
  command->add_flag("--in-place", flags->in_place, "Of nccl-tests take the in-place times");
  command->add_flag("--anonymise", flags->anonymise,
                    "Instead write the log without names of hosts and people and without addresses");
  command->add_option("--gpu", flags->gpu, "topo: the model of the GPUs, such as A100-SXM4-40GB");
  command->callback([flags, command, &common] {
    const std::vector<std::string> typed = typed_flags(*command);
    if (flags->arguments.size() == 1) {
      const fs::path log = flags->arguments.front();
      if (flags->anonymise) {
        refuse_all_but(typed, {"--anonymise"}, "the log is written again, and nothing of it is read");
        print_line(study::anonymise(log, common).string());
        return;
      }
      switch (study::kind_of_log(log)) {
        case study::LogKind::measurements:
          refuse_all_but(typed, {"--ranks", "--dtype", "--collective", "--in-place"},
                         "a log of measurements says what it ran on");
          return import_log(log, *flags, common);
        case study::LogKind::copies:
          refuse_all_but(typed, {}, "copies from GPU to GPU are no collectives");
          return import_copies(log, common);
        case study::LogKind::topology:
          refuse_all_but(typed, {"--gpu"}, "a topology holds no measurements");
          return import_topology(log, *flags, common);
      }
    } else if (flags->arguments.front() == "topo") {
      refuse_all_but(typed, {"--gpu"}, "a topology holds no measurements");
      import_topology(flags->arguments.back(), *flags, common);
    } else {
      throw Error(ErrorKind::bad_input,
                  fmt::format("import takes one log, or `topo FILE`; found '{}' and '{}'",
                              flags->arguments.front(), flags->arguments.back()));
    }
  });
}

}  // namespace ringside::cli
