#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/reports/html_report.hpp"
#include "study/predict.hpp"

namespace ringside::cli {

void add_report(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("report", "Results of a run as one page to send: report.html");
  auto file = std::make_shared<std::string>();
  command->add_option("RESULTS", *file, "results.jsonl or predictions.jsonl of a run, or a report.html")
      ->required();
  command->footer("report out/quickstart/results.jsonl");
  command->callback([file, &common] { write_report(study::read_study(*file), common); });
}

}  // namespace ringside::cli
