// The one function that JavaScript calls: questions of the page as JSON, and their answers. Files that a
// question names lie in the browser's memory.

#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/plan/plan_sentences.hpp"
#include "analysis/plan/verdict.hpp"
#include "cli/reports/check_tables.hpp"
#include "cli/reports/plan_tables.hpp"
#include "cli/reports/point_tables.hpp"
#include "common/error.hpp"
#include "common/parallel.hpp"
#include "common/text.hpp"
#include "plots/html/page.hpp"
#include "results/codec/page_records.hpp"
#include "scenario/machine/named_machine.hpp"
#include "schedule/describe.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/logs/check.hpp"
#include "study/logs/topology.hpp"
#include "study/plan/plan.hpp"
#include "study/plan/plan_line.hpp"
#include "study/predicted.hpp"

namespace ringside {

/// A page has one thread.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i) {
    work(i);
  }
}

/// Nor does it read a report.
std::string_view records_in(std::string_view text, std::string_view /*name*/) { return text; }

namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Lines = std::vector<std::string>;

/// Moves of one schedule that the page is given at most.
constexpr std::int64_t kMostMoves = 20'000;
constexpr std::size_t kMostOffers = 20;

std::optional<std::string> text_of(const json& question, const char* key) {
  const json found = question.value(key, json());
  return found.is_string() && found != "" ? std::optional(found.get<std::string>()) : std::nullopt;
}

/// What somebody pasted, as the file of that name.
std::filesystem::path pasted(const std::string& name, const std::string& text) {
  std::ofstream(name) << valid_utf8(text);
  return name;
}

ordered_json table_json(const TextTable& table) { return {{"header", table.header}, {"rows", table.rows}}; }

study::Observer noting(Lines& notes) {
  return {.note = [&notes](std::string_view sentence) { notes.emplace_back(sentence); }};
}

/// `scenario`: YAML, `set`: pairs of a machine's key and its value, `records`: also the lines of JSON.
ordered_json predict(const json& question) {
  Lines notes;
  Scenario scenario = study::read_scenario(pasted("scenario.yaml", question.at("scenario")));
  study::require_use_of_nodes(scenario);
  if (!scenario.machine) {
    throw Error(
        ErrorKind::environment,
        "machine: this: a page cannot probe the machine that shows it; `ringside calibrate` does, and "
        "writes a machine file to paste here");
  }
  Machine machine = *scenario.machine;
  const json set = question.value("set", json::object());
  for (const auto& [key, value] : set.items()) {
    machine = with_value(machine, {.key = key, .value = value.get<std::string>(), .origin = key});
  }
  const PredictOptions options = {.backend = scenario.backend};
  const study::PointStudy study =
      study::predicted(std::move(scenario), std::move(machine), options, {}, noting(notes));
  study::require_predictions(study);
  ordered_json reasons = ordered_json::array();
  for (const study::SizeRange& range : study.native.reasons) {
    reasons.push_back(fmt::format("native on {} ranks, {}: {}", range.ranks, from_to(range.first, range.last),
                                  range.reason));
  }
  ordered_json answer = {{"sentences", study.conclusions.sentences},
                         {"notes", notes},
                         {"reasons", reasons},
                         {"table", table_json(comparison_table(study.points, cli::ComparisonLayout::page))},
                         {"chart", plots::chart_data(study.points)}};
  if (question.value("records", false)) {
    for (const Point& point : study.points) {
      answer["records"].push_back(to_line(point));
    }
  }
  return answer;
}

/// `algorithm`, `ranks`: all_reduce round by round.
ordered_json show(const json& question) {
  const std::string asked = question.at("algorithm");
  const Algorithm* algorithm = find_algorithm(Collective::all_reduce, asked);
  if (algorithm == nullptr) {
    throw Error(ErrorKind::bad_input,
                unknown_name("algorithm of all_reduce", asked, algorithm_names(Collective::all_reduce)));
  }
  const Schedule schedule(*algorithm, {.num_ranks = question.at("ranks")});
  ordered_json rounds = ordered_json::array();
  std::vector<Move> moves;
  std::int64_t shown = 0;
  for (std::int64_t round = 0; round < schedule.num_rounds() && shown < kMostMoves; ++round) {
    schedule.write_round(round, moves);
    shown += static_cast<std::int64_t>(moves.size());
    ordered_json of_round = ordered_json::array();
    for (const Move& move : moves) {
      of_round.push_back({move.kind == MoveKind::reduce, move.source, move.target, move.first_chunk,
                          move.num_chunks, move.source_buffer, move.target_buffer});
    }
    rounds.push_back({{"moves", of_round}, {"text", describe_round(schedule, round)}});
  }
  return {{"summary", algorithm->summary}, {"chunks", schedule.num_chunks()}, {"rounds", rounds}};
}

/// `machine`: a name of configs/machines; or `text`: nvidia-smi topo -m, lspci -tv, topology XML, and `gpu`.
ordered_json machine(const json& question) {
  TopologyMachine found;
  std::string yaml;
  if (const auto name = text_of(question, "machine")) {
    found.machine = study::read_machine(*name, "machine");
  } else {
    found = study::machine_of_text(valid_utf8(question.at("text")), "topology.txt", text_of(question, "gpu"));
    found.machine.name = "pasted topology";
    yaml = to_yaml(found.machine);
    // What cannot be predicted for is refused here, not when it is used.
    parse_machine(yaml, "topology.txt");
  }
  const int nodes = found.machine.nodes;
  return {{"ranks", nodes * found.machine.ranks_per_node.value_or(found.machine.gpus_per_node.value_or(8))},
          {"yaml", yaml},
          {"notes", found.notes}};
}

/// `log` of nccl-tests; `machine`, `gpu`, `network` as flags of `ringside check`.
ordered_json check(const json& question) {
  study::LogChecker checker({.machine = text_of(question, "machine"),
                             .gpu = text_of(question, "gpu"),
                             .network = text_of(question, "network")});
  std::vector<study::LogCheck> checks = checker.check_text(valid_utf8(question.at("log")), "the pasted log");
  checker.refuse_idle_network();
  ordered_json answers = ordered_json::array();
  for (const study::LogCheck& each : checks) {
    answers.push_back({{"verdict", cli::verdict_line(each)},
                       {"start", cli::check_start(each)},
                       {"table", table_json(cli::bands_table(each.check, "such machines"))},
                       {"end", cli::check_end(each)},
                       {"chart", plots::chart_data(each.check.points)}});
  }
  return answers;
}

constexpr std::pair<const char*, std::optional<std::string> study::PlanLine::*> kPlanTexts[] = {
    {"model", &study::PlanLine::model},       {"gradients", &study::PlanLine::gradients},
    {"batch", &study::PlanLine::batch},       {"bandwidth", &study::PlanLine::bandwidth},
    {"sharding", &study::PlanLine::sharding}, {"sequence", &study::PlanLine::sequence},
    {"tokens", &study::PlanLine::tokens},     {"epochs", &study::PlanLine::epochs},
    {"deadline", &study::PlanLine::deadline}, {"budget", &study::PlanLine::budget}};

/// `gpus`, and `model` or `gradients`; more as flags of `ringside plan`. `records`: also the lines of JSON.
ordered_json plan(const json& question) {
  study::PlanLine line = {.gpus = text_of(question, "gpus").value_or(""),
                          .search = text_of(question, "search").has_value()};
  for (const auto& [key, value] : kPlanTexts) {
    line.*value = text_of(question, key);
  }
  if (const auto known = text_of(question, "known")) {
    line.known.push_back(*known);
  }
  const study::WrittenPlan written = study::write_plan(line, "ringside plan", study::known_names());
  Lines notes;
  const study::PlanStudy study = study::planned({.plan = pasted("plan.yaml", written.yaml),
                                                 .deadline = line.deadline,
                                                 .budget = line.budget,
                                                 .top = kMostOffers,
                                                 .curves = false,
                                                 .assumptions = written.assumptions},
                                                noting(notes));
  const Ranked& ranked = study.ranked;
  for (const auto& [offer, step] : ranked.candidates) {
    if (!step.usable()) {
      notes.push_back(fmt::format("{}: {}", ranked.offers[offer].name, step.problem));
    }
  }
  for (const Offer& offer : ranked.offers) {
    for (const std::string& assumption : offer.assumptions) {
      notes.push_back(fmt::format("{}: {}", offer.name, assumption));
    }
  }
  Lines sentences;
  if (computes(ranked.plan.workload)) {
    sentences = verdict(ranked);
    const Lines next = next_steps(ranked);
    sentences.insert(sentences.end(), next.begin(), next.end());
  }
  ordered_json answer = {{"about", workload_sentence(ranked.plan)},
                         {"sentences", sentences},
                         {"table", table_json(cli::plan_table(study, kMostOffers))},
                         {"notes", notes},
                         {"yaml", written.yaml}};
  if (question.value("records", false)) {
    for (const OfferRecord& record : study::offer_records(study)) {
      answer["records"].push_back(to_line(Record(record)));
    }
  }
  return answer;
}

/// What there is to choose from.
ordered_json names() {
  ordered_json algorithms;
  for (const std::string& each : algorithm_names(Collective::all_reduce)) {
    algorithms[each] = find_algorithm(Collective::all_reduce, each)->summary;
  }
  return {{"algorithms", algorithms}};
}

ordered_json answer(const json& question) {
  const std::string ask = question.at("ask");
  return ask == "predict"   ? predict(question)
         : ask == "show"    ? show(question)
         : ask == "machine" ? machine(question)
         : ask == "check"   ? check(question)
         : ask == "plan"    ? plan(question)
                            : names();
}

}  // namespace
}  // namespace ringside

/// JSON in, JSON out, which stays until the next call. `ask` is the kind of question; other keys are named
/// where they are read. What goes wrong is `{"error": …, "status": …}`, in the words of the program.
extern "C" const char* ringside_answer(const char* question) {
  static std::string text;
  nlohmann::ordered_json answer;
  try {
    answer = ringside::answer(nlohmann::json::parse(question));
  } catch (const ringside::Error& error) {
    answer = {{"error", error.what()}, {"status", ringside::exit_status(error.kind())}};
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}, {"status", ringside::kExitBug}};
  }
  text = answer.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return text.c_str();
}
