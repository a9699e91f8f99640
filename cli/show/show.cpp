#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "cli/reports/report.hpp"
#include "cli/reports/show_machine.hpp"
#include "common/failures.hpp"
#include "common/spellings.hpp"
#include "plots/charts/charts.hpp"
#include "results/codec/field_table.hpp"
#include "schedule/describe.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/program/run_rounds.hpp"
#include "schedule/proof.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside::cli {
namespace {

constexpr int kMaxShownRanks = 4096;
/// Lines of moves that leave room for the rest of the answer on a screen.
constexpr std::size_t kMaxLinesShown = 24;
/// A proof takes memory as ranks² · chunks; beyond this the schedule is shown without one.
constexpr int kMaxProvedRanks = 64;
/// Programs of all ranks take memory as ranks · rounds; so many can be shown.
constexpr std::int64_t kMaxRunRounds = 1'000'000;

struct ShowFlags {
  std::string algorithm;
  ScheduleRequest schedule = {.collective = Collective::all_reduce};
  std::optional<Bytes> size;
  std::string site;
  bool no_chart = false;
};

const Algorithm& algorithm_named(Collective collective, const std::string& text) {
  const Algorithm* algorithm = find_algorithm(collective, text);
  if (text == kNative) {
    throw bad_input("native is whatever the backend's own {} does; there is no schedule of it to show",
                    name(collective));
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

/// A table of the first lines; `add` writes those of one round.
template <typename Add>
void print_rounds(std::int64_t num_rounds, const std::vector<std::string>& header, Add add) {
  Rows rows;
  std::int64_t round = 0;
  for (; round < num_rounds && rows.size() <= kMaxLinesShown; ++round) {
    add(rows, round);
  }
  if (rows.size() > kMaxLinesShown) {
    rows.resize(kMaxLinesShown);
    std::vector<std::string> rest(header.size());
    rest.front() = "…";
    rest.back() = fmt::format("and so on to round {}; --format json shows all moves", num_rounds);
    rows.push_back(rest);
  }
  print_table({header, rows});
}

void print_schedule(const Schedule& schedule) {
  print_rounds(schedule.num_rounds(), {">round", "moves"}, [&](auto& rows, std::int64_t round) {
    std::string number = std::to_string(round + 1);
    for (const std::string& move : describe_round(schedule, round)) {
      rows.push_back({std::exchange(number, ""), move});
    }
  });
}

void print_run(const RunRounds& run) {
  print_rounds(run.num_rounds(), {">round", ">receive posted in", "moves"},
               [&](auto& rows, std::int64_t round) {
                 std::string number = std::to_string(round + 1);
                 for (const RunLine& line : describe_round(run, round)) {
                   rows.push_back({std::exchange(number, ""), line.posted_in, line.moves});
                 }
               });
}

nlohmann::ordered_json move_record(const Move& move, std::int64_t round) {
  return {{"record", "move"},
          {"round", round + 1},
          {"kind", move.kind == MoveKind::reduce ? "reduce" : "copy"},
          {"source", move.source},
          {"target", move.target},
          {"first_chunk", move.first_chunk},
          {"chunks", move.num_chunks},
          {"source_buffer", move.source_buffer},
          {"target_buffer", move.target_buffer}};
}

void print_moves(const Schedule& schedule) {
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    for (const Move& move : moves) {
      print_record(move_record(move, round));
    }
  }
}

void print_moves(const RunRounds& run) {
  for (std::int64_t round = 0; round < run.num_rounds(); ++round) {
    for (const RunMove& one : run.round(round)) {
      nlohmann::ordered_json record = move_record(one.move, round);
      record["segment"] = one.segment;
      if (!one.move.local()) {
        record["receive_posted_in"] = one.posted_in + 1;
      }
      print_record(record);
    }
  }
}

void print_totals_json(const Schedule& schedule, const std::vector<std::string>& sentences) {
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
  print_record(line);
}

void print_policy_json(RankSite site, const ExecutionPolicy& policy, Bytes size) {
  Json line = {{"record", "policy"}, {"site", name(site)}, {"bytes", size.value}};
  JsonWriter fields;
  Codec<ExecutionPolicy>::write(fields, policy);
  line.update(Json::parse(fields.take()));
  print_record(line);
}

/// How ranks would run the schedule with a message of this size, wherever they are.
void print_policies(const Schedule& schedule, Bytes size, OutputFormat format) {
  Rows rows;
  const Bytes buffer = buffer_of_message(schedule.algorithm().collective, schedule.num_ranks(), size);
  for (const auto& [site, rules] : kRankSites) {
    const ExecutionPolicy policy = policy_for(schedule, buffer, rules);
    rows.push_back({std::string(name(site)), describe(policy)});
    if (format == OutputFormat::json) {
      print_policy_json(site, policy, size);
    }
  }
  if (format == OutputFormat::table) {
    print_line();
    print_table({{"ranks on", fmt::format("how they run a message of {}", ringside::format(size))}, rows});
  }
}

RankSite site_named(const std::string& text) {
  if (const auto site = parse_name<RankSite>(text)) {
    return *site;
  }
  throw Error(ErrorKind::bad_input, unknown_name("--on", text, names_of<RankSite>()));
}

/// What ranks there run with a message of this size, under the policy that applies.
RunRounds run_of(const Schedule& schedule, Bytes message, RankSite site) {
  const Bytes size = buffer_of_message(schedule.algorithm().collective, schedule.num_ranks(), message);
  const ExecutionPolicy policy = policy_for(schedule, size, rules_of(site));
  const std::int64_t rounds = Execution(schedule, size, DataType::float32, policy).num_rounds();
  if (rounds > kMaxRunRounds / schedule.num_ranks()) {
    throw bad_input(
        "show {} --on {}: {} rounds on {} ranks are too many to show; take fewer ranks "
        "or a smaller --size",
        schedule.algorithm().name, name(site), rounds, schedule.num_ranks());
  }
  const auto elements = size.value / static_cast<std::int64_t>(size_of(DataType::float32));
  return {schedule, {.num_elements = elements, .dtype = DataType::float32}, policy};
}

void print_totals(const Schedule& schedule) {
  const ScheduleTotals totals = total(schedule);
  print_table(
      {{"", ">messages", ">bytes", ">reduced"},
       {{"on the critical path", fmt::format("{:.6g}", totals.critical_path.messages),
         multiple_of_s(totals.critical_path.bytes), multiple_of_s(totals.critical_path.reduced_bytes)},
        {"by the busiest rank", "", multiple_of_s(totals.bytes_sent_by_busiest),
         multiple_of_s(totals.bytes_reduced_by_busiest)},
        {"by all ranks", std::to_string(totals.num_messages), multiple_of_s(totals.bytes_sent), ""}}});
}

/// What is shown: a schedule, and, with --on, how ranks there run it.
struct Shown {
  Schedule schedule;
  std::optional<Bytes> size = {};
  RankSite site = RankSite::cpu;
  std::optional<RunRounds> run = {};
  std::vector<std::string> sentences = {};
};

Shown what_to_show(const ShowFlags& flags) {
  const Algorithm& algorithm = algorithm_named(flags.schedule.collective, flags.algorithm);
  Shown shown = {.schedule = Schedule(algorithm, flags.schedule), .size = flags.size};
  if (!flags.site.empty()) {
    shown.site = site_named(flags.site);
    shown.run = run_of(shown.schedule, *shown.size, shown.site);
  }
  if (flags.schedule.num_ranks <= kMaxProvedRanks) {
    shown.sentences = findings(shown.schedule, prove(shown.schedule));
  }
  return shown;
}

void print_json(const Shown& shown) {
  print_totals_json(shown.schedule, shown.sentences);
  if (shown.run) {
    print_policy_json(shown.site, shown.run->execution().policy(), *shown.size);
    print_moves(*shown.run);
    return;
  }
  print_moves(shown.schedule);
  if (shown.size) {
    print_policies(shown.schedule, *shown.size, OutputFormat::json);
  }
}

/// What the chunks of the moves are parts of.
std::string what_chunks_are(const Schedule& schedule) {
  const Collective collective = schedule.algorithm().collective;
  const int ranks = schedule.num_ranks();
  if (messages_in_buffer(collective, ranks) == 1) {
    return schedule.num_chunks() == 1
               ? std::string("the message S travels in one chunk")
               : fmt::format("the message S is cut into {} chunks", schedule.num_chunks());
  }
  if (collective == Collective::send_recv) {
    return "every rank has a message S of its own, in one chunk: chunk i is rank i's";
  }
  return fmt::format(
      "every rank has a message S of its own, cut into {} parts, one for each rank: chunk {}i+j goes from "
      "rank i to rank j",
      ranks, ranks);
}

void print_text(const Shown& shown) {
  const Schedule& schedule = shown.schedule;
  const Algorithm& algorithm = schedule.algorithm();
  print_line("{} {} on {} ranks: {}", algorithm.name, name(algorithm.collective), schedule.num_ranks(),
             algorithm.summary);
  print_line(what_chunks_are(schedule));
  if (shown.run) {
    print_line("ranks on {} run {} with {}", name(shown.site), format(*shown.size),
               describe(shown.run->execution().policy()));
  }
  print_line();
  if (shown.run) {
    print_run(*shown.run);
  } else {
    print_schedule(schedule);
  }
  print_line();
  print_totals(schedule);
  if (!shown.sentences.empty()) {
    print_line();
  }
  print_lines(shown.sentences);
  if (shown.size && !shown.run) {
    print_policies(schedule, *shown.size, OutputFormat::table);
  }
}

void show_algorithm(const ShowFlags& flags, const CommonOptions& common) {
  const Shown shown = what_to_show(flags);
  if (common.format == OutputFormat::json) {
    print_json(shown);
    return;
  }
  print_text(shown);
  if (!flags.no_chart && flags.schedule.num_ranks <= plots::kMaxDiagramRanks) {
    Progress progress(common.quiet);
    const Algorithm& algorithm = shown.schedule.algorithm();
    std::string title = fmt::format("{} {} on {} ranks", algorithm.name, name(algorithm.collective),
                                    flags.schedule.num_ranks);
    if (shown.run) {
      title += fmt::format(", {} on {}", format(*shown.size), name(shown.site));
    }
    const plots::ChartContext context = {.title = title,
                                         .source = "ringside show",
                                         .output_directory = study::output_directory(common, "show"),
                                         .size = common.chart_size};
    std::vector<plots::Figure> figures = shown.run ? plots::program_diagram(*shown.run, context)
                                                   : plots::schedule_diagram(shown.schedule, context);
    for (plots::Figure& figure : figures) {
      figure.name +=
          shown.run ? fmt::format("_{}_{}", study::folder_name(format(*shown.size)), name(shown.site)) : "";
    }
    draw_charts(figures, context, common, progress);
  }
}

}  // namespace

void add_show(CLI::App& app, CommonOptions& common) {
  auto* command = app.add_subcommand("show", "A schedule round by round, such as show ring --ranks 4");
  auto flags = std::make_shared<ShowFlags>();
  ScheduleRequest& schedule = flags->schedule;
  command->add_option("ALGORITHM", flags->algorithm, "Name of an algorithm, or the word `machine`")
      ->required();
  command->add_option("--ranks", schedule.num_ranks, "Number of ranks")
      ->required()
      ->check(CLI::Range(1, kMaxShownRanks));
  add_name<Collective>(*command, "--collective", schedule.collective, "Collective of the algorithm")
      ->default_str(std::string(name(schedule.collective)));
  command->add_option("--root", schedule.root, "Root of broadcast, reduce and gather")->capture_default_str();
  command->add_option("--ranks-per-node", schedule.ranks_per_node, "For hierarchical: ranks of a node");
  command->add_option("--segments", schedule.segments, "For pipelined algorithms: segments per chunk");
  auto* size =
      add_bytes(*command, "--size", flags->size, "Also show how ranks run this message size, such as 16MiB");
  command
      ->add_option("--on", flags->site,
                   "With --size: what ranks on `gpu`, `cpu`, `own_core` (a CPU core for each) or "
                   "`shared_cores` run: segments, and receives posted ahead")
      ->needs(size);
  command->add_flag("--no-charts", flags->no_chart, "Do not draw the PNG");
  command->footer("show ring --ranks 4");
  command->callback([flags, &common] { show_algorithm(*flags, common); });

  auto* of_machine =
      add_mode(app, "show machine", "A machine's links, and which of them each hop of the ring crosses");
  struct MachineFlags {
    std::string machine;
    int ranks = 0;
    bool no_chart = false;
  };
  auto machine = std::make_shared<MachineFlags>();
  of_machine->add_option("MACHINE", machine->machine, "A machine file, or a name of `ringside list machines`")
      ->required();
  of_machine->add_option("--ranks", machine->ranks, "Number of ranks (default: one for each GPU)")
      ->check(CLI::Range(1, kMaxRanks));
  of_machine->add_flag("--no-charts", machine->no_chart, "Do not draw the PNG");
  of_machine->footer("show machine dgx-h100");
  of_machine->callback(
      [machine, &common] { show_machine(machine->machine, machine->ranks, !machine->no_chart, common); });
}

}  // namespace ringside::cli
