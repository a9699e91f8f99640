#include "lab/studies/ledger.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/console.hpp"
#include "common/numbers.hpp"
#include "lab/commands/commands.hpp"

namespace ringside::lab {

using cli::CommonOptions;
using cli::print_line;
using cli::Progress;

namespace {

void run_freeze(const LedgerRequest& request, const CommonOptions& common) {
  Progress progress(common.quiet);
  const Frozen frozen = freeze(request, progress.observer());
  for (const std::string& skipped : frozen.skipped) {
    print_line("not predicted: " + skipped);
  }
  print_line(fmt::format("{} points of {} scenarios are frozen in {}", frozen.points, frozen.scenarios,
                         request.ledger.string()));
}

std::vector<std::string> score_row(const std::string& what, const Accuracy& record) {
  return {what, std::to_string(record.points), percent(record.mape, 1),
          fmt::format("{:+.0f} %", 100 * record.bias), record.coverage ? percent(*record.coverage) : ""};
}

void run_score(const LedgerRequest& request, const CommonOptions& common) {
  Progress progress(common.quiet);
  const LedgerScores scores = score(request, progress.observer());
  std::vector<std::vector<std::string>> rows;
  for (const Accuracy& record : scores.scenarios) {
    rows.push_back(score_row(*record.system, record));
  }
  rows.push_back(score_row("all points", scores.all));
  cli::print_table({{"scenario", ">points", ">mean error", ">bias", ">in interval"}, rows});
  print_line();
  if (scores.not_measured > 0) {
    print_line(fmt::format("{} frozen points were not measured", scores.not_measured));
  }
  print_line(fmt::format("predicted and measured: {}", scores.file.string()));
}

/// A folder and a ledger, for `run`.
void add_ledger_command(CLI::App& app, CommonOptions& common, const char* name, const char* meaning,
                        void (*run)(const LedgerRequest&, const CommonOptions&)) {
  auto* command = app.add_subcommand(name, meaning);
  auto request = std::make_shared<LedgerRequest>();
  command->add_option("DIR", request->directory, "Folder of scenarios")->required();
  command->add_option("LEDGER", request->ledger, "CSV file with a row for every prediction")->required();
  command->callback([request, run, &common] { run(*request, common); });
}

}  // namespace

void add_freeze(CLI::App& app, CommonOptions& common) {
  add_ledger_command(app, common, "freeze",
                     "Write predictions of native into a new ledger before anybody reads the times",
                     run_freeze);
}

void add_score(CLI::App& app, CommonOptions& common) {
  add_ledger_command(app, common, "score", "Compare a ledger, once, with the times that are known now",
                     run_score);
}

}  // namespace ringside::lab
