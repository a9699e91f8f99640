#include "study/logs/check.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/launch_flags.hpp"
#include "cli/reports/check_fleet.hpp"
#include "cli/reports/check_report.hpp"
#include "common/error.hpp"
#include "import/parts.hpp"
#include "study/compare.hpp"
#include "study/logs/live.hpp"
#include "study/logs/topology.hpp"

namespace ringside::cli {
namespace {

struct CheckFlags {
  std::vector<std::string> logs;
  std::optional<std::string> machine;
  std::optional<std::string> topology;
  std::optional<std::string> gpu;
  std::optional<int> ranks;
  std::optional<std::string> collective;
  std::optional<std::string> baseline;
  std::optional<std::string> gate;
  std::string false_alarms;
  bool no_charts = false;
  bool live = false;
  std::string max_bytes;
  LaunchFlags launch;
};

study::CheckRequest request_of(const CheckFlags& flags) {
  study::CheckRequest request{
      .machine = flags.machine, .topology = flags.topology, .gpu = flags.gpu, .baseline = flags.baseline};
  if (flags.ranks && (*flags.ranks < 2 || *flags.ranks > kMaxRanks)) {
    throw Error(ErrorKind::bad_input, fmt::format("--ranks {}: allowed is 2 to {}", *flags.ranks, kMaxRanks));
  }
  if (flags.machine && flags.topology) {
    throw Error(ErrorKind::bad_input,
                "--machine and --topology both say what the machine is; give one of them");
  }
  request.defaults.ranks = flags.ranks;
  if (flags.collective) {
    request.defaults.collective = parse_name<Collective>(*flags.collective);
    if (!request.defaults.collective) {
      throw Error(ErrorKind::bad_input,
                  unknown_name("--collective", *flags.collective, names_of<Collective>()));
    }
  }
  return request;
}

/// Whether a line may be a row, which names the type of its elements, or the rest of one, which begins with a time.
bool may_be_row(const std::string& line) {
  const auto words = words_of(line);
  return std::any_of(words.begin(), words.end(), is_nccl_dtype) ||
         (!words.empty() && number_in_word(words.front()));
}

/// Reads standard input and says of each row, as it comes, where it stands; the whole verdict follows at the end.
std::vector<study::LogCheck> check_pipe(study::LogChecker& checker, const CommonOptions& common) {
  const std::string name = "standard input";
  std::string text;
  std::string line;
  std::size_t shown = 0;
  while (std::getline(std::cin, line)) {
    text += line + '\n';
    if (common.quiet || common.format == OutputFormat::json || !may_be_row(line)) {
      continue;
    }
    try {
      const auto checks = checker.check_text(text, name);
      const auto& points = checks.back().check.points;
      for (; shown < points.size(); ++shown) {
        print_live_row(points[shown]);
      }
      finish_output();
    } catch (const Error&) {
      // Too little has come yet; what is wrong with the whole is said at its end.
    }
  }
  return checker.check_text(text, name);
}

void print_one(const study::LogCheck& check, const CheckFlags& flags, const CommonOptions& common) {
  print_check(check, common);
  if (!flags.no_charts) {
    draw_check(check, common);
  }
}

void require_gate(const CheckFlags& flags, const std::vector<study::LogCheck>& checks,
                  const CommonOptions& common) {
  if (flags.gate && !print_gate(parse_gate(*flags.gate), *flags.gate, checks, common)) {
    throw Error(ErrorKind::failed, fmt::format("--gate '{}' failed", *flags.gate));
  }
}

/// What Gloo's verdict, which knows no population of machines, does not look at.
bool is_of_nccl(const std::string& flag) {
  return flag == "--gate" || flag == "--baseline" || flag == "--machine" || flag == "--topology" ||
         flag == "--gpu";
}

/// Runs what can be run here.
void check_live(const CheckFlags& flags, const CommonOptions& common) {
  study::LiveRequest request = {.check = request_of(flags), .launch = launch_choices(flags.launch)};
  if (!flags.max_bytes.empty()) {
    request.max_bytes = parse_bytes(flags.max_bytes);
  }
  Progress progress(common.quiet);
  if (!study::has_population(study::live_backend(request, {}))) {
    for (const std::string& flag : flags.launch.given) {
      if (is_of_nccl(flag)) {
        throw Error(
            ErrorKind::environment,
            fmt::format("{} is a matter of NCCL, which cannot run here: `ringside doctor` says why", flag));
      }
    }
  }
  const auto live = study::check_live(request, common, progress.observer());
  progress.finish();
  if (!live) {
    return;  // Rank 0 of mpirun, srun or torchrun prints.
  }
  for (const study::LogCheck& one : live->checks) {
    print_one(one, flags, common);
  }
  if (!study::has_population(live->backend)) {
    print_own_probes(live->points, live->backend, common);
  }
  study::throw_if_failed(live->points);
  require_gate(flags, live->checks, common);
}

void check(const CheckFlags& flags, const CommonOptions& common) {
  if (!flags.false_alarms.empty()) {
    refuse_all_but(flags.launch.given, {"--false-alarms"},
                   "--false-alarms looks at published machines alone");
    Progress progress(common.quiet);
    const FalseAlarms alarms = study::false_alarm_study(flags.false_alarms, progress.observer());
    progress.finish();
    print_false_alarms(alarms, common);
    return;
  }
  if (flags.live && !flags.logs.empty()) {
    throw Error(ErrorKind::bad_input, "--live measures this machine and takes no log; give one of them");
  }
  if (flags.live) {
    const std::array<std::string_view, 2> of_logs = {"--ranks", "--collective"};
    study::refuse_idle(flags.launch.given, of_logs, "it says what a log does not");
    check_live(flags, common);
    return;
  }
  refuse_all_but(
      flags.launch.given,
      {"--machine", "--topology", "--gpu", "--ranks", "--collective", "--baseline", "--gate", "--no-charts"},
      "it is of --live");
  if (flags.logs.empty()) {
    throw Error(ErrorKind::bad_input, "check takes a log of nccl-tests, or - for standard input");
  }
  study::CheckRequest request = request_of(flags);
  if (flags.logs.size() == 1 && flags.logs.front() == "-" && !request.machine && !request.topology) {
    request.instance = study::this_instance();
  }
  study::LogChecker checker(std::move(request));
  if (flags.gate) {
    parse_gate(*flags.gate);  // What is misspelt is said before anything is read.
  }
  std::vector<study::LogCheck> checks;
  std::vector<std::string> problems;
  for (const std::string& log : flags.logs) {
    try {
      auto of_log = log == "-" ? check_pipe(checker, common) : checker.check_log(log);
      std::move(of_log.begin(), of_log.end(), std::back_inserter(checks));
    } catch (const Error& error) {
      if (flags.logs.size() == 1) {
        throw;
      }
      problems.emplace_back(error.what());
    }
  }
  if (flags.logs.size() == 1) {
    for (const study::LogCheck& one : checks) {
      print_one(one, flags, common);
    }
  } else {
    print_checks(checks, problems, common);
    if (!flags.no_charts) {
      draw_checks(checks, common);
    }
  }
  require_gate(flags, checks, common);
}

}  // namespace

void add_check(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("check", "Is this machine as fast as it should be? Reads what nccl-tests printed");
  auto flags = std::make_shared<CheckFlags>();
  flags->launch.calibrate_time = "5 s";
  command->add_option("LOG", flags->logs, "Logs, or - for standard input (docs/check.md)");
  command->add_option("--machine", flags->machine,
                      "What the machine is: a name of `list machines`, or a file");
  command->add_option("--topology", flags->topology,
                      "The same as nvidia-smi topo -m or NCCL's topology XML says it");
  command->add_option("--gpu", flags->gpu, "The model of the GPUs, where nothing else says it");
  command->add_option("--ranks", flags->ranks, "Number of ranks, where the log does not say it");
  command->add_option("--collective", flags->collective,
                      "Which collective it is, where two programs print the same columns");
  command->add_option("--baseline", flags->baseline,
                      "Earlier runs of this machine or its fleet that were as they should be: any log");
  command->add_option("--gate", flags->gate,
                      "Fail (status 1) unless: 'busbw@1GiB >= p05', 'time@8KiB <= p95'");
  command->add_flag("--no-charts", flags->no_charts, "Only the tables");
  command->add_flag(
      "--live", flags->live,
      "Instead of a log: run what can be run here, NCCL on GPUs, otherwise Gloo and the probes");
  command->add_option("--backend", flags->launch.backend, "--live: auto, gloo or nccl");
  command->add_option("--max-bytes", flags->max_bytes,
                      "--live: the largest message (1 GiB on GPUs, 16 MiB on CPUs)");
  add_point_flags(*command, flags->launch);
  add_calibrate_flags(*command, flags->launch);
  command->add_option("--false-alarms", flags->false_alarms,
                      "Instead: how often healthy machines below this folder of scenarios are called slow");
  command->callback([flags, command, &common] {
    flags->launch.given = typed_flags(*command);
    check(*flags, common);
  });
}

}  // namespace ringside::cli
