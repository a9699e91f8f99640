#include "lab/planning/published_runs.hpp"

#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "lab/planning/planning_fit.hpp"
#include "lab/planning/published_speeds.hpp"
#include "lab/planning/table_cells.hpp"

namespace ringside {
namespace {

/// One of a few words of a column.
template <typename Value>
Value choice(const Cells& cells, std::string_view column, int line,
             std::initializer_list<std::pair<std::string_view, Value>> choices) {
  for (const auto& [word, value] : choices) {
    if (cells.text(column) == word) {
      return value;
    }
  }
  throw Error(ErrorKind::bad_input,
              fmt::format("line {}: {}: '{}' is none", line, column, cells.text(column)));
}

bool yes(const Cells& cells, std::string_view column, int line) {
  return choice<bool>(cells, column, line, {{"yes", true}, {"no", false}});
}

Transformer transformer_of(const Cells& cells, int line) {
  return {.layers = cells.whole("layers"),
          .hidden = cells.whole("hidden"),
          .heads = cells.whole("heads"),
          .kv_heads = cells.whole("kv_heads"),
          .head_dim = cells.whole("head_dim"),
          .vocabulary = cells.whole("vocabulary"),
          .intermediate = cells.whole("intermediate"),
          .gated = yes(cells, "gated", line),
          .tied = yes(cells, "tied", line),
          .sequence = cells.whole("sequence"),
          .experts = cells.whole("experts"),
          .active_experts = cells.whole("active_experts")};
}

Layout sharding_of(const Cells& cells, int line) {
  auto sharding = parse_sharding(cells.text("way"));
  if (!sharding) {
    throw Error(ErrorKind::bad_input, fmt::format("line {}: way: '{}' is none", line, cells.text("way")));
  }
  sharding->adapters =
      choice<Adapters>(cells, "adapters", line,
                       {{"none", Adapters::none}, {"lora", Adapters::lora}, {"qlora", Adapters::qlora}});
  sharding->rank = cells.whole("rank");
  sharding->tensor = cells.whole("tensor");
  sharding->pipeline = cells.whole("pipeline");
  sharding->interleave = cells.whole("interleave");
  sharding->context = cells.whole("context");
  sharding->expert = cells.whole("expert");
  sharding->checkpointing = choice<std::optional<Checkpointing>>(cells, "checkpointing", line,
                                                                 {{"", std::nullopt},
                                                                  {"none", Checkpointing::none},
                                                                  {"selective", Checkpointing::selective},
                                                                  {"full", Checkpointing::full}});
  return *sharding;
}

PublishedRun run_of(const Cells& cells, int line, const std::filesystem::path& table,
                    const KnownNames& known) {
  PublishedRun run{.run = cells.text("run"), .source = cells.text("source")};
  if (!cells.text("step_seconds").empty()) {
    run.step_seconds = cells.number("step_seconds");
  }
  run.out_of_memory = cells.text("memory_gb") == "oom";
  if (!run.out_of_memory && !cells.text("memory_gb").empty()) {
    run.memory_gb = cells.number("memory_gb");
    run.tensors_alone = choice<bool>(cells, "memory_of", line, {{"tensors", true}, {"device", false}});
  }
  Plan& plan = run.plan;
  plan.name = run.run;
  plan.algorithm = "native";
  plan.sharding = {sharding_of(cells, line)};
  Workload& workload = plan.workload;
  workload.transformer = transformer_of(cells, line);
  workload.parameters = parameters_of(*workload.transformer);
  workload.forward_flops = forward_flops_of(*workload.transformer);
  workload.batch_per_gpu = cells.whole("micro_batch");
  workload.global_batch = cells.whole("global_batch");
  workload.compute.precision = choice<Precision>(
      cells, "precision", line, {{"bfloat16", Precision::bfloat16}, {"float8", Precision::float8}});
  workload.memory.optimizer = Optimizer::adam;
  const int gpus = cells.whole("gpus");
  plan.offers.push_back({.name = fmt::format("{} × {}", gpus, cells.text("machine")),
                         .machine = machine_named(cells.text("machine"), table, known),
                         .gpus = gpus});
  return run;
}

}  // namespace

std::optional<double> RunCheck::ratio() const {
  return step.problem.empty() && run.step_seconds
             ? std::optional(step.total.typical.value / *run.step_seconds)
             : std::nullopt;
}

bool RunCheck::inside() const {
  return step.problem.empty() && run.step_seconds && *run.step_seconds >= step.total.low.value &&
         *run.step_seconds <= step.total.high.value;
}

double RunCheck::planned_gb() const {
  const std::int64_t outside = run.tensors_alone ? step.memory.context.value : 0;
  return static_cast<double>(step.memory.total().value - outside) / 1e9;
}

bool is_table_of_runs(const std::filesystem::path& table) { return has_header(table, "run,"); }

std::vector<PublishedRun> load_published_runs(const std::filesystem::path& table, const KnownNames& known) {
  const std::string file = table.string();
  const CsvTable rows = read_table(table);
  std::vector<PublishedRun> runs;
  for (const CsvRow& row : rows.rows) {
    runs.push_back(run_of(Cells(rows, row, file), row.line, table, known));
  }
  return runs;
}

std::vector<RunCheck> check_runs(std::vector<PublishedRun> runs) {
  std::vector<RunCheck> checks;
  for (PublishedRun& run : runs) {
    const PlanningParameters& parameters = parameters_without(repository_of(run.source));
    PlannedStep step = Planner(run.plan, parameters).estimate(run.offer(), run.layout());
    checks.push_back({.run = std::move(run), .step = std::move(step)});
  }
  return checks;
}

}  // namespace ringside
