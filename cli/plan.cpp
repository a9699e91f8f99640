#include "study/plan/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/reports/plan_brief.hpp"
#include "cli/reports/plan_report.hpp"
#include "cli/reports/sharding_report.hpp"
#include "cli/reports/validation_report.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "study/inputs/invocation.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/plan/plan_line.hpp"

namespace ringside::cli {
namespace {

struct PlanFlags {
  std::string plan;
  std::string gpus;
  std::optional<std::string> model;
  std::optional<std::string> gradients;
  std::optional<std::string> batch;
  std::optional<std::string> bandwidth;
  std::optional<std::string> sharding;
  bool search = false;
  std::optional<std::string> sequence;
  std::optional<std::string> tokens;
  std::optional<std::string> epochs;
  std::vector<std::string> known;
  std::vector<std::string> offers;
  std::vector<std::string> sweeps;
  std::optional<std::string> deadline;
  std::optional<std::string> budget;
  std::vector<std::string> exchange;
  std::vector<std::string> explained;
  std::string validated;
  int top = 20;
  bool no_charts = false;
};

study::PlanRequest request_of(const PlanFlags& flags) {
  return {.plan = flags.plan,
          .offers = flags.offers,
          .deadline = flags.deadline,
          .budget = flags.budget,
          .exchange = flags.exchange,
          .explained = flags.explained,
          .top = flags.top,
          .curves = !flags.no_charts};
}

/// What --model and its like say is a part of a plan file.
void refuse_parts_of_a_line(const PlanFlags& flags) {
  const auto refuse = [&](const char* flag, bool given) {
    if (given) {
      throw Error(ErrorKind::bad_input,
                  flags.plan.empty()
                      ? fmt::format("{} needs --gpus, such as '4x3090,8x4090,p4d.24xlarge'", flag)
                      : fmt::format("{} is for a plan without a file; {} says it itself", flag, flags.plan));
    }
  };
  refuse("--gpus", !flags.gpus.empty());
  refuse("--model", flags.model.has_value());
  refuse("--gradients", flags.gradients.has_value());
  refuse("--batch", flags.batch.has_value());
  refuse("--bandwidth", flags.bandwidth.has_value());
  refuse("--shard", flags.sharding.has_value());
  refuse("--search", flags.search);
  refuse("--sequence", flags.sequence.has_value());
  refuse("--tokens", flags.tokens.has_value());
  refuse("--epochs", flags.epochs.has_value());
  refuse("--known", !flags.known.empty());
}

void refuse_beside_validation(const PlanFlags& flags) {
  const PlanFlags none;
  const bool plans = !flags.plan.empty() || !flags.gpus.empty() || flags.model || flags.gradients ||
                     flags.batch || flags.bandwidth || flags.sharding || flags.search || flags.sequence ||
                     flags.tokens || flags.epochs || !flags.known.empty() || !flags.offers.empty() ||
                     !flags.sweeps.empty() || flags.deadline || flags.budget || !flags.exchange.empty() ||
                     !flags.explained.empty() || flags.top != none.top;
  if (plans) {
    throw Error(
        ErrorKind::bad_input,
        "--validate compares a table with what plans of its rows say; leave out what is of another plan");
  }
}

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

/// `written`: of a plan without a file, which is answered on one screen; else none.
void answer(study::PlanRequest request, study::PlanQuestion question, const study::WrittenPlan* written,
            bool charts, const CommonOptions& common) {
  request.read = std::move(question.plan);
  Progress progress(common.quiet);
  const auto print_written = [&] {
    if (written != nullptr) {
      print_written_plan(request.plan, request.offers, written->yaml, common);
    }
  };
  if (!request.explained.empty() && (question.shards || !question.computes)) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--explain explains the steps of plain data parallelism, and {} {}",
                            request.plan.string(), question.shards ? "has `sharding`" : "has no `compute`"));
  }
  if (question.shards) {
    const study::ShardingStudy study = study::shard(request, common, progress.observer());
    print_sharding(study, request.top, common);
    print_written();
    if (!study.why_none.empty()) {
      throw Error(ErrorKind::environment, study.why_none);
    }
    return;
  }
  if (!question.computes) {
    const study::SynchronisationStudy study = study::synchronise(request, common, progress.observer());
    print_synchronisation(study, common);
    print_written();
    if (std::all_of(study.times.begin(), study.times.end(),
                    [](const SynchronisationTimes& times) { return !times.problem.empty(); })) {
      throw Error(ErrorKind::environment,
                  fmt::format("No offer can be used. {}: {}.", study.offers[study.order.front()].name,
                              study.times[study.order.front()].problem));
    }
    return;
  }
  const study::PlanStudy study = study::plan(request, common, progress.observer());
  if (written == nullptr) {
    print_plan(study, common);
  } else {
    print_brief_plan(study, !request.explained.empty(), common);
  }
  print_written();
  if (charts) {
    draw_plan(study, common, progress);
  }
  if (!study.estimate.ranking.recommended) {
    throw Error(ErrorKind::environment, study.estimate.ranking.reason);
  }
}

void print_sweep(const PlanFlags& flags, const CommonOptions& common) {
  if (!flags.explained.empty() || flags.top != PlanFlags{}.top) {
    throw Error(ErrorKind::bad_input,
                "--sweep names one offer of each combination; leave out --explain and --top");
  }
  Progress progress(common.quiet);
  const study::PlanSweep sweep = study::sweep_plan(flags.sweeps, request_of(flags), progress.observer());
  print_plan_sweep(sweep, common);
  if (std::all_of(sweep.rows.begin(), sweep.rows.end(),
                  [](const study::PlanSweepRow& row) { return !row.why_none.empty(); })) {
    throw Error(ErrorKind::environment, sweep.rows.back().why_none);
  }
}

/// What was asked is answered first, then what could not be written is told.
void run_line(PlanFlags flags, CommonOptions common) {
  const study::WrittenPlan written = study::write_plan({.model = flags.model,
                                                        .gradients = flags.gradients,
                                                        .gpus = flags.gpus,
                                                        .batch = flags.batch,
                                                        .bandwidth = flags.bandwidth,
                                                        .sharding = flags.sharding,
                                                        .search = flags.search,
                                                        .sequence = flags.sequence,
                                                        .tokens = flags.tokens,
                                                        .epochs = flags.epochs,
                                                        .deadline = flags.deadline,
                                                        .budget = flags.budget,
                                                        .exchange = flags.exchange,
                                                        .known = flags.known},
                                                       common.command_line, study::known_names());
  const std::optional<Error> unwritable = choose_folder(written.name, common);
  const std::filesystem::path file = *common.output / "plan.yaml";
  study::write_file(file, written.yaml);
  flags.plan = file.string();
  study::PlanRequest request = request_of(flags);
  request.assumptions = written.assumptions;
  if (!flags.sweeps.empty()) {
    print_sweep(flags, common);
    return;
  }
  answer(request, study::question_of(request), &written, !flags.no_charts && !unwritable, common);
  if (unwritable) {
    throw *unwritable;
  }
}

/// Likewise.
void run_file(const PlanFlags& flags, CommonOptions common) {
  const study::PlanRequest request = request_of(flags);
  study::PlanQuestion question = study::question_of(request);
  const std::optional<Error> unwritable = choose_folder(question.name, common);
  answer(request, std::move(question), nullptr, !flags.no_charts && !unwritable, common);
  if (unwritable) {
    throw *unwritable;
  }
}

void run(const PlanFlags& flags, const CommonOptions& common) {
  if (!flags.validated.empty()) {
    refuse_beside_validation(flags);
    print_validation(flags.validated, common);
    return;
  }
  if (flags.plan.empty() && !flags.gpus.empty()) {
    run_line(flags, common);
    return;
  }
  refuse_parts_of_a_line(flags);
  if (flags.plan.empty()) {
    throw Error(
        ErrorKind::bad_input,
        "plan needs a PLAN file, such as configs/plans/resnet34-tutorial.yaml, or --model and --gpus");
  }
  if (!flags.sweeps.empty()) {
    print_sweep(flags, common);
    return;
  }
  run_file(flags, common);
}

}  // namespace

void add_plan(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "plan",
      "Before you rent: step time, exposed communication and cost of a workload on every machine on offer");
  auto flags = std::make_shared<PlanFlags>();
  command->add_option("PLAN", flags->plan,
                      "Plan file (docs/planning.md); without one, --model and --gpus ask");
  command->add_option("--model", flags->model,
                      "What is trained: a name of `ringside list workloads`, its beginning, a workload file, "
                      "or config.json of a language model");
  command->add_option("--gradients", flags->gradients,
                      "Instead of a model, the size of its gradients, such as '88 MB', or how many "
                      "parameters it has, such as "
                      "'22 M': what synchronising them takes");
  command->add_option(
      "--gpus", flags->gpus,
      "What could be rented, such as '4x3090, 8x4090 @ 2.77 USD, p4d.24xlarge': GPUs, with the price of "
      "an hour, or machines");
  command->add_option("--shard", flags->sharding,
                      "How a language model is spread over GPUs: ddp, zero1, zero2, zero3, fsdp, hybrid, "
                      "lora, qlora, or several with commas");
  command->add_flag("--search", flags->search,
                    "Try all ways to spread a language model, and name the best and the runner-up");
  command->add_option("--sequence", flags->sequence,
                      "Tokens of a sample of a language model, instead of the model's");
  command->add_option("--tokens", flags->tokens,
                      "How long a language model is trained, such as '300 B', instead of the model's");
  command->add_option("--epochs", flags->epochs, "The same in epochs, for models whose data is known");
  command->add_option("--batch", flags->batch, "Samples of one GPU per pass, instead of the model's");
  command->add_option("--bandwidth", flags->bandwidth,
                      "Measured bandwidth of the PCIe slots of --gpus, such as '20 GB/s'");
  command
      ->add_option("--known", flags->known,
                   "What somebody measured: '3090: 568 samples/s' of one GPU, or '4x3090: 88 MB in 15 ms'; "
                   "may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--offers", flags->offers,
                   "More offers: YAML, `vastai search offers --raw` JSON, or vms.csv of SkyPilot's "
                   "catalogue; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--deadline", flags->deadline, "By when the run must be done, such as '2 h'");
  command->add_option("--budget", flags->budget, "What the run may cost, such as '20 USD'");
  command
      ->add_option("--exchange", flags->exchange,
                   "What a currency of offers is worth, such as '1 EUR = 1.08 USD', instead of the plan's "
                   "exchange_rates; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--explain", flags->explained,
                   "Explain every shown offer whose name contains this; else the best and the first one")
      ->allow_extra_args(false);
  command->add_option("--top", flags->top, "How many offers to show")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command
      ->add_option(
          "--sweep", flags->sweeps,
          "What if: KEY=FROM:TO:STEP for any key of the plan, its workload or its machines, or gpus, such as "
          "accumulate=1:64:2x or lanes=4,8,16; prints the best offer of each; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--validate", flags->validated,
                      "Instead of a plan: predicted beside published, every row of a table such as "
                      "configs/scaling/published.csv (scaling), configs/scaling/speeds.csv (one GPU) or "
                      "configs/scaling/language_models.csv (runs)");
  command->add_flag("--no-charts", flags->no_charts, "Draw nothing");
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
