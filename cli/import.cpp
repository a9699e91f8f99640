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
#include "cli/options.hpp"
#include "common/text.hpp"
#include "study/logs/this_system.hpp"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;

std::string cell_text(const std::optional<double>& cell) { return cell ? fmt::format("{:.2f}", *cell) : ""; }

/// A number, or null where there is none.
nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

void print_copy_records(const CopyMatrices& copies) {
  for (const CopyMatrix& matrix : copies.matrices) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& row : matrix.rows) {
      std::ranges::transform(row, std::back_inserter(rows.emplace_back(nlohmann::ordered_json::array())),
                             or_null);
    }
    print_record({{"record", "copies"},
                  {"title", matrix.title},
                  {"unit", matrix.unit},
                  {"line", matrix.line},
                  {"columns", matrix.columns},
                  {"rows", rows}});
  }
  for (const CopyPair& pair : copy_pairs(copies)) {
    print_record({{"record", "pair"},
                  {"from", pair.from},
                  {"to", pair.to},
                  {"bytes_per_second", pair.bandwidth},
                  {"both_ways", or_null(pair.both_ways)},
                  {"latency", or_null(pair.latency)}});
  }
}

void print_matrix(const CopyMatrix& matrix) {
  std::vector<std::string> head = {""};
  for (std::size_t i = 0; i < matrix.columns; ++i) {
    head.push_back(fmt::format(">{}", i));
  }
  Rows rows;
  for (const auto& row : matrix.rows) {
    rows.push_back({std::to_string(rows.size())});
    std::ranges::transform(row, std::back_inserter(rows.back()), cell_text);
  }
  const std::string unit = fmt::format(" ({})", matrix.unit);
  print_line("{}{}, line {}", matrix.title, contains(matrix.title, unit) ? "" : unit, matrix.line);
  print_table({head, rows});
  print_line();
}

void import_copies(const fs::path& log, std::uint64_t most, const CommonOptions& common) {
  const auto [copies, known] = study::import_copies(log, most);
  if (common.format == OutputFormat::json) {
    print_copy_records(copies);
    return;
  }
  std::for_each(copies.matrices.begin(), copies.matrices.end(), print_matrix);
  print_line("{}: {} of {}", log.string(), count_of(copies.matrices.size(), "matrix", "matrices"),
             copies.format);
  print_lines(copies.notes);
  if (const auto rates = pair_rates(copies)) {
    print_line("pairs of GPUs ({}): {:.2f} to {:.2f}, median {:.2f} GB/s", rates->matrix->title,
               rates->rate.low * 1e-9, rates->rate.high * 1e-9, rates->rate.typical * 1e-9);
    for (const std::string& pair : rates->slow_pairs) {
      print_line("below half of the median: " + pair);
    }
    print_line("known: [" + known + "]");
  }
}

void import_log(const study::ImportRequest& request, const CommonOptions& common) {
  Progress progress(common.quiet);
  const study::ImportStudy study = study::import_log(request, common, progress.observer());
  if (common.format == OutputFormat::json) {
    if (study.file) {
      print_file(*study.file);
    }
    return;
  }
  const Import& import = study.import;
  if (!study.file) {
    print_line("{}: transfers between two processes, of {}", request.log.string(), import.format);
    print_lines(import.notes);
    print_lines(study.transfers);
    return;
  }
  Rows rows;
  std::size_t points = 0;
  for (std::size_t i = 0; i < study.series.size(); ++i) {
    const study::ImportedSeries& series = study.series[i];
    points += series.rows;
    for (const std::string& kind : series.kinds) {
      rows.push_back({std::to_string(i + 1), std::to_string(series.line), std::to_string(series.rows),
                      std::to_string(series.wrong), kind});
    }
  }
  constexpr std::size_t kScreen = 24;
  const std::size_t hidden = rows.size() > kScreen ? rows.size() - kScreen : 0;
  rows.erase(rows.end() - static_cast<std::ptrdiff_t>(hidden), rows.end());
  print_table({{">series", ">line", ">rows", ">wrong", "what"}, rows});
  if (hidden > 0) {
    print_line("… and {} more", hidden);
  }
  print_line(
      "\n{}: {} of {}{}{}", request.log.string(), count_of(points, "row"), import.format,
      import.nccl ? fmt::format(", {}{}", import.nccl->starts_with("RCCL") ? "" : "NCCL ", *import.nccl) : "",
      import.gpu ? fmt::format(", on {}", *import.gpu) : "");
  print_lines(import.notes);
  print_lines(study.transfers);
  print_line("results: {}", study.file->string());
}

void import_topology(const fs::path& file, const std::optional<std::string>& gpu,
                     const CommonOptions& common) {
  const study::ImportedMachine imported = study::import_topology(file, gpu, common);
  if (common.format == OutputFormat::json) {
    print_record({{"record", "machine"},
                  {"name", imported.machine.name},
                  {"file", imported.file.string()},
                  {"yaml", imported.yaml}});
    return;
  }
  print_file(imported.file);
  print_line("\nmachine: {}", imported.file.string());
}

/// Options of one kind of log, as --help groups them.
constexpr const char* kMeasurementsGroup = "For measurements";
constexpr const char* kTopologiesGroup = "For topologies";

struct ImportFlags {
  bool anonymise = false;
  std::optional<std::string> gpu;
  study::ImportRequest request;
};

/// What another tool wrote, by what it holds.
void import_any(const CLI::App& command, ImportFlags& flags, const CommonOptions& common) {
  fs::path& log = flags.request.log;
  const std::uint64_t most = flags.request.defaults.most_bytes;
  log = study::log_or_pipe(log, common, most);
  if (flags.anonymise) {
    for (const char* group : {kMeasurementsGroup, kTopologiesGroup}) {
      refuse_group(command, group, "the log is written again, and nothing of it is read");
    }
    print_line(study::anonymise(log, common, most).string());
    return;
  }
  switch (study::kind_of_log(log)) {
    case study::LogKind::measurements:
      refuse_group(command, kTopologiesGroup, "a log of measurements says what it ran on");
      return import_log(flags.request, common);
    case study::LogKind::copies:
      for (const char* group : {kMeasurementsGroup, kTopologiesGroup}) {
        refuse_group(command, group, "copies from GPU to GPU are no collectives");
      }
      return import_copies(log, most, common);
    case study::LogKind::topology:
      refuse_group(command, kMeasurementsGroup, "a topology holds no measurements");
      return import_topology(log, flags.gpu, common);
  }
}

void add_gpu_flag(CLI::App& command, std::optional<std::string>& gpu) {
  command.add_option("--gpu", gpu, "The model of the GPUs, such as A100-SXM4-40GB")->group(kTopologiesGroup);
}

}  // namespace

void add_import(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("import", "Read output of other tools: nccl-tests, OSU, IMB, …; copies; topologies");
  auto flags = std::make_shared<ImportFlags>();
  study::ImportRequest& request = flags->request;
  command->add_option("LOG", request.log, "A log, as text (docs/importing.md); - is standard input")
      ->required();
  auto* ranks =
      command->add_option("--ranks", request.defaults.ranks, "Number of ranks, if the log does not say it")
          ->check(CLI::Range(1, kMaxRanks));
  auto* dtype = add_name<DataType>(*command, "--dtype", request.defaults.dtype,
                                   "Element type, if the log does not say it (default: float32)");
  auto* collective = add_name<Collective>(*command, "--collective", request.defaults.collective,
                                          "The log's collective, if its columns fit several");
  auto* in_place = command->add_flag_callback(
      "--in-place", [&request] { request.defaults.placement = Placement::in_place; },
      "Take the in-place times of nccl-tests");
  for (CLI::Option* option : {ranks, dtype, collective, in_place}) {
    option->group(kMeasurementsGroup);
  }
  command->add_flag("--anonymise", flags->anonymise,
                    "Only write a copy of the log without host names, user names and addresses");
  add_no_limit_flag(*command, request.defaults);
  add_gpu_flag(*command, flags->gpu);
  command->footer("import osu_allreduce.log --ranks 8");
  command->callback([flags, command, &common] { import_any(*command, *flags, common); });

  auto* topology = add_mode(app, "import topo",
                            "A machine from nvidia-smi topo -m or NCCL's topology XML (docs/importing.md)");
  auto of_topology = std::make_shared<ImportFlags>();
  topology->add_option("FILE", of_topology->request.log, "The output or XML, as a file")->required();
  add_gpu_flag(*topology, of_topology->gpu);
  topology->footer("import topo topo.txt --gpu A100-SXM4-40GB");
  topology->callback(
      [of_topology, &common] { import_topology(of_topology->request.log, of_topology->gpu, common); });
}

void add_submit(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("submit", "Write a log as the two files of a source in configs/evaluation");
  auto request = std::make_shared<study::SubmitRequest>();
  command->add_option("LOG", request->log, "A log of nccl-tests")->required();
  add_machine_flags(*command, request->machine);
  add_network_flag(*command, request->machine);
  command
      ->add_option("--ranks", request->machine.defaults.ranks, "Number of ranks, if the log does not say it")
      ->check(CLI::Range(2, kMaxRanks));
  command->add_option("--source", request->source, "Where it is published: a URL");
  command->footer("submit all_reduce.log --machine dgx-h100");
  command->callback([request, &common] {
    const study::Submission submission = study::submit(*request, common);
    print_line(submission.source.string());
    print_line(submission.table.string());
    for (const std::string& missing : submission.missing) {
      print_line("missing: " + missing);
    }
  });
}

}  // namespace ringside::cli
