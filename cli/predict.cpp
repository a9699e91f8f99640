#include "study/predict.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/limit_sentences.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/launch_flags.hpp"
#include "cli/reports/report.hpp"
#include "cli/reports/sweep_report.hpp"
#include "common/error.hpp"
#include "sim/nccl/parameters.hpp"
#include "study/sweep.hpp"

namespace ringside::cli {
namespace {

struct PredictFlags {
  std::string scenario;
  std::string fidelity = "auto";
  bool force = false;
  bool charts = false;
  bool explain = false;
  std::vector<std::string> sweeps;
  std::string model = "ringside";
  std::vector<std::string> known;
  LaunchFlags launch;
};

study::PredictRequest request_of(const PredictFlags& flags) {
  const std::optional<Fidelity> fidelity = parse_name<Fidelity>(flags.fidelity);
  if (!fidelity) {
    throw Error(ErrorKind::bad_input, unknown_name("--fidelity", flags.fidelity, names_of<Fidelity>()));
  }
  const std::optional<NativeModel> model = parse_native_model(flags.model);
  if (!model) {
    throw Error(ErrorKind::bad_input, unknown_name("--model", flags.model, native_model_names()));
  }
  return {.scenario = flags.scenario,
          .fidelity = *fidelity,
          .force = flags.force,
          .launch = launch_choices(flags.launch),
          .native = {.model = *model, .known = flags.known}};
}

/// Interval, source and reason of every prediction of NCCL's own all_reduce, and which single measurement would
/// narrow them most. Prints nothing when there are none.
void print_native(const study::NativeFindings& native, bool explain) {
  if (native.points.empty()) {
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Point& point : native.points) {
    const Prediction& prediction = *point.predicted;
    const auto or_nothing = [](const std::optional<Seconds>& time) { return time ? format(*time) : ""; };
    rows.push_back({std::to_string(point.key.ranks), format(point.key.bytes), format(prediction.seconds),
                    or_nothing(prediction.low), or_nothing(prediction.high),
                    std::string(name(prediction.source))});
  }
  print_line();
  print_line(native.ours ? "native, with its 90 % interval" : "native; this model has no interval");
  print(table({">ranks", ">size", ">predicted", ">from", ">to", "source"}, rows));
  if (explain) {
    std::vector<std::vector<std::string>> reasons;
    for (const Point& point : native.points) {
      reasons.push_back({std::to_string(point.key.ranks), format(point.key.bytes),
                         limit_sentences(point.predicted->limits)});
    }
    print(table({">ranks", ">size", "what NCCL takes, and what limits it"}, reasons));
  }
  for (const study::SizeRange& range : explain ? std::vector<study::SizeRange>{} : native.reasons) {
    const std::string sizes = range.first == range.last
                                  ? format(range.first)
                                  : fmt::format("{} to {}", format(range.first), format(range.last));
    print_line(fmt::format("{} ranks, {}: {}", range.ranks, sizes, range.reason));
  }
  if (!native.ours) {
    return;
  }
  print_line(fmt::format(
      "spec: the description of the machine and data sheets, with parameters fitted to {} published systems; "
      "docs/accuracy.md says how far such predictions are off",
      nccl_fit().systems));
  if (native.advice) {
    print_line();
    print_line(fmt::format("What would narrow this most: {} (intervals of x{:.1f} become x{:.1f})",
                           native.advice->what, native.advice->width_before, native.advice->width_after));
    print_line("  " + native.advice->command);
    print_line(fmt::format("  then --known '{}'", native.advice->known));
    if (!native.advice->question.empty()) {
      print_line(fmt::format("What would settle the transport: {} Write {}.", native.advice->question,
                             native.advice->answer));
    }
  }
}

void run(const PredictFlags& flags, const CommonOptions& common) {
  const study::PredictRequest request = request_of(flags);
  Progress progress(common.quiet);
  if (!flags.sweeps.empty()) {
    const study::SweepStudy sweep = study::sweep(flags.sweeps, request, common, progress.observer());
    print_sweep(sweep, common);
    if (sweep.unwritable) {
      throw *sweep.unwritable;
    }
    draw_sweep(sweep, common, progress);
    return;
  }
  const study::PointStudy study = study::predict(request, common, progress.observer());
  if (std::none_of(study.points.begin(), study.points.end(),
                   [](const Point& point) { return point.predicted.has_value(); })) {
    throw Error(ErrorKind::environment,
                fmt::format("nothing can be predicted. {}", fmt::join(study.unpredicted, ". ")));
  }
  print_points(study, common);
  if (flags.charts && !study.unwritable) {
    draw_points(study, study::speedup_grid(study), common, progress);
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
  command
      ->add_option("--fidelity", flags->fidelity,
                   "auto, closed_form, replay or flow; auto takes flow where anything is shared")
      ->capture_default_str();
  command->add_flag("--force", flags->force, "Simulate even where that takes very long");
  command->add_flag("--charts", flags->charts, "Draw charts as well");
  command->add_flag("--explain", flags->explain,
                    "Say for each message size which algorithm, protocol and channels NCCL takes, and why");
  command
      ->add_option(
          "--sweep", flags->sweeps,
          "What if: KEY=FROM:TO:STEP for ranks, bytes or any key of the machine, such as "
          "bandwidth=5GB/s:100GB/s:log10 or ranks=2:64:2x; prints and draws who wins; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--model", flags->model,
          fmt::format("Whose answer for NCCL's own collectives: {}", fmt::join(native_model_names(), ", ")))
      ->capture_default_str();
  command
      ->add_option(
          "--known", flags->known,
          "What somebody measured on this machine, of native or of an algorithm: "
          "'{native: {ranks: 4, bytes: 1 GiB, seconds: 95 ms}}', '{ring: {…}}', '{all_gather: {…}}', "
          "'{p2p: {bandwidth: 12 GB/s}}', or a file that `ringside import` reads; sharpens all predictions; "
          "may be repeated")
      ->allow_extra_args(false);
  add_calibrate_flags(*command, flags->launch);
  command->callback([flags, command, &common] {
    flags->launch.given = typed_flags(*command);
    run(*flags, common);
  });
}

}  // namespace ringside::cli
