// 400 lines: what is estimated, ranked and answered of the same few offers.
#include "analysis/plan/planner.hpp"

#include <algorithm>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/plan/compute_time.hpp"
#include "analysis/plan/gpu_memory.hpp"
#include "analysis/plan/links.hpp"
#include "analysis/plan/plan_sentences.hpp"
#include "analysis/plan/ranking.hpp"
#include "analysis/plan/verdict.hpp"
#include "common/error.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kGradientBytes = 80'000'000;

/// 80 MB of gradients in one message after a step of 40 ms; one GPU trains 100 samples in it.
Plan plan_80mb() {
  Plan plan;
  plan.name = "80 MB";
  plan.algorithm = "ring";
  plan.alternatives = {"naive", "tutorial_ring"};
  plan.synchronisation.style = Synchronisation::one_bucket;
  plan.workload.name = "80 MB";
  plan.workload.parameters = kGradientBytes / 4;
  plan.workload.batch_per_gpu = 100;
  plan.workload.samples = 1'000'000;
  plan.workload.compute.measured = {{.gpu = "any", .samples_per_second = 2500}};
  plan.workload.memory = {.optimizer = Optimizer::sgd, .activations = Bytes{1'000'000}};
  return plan;
}

/// Private links of 10 GB/s and 10 us.
Machine custom_machine(int gpus) {
  Machine machine;
  machine.name = "custom";
  machine.gpus_per_node = gpus;
  machine.intra =
      IntraLink{.kind = IntraKind::custom, .latency = Seconds{10e-6}, .bandwidth = BytesPerSecond{10e9}};
  return machine;
}

Offer offer_of(const std::string& name, int gpus, double per_hour) {
  return {.name = name,
          .machine = custom_machine(gpus),
          .gpus = gpus,
          .per_hour = Money{.amount = per_hour, .currency = "USD"}};
}

Offer with_gpu(Offer offer, const std::string& model) {
  offer.machine.gpu = Gpu{.model = model};
  return offer;
}

/// Nobody measured how fast a GPU is: a fifth of its data sheet, half or twice that.
Plan plan_of_a_guessed_speed() {
  Plan plan = plan_80mb();
  plan.workload.compute = {.precision = Precision::float32,
                           .family = {},
                           .efficiency = {{"default", {.low = 0.1, .typical = 0.2, .high = 0.4}}},
                           .measured = {}};
  plan.workload.forward_flops = 1e9;
  return plan;
}

Ranked ranked_of(const Plan& plan, const std::vector<Offer>& offers) {
  Planner planner(plan);
  Ranked ranked = steps_on(plan, offers, planner);
  find_ties(planner, ranked);
  return ranked;
}

/// What is said first of what to rent.
std::string first_of_verdict(const Ranked& ranked) { return verdict(ranked).front(); }

// Eight ranks: 14 messages of 10 us and 14 × 10 MB at 10 GB/s are 14.14 ms, as in README.md.
constexpr double kRing = 0.01414;
// All wait for the slowest of eight GPUs whose times spread by 2 %: 1.4236 standard deviations of 40 ms.
constexpr double kWaiting = 0.02 * 1.42360 * 0.04;

TEST(Planner, AddsTheClosedFormToTheTimeOfComputing) {
  const Plan plan = plan_80mb();
  Planner planner(plan);
  const PlannedStep estimate = planner.estimate(offer_of("eight", 8, 3.6));
  ASSERT_TRUE(estimate.usable()) << estimate.problem;
  EXPECT_NEAR(estimate.compute.typical.value, 0.04, 1e-12);
  EXPECT_NEAR(estimate.exposed.typical.value, kRing, 1e-9);
  EXPECT_NEAR(estimate.waiting.typical.value, kWaiting, 1e-7);
  EXPECT_NEAR(estimate.total.typical.value, 0.04 + kRing + kWaiting, 1e-7);
  EXPECT_NEAR(estimate.efficiency.typical, 0.04 / (0.04 + kRing + kWaiting), 1e-6);
  EXPECT_DOUBLE_EQ(estimate.batch, 800);
}

TEST(Planner, OverlapOnGpusGainsNothingAtWorstAndHidesAllButTheLastBucketAtBest) {
  Plan plan = plan_80mb();
  plan.synchronisation = {.style = Synchronisation::ddp, .bucket = {8 << 20}, .first_bucket = {8 << 20}};
  Planner planner(plan);
  const auto step_of = [&](const Offer& offer) { return planner.estimate(offer); };
  const PlannedStep on_cpus = step_of(offer_of("CPUs", 8, 1));
  const PlannedStep on_gpus = step_of(with_gpu(offer_of("GPUs", 8, 1), "H100-SXM"));
  EXPECT_LT(on_cpus.exposed.typical, 0.5 * on_cpus.communication.typical);
  const double copies = 4 * 80e6 / 3.35e12;  // Two reads and two writes, at the data sheet's 3.35 TB/s.
  EXPECT_NEAR(on_gpus.exposed.typical.value, on_gpus.communication.typical.value + copies, 1e-12);
  EXPECT_LT(on_gpus.exposed.low, 0.5 * on_gpus.communication.low);
  EXPECT_GT(on_gpus.exposed.high, on_gpus.communication.high);
  EXPECT_EQ(on_gpus.timeline.hidden().value, 0);
  EXPECT_LE(on_cpus.exposed.high.value, on_cpus.communication.high.value * (1 + 1e-12));
  plan.synchronisation.style = Synchronisation::ddp_without_overlap;
  Planner without(plan);
  const PlannedStep exposed = without.estimate(offer_of("CPUs", 8, 1));
  EXPECT_NEAR(exposed.exposed.typical.value, exposed.communication.typical.value, 1e-12);
}

TEST(Planner, GradientsOfGpusAreCopiedIntoTheirBucketAndBack) {
  Plan plan = plan_80mb();
  plan.workload.tensors = {{.name = "all", .elements = plan.workload.parameters}};
  const Offer eight = with_gpu(offer_of("eight", 8, 1), "H100-SXM");
  const auto beside_all_reduce = [&](const Offer& offer, double factor, std::int64_t bytes) {
    Planner planner(plan);
    return planner.vary(offer, {.bandwidth_factor = factor})->communication.value -
           planner.all_reduce(offer, "ring", offer.gpus, {bytes})->value;
  };
  const double copies = 4 * kGradientBytes / find_gpu_sheet("H100-SXM")->memory_bandwidth.value;
  EXPECT_NEAR(beside_all_reduce(eight, 1, kGradientBytes), copies, 1e-12);
  EXPECT_NEAR(beside_all_reduce(eight, 1e9, 4), copies, 1e-9) << "a faster link does not copy faster";
  EXPECT_EQ(beside_all_reduce(offer_of("CPUs", 8, 1), 1, kGradientBytes), 0);
  EXPECT_EQ(beside_all_reduce(with_gpu(offer_of("one", 1, 1), "H100-SXM"), 1, kGradientBytes), 0);
  plan.synchronisation.style = Synchronisation::per_tensor;
  EXPECT_EQ(beside_all_reduce(eight, 1, kGradientBytes), 0) << "without buckets nothing is copied";
}

TEST(Planner, PricesTheWholeRun) {
  const Plan plan = plan_80mb();
  Planner planner(plan);
  const PlannedStep estimate = planner.estimate(offer_of("eight", 8, 3.6));
  // 1,250 steps; 3.60 USD per hour are 0.001 per second.
  const double seconds = 1250 * (0.04 + kRing + kWaiting);
  ASSERT_TRUE(estimate.run && estimate.cost);
  EXPECT_NEAR(estimate.run->typical.value, seconds, 1e-4);
  EXPECT_NEAR(estimate.cost->amount.typical, 0.001 * seconds, 1e-7);

  Plan longer = plan;
  longer.workload.samples = 2'000'000;
  longer.workload.epochs = 3;
  Planner of_longer(longer);
  EXPECT_NEAR(of_longer.estimate(offer_of("eight", 8, 3.6)).run->typical.value, 6 * seconds, 1e-3);
}

TEST(Planner, TheEndsOfEfficiencyAreThoseOfFastAndSlowComputing) {
  Plan plan = plan_80mb();
  plan.workload.forward_flops = 2e8;
  plan.workload.compute = {.precision = Precision::float32,
                           .efficiency = {{"default", {.low = 0.01, .typical = 0.1, .high = 1}}}};
  Planner planner(plan);
  // 100 samples take 0.9 ms of an H100's 67 TFLOP/s, or 100 times as long; synchronising them takes 14 ms.
  const PlannedStep step = planner.estimate(with_gpu(offer_of("GPUs", 8, 1), "H100-SXM"));
  EXPECT_LT(step.efficiency.low, 0.1);
  EXPECT_GT(step.efficiency.high, 0.8);
  EXPECT_GT(step.waiting.high, step.waiting.typical);
  EXPECT_LT(step.speed.low, step.speed.high);
}

TEST(Planner, OneGpuIsNotSlowedDownByAllReduces) {
  Plan plan = plan_80mb();
  plan.synchronisation.style = Synchronisation::ddp;
  Planner planner(plan);
  const auto slowed = Contains(HasSubstr("Overlapped all_reduces slow kernels"));
  EXPECT_THAT(planner.estimate(with_gpu(offer_of("one", 1, 1), "H100-SXM")).assumptions,
              testing::Not(slowed));
  EXPECT_THAT(planner.estimate(with_gpu(offer_of("two", 2, 1), "H100-SXM")).assumptions, slowed);
}

TEST(Planner, SaysThatItDoesNotKnowTheTensors) {
  const Plan plan = plan_80mb();
  Planner planner(plan);
  EXPECT_THAT(planner.estimate(offer_of("eight", 8, 1)).assumptions,
              Contains(HasSubstr("Tensor sizes are unknown")));
}

TEST(Planner, OneGpuHasNothingToSynchronise) {
  const Plan plan = plan_80mb();
  Planner planner(plan);
  const PlannedStep estimate = planner.estimate(offer_of("one", 1, 1));
  ASSERT_TRUE(estimate.usable()) << estimate.problem;
  EXPECT_EQ(estimate.communication.typical.value, 0);
  EXPECT_EQ(estimate.efficiency.typical, 1);
}

TEST(Planner, AGlobalBatchIsSplit) {
  Plan plan = plan_80mb();
  plan.workload.batch_per_gpu.reset();
  plan.workload.global_batch = 400;
  Planner planner(plan);
  const PlannedStep estimate = planner.estimate(offer_of("eight", 8, 1));
  EXPECT_NEAR(estimate.compute.typical.value, 0.02, 1e-12);
  EXPECT_DOUBLE_EQ(estimate.batch, 400);
}

TEST(Planner, AGlobalBatchIsSplitOverPassesAndEachOfThemWaits) {
  Plan plan = plan_80mb();
  plan.workload.batch_per_gpu.reset();
  plan.workload.global_batch = 400;
  plan.synchronisation.accumulate = 2;
  Planner planner(plan);
  const PlannedStep estimate = planner.estimate(offer_of("eight", 8, 1));
  EXPECT_NEAR(estimate.compute.typical.value, 0.02, 1e-12);
  EXPECT_NEAR(estimate.waiting.typical.value, kWaiting / 2, 1e-7);
  EXPECT_DOUBLE_EQ(estimate.batch, 400);
}

TEST(Planner, LeastIsExposedWhereComputingIsSlow) {
  Plan plan = plan_80mb();
  plan.synchronisation = {.style = Synchronisation::ddp, .bucket = {8 << 20}, .first_bucket = {8 << 20}};
  plan.workload.forward_flops = 2e8;
  plan.workload.compute = {.precision = Precision::float32,
                           .efficiency = {{"default", {.low = 0.01, .typical = 0.1, .high = 1}}}};
  Planner planner(plan);
  const PlannedStep step = planner.estimate(with_gpu(offer_of("GPUs", 8, 1), "H100-SXM"));
  EXPECT_LT(step.exposed.low, 0.3 * step.communication.low);
}

TEST(Memory, AHalfPrecisionCopyStandsBesideTheParameters) {
  Plan plan = plan_80mb();
  plan.workload.compute.precision = Precision::bfloat16;
  EXPECT_EQ(memory_need(plan, 1).weights.value, plan.workload.parameters * (4 + 2));
}

TEST(Memory, HoldsWhatOptimizersBucketsAndActivationsNeed) {
  Plan plan = plan_80mb();
  plan.workload.memory = {.optimizer = Optimizer::momentum, .activations = std::nullopt};
  plan.workload.tensors = {{.name = "all", .elements = plan.workload.parameters, .activations = 1000}};
  EXPECT_EQ(memory_need(plan, 3).optimizer, Bytes{kGradientBytes}) << "one number of four bytes each";
  EXPECT_EQ(memory_need(plan, 3).activations, Bytes{3 * 4000});
  plan.workload.compute.precision = Precision::float16;
  EXPECT_EQ(memory_need(plan, 3).activations, Bytes{3 * 2000});
  for (const Synchronisation style : {Synchronisation::ddp, Synchronisation::one_bucket}) {
    plan.synchronisation.style = style;
    EXPECT_EQ(memory_need(plan, 3).gradients, Bytes{2 * kGradientBytes}) << "buckets are copies";
  }
  plan.synchronisation.style = Synchronisation::per_tensor;
  EXPECT_EQ(memory_need(plan, 3).gradients, Bytes{kGradientBytes});
  const Memory need = memory_need(plan, 3);
  EXPECT_EQ(need.total().value, need.weights.value + need.gradients.value + need.optimizer.value +
                                    need.activations.value + need.context.value);
  EXPECT_GT(need.context.value, 0);
}

TEST(Memory, OfACardIsInGiBUnlessItHasLess) {
  EXPECT_EQ(usable_memory(*find_gpu_sheet("A100-SXM4-40GB")).value, std::int64_t{40} << 30);
  EXPECT_EQ(usable_memory(*find_gpu_sheet("L40S")).value, 48'000'000'000);
}

TEST(Memory, WhatFitsExactlyFits) {
  Plan plan = plan_80mb();
  plan.workload.batch_per_gpu = 1;
  plan.workload.memory.activations = Bytes{0};
  const Bytes memory = find_gpu_sheet("RTX 3090")->memory;
  plan.workload.memory.activations = Bytes{memory.value - memory_need(plan, 1).total().value};
  EXPECT_EQ(largest_batch(memory, memory_need(plan, 0), memory_need(plan, 1)), 1);
  Planner planner(plan);
  EXPECT_TRUE(planner.estimate(with_gpu(offer_of("full", 4, 1), "RTX 3090")).usable());
}

TEST(Memory, PartOfASampleTakesAWholeOne) {
  Plan plan = plan_80mb();
  plan.workload.batch_per_gpu.reset();
  plan.workload.global_batch = 10;
  Planner planner(plan);
  EXPECT_EQ(planner.estimate(offer_of("four", 4, 1)).memory.activations, Bytes{3'000'000});
}

TEST(Planner, SaysWhatDoesNotFitAndWhatWould) {
  Plan plan = plan_80mb();
  plan.workload.batch_per_gpu = 100'000;  // 100 GB of activations
  Planner planner(plan);
  const PlannedStep estimate = planner.estimate(with_gpu(offer_of("small", 4, 1), "RTX 3090"));
  EXPECT_FALSE(estimate.usable());
  EXPECT_THAT(estimate.problem, HasSubstr("does not fit"));
  EXPECT_THAT(estimate.problem, HasSubstr("would fit"));
}

TEST(Planner, LlamaDoesNotFitPlainDataParallelism) {
  Plan plan = plan_80mb();
  plan.workload.parameters = 8'030'261'248;
  plan.workload.memory.optimizer = Optimizer::adam;
  Planner planner(plan);
  EXPECT_THAT(planner.estimate(with_gpu(offer_of("H100", 8, 1), "H100-SXM")).problem, HasSubstr("FSDP"));
}

TEST(Planner, KeepsAnOfferItCannotPriceWithTheReason) {
  const Plan plan = plan_80mb();
  Planner planner(plan);
  Offer offer = offer_of("broken", 8, 1);
  offer.problem = "the catalogue does not know the GPU 'RTX 9090'";
  EXPECT_EQ(planner.estimate(offer).problem, offer.problem);
}

TEST(ComputeTime, IsWorkOverRateTimesEfficiency) {
  Workload workload;
  workload.forward_flops = 1e9;
  workload.compute = {.precision = Precision::float16,
                      .efficiency = {{"default", {.low = 0.1, .typical = 0.2, .high = 0.4}}}};
  const auto time = compute_time(workload, find_gpu_sheet("A100-SXM4-80GB"));
  EXPECT_NEAR(time.per_sample.high.value, 3e9 / (312e12 * 0.1), 1e-12);
  EXPECT_NEAR(time.per_sample.low.value, 3e9 / (312e12 * 0.4), 1e-12);
  EXPECT_NEAR(time.per_sample.typical.value, 3e9 / (312e12 * 0.2), 1e-12);
}

TEST(ComputeTime, NamesTheArithmeticThatTheGpuHas) {
  Workload workload;
  workload.forward_flops = 1e9;
  workload.compute = {.precision = Precision::tf32,
                      .efficiency = {{"default", {.low = 0.1, .typical = 0.2, .high = 0.4}}}};
  const auto basis = [&](const char* gpu) { return compute_time(workload, find_gpu_sheet(gpu)).basis; };
  EXPECT_THAT(basis("A100-SXM4-80GB"), HasSubstr("156 TFLOP/s in tf32"));
  EXPECT_THAT(basis("V100-SXM2-16GB"), HasSubstr("15.7 TFLOP/s in float32"));
}

TEST(ComputeTime, OfAGpuWithoutBfloat16IsThatOfFloat16) {
  EXPECT_EQ(flop_rate(*find_gpu_sheet("V100-SXM2-16GB"), Precision::bfloat16),
            flop_rate(*find_gpu_sheet("V100-SXM2-16GB"), Precision::float16));
}

TEST(ComputeTime, AMeasuredSpeedIsThatOfItsGpu) {
  Workload workload;
  workload.compute.measured = {{.gpu = "A100-SXM4-80GB", .samples_per_second = 1000}};
  EXPECT_NO_THROW(compute_time(workload, find_gpu_sheet("A100-SXM4-80GB")));
  EXPECT_THROW(compute_time(workload, find_gpu_sheet("RTX 4090")), Error);
}

TEST(ComputeTime, TakesTheEfficiencyOfTheClass) {
  Workload workload;
  workload.forward_flops = 1e9;
  workload.compute.efficiency = {{"geforce", {.low = 0.5, .typical = 0.5, .high = 0.5}}};
  EXPECT_NO_THROW(compute_time(workload, find_gpu_sheet("RTX 4090")));
  EXPECT_THROW(compute_time(workload, find_gpu_sheet("RTX 6000 Ada")), Error);
  EXPECT_EQ(gpu_class(*find_gpu_sheet("RTX A6000")), "ampere");
  EXPECT_EQ(gpu_class(*find_gpu_sheet("RTX 2080 Ti")), "geforce");
  GpuSheet quadro = *find_gpu_sheet("RTX 2080 Ti");
  quadro.model = "RTX 8000";
  EXPECT_EQ(gpu_class(quadro), "turing");
}

TEST(Ranking, RecommendsTheCheapestWithinTheDeadlineAndTheFastestWithinTheBudget) {
  Plan plan = plan_80mb();
  const std::vector<Offer> offers = {offer_of("slow", 2, 1), offer_of("fast", 8, 6), offer_of("dear", 8, 60)};
  EXPECT_EQ(ranked_of(plan, offers).recommended, 0U);
  plan.deadline = Seconds{100};
  EXPECT_EQ(ranked_of(plan, offers).recommended, 1U);
  plan.deadline.reset();
  plan.budget = Money{.amount = 1, .currency = "USD"};
  EXPECT_EQ(ranked_of(plan, offers).recommended, 1U);
}

TEST(Ranking, OffersWithoutAPriceAreNamedAndNotCompared) {
  const Plan plan = plan_80mb();
  std::vector<Offer> offers = {offer_of("two", 2, 1), offer_of("free?", 8, 1)};
  offers[1].per_hour.reset();
  const Ranked ranked = ranked_of(plan, offers);
  EXPECT_EQ(ranked.recommended, 0U);
  EXPECT_THAT(first_of_verdict(ranked), HasSubstr("it is the only offer with a price that can be used"));
  EXPECT_THAT(first_of_verdict(ranked), EndsWith("The price of free? is unknown; it may be lower."));
  EXPECT_EQ(ranked.compared, 0);

  offers.push_back(offers[1]);
  offers[2].name = "broken";
  offers[2].problem = "the catalogue does not know its GPU";
  EXPECT_THAT(first_of_verdict(ranked_of(plan, offers)), testing::Not(HasSubstr("broken")));
}

TEST(Ranking, WhatJustMeetsItsLimitsIsGoodEnough) {
  Plan plan = plan_80mb();
  Planner planner(plan);
  const std::vector<Offer> offers = {offer_of("eight", 8, 6)};
  const PlannedStep step = planner.estimate(offers.front());
  plan.deadline = step.run->typical;
  EXPECT_EQ(ranked_of(plan, offers).recommended, 0U);
  plan.budget = Money{.amount = step.cost->amount.typical, .currency = "USD"};
  EXPECT_EQ(ranked_of(plan, offers).recommended, 0U);
}

TEST(LongTime, IsInDaysFromTwoOn) {
  EXPECT_EQ(long_time(2 * 86400), "2 days");
  EXPECT_EQ(long_time(86400), "24 h");
}

TEST(Ranking, TheFrontHoldsWhatNothingElseBeats) {
  Ranked ranked =
      ranked_of(plan_80mb(), {offer_of("slow", 2, 1), offer_of("fast", 8, 6), offer_of("dear", 8, 60)});
  EXPECT_THAT(ranked.pareto, ElementsAre(true, true, false));
  ranked.candidates[0].step.cost = ranked.candidates[1].step.cost;
  rank(ranked);
  EXPECT_THAT(ranked.pareto, ElementsAre(false, true, false));
}

TEST(Ranking, SaysWhyNothingIsGoodEnough) {
  Plan plan = plan_80mb();
  plan.deadline = Seconds{1};
  const Ranked ranked = ranked_of(plan, {offer_of("slow", 2, 1)});
  EXPECT_FALSE(ranked.recommended);
  EXPECT_THAT(why_none(ranked), HasSubstr("No offer is done within 1 s: the fastest, slow"));
}

TEST(Thresholds, AreWhereTheShareOfTheStepIsReached) {
  const Plan plan = plan_80mb();
  Planner planner(plan);
  const Offer offer = offer_of("eight", 8, 1);
  const Thresholds found = thresholds(planner, plan, offer);
  // A ninth of computing and waiting, 41.14 ms, is 10 % of the step: 4.57 ms, of which 0.14 ms are latency.
  ASSERT_TRUE(found.factor_for_10_percent);
  EXPECT_NEAR(*found.factor_for_10_percent, 14 / (41.14 / 9 - 0.14), 0.05);
  ASSERT_TRUE(found.factor_for_5_percent);
  EXPECT_NEAR(*found.factor_for_5_percent, 14 / (41.14 / 19 - 0.14), 0.1);
  EXPECT_EQ(found.ring_from_gpus,
            2);  // Two exchange halves both ways at once; naive sends all there, then all back.
  EXPECT_EQ(found.accumulate_for_10_percent, 4);
  EXPECT_FALSE(found.gpus_stop_paying);
  const TrainingStep there = *planner.vary(offer, {.bandwidth_factor = *found.factor_for_10_percent});
  EXPECT_LE(there.exposed.value / there.total.value, 0.1);
}

TEST(Thresholds, GpusStopPayingWhereOneMoreAddsLessThanHalfOfOne) {
  Plan plan = plan_80mb();
  plan.algorithm = "naive";
  Planner planner(plan);
  // Two GPUs send 80 MB there and back in 16 ms after 40 of computing: 1.42 times the speed of one.
  EXPECT_EQ(thresholds(planner, plan, offer_of("eight", 8, 1)).gpus_stop_paying, 1);
}

TEST(Thresholds, MicroBatchesAreTriedUpTo4096) {
  Plan plan = plan_80mb();
  // A pass of 42 us: 3,000 of them are nine times what is exposed.
  plan.workload.compute.measured = {{.gpu = "any", .samples_per_second = 100 / 41.2e-6}};
  Planner planner(plan);
  EXPECT_EQ(thresholds(planner, plan, offer_of("eight", 8, 1)).accumulate_for_10_percent, 4096);
}

TEST(Thresholds, RingWinsFromTheFirstSizeAtWhichItIsFaster) {
  // Four of eight messages at once take as long as one: rings lose while latency counts.
  Offer offer = offer_of("eight", 8, 1);
  offer.machine.calibrated = Calibrated{};
  offer.machine.calibrated->latency = {1e-5};
  offer.machine.calibrated->bandwidth = {1e10};
  offer.machine.calibrated->cores = 2;
  const auto curve = [](ProbeKind kind, int ranks, double factor) {
    return Curve{
        .kind = kind, .ranks = ranks, .points = {{{1'000}, factor * 1e-5}, {{1'000'000}, factor * 1.1e-4}}};
  };
  offer.machine.calibrated->curves = {curve(ProbeKind::ping_pong, 2, 1),
                                      curve(ProbeKind::neighbour_exchange, 8, 4)};
  const Plan plan = plan_80mb();
  Planner planner(plan);
  const auto found = thresholds(planner, plan, offer).ring_from_bytes;
  ASSERT_TRUE(found);
  const auto seconds = [&](const char* algorithm, std::int64_t bytes) {
    return *planner.all_reduce(offer, algorithm, 8, {bytes});
  };
  EXPECT_LT(seconds("ring", found->value), seconds("naive", found->value));
  EXPECT_GE(seconds("ring", found->value / 2), seconds("naive", found->value / 2));
}

TEST(Thresholds, RingDoesNotWinWhereItIsAsFastAsNaive) {
  Offer offer = offer_of("eight", 8, 1);
  offer.machine.intra->bandwidth = BytesPerSecond{1e60};  // Both are 14 latencies.
  const Plan plan = plan_80mb();
  Planner planner(plan);
  EXPECT_FALSE(thresholds(planner, plan, offer).ring_from_gpus);
}

TEST(Thresholds, LatencyCanBeTooMuchForAnyBandwidth) {
  Plan plan = plan_80mb();
  plan.workload.compute.measured = {{.gpu = "any", .samples_per_second = 1e8}};
  Planner planner(plan);
  EXPECT_FALSE(thresholds(planner, plan, offer_of("eight", 8, 1)).factor_for_10_percent);
}

TEST(Alternatives, HoldThePlanAndEveryOtherWay) {
  const Plan plan = plan_80mb();
  Planner planner(plan);
  const std::vector<Alternative> tried = alternatives(planner, plan, offer_of("eight", 8, 1));
  EXPECT_EQ(tried.front().algorithm, "ring");
  EXPECT_EQ(tried.size(), 1U + 2 + 3 + 5);
  // Overlap is what helps here.
  EXPECT_EQ(best_of(tried).synchronisation.style, Synchronisation::ddp);
  Plan doubled = plan;
  doubled.alternatives = {"naive", "ring", "tutorial_ring"};
  EXPECT_EQ(alternatives(planner, doubled, offer_of("eight", 8, 1)).size(), tried.size());
}

TEST(Alternatives, TheFirstBucketIsNoLargerThanTheOthers) {
  Plan plan = plan_80mb();
  plan.synchronisation.first_bucket = {8 << 20};
  Planner planner(plan);
  for (const Alternative& other : alternatives(planner, plan, offer_of("eight", 8, 1))) {
    if (other.synchronisation.style == Synchronisation::ddp &&
        other.synchronisation.bucket != plan.synchronisation.bucket) {
      EXPECT_LE(other.synchronisation.first_bucket, other.synchronisation.bucket);
    }
  }
}

TEST(Alternatives, NcclsOwnAndOursAreNotRankedAgainstEachOther) {
  const auto alternative = [](const std::string& algorithm, double seconds) {
    Alternative one{.algorithm = algorithm, .synchronisation = {}, .step = {}, .at_best = {}};
    one.step.total = {seconds};
    one.at_best = {seconds};
    return one;
  };
  EXPECT_EQ(best_of({alternative("native", 3), alternative("ring", 1), alternative("native", 2)}).step.total,
            Seconds{2});
  EXPECT_EQ(best_of({alternative("ring", 3), alternative("native", 1), alternative("naive", 2)}).algorithm,
            "naive");
  EXPECT_EQ(best_of({alternative("ring", 3), alternative("naive", 2), alternative("direct", 1),
                     alternative("tutorial_ring", 2.5)})
                .algorithm,
            "direct");
  Alternative hardly = alternative("naive", 2.98);
  hardly.at_best = {1};
  EXPECT_EQ(best_of({alternative("ring", 3), hardly}).algorithm, "ring") << "less than 1 % faster";
}

TEST(Alternatives, OverlapIsNotGivenUpWhereItMayHideMuch) {
  Plan plan = plan_80mb();
  plan.synchronisation = {.style = Synchronisation::ddp, .bucket = {8 << 20}, .first_bucket = {8 << 20}};
  plan.alternatives.clear();
  Planner planner(plan);
  const std::vector<Alternative> tried =
      alternatives(planner, plan, with_gpu(offer_of("GPUs", 8, 1), "H100-SXM"));
  // One message saves latencies, which counts where nothing is hidden anyway.
  EXPECT_TRUE(std::any_of(tried.begin(), tried.end(), [&](const Alternative& other) {
    return other.synchronisation.style == Synchronisation::one_bucket &&
           other.step.total < tried.front().step.total;
  }));
  EXPECT_EQ(best_of(tried).synchronisation.style, Synchronisation::ddp);
}

TEST(Sentences, AnswerTheQuestionOfTheExercises) {
  const Plan plan = plan_80mb();
  Planner planner(plan);
  const Offer offer = offer_of("eight", 8, 1);
  const PlannedStep estimate = planner.estimate(offer);
  const std::vector<std::string> words =
      explain(planner, plan, offer, estimate, thresholds(planner, plan, offer));
  EXPECT_THAT(words, Contains(HasSubstr("slows training down: synchronising 80 MB takes 14.1 ms")));
  EXPECT_THAT(words, Contains(HasSubstr("falls below 10 % from a link bandwidth of")));
  EXPECT_THAT(words, Contains(HasSubstr("ring is 7.9 times faster")));
  EXPECT_THAT(words, Contains(HasSubstr("as long as naive: each of its 14 rounds sends all 80 MB")));
}

TEST(Sentences, AreNoSurerOfTheBottleneckThanTheInterval) {
  EXPECT_EQ(bottleneck_words({.low = 0, .typical = 0.02, .high = 0.09}), "is not the bottleneck");
  EXPECT_EQ(bottleneck_words({.low = 0.11, .typical = 0.2, .high = 0.5}), "slows training down");
  EXPECT_EQ(bottleneck_words({.low = 0.6, .typical = 0.8, .high = 0.9}), "is the bottleneck");
  EXPECT_EQ(bottleneck_words({.low = 0, .typical = 0.02, .high = 0.49}), "may slow training down");
  EXPECT_EQ(bottleneck_words({.low = 0, .typical = 0.02, .high = 0.51}), "may be the bottleneck");
  EXPECT_EQ(bottleneck_words({.low = 0, .typical = 0.2, .high = 0.4}), "typically slows training down");
  EXPECT_EQ(bottleneck_words({.low = 0.2, .typical = 0.3, .high = 0.6}),
            "typically slows training down and may be the bottleneck");
  EXPECT_EQ(bottleneck_words({.low = 0, .typical = 0.6, .high = 0.9}), "is typically the bottleneck");
}

TEST(Links, HaveTheBandwidthThatTheyAchieve) {
  Machine machine = custom_machine(4);
  EXPECT_EQ(link_bandwidth(machine), BytesPerSecond{10e9});
  machine.intra = IntraLink{.kind = IntraKind::pcie, .generation = 4, .lanes = 8};
  EXPECT_EQ(link_name(machine), "PCIe 4.0 x8");
  EXPECT_NEAR(link_bandwidth(machine)->value, 0.78 * 8 * 1.96923e9, 1e6);
  machine.intra->lanes.reset();
  EXPECT_NEAR(link_bandwidth(machine)->value, 0.78 * 16 * 1.96923e9, 1e6);
  machine.gpu = Gpu{.model = "RTX 3090"};
  machine.intra->generation = 3;
  EXPECT_LT(link_bandwidth(machine)->value, 16e9) << "stated, though the card could more";
  machine.intra = IntraLink{.kind = IntraKind::nvlink, .generation = 3, .links_per_gpu = 1};
  const double one_link = link_bandwidth(machine)->value;
  machine.intra->links_per_gpu = 12;
  EXPECT_DOUBLE_EQ(link_bandwidth(machine)->value, 12 * one_link);
  machine.nodes = 2;
  machine.inter = InterLink{.kind = InterKind::infiniband, .rate = BytesPerSecond{25e9}, .nics = 1};
  const double one = link_bandwidth(machine)->value;
  machine.inter->nics = 4;
  EXPECT_DOUBLE_EQ(link_bandwidth(machine)->value, 4 * one);
  EXPECT_EQ(link_name(machine), "infiniband of a node");
  machine.nodes = 1;
  EXPECT_EQ(link_name(machine), "NVLink 3");
  machine.intra->kind = IntraKind::xgmi;
  EXPECT_EQ(link_name(machine), "xGMI");
  machine.intra = IntraLink{.kind = IntraKind::custom};
  EXPECT_EQ(link_name(machine), "link");
  machine.intra->shared = true;
  EXPECT_EQ(link_name(machine), "shared medium");
}

TEST(Links, AreThoseOfTheGpuWhereNothingElseIsStated) {
  for (const auto& [model, kind] :
       {std::pair("A100-SXM4-40GB", IntraKind::nvlink), std::pair("MI300X", IntraKind::xgmi)}) {
    const auto sheet = find_gpu_sheet(model);
    ASSERT_TRUE(sheet && sheet->links) << model;
    Machine machine;
    machine.gpu = Gpu{.model = model};
    machine.intra = IntraLink{.kind = kind};
    Machine stated;
    stated.intra =
        IntraLink{.kind = kind,
                  .generation = kind == IntraKind::xgmi ? sheet->xgmi_generation : sheet->nvlink_generation,
                  .links_per_gpu = sheet->links};
    ASSERT_TRUE(link_bandwidth(stated)) << model;
    EXPECT_EQ(link_bandwidth(machine), link_bandwidth(stated)) << model;
    stated.intra->links_per_gpu.reset();
    EXPECT_EQ(link_bandwidth(stated), std::nullopt) << "how many there are says nobody";
  }
}

TEST(Ties, AreOffersWhoseIntervalsOverlapAndAMeasurementOfComputingBreaksThem) {
  const Plan plan = plan_of_a_guessed_speed();
  const std::vector<Offer> offers = {with_gpu(offer_of("cheap", 8, 1.0), "A100-SXM4-40GB"),
                                     with_gpu(offer_of("a little dearer", 8, 1.1), "A100-SXM4-40GB"),
                                     with_gpu(offer_of("far dearer", 8, 1000), "A100-SXM4-40GB")};
  const Ranked ranked = ranked_of(plan, offers);
  EXPECT_THAT(ranked.tied, ElementsAre(1));
  ASSERT_TRUE(ranked.breaker);
  EXPECT_EQ(ranked.breaker->part, Planner::Part::computing);
  const Interval<Seconds>& total = ranked.candidates[0].step.total;
  Planner planner(plan);
  const auto known = planner.total_if_known(offers[0], Planner::Part::computing);
  ASSERT_TRUE(known);
  EXPECT_GT(known->low, total.low);
  EXPECT_LT(known->high, total.high);
}

/// Two offers of a GPU whose speed is known to this factor: NVLink, and a little dearer, slots.
Ranked ranked_by_guess(double factor, double forward_flops) {
  Plan plan = plan_of_a_guessed_speed();
  plan.algorithm = "native";
  plan.alternatives = {};
  plan.workload.compute.efficiency = {
      {"default", {.low = 0.2 / factor, .typical = 0.2, .high = 0.2 * factor}}};
  plan.workload.forward_flops = forward_flops;
  std::vector<Offer> offers = {with_gpu(offer_of("links", 8, 1.0), "A100-SXM4-40GB"),
                               with_gpu(offer_of("slots", 8, 1.001), "A100-SXM4-40GB")};
  offers[0].machine.intra = IntraLink{.kind = IntraKind::nvlink, .generation = 3};
  offers[1].machine.intra = IntraLink{.kind = IntraKind::pcie, .generation = 4, .lanes = 16};
  return ranked_of(plan, offers);
}

TEST(Ties, AreBrokenByWhatLeavesLeastInCommon) {
  const Ranked found = ranked_by_guess(1.05, 1e9);
  ASSERT_TRUE(found.breaker);
  EXPECT_EQ(found.breaker->candidate, 0U);
  EXPECT_EQ(found.breaker->part, Planner::Part::computing);
}

TEST(Ties, OneMeasurementOfComputingTellsBothOffersOfAGpu) {
  const Ranked found = ranked_by_guess(1.02, 1e10);
  ASSERT_TRUE(found.breaker);
  EXPECT_EQ(found.breaker->candidate, 0U) << "either would do, and the first is the one to rent";
  EXPECT_EQ(found.breaker->part, Planner::Part::computing);
}

TEST(Ties, AreJudgedByTimeWhereOnlyABudgetIsGiven) {
  Plan plan = plan_of_a_guessed_speed();
  const std::vector<Offer> offers = {with_gpu(offer_of("cheap", 8, 1), "A100-SXM4-40GB"),
                                     with_gpu(offer_of("dear", 8, 1000), "A100-SXM4-40GB")};
  EXPECT_TRUE(ranked_of(plan, offers).tied.empty()) << "a thousand times the price";
  plan.budget = Money{.amount = 1e9, .currency = "USD"};
  EXPECT_EQ(ranked_of(plan, offers).tied.size(), 1U) << "as fast, and both can be paid";
}

TEST(Ties, AnExtrapolatedOfferFarBelowIsNoTie) {
  const Plan plan = plan_of_a_guessed_speed();
  const std::vector<Offer> offers = {with_gpu(offer_of("known", 8, 1000), "A100-SXM4-40GB"),
                                     with_gpu(offer_of("guessed", 8, 1), "A100-SXM4-40GB")};
  Planner planner(plan);
  Ranked ranked = steps_on(plan, offers, planner);
  ranked.candidates[1].step.extrapolated = true;
  rank(ranked);
  find_ties(planner, ranked);
  EXPECT_EQ(ranked.recommended, 0U);
  EXPECT_THAT(first_of_verdict(ranked), HasSubstr("the only offer with a known speed that can be used"));
  EXPECT_THAT(ranked.tied, ElementsAre());
  EXPECT_THAT(ranked.better, ElementsAre(1));
}

TEST(Links, AMeasuredBandwidthIsWhatASlotHas) {
  Machine machine;
  machine.gpu = Gpu{.model = "RTX 3090"};
  machine.intra = IntraLink{.kind = IntraKind::pcie, .bandwidth = BytesPerSecond{20e9}};
  EXPECT_EQ(link_bandwidth(machine), BytesPerSecond{20e9});
}

TEST(Ties, AreCalledSoBeforeAnythingIsRecommended) {
  Ranked ranked = ranked_of(plan_80mb(), {offer_of("one", 8, 1.0), offer_of("other", 8, 1.1)});
  ranked.tied = {};
  EXPECT_THAT(first_of_verdict(ranked),
              StartsWith("Rent one: it is the cheapest of 2 offers that can be used: "));
  ranked.tied = {1};
  EXPECT_THAT(first_of_verdict(ranked),
              StartsWith("A tie between one, other: their 90 % intervals overlap. Best guess: one, the "
                         "cheapest of 2 offers that can be used: "));
}

TEST(Ranking, AnExtrapolatedNumberIsNeverWhyAnOfferIsRecommended) {
  Plan plan = plan_80mb();
  plan.workload.compute = {.precision = Precision::float16,
                           .family = ModelFamily::convolutional,
                           .efficiency = {},
                           .measured = {}};
  plan.workload.forward_flops = 1e10;
  const std::vector<Offer> offers = {with_gpu(offer_of("unknown", 8, 0.1), "L40S"),
                                     with_gpu(offer_of("known", 8, 10), "A100-SXM4-40GB")};
  const Ranked ranked = ranked_of(plan, offers);
  EXPECT_TRUE(ranked.candidates[0].step.extrapolated);
  EXPECT_FALSE(ranked.candidates[1].step.extrapolated);
  EXPECT_EQ(ranked.recommended, 1U);
  EXPECT_THAT(first_of_verdict(ranked), HasSubstr("unknown may be better, but its speed is extrapolated"));
  EXPECT_FALSE(ranked_of(plan, {offers[0]}).recommended);
}

TEST(RunCost, InterruptionsTakeTimeAndLeastTimesAreBilled) {
  Plan plan = plan_80mb();
  Planner planner(plan);
  Offer offer = offer_of("eight", 8, 6);
  const PlannedStep calm = planner.estimate(offer);
  offer.interruptible = true;
  // A minute of every 30 for checkpoints; a quarter of an hour and ten minutes are lost once a day.
  EXPECT_NEAR(planner.estimate(offer).run->typical.value / calm.run->typical.value,
              1 + 1.0 / 30 + 25.0 / (24 * 60), 1e-9);
  offer.interruptible = false;
  offer.minimum = Seconds{3600};
  EXPECT_DOUBLE_EQ(planner.estimate(offer).cost->amount.typical, 6);
}

TEST(Step, IsNoFasterThanItsInput) {
  Plan plan = plan_80mb();
  plan.workload.input_per_node = 8 * 1000;  // The GPUs could take 2,500 each.
  Planner planner(plan);
  EXPECT_NEAR(planner.estimate(offer_of("eight", 8, 6)).compute.typical.value, 0.1, 1e-12);
}

}  // namespace
}  // namespace ringside
