#include "study/predict.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/point_sentences.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "cli/reports/html_report.hpp"
#include "cli/reports/next_steps.hpp"
#include "cli/reports/report.hpp"
#include "cli/reports/sweep_report.hpp"
#include "common/failures.hpp"
#include "common/text.hpp"
#include "sim/nccl/parameters.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/sweep.hpp"

namespace ringside::cli {
namespace {

struct PredictFlags {
  std::string scenario;
  bool charts = false;
  bool report = false;
  bool explain = false;
  std::vector<std::string> sweeps;
  study::PredictRequest request;
};

/// What NCCL takes at each size, and what limits it there.
void print_native_details(const study::NativeFindings& native) {
  Rows rows;
  for (const Point& point : native.points) {
    rows.push_back({std::to_string(point.key.ranks), format(point.key.bytes),
                    std::string(name(point.predicted->source)), limit_sentences(point.predicted->limits)});
  }
  print_table({{">ranks", ">size", "source", "native: NCCL's choice, and its limit"}, rows});
}

/// Where the prediction of the largest of them comes from: a known time may move one number of ranks alone.
CostSource cost_source_of(std::span<const Point> points, const study::SizeRange& sizes) {
  const auto last = std::ranges::find_if(points, [&](const Point& point) {
    return point.key.ranks == sizes.ranks && point.key.bytes == sizes.last;
  });
  return last->predicted->source;
}

/// What NCCL takes, once for each number of ranks, and where its numbers come from. Prints nothing when there
/// are none.
void print_native(const study::NativeFindings& native, bool explain) {
  if (native.points.empty()) {
    return;
  }
  print_line();
  if (explain) {
    print_native_details(native);
  }
  const std::vector<study::SizeRange>& reasons = native.reasons;
  for (std::size_t i = 0; !explain && i < reasons.size(); ++i) {
    // The largest messages of a number of ranks stand last.
    if (i + 1 == reasons.size() || reasons[i + 1].ranks != reasons[i].ranks) {
      print_line("native on {} ranks, {}, from {}: {}", reasons[i].ranks,
                 from_to(reasons[i].first, reasons[i].last), name(cost_source_of(native.points, reasons[i])),
                 reasons[i].reason);
    }
  }
  if (!native.ours) {
    print_line("native: this model has no interval");
    return;
  }
  if (explain) {
    print_line(
        "spec: the description of the machine and data sheets, with parameters fitted to {} "
        "published systems; "
        "docs/accuracy.md says how far such predictions are off",
        nccl_fit().systems);
  }
}

void run(const CLI::App& command, PredictFlags& flags, const CommonOptions& common) {
  study::PredictRequest& request = flags.request;
  request.scenario = study::read_scenario(flags.scenario);
  refuse_idle(command, request.scenario);
  if (!request.scenario.machine && !request.native.known.empty()) {
    throw bad_input(
        "--known has no effect here: this machine is probed, and only descriptions of links take it");
  }
  Progress progress(common.quiet);
  if (!flags.sweeps.empty()) {
    const study::SweepStudy sweep = study::sweep(flags.sweeps, request, common, progress.observer());
    print_sweep(sweep, common);
    if (sweep.unwritable) {
      throw *sweep.unwritable;
    }
    if (flags.charts || command.count("--charts") == 0) {
      draw_sweep(sweep, common, progress);
    }
    if (flags.report) {
      progress.note("No report: it shows one machine, and a sweep is of many.");
    }
    return;
  }
  const study::PointStudy study = study::predict(request, common, progress.observer());
  study::require_predictions(study);
  print_points(study, common, flags.explain, next_steps(study, common.command_line, true));
  if (flags.explain && common.format == OutputFormat::table) {
    print_lines(class_sentences(study.points));
  }
  if (flags.charts && !study.unwritable) {
    draw_points(study, study::speedup_grid(study), common, progress);
  }
  if (flags.report && !study.unwritable) {
    write_report(study, common);
  }
  if (common.format == OutputFormat::table) {
    print_native(study.native, flags.explain);
  }
  if (study.unwritable) {
    throw *study.unwritable;
  }
}

}  // namespace

void add_predict(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("predict", "What a collective will cost; needs no hardware");
  auto flags = std::make_shared<PredictFlags>();
  command->add_option("SCENARIO", flags->scenario, "Scenario file (docs/scenario.md)")->required();
  study::PredictRequest& request = flags->request;
  add_name<Fidelity>(*command, "--fidelity", request.fidelity,
                     "auto, closed_form, replay or flow; auto takes flow if there is contention")
      ->default_str("auto");
  command->add_flag("--force", request.force, "Simulate even if that takes very long");
  command->add_flag("--charts,!--no-charts", flags->charts,
                    "Draw charts as well, as sweeps do by themselves");
  add_report_flag(*command, flags->report);
  command->add_flag(
      "--explain", flags->explain,
      "Show every message size, the simulated classes of ranks, and NCCL's algorithm, protocol and "
      "channels with their reason");
  command
      ->add_option(
          "--sweep", flags->sweeps,
          "Vary ranks, ranks_per_node, bytes or a key of the machine: KEY=FROM:TO:STEP, such as "
          "bandwidth=5GB/s:100GB/s:log10 or ranks=2:64:2x; prints and draws the fastest (repeatable)")
      ->allow_extra_args(false);
  add_name<NativeModel>(
      *command, "--model", request.native.model,
      fmt::format("Model of NCCL's own collectives: {}", fmt::join(names_of<NativeModel>(), ", ")))
      ->default_str("ringside");
  command
      ->add_option(
          "--known", request.native.known,
          "A measurement of native or an algorithm on this machine: "
          "'{native: {ranks: 4, bytes: 1 GiB, seconds: 95 ms}}', '{ring: {…}}', '{all_gather: {…}}', "
          "'{p2p: {bandwidth: 12 GB/s}}', or a file that `ringside import` reads; sharpens all predictions "
          "(repeatable)")
      ->allow_extra_args(false);
  add_calibrate_flags(*command, request.launch);
  command->footer("predict configs/scenarios/custom-10GBps.yaml");
  command->callback([flags, command, &common] { run(*command, *flags, common); });
}

}  // namespace ringside::cli
