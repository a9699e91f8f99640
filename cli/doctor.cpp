#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/backends.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/lookup.hpp"
#include "plots/gnuplot.hpp"
#include "real/measure.hpp"
#include "real/this_machine.hpp"

namespace ringside::cli {
namespace {

struct Finding {
  std::string what;
  std::string state;  ///< yes, no, or a value
  std::string detail;
};

std::vector<Finding> examine() {
  const ThisMachine machine = this_machine();
  std::vector<Finding> findings = {
      {"ringside", RINGSIDE_VERSION, machine.compiler},
      {"processor", fmt::format("{} cores", machine.cores), machine.cpu},
      {"memory", format(machine.memory), fmt::format("{} available", format(available_memory()))},
      {"system", machine.kernel, machine.host},
  };
  for (const BackendStatus& backend : backend_statuses()) {
    findings.push_back({fmt::format("measure with {}", name(backend.backend)),
                        backend.available ? "yes" : "no", backend.detail});
  }
  const bool gnuplot = plots::gnuplot_available();
  findings.push_back({"draw charts", gnuplot ? "yes" : "no",
                      gnuplot ? "gnuplot" : "gnuplot is not installed (Debian package gnuplot-nox)"});
  const auto configs = configs_directory();
  findings.push_back({"shipped configs", configs ? "yes" : "no",
                      configs ? configs->string() : "no configs/ folder beside the program or here"});
  if (const auto external = external_rank()) {
    findings.push_back({"started by", external->launcher,
                        fmt::format("rank {} of {}", external->rank, external->num_ranks)});
  }
  return findings;
}

}  // namespace

void add_doctor(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("doctor", "What can run here, and why not");
  command->callback([&common] {
    std::vector<std::vector<std::string>> rows;
    for (const Finding& finding : examine()) {
      if (common.format == OutputFormat::json) {
        print_line(nlohmann::ordered_json{{"record", "doctor"},
                                          {"what", finding.what},
                                          {"state", finding.state},
                                          {"detail", finding.detail}}
                       .dump());
      }
      rows.push_back({finding.what, finding.state, finding.detail});
    }
    if (common.format == OutputFormat::table) {
      print(table({"", "", ""}, rows));
    }
  });
}

}  // namespace ringside::cli
