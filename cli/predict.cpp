#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/job.hpp"
#include "cli/native.hpp"
#include "cli/report.hpp"
#include "cli/sweep_run.hpp"
#include "common/error.hpp"

namespace ringside::cli {
namespace {

struct PredictFlags {
  std::string scenario;
  std::string fidelity = "auto";
  bool force = false;
  bool charts = false;
  std::vector<std::string> sweeps;
  LaunchFlags launch;
  NativeFlags native;
};

void run(const PredictFlags& flags, const CommonOptions& common) {
  const std::vector<std::string> fidelities = names_of<Fidelity>();
  const std::optional<Fidelity> fidelity = parse_name<Fidelity>(flags.fidelity);
  if (!fidelity) {
    throw Error(ErrorKind::bad_input, unknown_name("--fidelity", flags.fidelity, fidelities));
  }
  const Scenario scenario = read_scenario(flags.scenario);
  const std::filesystem::path directory = output_directory(common, scenario.name);
  Progress progress(common.quiet);
  const Machine machine =
      with_known(machine_of(scenario, flags.launch, directory, progress), scenario, flags.native);

  const PredictOptions options = {.fidelity = *fidelity,
                                  .backend = scenario.backend,
                                  .native_model = native_model(flags.native),
                                  .force = flags.force};
  if (!flags.sweeps.empty()) {
    std::vector<Sweep> sweeps;
    std::transform(flags.sweeps.begin(), flags.sweeps.end(), std::back_inserter(sweeps), parse_sweep);
    run_sweeps({.scenario = scenario,
                .machine = machine,
                .sweeps = sweeps,
                .options = options,
                .directory = directory},
               common, progress);
    return;
  }

  std::vector<Point> points;
  for (const PointKey& key : points_of(scenario)) {
    points.push_back({.key = key, .predicted = {}, .measured = {}});
  }
  predict_points(points, machine, options, progress);
  require_native(points, flags.native);

  Journal journal = Journal::create(directory / "predictions.jsonl", run_header(common, scenario, machine));
  journal.append(points);
  report({.scenario = scenario,
          .machine = machine,
          .points = points,
          .journal = journal,
          .charts = flags.charts},
         common, progress);
  if (common.format == OutputFormat::table) {
    print_native(points, machine);
  }
}

}  // namespace

void add_predict(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("predict", "What a collective will cost; needs no hardware");
  auto flags = std::make_shared<PredictFlags>();
  command->add_option("SCENARIO", flags->scenario, "Scenario file (docs/scenario.md)")->required();
  command
      ->add_option("--fidelity", flags->fidelity,
                   "auto, closed_form, replay or flow; auto takes flow where anything is shared")
      ->capture_default_str();
  command->add_flag("--force", flags->force, "Simulate even where that takes very long");
  command->add_flag("--charts", flags->charts, "Draw charts as well");
  command
      ->add_option(
          "--sweep", flags->sweeps,
          "What if: KEY=FROM:TO:STEP for ranks, bytes or any key of the machine, such as "
          "bandwidth=5GB/s:100GB/s:log10 or ranks=2:64:2x; prints and draws who wins; may be repeated")
      ->allow_extra_args(false);
  add_native_flags(*command, flags->native);
  add_calibrate_flags(*command, flags->launch);
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
