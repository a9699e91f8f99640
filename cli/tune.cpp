#include "study/tune.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "real/backend/backends.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::cli {
namespace {

struct TuneFlags {
  std::string scenario;
  std::string machine;
  std::string library;
  study::LaunchChoices launch = {};
};

/// The library that is installed, where one is.
std::optional<std::string> installed_library() {
  const RegisteredBackend& mpi = registered(Backend::mpi);
  return mpi.unavailable() ? std::nullopt : std::optional(mpi.library_version());
}

std::string command_with(const std::filesystem::path& file, int ranks) {
  return fmt::format(
      "mpirun -n {} --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename {}", ranks,
      file.string());
}

std::string gain_text(const study::TunedSize& size) {
  if (size.number > 0) {
    const Interval<double> gain = size.gain();
    return fmt::format("{:.2f}× ({:.2f}–{:.2f})", gain.typical, gain.low, gain.high);
  }
  return size.fastest == size.own ? "its own is the fastest" : "too close: its own stays";
}

void print_json(const study::TuneStudy& study, const std::string& command) {
  for (const study::TunedSize& size : study.sizes) {
    const Interval<double> gain = size.gain();
    print_record({{"record", "tuned"},
                  {"library", study.library},
                  {"ranks", size.key.ranks},
                  {"bytes", size.key.bytes.value},
                  {"own", size.own},
                  {"own_seconds", size.own_time.seconds.value},
                  {"fastest", size.fastest},
                  {"fastest_seconds", size.fastest_time.seconds.value},
                  {"number", size.number},
                  {"gain", {{"low", gain.low}, {"typical", gain.typical}, {"high", gain.high}}}});
  }
  if (study.file) {
    print_record({{"record", "rules"}, {"file", study.file->string()}, {"command", command}});
  }
}

void print_tuned(const study::TuneStudy& study, const std::string& command) {
  Rows rows;
  for (const study::TunedSize& size : study.sizes) {
    rows.push_back({std::to_string(size.key.ranks), format(size.key.bytes), size.own,
                    format(size.own_time.seconds), size.fastest, format(size.fastest_time.seconds),
                    gain_text(size)});
  }
  print_line("{}'s own all_reduce, and the fastest that it can be told; all predicted:\n", study.library);
  print_table({{">ranks", ">size", "its own", ">takes", "fastest", ">takes", "promised gain"}, rows});
  if (!study.file) {
    print_line("\nNothing is surely faster than the library's own choice: no file of rules is written.");
    return;
  }
  print_line(
      "\nRules: {}\nUse them: {} PROGRAM\nMeasure what they give: `ringside measure "
      "SCENARIO --backend mpi` as PROGRAM, without and with them.",
      study.file->string(), command);
}

void run(const TuneFlags& flags, const CommonOptions& common) {
  study::PredictRequest request{.scenario = study::read_scenario(flags.scenario)};
  request.scenario.backend = flags.launch.backend.value_or(request.scenario.backend);
  if (!flags.machine.empty()) {
    request.scenario.machine = study::read_machine(flags.machine, "--machine");
  }
  if (request.scenario.machine && !flags.library.empty()) {
    request.scenario.machine->software.mpi = flags.library;
  }
  Progress progress(common.quiet);
  const study::TuneStudy study = study::tune(
      request, flags.library.empty() ? installed_library() : flags.library, common, progress.observer());
  const int ranks = *std::ranges::max_element(request.scenario.ranks);
  const std::string command = study.file ? command_with(*study.file, ranks) : "";
  common.format == OutputFormat::json ? print_json(study, command) : print_tuned(study, command);
}

}  // namespace

void add_tune(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("tune", "Write rules by which Open MPI takes the fastest all_reduce");
  auto flags = std::make_shared<TuneFlags>();
  command->add_option("SCENARIO", flags->scenario, "Scenario file with a described or calibrated machine")
      ->required();
  add_backend_flag(*command, flags->launch, "mpi (default: the scenario's)");
  command->add_option("--machine", flags->machine,
                      "Machine file instead of the scenario's, such as the one that compare writes");
  command->add_option(
      "--library", flags->library,
      "Such as 'Open MPI 4.1.4' (default: the machine's `software.mpi`, else the installed one)");
  command->footer("tune SCENARIO --machine out/SCENARIO/machine.yaml");
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
