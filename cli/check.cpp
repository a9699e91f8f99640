#include "study/logs/check.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "cli/reports/check_report.hpp"
#include "cli/reports/check_tables.hpp"
#include "cli/reports/html_report.hpp"
#include "common/failures.hpp"
#include "common/text.hpp"
#include "import/parts.hpp"
#include "study/compare.hpp"
#include "study/logs/live.hpp"
#include "study/logs/this_system.hpp"

namespace ringside::cli {
namespace {

struct CheckFlags {
  std::vector<std::string> logs;
  std::optional<Gate> gate;
  bool no_charts = false;
  bool report = false;
  study::LiveRequest request;
};

/// Whether a line may be a row (names an element type) or the rest of one (begins with a time).
bool may_be_row(const std::string& line) {
  const auto words = words_of(line);
  return std::ranges::any_of(words, is_nccl_dtype) || (!words.empty() && number_in_word(words.front()));
}

/// The next line of standard input, of which no more is taken than `most` bytes and one.
bool next_line(std::string& line, std::uint64_t most) {
  line.clear();
  std::streambuf& input = *std::cin.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int byte = input.sbumpc();
  const bool any = byte != kEnd;
  for (; byte != kEnd && byte != '\n' && line.size() <= most; byte = input.sbumpc()) {
    line += static_cast<char>(byte);
  }
  return any;
}

/// Reads standard input and judges each row as it comes; the whole verdict follows at the end.
std::vector<study::LogCheck> check_pipe(study::LogChecker& checker, std::uint64_t most,
                                        const CommonOptions& common) {
  const std::string name = "standard input";
  std::string text;
  std::string line;
  std::size_t shown = 0;
  while (next_line(line, most - text.size())) {
    text += valid_utf8(line) + '\n';
    if (text.size() > most) {
      reject_long_text(name, most);
    }
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

void require_gate(const CheckFlags& flags, const std::vector<study::LogCheck>& checks,
                  const CommonOptions& common) {
  if (flags.gate && !print_gate(*flags.gate, checks, common)) {
    throw Error(ErrorKind::failed, fmt::format("--gate '{}' failed", flags.gate->text));
  }
}

/// Throws for a log whose results do not count, and for those that could not be judged.
void require_results(const std::vector<study::LogCheck>& checks, const std::vector<std::string>& problems) {
  for (const study::LogCheck& check : checks) {
    if (const std::string failure = check.failure(); !failure.empty()) {
      throw Error(ErrorKind::failed, fmt::format("results do not count: {}: {}", check.log, failure));
    }
  }
  if (!problems.empty()) {
    throw bad_input("{} not checked, as said above", count_of(problems.size(), "log was", "logs were"));
  }
}

/// What `say` prints, once more as a page.
void report_checks(const CheckFlags& flags, const std::vector<study::LogCheck>& checks,
                   const std::vector<Point>& own, const CommonOptions& common, const Say& say) {
  if (!flags.report) {
    return;
  }
  CommonOptions as_json = common;
  as_json.format = OutputFormat::json;
  const study::LogCheck* alone = checks.size() == 1 ? &checks.front() : nullptr;
  const std::string name = alone ? folder_of(*alone) : "check";
  plots::HtmlReport report{.points = alone ? alone->check.points : own, .winners = {"The check"}};
  if (alone) {
    report.sentences = {verdict_line(*alone)};
    report.next = check_next(*alone);
  } else if (!checks.empty()) {
    const auto is_slow = [](const study::LogCheck& one) { return one.check.alarmed(); };
    report.sentences = {
        fmt::format("{} of {} slow", std::ranges::count_if(checks, is_slow), count_of(checks.size(), "log"))};
    if (const auto slow = std::ranges::find_if(checks, is_slow); slow != checks.end()) {
      report.next = check_next(*slow);
      report.next.front() = fmt::format("{}: {}", slow->log, report.next.front());
    }
  }
  report.tables = {{"All times", comparison_table(report.points, ComparisonLayout::page)}};
  report.records = to_line(study::plain_header(common, {.name = name, .file = name})) + '\n' +
                   to_lines(report.points) + said_by([&] { say(as_json); }).before;
  const auto say_all = [&](const CommonOptions& as) {
    say(as);
    if (flags.gate) {
      print_gate(*flags.gate, checks, as);
    }
  };
  write_report(std::move(report), alone ? alone->machine : Machine(), say_all, "Beside its baseline", common);
}

/// Runs what can be run here.
void check_live(const CLI::App& command, const CheckFlags& flags, const CommonOptions& common) {
  Progress progress(common.quiet);
  if (!study::has_population(study::live_backend(flags.request, {}))) {
    // Gloo's verdict knows no population of machines.
    if (const auto flag = typed_in(command, kReferenceGroup)) {
      throw lacking("{} needs NCCL, which cannot run here: `ringside doctor` says why", *flag);
    }
  }
  const auto live = study::check_live(flags.request, common, progress.observer());
  progress.finish();
  if (!live) {
    return;  // Rank 0 of mpirun, srun or torchrun prints.
  }
  // A check on GPUs, and on CPUs, of which no population is known, the probes.
  const auto say = [&](const CommonOptions& as) {
    std::ranges::for_each(live->checks, [&](const study::LogCheck& one) { print_check(one, as); });
    if (!study::has_population(live->backend)) {
      print_own_probes(live->points, live->backend, as);
    }
  };
  say(common);
  for (const study::LogCheck& one : live->checks) {
    if (!flags.no_charts) {
      draw_check(one, common);
    }
  }
  report_checks(flags, live->checks, live->points, common, say);
  study::throw_if_failed(live->points);
  require_gate(flags, live->checks, common);
}

void check_logs(CheckFlags& flags, const CommonOptions& common) {
  study::CheckRequest& request = flags.request.check;
  if (flags.logs.size() == 1 && flags.logs.front() == "-" && !request.machine && !request.topology) {
    request.instance = study::this_instance();
  }
  const std::uint64_t most = request.defaults.most_bytes;
  study::LogChecker checker(std::move(request));
  std::vector<study::LogCheck> checks;
  std::vector<std::string> problems;
  for (const std::string& log : flags.logs) {
    try {
      auto of_log = log == "-" ? check_pipe(checker, most, common) : checker.check_log(log);
      std::move(of_log.begin(), of_log.end(), std::back_inserter(checks));
    } catch (const Error& error) {
      if (flags.logs.size() == 1) {
        throw;
      }
      problems.emplace_back(error.what());
    }
  }
  checker.refuse_idle_network();
  checker.judge_together(checks);
  if (flags.logs.size() > 1) {
    print_checks(checks, problems, common);
    if (!flags.no_charts) {
      draw_checks(checks, common);
    }
  } else {
    for (const study::LogCheck& one : checks) {
      print_check(one, common);
      if (!flags.no_charts) {
        draw_check(one, common);
      }
    }
  }
  report_checks(flags, checks, {}, common, [&](const CommonOptions& as) {
    flags.logs.size() > 1 || checks.size() != 1 ? print_checks(checks, problems, as)
                                                : print_check(checks.front(), as);
  });
  require_gate(flags, checks, common);
  require_results(checks, problems);
}

/// What both commands take.
void add_reference_flags(CLI::App& command, CheckFlags& flags) {
  add_machine_flags(command, flags.request.check);
  command
      .add_option("--baseline", flags.request.check.baseline,
                  "A log of earlier healthy runs of this machine or its fleet")
      ->group(kReferenceGroup);
  add_read(command, "--gate", "Fail (status 1) unless this holds: 'busbw@1GiB >= p05', 'time@8KiB <= p95'",
           [&flags](const std::string& text) { flags.gate = parse_gate(text); })
      ->group(kReferenceGroup);
  command.add_flag("--no-charts", flags.no_charts, "Do not draw charts");
  add_report_flag(command, flags.report);
}

}  // namespace

void add_check(CLI::App& app, CommonOptions& common) {
  auto* command =
      app.add_subcommand("check", "Is this machine as fast as it should be? Reads what nccl-tests printed");
  auto flags = std::make_shared<CheckFlags>();
  command->add_option("LOG", flags->logs, "Logs, or - for standard input (docs/check.md)")->required();
  add_reference_flags(*command, *flags);
  add_network_flag(*command, flags->request.check);
  ImportDefaults& defaults = flags->request.check.defaults;
  command->add_option("--ranks", defaults.ranks, "Number of ranks, if the log does not say it")
      ->check(CLI::Range(2, kMaxRanks));
  add_name<Collective>(*command, "--collective", defaults.collective,
                       "The log's collective, if its columns fit several");
  add_no_limit_flag(*command, defaults);
  command->footer("check all_reduce.log --machine p4d.24xlarge --gate 'busbw@1GiB >= p05'");
  command->callback([flags, &common] { check_logs(*flags, common); });

  auto* live = add_mode(app, "check live",
                        "Run the test here and check it: NCCL on GPUs, otherwise Gloo and the probes");
  auto here = std::make_shared<CheckFlags>();
  add_reference_flags(*live, *here);
  study::LiveRequest& request = here->request;
  request.launch.calibrate_time = Seconds{5};
  add_backend_flag(*live, request.launch, "auto, gloo or nccl");
  add_bytes(*live, "--max-bytes", request.max_bytes,
            "The largest message (default: 1 GiB on GPUs, 16 MiB on CPUs)");
  add_point_flags(*live, request.launch);
  add_calibrate_flags(*live, request.launch);
  live->footer("check live --max-bytes 1MiB");
  live->callback([here, live, &common] { check_live(*live, *here, common); });
}

}  // namespace ringside::cli
