#include "study/plan/plan.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "analysis/plan/verdict.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/reports/html_report.hpp"
#include "cli/reports/plan_report.hpp"
#include "common/failures.hpp"
#include "results/journal.hpp"
#include "study/inputs/invocation.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/plan/plan_line.hpp"

namespace ringside::cli {
namespace {

struct PlanFlags {
  std::string file;
  study::PlanRequest request;
  study::PlanLine line;
  std::vector<std::string> sweeps;
  bool no_charts = false;
  bool all_rows = false;  ///< --top says how many.
  bool report = false;
};

/// The folder for results, or one in the system's for temporary files, with why and where.
std::optional<Error> choose_folder(const std::string& name, CommonOptions& common) {
  try {
    common.output = study::output_directory(common, name);
    return std::nullopt;
  } catch (const Error& error) {
    std::error_code none;
    std::string name_of_folder =
        (std::filesystem::temp_directory_path(none) / "ringside-plan-XXXXXX").string();
    if (none || ::mkdtemp(name_of_folder.data()) == nullptr) {
      throw;
    }
    common.output = name_of_folder;
    return Error(error.kind(), fmt::format("{}; they are in {}", error.what(), name_of_folder));
  }
}

/// The answer first, then what could not be written. `written`: of a one-line plan; else none.
void answer(study::PlanRequest request, const study::WrittenPlan* written, const PlanFlags& flags,
            CommonOptions common, const std::optional<Error>& unwritable) {
  Plan asked = study::plan_of(request);
  const bool in_buckets = computes(asked.workload) && !asked.shards();
  if (!request.explained.empty() && !in_buckets) {
    throw bad_input("--explain explains the steps of plain data parallelism, and {} {}",
                    request.plan.string(), asked.shards() ? "has `sharding`" : "has no `compute`");
  }
  std::optional<Error> problem = unwritable;
  if (written == nullptr) {
    problem = choose_folder(asked.name, common);
  }
  request.read = std::move(asked);
  Progress progress(common.quiet);
  const study::PlanStudy study = study::plan(request, common, progress.observer());
  PlanView view{.explained = !request.explained.empty()};
  view.top = flags.all_rows ? static_cast<std::size_t>(request.top) : view.top;
  print_plan(study, view, common);
  if (flags.report && !study.ranked.candidates.empty()) {
    write_report(study, common);
  } else if (flags.report) {
    progress.note("No report: there is no offer.");
  }
  print_where(study, written != nullptr, request.offers, common);
  if (!study.shown.empty() && !flags.no_charts && !problem) {
    draw_plan(study, common, progress);
  }
  if (const std::string why = why_none(study.ranked); !why.empty()) {
    throw Error(ErrorKind::environment, why);
  }
  if (problem) {
    throw *problem;
  }
}

void print_sweep(const study::PlanRequest& request, const PlanFlags& flags, const CommonOptions& common) {
  Progress progress(common.quiet);
  const study::PlanSweep sweep = study::sweep_plan(flags.sweeps, request, progress.observer());
  print_plan_sweep(sweep, common);
  if (flags.report) {
    progress.note("No report: it shows one plan, and a sweep is of many.");
  }
  if (std::ranges::all_of(sweep.rows, [](const study::PlanSweepRow& row) { return !row.why_none.empty(); })) {
    throw Error(ErrorKind::environment, sweep.rows.back().why_none);
  }
}

void run(const PlanFlags& flags, CommonOptions common) {
  study::PlanRequest request = flags.request;
  request.plan = flags.file;
  request.curves = !flags.no_charts || flags.report;
  if (request.plan.empty() && flags.line.gpus.empty() && request.offers.empty()) {
    throw Error(ErrorKind::bad_input,
                flags.line.model || flags.line.gradients
                    ? fmt::format("{} needs --gpus, such as 4x3090, or --offers, a listing",
                                  flags.line.model ? "--model" : "--gradients")
                    : "plan needs a PLAN file, such as configs/plans/resnet34-tutorial.yaml, or --model and "
                      "--gpus");
  }
  std::optional<study::WrittenPlan> written;
  std::optional<Error> unwritable;
  if (request.plan.empty()) {
    study::PlanLine line = flags.line;
    line.deadline = request.deadline;
    line.budget = request.budget;
    line.exchange = request.exchange;
    line.listings = !request.offers.empty();
    written = study::write_plan(line, common.command_line, study::known_names());
    unwritable = choose_folder(written->name, common);
    request.plan = *common.output / "plan.yaml";
    write_file(request.plan, written->yaml);
    request.assumptions = written->assumptions;
  }
  if (!flags.sweeps.empty()) {
    print_sweep(request, flags, common);
  } else {
    answer(std::move(request), written ? &*written : nullptr, flags, common, unwritable);
  }
}

/// The flags of a one-line plan: all say what a file would.
void add_line(CLI::App& command, CLI::Option& plan, study::PlanLine& line) {
  const auto add = [&](const char* flag, auto& value, const char* help) {
    return command.add_option(flag, value, help)->excludes(&plan);
  };
  add("--gpus", line.gpus,
      "Offers: GPUs or machines, with a price per hour, such as '4x3090, 8x4090 @ 2.77 USD'");
  CLI::Option* model = add("--model", line.model,
                           "A name of `list workloads`, a workload file, or config.json of a language model");
  CLI::Option* gradients =
      add("--gradients", line.gradients, "Without a model: bytes '88 MB' or parameters '22 M'");
  CLI::Option* shard =
      add("--shard", line.sharding,
          "ddp, zero1, zero2, zero3, fsdp, hybrid, lora, qlora, offload; several with commas");
  CLI::Option* search =
      command.add_flag("--search", line.search, "Try all ways of --shard; name the best two")
          ->excludes(&plan);
  CLI::Option* sequence = add("--sequence", line.sequence, "Tokens of a sample, instead of the model's");
  CLI::Option* tokens = add("--tokens", line.tokens, "Length of the training, such as '300 B'");
  CLI::Option* epochs = add("--epochs", line.epochs, "Length of the training in epochs");
  CLI::Option* batch = add("--batch", line.batch, "Samples of each GPU per pass");
  add("--bandwidth", line.bandwidth, "Measured PCIe bandwidth, such as '20 GB/s'");
  add("--known", line.known, "A measurement: '3090: 568 samples/s' or '4x3090: 88 MB in 15 ms' (repeatable)")
      ->allow_extra_args(false);
  for (CLI::Option* of_model : {model, shard, search, sequence, tokens, epochs, batch}) {
    of_model->excludes(gradients);
  }
  search->excludes(shard);
  tokens->excludes(epochs);
}

}  // namespace

void add_plan(CLI::App& app, CommonOptions& common) {
  CLI::App* command = app.add_subcommand(
      "plan", "Before you rent: step time, exposed communication and cost of a workload on each offer");
  auto flags = std::make_shared<PlanFlags>();
  study::PlanRequest& request = flags->request;
  CLI::Option* plan =
      command->add_option("PLAN", flags->file, "Plan file (docs/planning.md); or else --model and --gpus");
  CLI::Option* sweep = command->add_option(
      "--sweep", flags->sweeps,
      "The best offer for each value of a key: gpus=4,8,16 or accumulate=1:64:2x (repeatable)");
  sweep->allow_extra_args(false);
  command
      ->add_option(
          "--offers", request.offers,
          "A listing: YAML, JSON of `vastai search offers --raw`, or SkyPilot's vms.csv (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--deadline", request.deadline, "Longest run, such as '2 h'");
  command->add_option("--budget", request.budget, "Highest cost, such as '20 USD'");
  command
      ->add_option("--exchange", request.exchange, "Exchange rate, such as '1 EUR = 1.08 USD' (repeatable)")
      ->allow_extra_args(false);
  command
      ->add_option("--explain", request.explained, "Explain the offers whose name contains this (repeatable)")
      ->allow_extra_args(false)
      ->excludes(sweep);
  command->add_option("--top", request.top, "How many offers to show")
      ->check(CLI::Range(1, 1000))
      ->excludes(sweep)
      ->each([flags](const std::string&) { flags->all_rows = true; });
  add_line(*command, *plan, flags->line);
  command->add_flag("--no-charts", flags->no_charts, "Do not draw charts");
  add_report_flag(*command, flags->report);
  command->footer("plan --model resnet34 --gpus '4x3090,8x3090,p4d.24xlarge'");
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
