#include "lab/planning/planning_fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/plan/compute_time.hpp"
#include "lab/planning/published_speeds.hpp"
#include "lab/planning/run_scores.hpp"
#include "sim/topology/gpu_models.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

std::vector<PublishedRun> published() {
  const std::filesystem::path configs = std::filesystem::path(RINGSIDE_SOURCE_DIR) / "configs";
  return load_published_runs(configs / "scaling" / "language_models.csv", {.machines = configs / "machines"});
}

/// A few runs, published to take what they are planned to with `parameters`.
std::vector<PublishedRun> made_runs(const PlanningParameters& parameters) {
  std::vector<PublishedRun> runs;
  for (PublishedRun& run : published()) {
    const std::string source = repository_of(run.source);
    const bool some = source == "mosaicml/llm-foundry" && runs.size() < 40;
    if (!some && source != "NVIDIA/NeMo") {
      continue;
    }
    const PlannedStep step = Planner(run.plan, parameters).estimate(run.offer(), run.layout());
    if (step.usable()) {
      run.step_seconds = step.total.typical.value;
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

double worst_factor(const std::vector<PublishedRun>& runs, const PlanningParameters& parameters) {
  double worst = 1;
  for (const PublishedRun& run : runs) {
    const PlannedStep step = Planner(run.plan, parameters).estimate(run.offer(), run.layout());
    worst = std::max(worst, std::exp(std::abs(std::log(step.total.typical.value / *run.step_seconds))));
  }
  return worst;
}

TEST(PlanningFit, FindsAShareThatRunsWerePlannedWith) {
  PlanningParameters truth = planning_guesses();
  truth[PlanningParameter::share_ampere] *= 0.85;
  const std::vector<PublishedRun> runs = made_runs(truth);
  ASSERT_GT(runs.size(), 30U);
  EXPECT_GT(worst_factor(runs, planning_guesses()), 1.1);
  const PlanningStudy study = study_planning(runs);
  EXPECT_LT(worst_factor(runs, study.all), 1.05);
  // Little is off, so that intervals are narrow; where one more thing may be, no narrower.
  const double factor = study.all[PlanningParameter::dense_factor];
  EXPECT_LT(factor, 1.22);
  EXPECT_GE(study.all[PlanningParameter::adapters_factor], factor);
  EXPECT_GE(study.all[PlanningParameter::float8_factor], factor);
  ASSERT_EQ(study.folds.size(), 2U);
  EXPECT_EQ(study.folds.front().source, "NVIDIA/NeMo");
}

TEST(PlanningFit, WritesOneFoldForEverySourceWithATime) {
  std::set<std::string> sources;
  for (const PublishedRun& run : published()) {
    if (run.step_seconds) {
      sources.insert(repository_of(run.source));
    }
  }
  std::set<std::string> folds;
  for (const PlanningStudy::Fold& fold : planning_folds()) {
    folds.insert(fold.source);
    EXPECT_NE(fold.parameters, planning_parameters()) << fold.source;
  }
  EXPECT_EQ(folds, sources);
  EXPECT_EQ(parameters_without("nobody/published"), planning_parameters());
}

TEST(RunScores, CountARowAgainstTheRulesOfThumb) {
  std::vector<PublishedRun> runs = published();
  const auto first =
      std::find_if(runs.begin(), runs.end(), [](const PublishedRun& run) { return run.step_seconds; });
  PublishedRun run = *first;
  const Transformer& model = run.model();
  const double tokens = static_cast<double>(*run.plan.workload.global_batch * model.sequence);
  const double peak =
      run.offer().gpus * flop_rate(*find_gpu_sheet(run.offer().machine.gpu->model), Precision::bfloat16);
  run.step_seconds = 6 * static_cast<double>(parameters_of(model)) * tokens / (0.4 * peak);
  PlannedStep step;
  step.layout = run.layout();
  step.total = {
      .low = {*run.step_seconds}, .typical = {2 * *run.step_seconds}, .high = {3 * *run.step_seconds}};
  const std::vector<RunClassScore> scores = scores_of({{.run = run, .step = step}});
  ASSERT_FALSE(scores.empty());
  EXPECT_EQ(scores.front().planned.rows, 1U);
  EXPECT_DOUBLE_EQ(scores.front().planned.median, 2);
  EXPECT_DOUBLE_EQ(scores.front().planned.within, 0);
  EXPECT_NEAR(scores.front().rule_40.median, 1, 1e-9);
  EXPECT_DOUBLE_EQ(scores.front().planned.coverage, 1);
  EXPECT_DOUBLE_EQ(scores.front().width, 3);
}

/// Published with a peak of 50 GB, planned with 60 GB of weights on a GPU of 80.
RunCheck run_with_memory() {
  RunCheck check = {.run = published().front(), .step = {}};
  check.run.memory_gb = 50;
  check.step.gpu_memory = Bytes{80'000'000'000};
  check.step.memory.weights = Bytes{60'000'000'000};
  return check;
}

TEST(RunScores, SayWhatIsPlannedToFitAndWasNot) {
  auto [run, step] = run_with_memory();
  PublishedRun burst = run;
  burst.out_of_memory = true;
  burst.memory_gb.reset();
  const MemoryScore score = memory_score_of({{.run = run, .step = step}, {.run = burst, .step = step}});
  EXPECT_EQ(score.peak.rows, 1U);
  EXPECT_DOUBLE_EQ(score.peak.median, 1.2);
  EXPECT_EQ(score.fit, 1U);
  EXPECT_EQ(score.burst, 1U);
  EXPECT_EQ(score.refused, 0U);
  ASSERT_EQ(score.exceptions.size(), 1U);
  EXPECT_THAT(score.exceptions.front(), testing::HasSubstr("planned 60.0 GB of 80.0"));
}

TEST(RunScores, CompareWhatPyTorchAllocatedWithPlannedTensors) {
  auto [run, step] = run_with_memory();
  step.memory.context = Bytes{5'000'000'000};
  EXPECT_DOUBLE_EQ(memory_score_of({{.run = run, .step = step}}).peak.median, 1.3);
  run.tensors_alone = true;
  EXPECT_DOUBLE_EQ(memory_score_of({{.run = run, .step = step}}).peak.median, 1.2);
}

}  // namespace
}  // namespace ringside
