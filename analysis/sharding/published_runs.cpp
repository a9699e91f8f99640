#include "analysis/sharding/published_runs.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "analysis/plan/table_cells.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

bool yes(const Cells& cells, std::string_view column, int line) {
  const std::string& text = cells.text(column);
  if (text != "yes" && text != "no") {
    throw Error(ErrorKind::bad_input,
                fmt::format("line {}: {}: '{}' is neither yes nor no", line, column, text));
  }
  return text == "yes";
}

Transformer transformer_of(const Cells& cells, int line) {
  return {.layers = cells.whole("layers"),
          .hidden = cells.whole("hidden"),
          .heads = cells.whole("heads"),
          .kv_heads = cells.whole("kv_heads"),
          .vocabulary = cells.whole("vocabulary"),
          .intermediate = cells.whole("intermediate"),
          .gated = yes(cells, "gated", line),
          .tied = yes(cells, "tied", line),
          .sequence = cells.whole("sequence")};
}

Sharding sharding_of(const Cells& cells, int line) {
  auto sharding = parse_sharding(cells.text("way"));
  if (!sharding) {
    throw Error(ErrorKind::bad_input, fmt::format("line {}: way: '{}' is none", line, cells.text("way")));
  }
  sharding->rank = cells.whole("rank");
  sharding->tensor = cells.whole("tensor");
  sharding->pipeline = cells.whole("pipeline");
  sharding->checkpointing = yes(cells, "checkpointing", line);
  return *sharding;
}

PublishedRun run_of(const Cells& cells, int line, const std::filesystem::path& table,
                    const KnownNames& known) {
  PublishedRun run{.run = cells.text("run"),
                   .source = cells.text("source"),
                   .role = cells.text("role"),
                   .step_seconds = cells.number("step_seconds"),
                   .plan = {}};
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
  workload.compute.precision = Precision::bfloat16;
  workload.memory.optimizer = Optimizer::adam;
  const int gpus = cells.whole("gpus");
  plan.offers.push_back({.name = fmt::format("{} × {}", gpus, cells.text("machine")),
                         .machine = machine_named(cells.text("machine"), table, known),
                         .gpus = gpus});
  return run;
}

std::string table_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: there is no such file", file.string()));
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::optional<double> RunCheck::ratio() const {
  return step.problem.empty() ? std::optional(step.total.typical.value / run.step_seconds) : std::nullopt;
}

bool RunCheck::inside() const {
  return step.problem.empty() && run.step_seconds >= step.total.low.value &&
         run.step_seconds <= step.total.high.value;
}

bool is_table_of_runs(const std::filesystem::path& table) {
  std::ifstream stream(table);
  std::string header;
  std::getline(stream, header);
  return header.starts_with("run,");
}

std::vector<PublishedRun> load_published_runs(const std::filesystem::path& table, const KnownNames& known) {
  const std::string file = table.string();
  const CsvTable rows = parse_csv(table_text(table), file);
  std::vector<PublishedRun> runs;
  for (const CsvRow& row : rows.rows) {
    runs.push_back(run_of(Cells(rows, row, file), row.line, table, known));
  }
  if (runs.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: has no rows", file));
  }
  return runs;
}

std::vector<RunCheck> check_runs(std::vector<PublishedRun> runs) {
  std::vector<RunCheck> checks;
  for (PublishedRun& run : runs) {
    ShardedPlanner planner(run.plan);
    ShardedStep step = planner.estimate(run.plan.offers.front(), run.plan.sharding.front());
    checks.push_back({.run = std::move(run), .step = std::move(step)});
  }
  return checks;
}

}  // namespace ringside
