#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "study/logs/import.hpp"

namespace ringside::cli {

void add_submit(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("submit", "Write a log as the two files of a source in configs/evaluation");
  auto request = std::make_shared<study::SubmitRequest>();
  command->add_option("LOG", request->log, "A log of nccl-tests")->required();
  add_machine_flags(*command, request->machine);
  add_network_flag(*command, request->machine);
  command->add_option("--ranks", request->machine.defaults.ranks,
                      "Number of ranks, if the log does not say it");
  command->add_option("--source", request->source, "Where it is published: a URL");
  command->footer("submit all_reduce.log --machine dgx-h100");
  command->callback([request, &common] {
    const study::Submission submission = study::submit(*request, common);
    print_line(submission.source.string());
    print_line(submission.table.string());
    for (const std::string& missing : submission.missing) {
      print_line("missing: " + missing);
    }
  });
}

}  // namespace ringside::cli
