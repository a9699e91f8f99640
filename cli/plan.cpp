#include "scenario/plan.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/plan_answers.hpp"
#include "analysis/plan_sentences.hpp"
#include "analysis/planner.hpp"
#include "analysis/scaling_check.hpp"
#include "cli/commands.hpp"
#include "cli/job.hpp"
#include "cli/lookup.hpp"
#include "cli/offers.hpp"
#include "cli/plan_report.hpp"
#include "cli/sweep.hpp"
#include "common/error.hpp"
#include "scenario/keys.hpp"
#include "scenario/override.hpp"

namespace ringside::cli {
namespace {

struct PlanFlags {
  std::string plan;
  std::vector<std::string> offers;
  std::vector<std::string> sweeps;
  std::optional<std::string> deadline;
  std::optional<std::string> budget;
  std::vector<std::string> explained;
  std::string validated;
  int top = 20;
  bool no_charts = false;
};

PlanPlaces plan_places() {
  const std::filesystem::path configs = configs_directory().value_or("configs");
  return {.models = configs / "workloads" / "tensors", .workloads = configs / "workloads"};
}

/// The flags as if the plan said so.
std::vector<KeyOverride> overrides_of(const PlanFlags& flags) {
  std::vector<KeyOverride> overrides;
  if (flags.deadline) {
    overrides.push_back(
        {.key = "deadline", .value = *flags.deadline, .origin = "--deadline " + *flags.deadline});
  }
  if (flags.budget) {
    overrides.push_back({.key = "budget", .value = *flags.budget, .origin = "--budget " + *flags.budget});
  }
  return overrides;
}

/// Offers whose price is in another currency than most cannot be compared with them.
void set_other_currencies_aside(const Plan& plan, std::vector<Offer>& offers) {
  std::map<std::string, int> counts;
  for (const Offer& offer : offers) {
    if (offer.per_hour) {
      ++counts[offer.per_hour->currency];
    }
  }
  if (counts.empty()) {
    return;
  }
  const std::string most =
      plan.budget ? plan.budget->currency
                  : std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                      return a.second < b.second;
                    })->first;
  for (Offer& offer : offers) {
    if (offer.problem.empty() && offer.per_hour && offer.per_hour->currency != most) {
      offer.problem = fmt::format("its price is in {}, and others are in {}", offer.per_hour->currency, most);
    }
  }
}

std::string best_way(Planner& planner, const Plan& plan, const Offer& offer) {
  const std::vector<Alternative> tried = alternatives(planner, plan, offer);
  return tried.empty() || offer.gpus < 2 ? std::string{} : describe(best_of(tried), plan);
}

PlanReport estimate(const Plan& plan, std::vector<Offer> offers, Planner& planner, const PlanFlags& flags) {
  PlanReport report{.plan = plan, .offers = std::move(offers)};
  set_other_currencies_aside(plan, report.offers);
  std::transform(report.offers.begin(), report.offers.end(), std::back_inserter(report.estimates),
                 [&](const Offer& offer) { return planner.estimate(offer); });
  report.ranking = rank_offers(plan, report.offers, report.estimates);
  for (const std::size_t index : report.ranking.order) {
    if (report.shown.size() < static_cast<std::size_t>(flags.top) && report.estimates[index].step) {
      report.shown.push_back(index);
      report.thresholds.push_back(thresholds(planner, plan, report.offers[index]));
      report.best_ways.push_back(best_way(planner, plan, report.offers[index]));
    }
  }
  return report;
}

int number_of_gpus(const std::string& text) {
  int gpus = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), gpus);
  if (status != std::errc{} || end != text.data() + text.size() || gpus < 1) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--sweep gpus={}: '{}' is not a number of GPUs", text, text));
  }
  return gpus;
}

/// The offer with the values of those keys that are keys of machines.
Offer offer_with(Offer offer, const std::vector<Sweep>& sweeps, const std::vector<std::string>& values) {
  for (std::size_t index = 0; index < sweeps.size(); ++index) {
    const std::string& key = sweeps[index].key;
    if (is_plan_key(key)) {
      continue;
    }
    if (key != "gpus") {
      offer.machine =
          with_value(offer.machine,
                     {.key = key, .value = values[index], .origin = origin_of(sweeps[index], values[index])});
      continue;
    }
    offer.gpus = number_of_gpus(values[index]);
    if (offer.machine.gpus_per_node && offer.gpus > *offer.machine.gpus_per_node * offer.machine.nodes) {
      throw Error(ErrorKind::bad_input, fmt::format("{} has no {} GPUs", offer.name, offer.gpus));
    }
  }
  return offer;
}

/// Every offer with the values of a combination; one that cannot have them gets a problem. Throws when none can.
std::vector<Offer> offers_with(const std::vector<Offer>& offers, const std::vector<Sweep>& sweeps,
                               const std::vector<std::string>& values) {
  std::vector<Offer> changed;
  std::size_t refused = 0;
  for (const Offer& offer : offers) {
    try {
      changed.push_back(offer.problem.empty() ? offer_with(offer, sweeps, values) : offer);
    } catch (const Error& error) {
      if (++refused == offers.size()) {
        throw;
      }
      changed.push_back(offer);
      changed.back().problem = error.what();
    }
  }
  return changed;
}

std::vector<std::string> sweepable_keys() {
  std::vector<std::string> paths = {"gpus"};
  for (const auto& keys : {plan_keys(), workload_keys(), machine_keys()}) {
    std::transform(keys.begin(), keys.end(), std::back_inserter(paths),
                   [](const KeyDescription& key) { return key.path; });
  }
  return paths;
}

/// A row per combination: the best offer and what it does there.
void run_sweeps(const PlanFlags& flags, const KnownNames& known, const std::vector<Offer>& extra,
                const CommonOptions& common) {
  std::vector<Sweep> sweeps;
  std::transform(flags.sweeps.begin(), flags.sweeps.end(), std::back_inserter(sweeps), parse_sweep);
  require_known_keys(sweeps, sweepable_keys(),
                     "a plan, a workload (docs/planning.md) or a machine (docs/scenario.md)");
  std::vector<std::vector<std::string>> rows;
  OfferNotes notes;
  for (const std::vector<std::string>& values : combinations(sweeps)) {
    std::vector<KeyOverride> overrides = overrides_of(flags);
    for (std::size_t index = 0; index < sweeps.size(); ++index) {
      if (is_plan_key(sweeps[index].key)) {
        overrides.push_back({.key = sweeps[index].key,
                             .value = values[index],
                             .origin = origin_of(sweeps[index], values[index])});
      }
    }
    const Plan plan = load_plan(flags.plan, known, plan_places(), overrides);
    std::vector<Offer> offers = plan.offers;
    offers.insert(offers.end(), extra.begin(), extra.end());
    Planner planner(plan);
    PlanFlags without_thresholds = flags;
    without_thresholds.top = 0;
    const PlanReport report =
        estimate(plan, offers_with(offers, sweeps, values), planner, without_thresholds);
    if (common.format == OutputFormat::json) {
      std::map<std::string, std::string> named;
      for (std::size_t index = 0; index < sweeps.size(); ++index) {
        named[sweeps[index].key] = values[index];
      }
      print_line(best_offer_line(report, named));
      continue;
    }
    std::vector<std::string> row = values;
    const std::vector<std::string> cells = best_offer_cells(report);
    row.insert(row.end(), cells.begin(), cells.end());
    rows.push_back(std::move(row));
    add_best_offer_warnings(report, notes);
  }
  if (common.format == OutputFormat::json) {
    return;
  }
  std::vector<std::string> header;
  std::transform(sweeps.begin(), sweeps.end(), std::back_inserter(header),
                 [](const Sweep& sweep) { return ">" + sweep.key; });
  const std::vector<std::string> rest = best_offer_header();
  header.insert(header.end(), rest.begin(), rest.end());
  print(table(header, rows));
  notes.print("mind");
}

KnownNames known_names() {
  const auto configs = configs_directory();
  return {.algorithms = scenario_algorithms,
          .machines = configs ? std::optional(*configs / "machines") : std::nullopt};
}

void print_json(const std::vector<ScalingCheck>& checks) {
  for (const ScalingCheck& check : checks) {
    print_line(nlohmann::ordered_json{{"record", "scaling"},
                                      {"model", check.row.model},
                                      {"precision", check.row.precision},
                                      {"system", check.row.system},
                                      {"gpus", check.row.gpus},
                                      {"measured", check.row.efficiency},
                                      {"predicted", check.predicted.typical},
                                      {"low", check.predicted.low},
                                      {"high", check.predicted.high}}
                   .dump());
  }
}

/// Predicted scaling beside published, a row each.
void validate(const std::string& table_file, const CommonOptions& common) {
  const std::vector<ScalingCheck> checks =
      check_scaling(load_published_scaling(table_file),
                    {.table = table_file, .models = plan_places().models, .known = known_names()});
  if (common.format == OutputFormat::json) {
    print_json(checks);
    return;
  }
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
  std::vector<std::vector<std::string>> rows;
  for (const ScalingCheck& check : checks) {
    const PublishedScaling& row = check.row;
    rows.push_back({row.model, row.precision, row.system, std::to_string(row.gpus), percent(row.efficiency),
                    percent(check.predicted.typical),
                    fmt::format("{} – {}", percent(check.predicted.low), percent(check.predicted.high)),
                    fmt::format("{:+.1f}", 100 * check.error()), check.inside() ? "" : "outside"});
  }
  print(table({"model", "precision", "system", ">GPUs", ">measured %", ">predicted %", ">90 %", ">error", ""},
              rows));
  const auto print_summary = [](std::string_view which, const ScalingSummary& summary) {
    print_line(fmt::format(
        "{} rows{}: median error of scaling efficiency {:.1f} points, mean {:.1f}; {:.0f} % inside their "
        "interval",
        summary.rows, which, 100 * summary.median_error, 100 * summary.mean_error, 100 * summary.coverage));
  };
  print_line();
  print_summary("", summary_of(checks));
  print_summary(" that took no part in finding how far GPUs spread", summary_of(held_out(checks)));
}

void run(const PlanFlags& flags, const CommonOptions& common) {
  if (!flags.validated.empty()) {
    validate(flags.validated, common);
    return;
  }
  if (flags.plan.empty()) {
    throw Error(ErrorKind::bad_input, "plan needs a PLAN file, such as configs/plans/resnet34-tutorial.yaml");
  }
  const KnownNames known = known_names();
  const Plan plan = load_plan(flags.plan, known, plan_places(), overrides_of(flags));
  Progress progress(common.quiet);
  std::vector<Offer> extra;
  for (const std::string& file : flags.offers) {
    for (Offer& offer : read_offers(file, known, progress)) {
      extra.push_back(std::move(offer));
    }
  }
  if (plan.offers.empty() && extra.empty()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: has no offers; write `offers`, or name a file with --offers", flags.plan));
  }
  if (!flags.sweeps.empty()) {
    run_sweeps(flags, known, extra, common);
    return;
  }
  std::vector<Offer> offers = plan.offers;
  std::move(extra.begin(), extra.end(), std::back_inserter(offers));
  Planner planner(plan);
  const PlanReport report = estimate(plan, std::move(offers), planner, flags);
  print_plan(report, planner,
             {.explained = flags.explained,
              .charts = !flags.no_charts,
              .directory = output_directory(common, plan.name)},
             common, progress);
  if (!report.ranking.recommended) {
    throw Error(ErrorKind::environment, report.ranking.reason);
  }
}

}  // namespace

void add_plan(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "plan",
      "Before you rent: step time, exposed communication and cost of a workload on every machine on offer");
  auto flags = std::make_shared<PlanFlags>();
  command->add_option("PLAN", flags->plan, "Plan file (docs/planning.md)");
  command
      ->add_option("--offers", flags->offers,
                   "More offers: YAML, `vastai search offers --raw` JSON, or vms.csv of SkyPilot's "
                   "catalogue; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--deadline", flags->deadline, "By when the run must be done, such as '2 h'");
  command->add_option("--budget", flags->budget, "What the run may cost, such as '20 USD'");
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
                      "Instead of a plan: predicted beside published scaling, every row of a table such as "
                      "configs/scaling/published.csv");
  command->add_flag("--no-charts", flags->no_charts, "Draw nothing");
  command->callback([flags, &common] { run(*flags, common); });
}

}  // namespace ringside::cli
