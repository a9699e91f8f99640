#include "lab/planning/published_runs.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analysis/plan/compute_time.hpp"
#include "common/error.hpp"
#include "lab/planning/published_speeds.hpp"
#include "lab/planning/table_cells.hpp"
#include "sim/topology/gpu_models.hpp"

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

Layout sharding_of(const Cells& cells, int line) {
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

/// The step of a run where GPUs compute at this share of their data sheet; none = what is published of them.
PlannedStep step_of(const PublishedRun& run, const std::optional<Interval<double>>& share) {
  Plan plan = run.plan;
  if (share) {
    plan.workload.compute.efficiency = {{"default", *share}};
  }
  return Planner(plan).estimate(plan.offers.front(), plan.sharding.front());
}

std::string kind_of_gpu(const PublishedRun& run) {
  const auto& gpu = run.plan.offers.front().machine.gpu;
  const auto sheet = gpu ? find_gpu_sheet(gpu->model) : std::nullopt;
  return sheet ? gpu_class(*sheet) : std::string();
}

/// The share at which a run would be planned as it was published; none where communication alone takes longer.
std::vector<std::optional<double>> implied_shares(const std::vector<PublishedRun>& runs) {
  constexpr double kFirst = 0.5;
  constexpr int kRepetitions = 3;
  std::vector<std::optional<double>> shares;
  for (const PublishedRun& run : runs) {
    std::optional<double> share = kFirst;
    for (int repetition = 0; repetition < kRepetitions && share; ++repetition) {
      const PlannedStep step = step_of(run, Interval<double>::exactly(*share));
      const double compute = step.compute.typical.value;
      const double left = run.step_seconds - (step.total.typical.value - compute);
      share = step.problem.empty() && left > 0 ? std::optional(*share * compute / left) : std::nullopt;
    }
    shares.push_back(share);
  }
  return shares;
}

double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// What runs of other sources reached on GPUs of this kind, every source as its median, with the spread of achieved_share(); none
/// where there is no other.
std::optional<Interval<double>> share_of_others(const std::vector<PublishedRun>& runs,
                                                const std::vector<std::optional<double>>& shares,
                                                const PublishedRun& held_out) {
  std::map<std::string, std::vector<double>> by_source;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (shares[i] && repository_of(runs[i].source) != repository_of(held_out.source) &&
        kind_of_gpu(runs[i]) == kind_of_gpu(held_out)) {
      by_source[repository_of(runs[i].source)].push_back(*shares[i]);
    }
  }
  if (by_source.empty()) {
    return std::nullopt;
  }
  double sum = 0;
  for (const auto& [source, values] : by_source) {
    sum += std::log(middle_of(values)) / static_cast<double>(by_source.size());
  }
  constexpr double kLow = 0.72;
  constexpr double kHigh = 1.31;
  const double typical = std::exp(sum);
  return Interval<double>{.low = kLow * typical, .typical = typical, .high = kHigh * typical};
}

}  // namespace

std::optional<double> RunCheck::ratio() const {
  return step.problem.empty() ? std::optional(step.total.typical.value / run.step_seconds) : std::nullopt;
}

FactorSummary held_out_summary_of(const std::vector<RunCheck>& checks) {
  std::vector<double> factors;
  std::size_t inside = 0;
  for (const RunCheck& check : checks) {
    if (!check.held_out || !check.held_out->problem.empty()) {
      continue;
    }
    const Interval<Seconds>& total = check.held_out->total;
    factors.push_back(std::exp(std::abs(std::log(total.typical.value / check.run.step_seconds))));
    inside +=
        total.low.value <= check.run.step_seconds && check.run.step_seconds <= total.high.value ? 1U : 0U;
  }
  return summary_of_factors(std::move(factors), inside);
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
  const std::vector<std::optional<double>> shares = implied_shares(runs);
  std::vector<RunCheck> checks;
  for (const PublishedRun& run : runs) {
    RunCheck check{.run = run, .step = step_of(run, std::nullopt), .held_out = {}};
    if (const auto share = share_of_others(runs, shares, run)) {
      check.held_out = step_of(run, share);
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace ringside
