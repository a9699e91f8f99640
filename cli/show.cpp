#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/report.hpp"
#include "cli/show_machine.hpp"
#include "common/error.hpp"
#include "plots/charts.hpp"
#include "scenario/scenario.hpp"
#include "schedule/describe.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/proof.hpp"
#include "schedule/registry.hpp"

namespace ringside::cli {
namespace {

/// Rounds printed before the rest is summarised.
constexpr std::int64_t kMaxRoundsShown = 64;
/// A proof takes memory as ranks² · chunks; beyond this the schedule is shown without one.
constexpr int kMaxProvedRanks = 64;

struct ShowFlags {
  std::string what;
  std::string file;
  std::string collective = "all_reduce";
  int ranks = 0;
  int ranks_per_node = 0;
  Rank root = 0;
  int segments = 0;
  std::string size;
  bool no_chart = false;
};

const Algorithm& algorithm_named(Collective collective, const std::string& text) {
  const Algorithm* algorithm = find_algorithm(collective, text);
  if (text == kNative) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("native is whatever the backend's own {} does; there is no schedule of it to show",
                    name(collective)));
  }
  if (algorithm == nullptr) {
    std::vector<std::string> known = algorithm_names(collective);
    known.emplace_back("machine");
    throw Error(ErrorKind::bad_input,
                unknown_name(fmt::format("algorithm of {}", name(collective)), text, known));
  }
  return *algorithm;
}

std::string multiple_of_s(double factor) { return fmt::format("{:.4g} S", factor); }

void print_rounds(const Schedule& schedule) {
  std::vector<std::vector<std::string>> rows;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    if (round == kMaxRoundsShown && schedule.num_rounds() > kMaxRoundsShown + 1) {
      rows.push_back({"…", fmt::format("{} more rounds", schedule.num_rounds() - round)});
      break;
    }
    std::string number = std::to_string(round + 1);
    for (const std::string& move : describe_round(schedule, round)) {
      rows.push_back({std::exchange(number, ""), move});
    }
  }
  print(table({">round", "moves"}, rows));
}

void print_json(const Schedule& schedule, const std::vector<std::string>& sentences) {
  const ScheduleTotals totals = total(schedule);
  nlohmann::ordered_json line = {{"record", "schedule"},
                                 {"collective", name(schedule.algorithm().collective)},
                                 {"algorithm", schedule.algorithm().name},
                                 {"ranks", schedule.num_ranks()},
                                 {"rounds", totals.num_rounds},
                                 {"messages", totals.num_messages},
                                 {"critical_path",
                                  {{"messages", totals.critical_path.messages},
                                   {"bytes", totals.critical_path.bytes},
                                   {"reduced_bytes", totals.critical_path.reduced_bytes}}},
                                 {"bytes_sent", totals.bytes_sent},
                                 {"bytes_sent_by_busiest", totals.bytes_sent_by_busiest},
                                 {"findings", sentences}};
  print_line(line.dump());
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    for (const Move& move : moves) {
      print_line(nlohmann::ordered_json{{"record", "move"},
                                        {"round", round + 1},
                                        {"kind", move.kind == MoveKind::reduce ? "reduce" : "copy"},
                                        {"source", move.source},
                                        {"target", move.target},
                                        {"first_chunk", move.first_chunk},
                                        {"chunks", move.num_chunks},
                                        {"source_buffer", move.source_buffer},
                                        {"target_buffer", move.target_buffer}}
                     .dump());
    }
  }
}

/// How ranks would run the schedule with a message of this size, wherever they are.
void print_policies(const Schedule& schedule, Bytes size, OutputFormat format) {
  std::vector<std::vector<std::string>> rows;
  for (const RankSiteRow& site : kRankSites) {
    const ExecutionPolicy policy = policy_for(schedule, size, site.rules);
    rows.push_back({std::string(site.name), describe(policy)});
    if (format == OutputFormat::json) {
      print_line(nlohmann::ordered_json{{"record", "policy"},
                                        {"site", site.name},
                                        {"bytes", size.value},
                                        {"receives_ahead", policy.receives_ahead},
                                        {"segments", policy.segments},
                                        {"stride", policy.stride},
                                        {"in_flight", policy.in_flight}}
                     .dump());
    }
  }
  if (format == OutputFormat::table) {
    print_line();
    print(table({"ranks on", fmt::format("how they run a message of {}", ringside::format(size))}, rows));
  }
}

void show_algorithm(const ShowFlags& flags, const CommonOptions& common) {
  const std::vector<std::string> collectives = names_of<Collective>();
  const auto collective = parse_name<Collective>(flags.collective);
  if (!collective) {
    throw Error(ErrorKind::bad_input, unknown_name("--collective", flags.collective, collectives));
  }
  const Algorithm& algorithm = algorithm_named(*collective, flags.what);
  if (flags.ranks < 1 || flags.ranks > 4096) {
    throw Error(ErrorKind::bad_input, fmt::format("--ranks {}: 1 to 4096 ranks can be shown", flags.ranks));
  }
  const Schedule schedule(algorithm, {.collective = *collective,
                                      .num_ranks = flags.ranks,
                                      .root = flags.root,
                                      .ranks_per_node = flags.ranks_per_node,
                                      .segments = flags.segments});
  const std::optional<Bytes> size =
      flags.size.empty() ? std::nullopt : std::optional(parse_bytes(flags.size));
  std::vector<std::string> sentences;
  if (flags.ranks <= kMaxProvedRanks) {
    sentences = findings(schedule, prove(schedule));
  }
  if (common.format == OutputFormat::json) {
    print_json(schedule, sentences);
    if (size) {
      print_policies(schedule, *size, common.format);
    }
    return;
  }
  const ScheduleTotals totals = total(schedule);
  print_line(fmt::format("{} {} on {} ranks: {}", algorithm.name, name(*collective), flags.ranks,
                         algorithm.summary));
  print_line(fmt::format("the message S is cut into {} chunks", schedule.num_chunks()));
  print_line();
  print_rounds(schedule);
  print_line();
  print(table({"", ">messages", ">bytes", ">reduced"},
              {{"on the critical path", fmt::format("{:.6g}", totals.critical_path.messages),
                multiple_of_s(totals.critical_path.bytes), multiple_of_s(totals.critical_path.reduced_bytes)},
               {"by the busiest rank", "", multiple_of_s(totals.bytes_sent_by_busiest),
                multiple_of_s(totals.bytes_reduced_by_busiest)},
               {"by all ranks", std::to_string(totals.num_messages), multiple_of_s(totals.bytes_sent), ""}}));
  if (!sentences.empty()) {
    print_line();
  }
  for (const std::string& sentence : sentences) {
    print_line(sentence);
  }
  if (size) {
    print_policies(schedule, *size, common.format);
  }
  if (!flags.no_chart && flags.ranks <= plots::kMaxDiagramRanks) {
    Progress progress(common.quiet);
    const plots::ChartContext context = {
        .title = fmt::format("{} {} on {} ranks", algorithm.name, name(*collective), flags.ranks),
        .machine = "",
        .source = common.command_line,
        .output_directory = study::output_directory(common, "show")};
    draw_charts(plots::schedule_diagram(schedule, context), context, common, progress);
  }
}

}  // namespace

void add_show(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand(
      "show", "A schedule round by round (show ring --ranks 4), or a machine (show machine FILE)");
  auto flags = std::make_shared<ShowFlags>();
  command->add_option("WHAT", flags->what, "An algorithm, or the word `machine`")->required();
  command->add_option("FILE", flags->file,
                      "With `machine`: a machine file, or a name of `ringside list machines`");
  command->add_option("--ranks", flags->ranks, "Number of ranks");
  command->add_option("--collective", flags->collective, "Which collective's algorithm")
      ->capture_default_str();
  command->add_option("--root", flags->root, "Root of broadcast, reduce and gather")->capture_default_str();
  command->add_option("--ranks-per-node", flags->ranks_per_node, "For hierarchical");
  command->add_option("--segments", flags->segments, "For pipelined algorithms: segments per chunk");
  command->add_option("--size", flags->size, "Also how ranks run a message of this size, such as 16MiB");
  command->add_flag("--no-chart", flags->no_chart, "Do not draw the PNG");
  command->callback([flags, &common] {
    if (flags->what == "machine") {
      if (flags->file.empty()) {
        throw Error(
            ErrorKind::bad_input,
            "show machine: name the machine or its file, such as `ringside show machine p4d.24xlarge`");
      }
      show_machine(flags->file, flags->ranks, common);
    } else {
      if (flags->ranks == 0) {
        throw Error(ErrorKind::bad_input,
                    fmt::format("show {}: say for how many ranks, such as --ranks 4", flags->what));
      }
      show_algorithm(*flags, common);
    }
  });
}

}  // namespace ringside::cli
