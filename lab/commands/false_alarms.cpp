#include "lab/evaluation/false_alarms.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/reports/check_report.hpp"
#include "common/numbers.hpp"
#include "lab/commands/commands.hpp"
#include "lab/studies/evaluate.hpp"

namespace ringside::lab {

using cli::CommonOptions;
using cli::OutputFormat;
using cli::print_line;
using cli::print_record;

namespace {

void print_false_alarms(const FalseAlarms& alarms, const CommonOptions& common) {
  if (common.format == OutputFormat::json) {
    for (const CheckedSystem& system : alarms.systems) {
      print_record({{"record", "checked_system"},
                    {"system", system.name},
                    {"group", system.group},
                    {"kind", std::string(name(system.kind))},
                    {"healthy", system.healthy},
                    {"alarm", system.alarmed},
                    {"too_fast", system.too_fast},
                    {"bands", cli::bands_of(system.bands)}});
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const CheckedSystem& system : alarms.systems) {
    if (system.alarmed && system.healthy) {
      rows.push_back({system.name, std::string(name(system.kind)), system.group});
    }
  }
  std::vector<std::vector<std::string>> injected;
  for (const InjectedCause& cause : alarms.injected) {
    const auto share = [](int part, int whole) {
      return whole == 0 ? std::string(cli::kAbsent) : percent(static_cast<double>(part) / whole);
    };
    injected.push_back({std::string(name(cause.cause)), std::to_string(cause.machines),
                        share(cause.alarmed, cause.machines), share(cause.among_first_two, cause.alarmed),
                        std::to_string(cause.below_spread), share(cause.alarmed_below, cause.below_spread)});
    if (common.format == OutputFormat::json) {
      print_record({{"record", "injected_cause"},
                    {"cause", std::string(name(cause.cause))},
                    {"machines", cause.machines},
                    {"alarmed", cause.alarmed},
                    {"among_first_two", cause.among_first_two},
                    {"below_spread", cause.below_spread},
                    {"alarmed_below", cause.alarmed_below}});
    }
  }
  if (common.format == OutputFormat::json) {
    return;
  }
  const auto healthy = std::count_if(alarms.systems.begin(), alarms.systems.end(),
                                     [](const CheckedSystem& system) { return system.healthy; });
  print_line(fmt::format(
      "{} of {} systems are healthy as far as is known; checked with fits that never saw their source:",
      healthy, alarms.systems.size()));
  print_line(fmt::format(
      "false alarms: {} with each source weighing the same, {} of machines; faster than expected: {}",
      percent(alarms.by_source, 1), percent(alarms.by_machine, 1), percent(alarms.too_fast_by_source, 1)));
  cli::print_table({{"healthy, with an alarm", "kind", "source"}, rows});
  print_line();
  cli::print_table(
      {{"cause put in", ">machines", ">alarmed", ">among first two", ">within spread", ">alarmed there"},
       injected});
}

}  // namespace

void add_false_alarms(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "false-alarms",
      "How often `ringside check` calls healthy machines slow, and whether it finds causes put in");
  auto directory = std::make_shared<std::string>();
  command->add_option("DIR", *directory, "Folder of scenarios, such as configs/evaluation")->required();
  command->callback([directory, &common] {
    cli::Progress progress(common.quiet);
    const FalseAlarms alarms = false_alarms(*directory, progress.observer());
    progress.finish();
    print_false_alarms(alarms, common);
  });
}

}  // namespace ringside::lab
