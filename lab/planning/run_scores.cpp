#include "lab/planning/run_scores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "analysis/plan/achieved_share.hpp"
#include "analysis/plan/compute_time.hpp"
#include "lab/planning/published_speeds.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {
namespace {

using Members = std::vector<const RunCheck*>;

bool is_sparse(const RunCheck& check) { return check.run.model().experts > 1; }
bool in_eight_bits(const RunCheck& check) {
  return check.run.plan.workload.compute.precision != Precision::bfloat16;
}
bool is_dense(const RunCheck& check) {
  return !is_sparse(check) && check.run.layout().adapters == Adapters::none;
}
bool is_dense_half(const RunCheck& check) { return is_dense(check) && !in_eight_bits(check); }
bool cuts_model(const RunCheck& check) {
  return check.run.layout().tensor > 1 || check.run.layout().pipeline > 1;
}
bool on_one_node(const RunCheck& check) {
  return check.run.offer().gpus <= check.run.offer().machine.gpus_per_node;
}
bool is_on(const RunCheck& check, std::string_view kind) {
  const auto& gpu = check.run.offer().machine.gpu;
  const auto sheet = gpu ? find_gpu_sheet(gpu->model) : std::nullopt;
  return sheet && gpu_class(*sheet) == kind;
}

struct RunClass {
  std::string_view name;
  std::function<bool(const RunCheck&)> has;
};

const std::vector<RunClass>& run_classes() {
  static const std::vector<RunClass> classes = {
      {"dense, bfloat16", is_dense_half},
      {"… of them FSDP or ZeRO",
       [](const RunCheck& one) {
         return is_dense_half(one) && !cuts_model(one) && one.run.layout().style != ShardingStyle::ddp;
       }},
      {"… tensor or pipeline parallel",
       [](const RunCheck& one) { return is_dense_half(one) && cuts_model(one); }},
      {"… on one node", [](const RunCheck& one) { return is_dense_half(one) && on_one_node(one); }},
      {"… on several nodes", [](const RunCheck& one) { return is_dense_half(one) && !on_one_node(one); }},
      {"… on Ampere", [](const RunCheck& one) { return is_dense_half(one) && is_on(one, "ampere"); }},
      {"… on Hopper", [](const RunCheck& one) { return is_dense_half(one) && is_on(one, "hopper"); }},
      {"dense, float8", [](const RunCheck& one) { return is_dense(one) && in_eight_bits(one); }},
      {"… tensor or pipeline parallel",
       [](const RunCheck& one) { return is_dense(one) && in_eight_bits(one) && cuts_model(one); }},
      {"LoRA", [](const RunCheck& one) { return one.run.layout().adapters == Adapters::lora; }},
      {"QLoRA", [](const RunCheck& one) { return one.run.layout().adapters == Adapters::qlora; }},
      {"mixture of experts", is_sparse},
  };
  return classes;
}

double peak_of(const RunCheck& check) {
  const auto sheet = find_gpu_sheet(check.run.offer().machine.gpu->model);
  return check.run.offer().gpus * flop_rate(*sheet, check.run.plan.workload.compute.precision);
}

double samples_of(const RunCheck& check) { return *check.run.plan.workload.global_batch; }

/// Operations of a step as the rule of thumb counts them: 6 per token and parameter that a token meets.
double six_operations(const RunCheck& check) {
  const Transformer& model = check.run.model();
  const double idle =
      static_cast<double>(matrix_elements_of_layer(model) - active_elements_of_layer(model)) * model.layers;
  const double parameters = static_cast<double>(parameters_of(model)) - idle;
  return 6 * parameters * static_cast<double>(model.sequence) * samples_of(check);
}

/// Share of the data sheet that a run reached, by the rule of thumb's count.
double published_share(const RunCheck& check) {
  return six_operations(check) / peak_of(check) / *check.run.step_seconds;
}

double median_share_elsewhere(const std::vector<RunCheck>& checks, const std::string& source) {
  std::vector<double> shares;
  for (const RunCheck& check : checks) {
    if (check.run.step_seconds && repository_of(check.run.source) != source) {
      shares.push_back(published_share(check));
    }
  }
  constexpr double kRule = 0.4;
  return shares.empty() ? kRule : at_share(shares, 0.5);
}

RunClassScore score_of(std::string_view name, const Members& rows,
                       const std::map<std::string, double>& elsewhere) {
  std::array<std::vector<double>, 4> factors;
  std::vector<double> widths;
  std::map<std::string, std::vector<double>> by_source;
  std::size_t inside = 0;
  for (const RunCheck* row : rows) {
    const std::string source = repository_of(row->run.source);
    const double measured = *row->run.step_seconds;
    const double peak = peak_of(*row);
    const double operations = 3 * forward_flops_of(row->run.model()) * samples_of(*row);
    factors[0].push_back(factor_of(*row->ratio()));
    factors[1].push_back(factor_of(six_operations(*row) / (0.4 * peak) / measured));
    factors[2].push_back(factor_of(operations / (0.5 * peak) / measured));
    factors[3].push_back(factor_of(six_operations(*row) / (elsewhere.at(source) * peak) / measured));
    by_source[source].push_back(factors[0].back());
    widths.push_back(row->step.total.high.value / row->step.total.low.value);
    inside += row->inside() ? 1U : 0U;
  }
  std::vector<double> medians;
  for (const auto& [source, some] : by_source) {
    medians.push_back(at_share(some, 0.5));
  }
  return {.name = std::string(name),
          .sources = by_source.size(),
          .planned = summary_of_factors(factors[0], inside),
          .sources_alike = at_share(medians, 0.5),
          .width = at_share(widths, 0.5),
          .rule_40 = summary_of_factors(factors[1]),
          .mfu_50 = summary_of_factors(factors[2]),
          .elsewhere = summary_of_factors(factors[3])};
}

}  // namespace

std::vector<RunClassScore> scores_of(const std::vector<RunCheck>& checks) {
  std::map<std::string, double> elsewhere;
  for (const RunCheck& check : checks) {
    const std::string source = repository_of(check.run.source);
    if (!elsewhere.contains(source)) {
      elsewhere[source] = median_share_elsewhere(checks, source);
    }
  }
  std::vector<RunClassScore> scores;
  for (const RunClass& one : run_classes()) {
    Members rows;
    for (const RunCheck& check : checks) {
      if (check.ratio() && one.has(check)) {
        rows.push_back(&check);
      }
    }
    if (!rows.empty()) {
      scores.push_back(score_of(one.name, rows, elsewhere));
    }
  }
  return scores;
}

std::vector<Candidate> candidates_of(const std::vector<RunCheck>& checks) {
  std::vector<Candidate> candidates;
  for (const RunCheck& check : checks) {
    if (check.ratio()) {
      const PublishedRun& run = check.run;
      const double of_sample = run.offer().gpus / samples_of(check);
      candidates.push_back(
          {.work = fmt::format("{} {} {} {} {}", repository_of(run.source), run.run, run.model().sequence,
                               name(run.plan.workload.compute.precision), name(run.layout().adapters)),
           .machine = chip_of(*find_gpu_sheet(run.offer().machine.gpu->model)),
           .planned = of_sample * check.step.total.typical.value,
           .published = of_sample * *run.step_seconds,
           .by_sheet = run.offer().gpus / peak_of(check)});
    }
  }
  return candidates;
}

MemoryScore memory_score_of(const std::vector<RunCheck>& checks) {
  MemoryScore score;
  std::vector<double> factors;
  constexpr double kClose = 1.15;
  for (const RunCheck& check : checks) {
    const PlannedStep& step = check.step;
    if (!step.gpu_memory) {
      continue;
    }
    const bool fits = step.memory.total() <= *step.gpu_memory;
    (check.run.out_of_memory ? score.burst : score.ran) += 1;
    if (check.run.out_of_memory) {
      score.refused += fits ? 0 : 1;
    } else {
      score.fit += fits ? 1 : 0;
    }
    if (fits == check.run.out_of_memory) {
      score.exceptions.push_back(fmt::format("{} on {}: planned {:.1f} GB of {:.1f}", check.run.run,
                                             check.run.offer().name,
                                             static_cast<double>(step.memory.total().value) / 1e9,
                                             static_cast<double>(step.gpu_memory->value) / 1e9));
    }
    if (check.run.memory_gb) {
      factors.push_back(factor_of(check.planned_gb() / *check.run.memory_gb));
    }
  }
  if (!factors.empty()) {
    score.peak = summary_of_factors(factors);
    const auto close =
        std::count_if(factors.begin(), factors.end(), [](double one) { return one <= kClose; });
    score.close = static_cast<double>(close) / static_cast<double>(factors.size());
  }
  return score;
}

}  // namespace ringside
