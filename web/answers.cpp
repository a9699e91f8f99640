#include "web/answers.hpp"

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
#include "common/text.hpp"
#include "plots/html/page.hpp"
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

namespace ringside::web {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Moves of one schedule that the page is given at most.
constexpr std::int64_t kMostMoves = 20'000;
constexpr std::size_t kMostOffers = 20;

std::optional<std::string> text_of(const json& question, const char* key) {
  const auto found = question.find(key);
  return found != question.end() && found->is_string() && !found->get<std::string>().empty()
             ? std::optional(found->get<std::string>())
             : std::nullopt;
}

/// What somebody pasted, as the file of that name.
std::filesystem::path pasted(const std::string& name, const std::string& text) {
  std::ofstream(name) << valid_utf8(text);
  return name;
}

ordered_json table_json(const cli::TextTable& table) {
  return {{"header", table.header}, {"rows", table.rows}};
}

study::Observer noting(std::vector<std::string>& notes) {
  return {.note = [&notes](std::string_view sentence) { notes.emplace_back(sentence); }};
}

/// `scenario`: YAML, `set`: pairs of a machine's key and its value, `records`: also the lines of JSON.
ordered_json predict(const json& question) {
  std::vector<std::string> notes;
  const study::Observer observer = noting(notes);
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
      study::predicted(std::move(scenario), std::move(machine), options, {}, observer);
  if (study.unpredicted.size() > 0 &&
      std::none_of(study.points.begin(), study.points.end(),
                   [](const Point& point) { return point.predicted.has_value(); })) {
    throw Error(ErrorKind::environment, "nothing can be predicted. " + study.unpredicted.front());
  }
  ordered_json reasons = ordered_json::array();
  for (const study::SizeRange& range : study.native.reasons) {
    reasons.push_back(fmt::format("native on {} ranks, {}: {}", range.ranks, from_to(range.first, range.last),
                                  range.reason));
  }
  ordered_json answer = {{"machine", study.machine.name},
                         {"sentences", study.conclusions.sentences},
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

ordered_json move_json(const Move& move) {
  return {{"reduce", move.kind == MoveKind::reduce},
          {"source", move.source},
          {"target", move.target},
          {"first", move.first_chunk},
          {"chunks", move.num_chunks},
          {"from", move.source_buffer},
          {"to", move.target_buffer}};
}

/// `algorithm`, `ranks`: all_reduce round by round.
ordered_json show(const json& question) {
  const std::string asked = question.at("algorithm");
  const Algorithm* algorithm = find_algorithm(Collective::all_reduce, asked);
  if (algorithm == nullptr) {
    throw Error(ErrorKind::bad_input,
                unknown_name("algorithm of all_reduce", asked, algorithm_names(Collective::all_reduce)));
  }
  const Schedule schedule(
      *algorithm, {.num_ranks = question.at("ranks"), .ranks_per_node = question.value("per_node", 0)});
  ordered_json rounds = ordered_json::array();
  std::vector<Move> moves;
  std::int64_t shown = 0;
  for (std::int64_t round = 0; round < schedule.num_rounds() && shown < kMostMoves; ++round) {
    schedule.write_round(round, moves);
    shown += static_cast<std::int64_t>(moves.size());
    ordered_json of_round = ordered_json::array();
    for (const Move& move : moves) {
      of_round.push_back(move_json(move));
    }
    rounds.push_back({{"moves", of_round}, {"text", describe_round(schedule, round)}});
  }
  return {{"summary", algorithm->summary},
          {"chunks", schedule.num_chunks()},
          {"num_rounds", schedule.num_rounds()},
          {"rounds", rounds}};
}

/// `machine`: a name of configs/machines; or `text`: nvidia-smi topo -m, lspci -tv, topology XML, and `gpu`.
ordered_json machine(const json& question) {
  TopologyMachine found;
  if (const auto name = text_of(question, "machine")) {
    found.machine = study::read_machine(*name, "machine");
  } else {
    found = study::machine_of_text(valid_utf8(question.at("text")), "topology.txt", text_of(question, "gpu"));
    found.machine.name = "pasted topology";
  }
  const std::string yaml = to_yaml(found.machine);
  // What cannot be predicted for is refused here, not when it is used.
  parse_machine(yaml, "topology.txt");
  const int nodes = found.machine.nodes;
  return {{"name", found.machine.name},
          {"ranks", nodes * found.machine.ranks_per_node.value_or(found.machine.gpus_per_node.value_or(8))},
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
    answers.push_back({{"start", cli::check_start(each)},
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
  std::vector<std::string> notes;
  const study::PlanStudy study = study::planned({.plan = pasted("plan.yaml", written.yaml),
                                                 .deadline = line.deadline,
                                                 .budget = line.budget,
                                                 .top = kMostOffers,
                                                 .curves = false,
                                                 .assumptions = written.assumptions},
                                                noting(notes));
  const Ranked& ranked = study.ranked;
  const bool computes = ringside::computes(ranked.plan.workload);
  const cli::TextTable table = ranked.plan.shards()               ? cli::layouts_table(study, kMostOffers)
                               : computes && !study.shown.empty() ? cli::offers_table(study, kMostOffers)
                               : computes                         ? cli::TextTable{}
                                                                  : cli::gradients_table(study);
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
  const std::string about =
      computes ? workload_sentence(ranked.plan)
               : fmt::format("all_reduce of {} of gradients in one message; ring, naive: our own algorithms",
                             model_size(gradient_bytes(ranked.plan.workload)));
  ordered_json answer = {{"about", about},
                         {"sentences", computes ? verdict(ranked) : std::vector<std::string>()},
                         {"table", table_json(table)},
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
ordered_json names(const json& /*question*/) {
  ordered_json algorithms = ordered_json::array();
  for (const std::string& each : algorithm_names(Collective::all_reduce)) {
    const Algorithm* const algorithm = find_algorithm(Collective::all_reduce, each);
    algorithms.push_back(
        {{"name", each}, {"summary", algorithm->summary}, {"wins_when", algorithm->wins_when}});
  }
  return {{"algorithms", algorithms}};
}

}  // namespace

ordered_json answer(const json& question) {
  const std::string ask = question.at("ask");
  return ask == "predict"   ? predict(question)
         : ask == "show"    ? show(question)
         : ask == "machine" ? machine(question)
         : ask == "check"   ? check(question)
         : ask == "plan"    ? plan(question)
                            : names(question);
}

}  // namespace ringside::web
