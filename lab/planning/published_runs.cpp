#include "lab/planning/published_runs.hpp"

#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "lab/planning/planning_fit.hpp"
#include "lab/planning/published_speeds.hpp"
#include "lab/planning/table_cells.hpp"

namespace ringside {
namespace {

Transformer transformer_of(const Cells& cells) {
  return {.layers = cells.whole("layers"),
          .hidden = cells.whole("hidden"),
          .heads = cells.whole("heads"),
          .kv_heads = cells.whole("kv_heads"),
          .head_dim = cells.whole("head_dim"),
          .vocabulary = cells.whole("vocabulary"),
          .intermediate = cells.whole("intermediate"),
          .gated = cells.yes("gated"),
          .tied = cells.yes("tied"),
          .sequence = cells.whole("sequence"),
          .experts = cells.whole("experts"),
          .active_experts = cells.whole("active_experts")};
}

Layout sharding_of(const Cells& cells) {
  auto sharding = parse_sharding(cells.text("way"));
  if (!sharding) {
    cells.reject("way");
  }
  sharding->adapters = cells.named<Adapters>("adapters");
  sharding->rank = cells.whole("rank");
  sharding->tensor = cells.whole("tensor");
  sharding->pipeline = cells.whole("pipeline");
  sharding->interleave = cells.whole("interleave");
  sharding->context = cells.whole("context");
  sharding->expert = cells.whole("expert");
  if (!cells.text("checkpointing").empty()) {
    sharding->checkpointing = cells.named<Checkpointing>("checkpointing");
  }
  return *sharding;
}

PublishedRun run_of(const Cells& cells, const std::filesystem::path& table, const KnownNames& known) {
  PublishedRun run{.run = cells.text("run"), .source = cells.text("source")};
  if (!cells.text("step_seconds").empty()) {
    run.step_seconds = cells.number("step_seconds");
  }
  run.out_of_memory = cells.text("memory_gb") == "oom";
  if (!run.out_of_memory && !cells.text("memory_gb").empty()) {
    run.memory_gb = cells.number("memory_gb");
    run.tensors_alone = cells.text("memory_of") == "tensors";
  }
  Plan& plan = run.plan;
  plan.name = run.run;
  plan.sharding = {sharding_of(cells)};
  Workload& workload = plan.workload;
  workload.transformer = transformer_of(cells);
  workload.parameters = parameters_of(*workload.transformer);
  workload.forward_flops = forward_flops_of(*workload.transformer);
  workload.batch_per_gpu = cells.whole("micro_batch");
  workload.global_batch = cells.whole("global_batch");
  workload.compute.precision = cells.named<Precision>("precision");
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
    runs.push_back(run_of(Cells(rows, row, file), table, known));
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
