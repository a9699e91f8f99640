// 400 lines: one planner, and every way to spread a model that it knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/plan/collective_times.hpp"
#include "analysis/plan/planner.hpp"
#include "analysis/sharding/sharded_memory.hpp"

namespace ringside {
namespace {

using testing::HasSubstr;

/// meta-llama/Meta-Llama-3-8B.
Transformer llama_8b(std::int64_t sequence) {
  return {.layers = 32,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 8,
          .vocabulary = 128256,
          .intermediate = 14336,
          .sequence = sequence};
}

constexpr Transformer kGpt2{.layers = 12,
                            .hidden = 768,
                            .heads = 12,
                            .kv_heads = 12,
                            .vocabulary = 50257,
                            .intermediate = 3072,
                            .gated = false,
                            .tied = true,
                            .biases = true,
                            .positions = 1024,
                            .sequence = 1024};

Plan plan_of(const Transformer& model, int batch, int accumulate = 1) {
  Plan plan;
  plan.name = "test";
  plan.algorithm = "native";
  plan.synchronisation.accumulate = accumulate;
  plan.workload.transformer = model;
  plan.workload.parameters = parameters_of(model);
  plan.workload.forward_flops = forward_flops_of(model);
  plan.workload.batch_per_gpu = batch;
  plan.workload.compute.precision = Precision::bfloat16;
  plan.workload.memory.optimizer = Optimizer::adam;
  return plan;
}

Offer eight_h100() {
  Machine machine;
  machine.name = "8 × H100";
  machine.gpus_per_node = 8;
  machine.gpu = Gpu{.model = "H100-SXM"};
  machine.intra =
      IntraLink{.kind = IntraKind::nvlink, .generation = 4, .links_per_gpu = 18, .nvswitch = true};
  return {
      .name = "8 × H100", .machine = machine, .gpus = 8, .per_hour = Money{.amount = 16, .currency = "USD"}};
}

TEST(Transformer, HasTheParametersOfItsModel) {
  EXPECT_EQ(parameters_of(llama_8b(8192)), 8'030'261'248);
  EXPECT_EQ(parameters_of(kGpt2), 124'439'808);
}

TEST(ShardedMemory, IsThatOfFigureOneOfZero) {
  // 7.5 B parameters on 64 GPUs: 120, 31.4, 16.6 and 1.9 GB of weights, gradients, states (Rajbhandari 2020).
  const Transformer model = llama_8b(1);
  const double scale = 7.5e9 / static_cast<double>(parameters_of(model));
  const Plan plan = plan_of(model, 1);
  const auto states = [&](ShardingStyle style) {
    const Memory memory = sharded_memory(plan.workload, {.style = style, .data = 64}, 1, 1);
    return scale *
           static_cast<double>(memory.weights.value + memory.gradients.value + memory.optimizer.value) / 1e9;
  };
  EXPECT_NEAR(states(ShardingStyle::ddp), 120, 0.1);
  EXPECT_NEAR(states(ShardingStyle::zero1), 31.4, 0.1);
  EXPECT_NEAR(states(ShardingStyle::zero2), 16.6, 0.1);
  EXPECT_NEAR(states(ShardingStyle::zero3), 1.9, 0.1);
}

TEST(ShardedMemory, OfAStepOfAdamIsOneFloat32MoreWhereActivationsNeedLess) {
  const auto total = [](std::int64_t sequence, const Layout& layout) {
    const Plan plan = plan_of(llama_8b(sequence), 1);
    return static_cast<double>(sharded_memory(plan.workload, layout, 1, 1).total().value) / 1e9;
  };
  EXPECT_NEAR(total(1, {}), 20 * 8.03 + 1.5, 0.1);
  EXPECT_NEAR(total(1, {.style = ShardingStyle::fsdp, .data = 8}), 20 * 8.03 / 8 + 1.5, 0.1);
  EXPECT_NEAR(total(1, {.tensor = 8}), 16 * 8.03 / 8 + 1.5, 0.1) << "Megatron-LM's Adam is fused";
  EXPECT_GT(total(16384, {}), total(1, {}) + 10) << "activations are gone before the step";
}

TEST(ShardedMemory, TheLargestBatchFollowsActivationsAndTheStepOfAdamMustFit) {
  const Plan plan = plan_of(llama_8b(512), 1);
  const auto need = [&](int batch) { return sharded_memory(plan.workload, {}, batch, 1); };
  const Bytes enough{200'000'000'000};
  const int batch = *largest_batch(enough, need(0), need(1));
  EXPECT_LE(need(batch).total(), enough);
  EXPECT_GT(need(batch + 1).total(), enough);
  EXPECT_EQ(largest_batch({need(1).total().value - 1}, need(0), need(1)), std::nullopt);
}

TEST(ShardedMemory, AnExabyteStandsForAllThatIsMore) {
  const Plan plan = plan_of(llama_8b(8192), 1);
  EXPECT_EQ(sharded_memory(plan.workload, {}, 1'000'000'000, 1).activations,
            Bytes{1'000'000'000'000'000'000});
}

TEST(ShardedMemory, OfActivationsIsNear34BytesPerTokenAndWidth) {
  // Korthikanti et al. 2022 count 34 with two dropout masks, which take 2, and an MLP four times as wide.
  const Transformer gpt{.layers = 1,
                        .hidden = 1024,
                        .heads = 16,
                        .kv_heads = 16,
                        .vocabulary = 1,
                        .intermediate = 4096,
                        .gated = false,
                        .sequence = 1};
  EXPECT_NEAR(2 * kept_elements_of_layer(gpt) / 1024, 32, 1);
}

TEST(ShardedMemory, OfFourBitWeightsIsAQuarterAndAdaptersAreSmall) {
  const Plan plan = plan_of(llama_8b(512), 1);
  const Layout qlora{.adapters = Adapters::qlora};
  const Layout lora{.adapters = Adapters::lora};
  const auto weights = [&](const Layout& layout) {
    return static_cast<double>(sharded_memory(plan.workload, layout, 1, 1).weights.value) / 1e9;
  };
  EXPECT_NEAR(weights(lora), 16.06, 0.01);
  EXPECT_NEAR(weights(qlora), 0.516 * 6.98 + 4 * 1.051, 0.05);  // peft casts the rest to float32.
  // 32 layers of rank 16: 41,943,040, as peft prints for all linear layers of this model.
  EXPECT_DOUBLE_EQ(trained_on_rank(llama_8b(1), lora).others, 41'943'040);
}

TEST(ShardedStep, FsdpMovesHalfAsMuchAgainAsZeroOne) {
  const Plan plan = plan_of(llama_8b(8192), 1);
  Planner planner(plan);
  const PlannedStep fsdp = planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp});
  ASSERT_EQ(fsdp.problem, "");
  const PlannedStep one = planner.estimate(eight_h100(), {.style = ShardingStyle::zero1});
  ASSERT_EQ(one.problem, "");
  EXPECT_NEAR(fsdp.communication.typical.value / one.communication.typical.value, 1.5, 0.15);
}

TEST(ShardedStep, APipelineLosesItsStagesLessOneOverItsPasses) {
  const Plan plan = plan_of(llama_8b(4096), 1, 4);
  Planner planner(plan);
  const PlannedStep step =
      planner.estimate(eight_h100(), {.pipeline = 4, .checkpointing = Checkpointing::full});
  ASSERT_EQ(step.problem, "");
  EXPECT_EQ(step.micro_batches, 16);
  EXPECT_NEAR(step.bubble.typical.value / step.compute.typical.value, 3.0 / 16, 0.02);
}

TEST(ShardedStep, WhatDoesNotFitSaysWhatWould) {
  const Plan plan = plan_of(llama_8b(8192), 64);
  Planner planner(plan);
  EXPECT_THAT(planner.estimate(eight_h100(), {.style = ShardingStyle::ddp}).problem,
              HasSubstr("does not fit: "));
  EXPECT_THAT(planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp}).problem,
              HasSubstr("a micro-batch of "));
  EXPECT_THAT(planner.estimate(eight_h100(), {.tensor = 3}).problem, HasSubstr("does not divide"));
}

TEST(ShardedStep, TheSearchFindsNothingDearerThanAWayThatIsNamed) {
  const Plan plan = plan_of(llama_8b(4096), 1, 4);
  Planner planner(plan);
  const std::vector<PlannedStep> found = planner.search(eight_h100());
  ASSERT_GT(found.size(), 2U);
  const auto cost = [](const PlannedStep& step) { return step.cost->amount.typical; };
  EXPECT_LE(cost(found.front()), cost(planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp})));
  EXPECT_LE(cost(found.front()), cost(found.back()));
}

/// Two nodes of eight H100 and a slow network.
Offer sixteen_h100() {
  Offer offer = eight_h100();
  offer.machine.nodes = 2;
  offer.machine.inter =
      InterLink{.kind = InterKind::infiniband, .rate = BytesPerSecond{12.5e9}, .nics = 1, .gpudirect = true};
  offer.gpus = 16;
  return offer;
}

TEST(ShardedStep, HybridShardsKeepTheirGathersInTheNode) {
  const Plan plan = plan_of(llama_8b(8192), 1);
  Planner planner(plan);
  const PlannedStep fsdp = planner.estimate(sixteen_h100(), {.style = ShardingStyle::fsdp});
  const PlannedStep hybrid = planner.estimate(sixteen_h100(), {.style = ShardingStyle::hybrid});
  ASSERT_EQ(fsdp.problem, "");
  ASSERT_EQ(hybrid.problem, "");
  EXPECT_EQ(hybrid.layout->data_on_node, 8);
  // Twice the states on each GPU, and less time in collectives.
  EXPECT_NEAR(static_cast<double>(hybrid.memory.optimizer.value),
              2.0 * static_cast<double>(fsdp.memory.optimizer.value), 100);
  EXPECT_LT(hybrid.communication.typical, fsdp.communication.typical);
  // On one node both are the same.
  EXPECT_EQ(planner.estimate(eight_h100(), {.style = ShardingStyle::hybrid}).total.typical,
            planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp}).total.typical);
}

TEST(ShardedStep, LocalStepsAverageWeightsOnceInAWhile) {
  const Plan plan = plan_of(kGpt2, 8);
  Planner planner(plan);
  const PlannedStep every = planner.estimate(eight_h100(), {});
  const PlannedStep local = planner.estimate(eight_h100(), {.local_steps = 10});
  ASSERT_EQ(every.problem, "");
  EXPECT_NEAR(local.communication.typical.value, every.communication.typical.value / 10, 1e-9);
  EXPECT_NE(planner.estimate(eight_h100(), {.style = ShardingStyle::zero1, .local_steps = 10}).problem, "");
}

TEST(ShardedMemory, WhatIsOffloadedIsOnTheHost) {
  const Plan plan = plan_of(llama_8b(1024), 1);
  const auto gb = [&](ShardingStyle style, Offload offload, Bytes Memory::*part) {
    const Layout layout{.style = style, .offload = offload, .data = 8};
    return static_cast<double>((sharded_memory(plan.workload, layout, 1, 1).*part).value) / 1e9;
  };
  const double billions = 8.030261248;
  EXPECT_NEAR(gb(ShardingStyle::zero2, Offload::optimizer, &Memory::host), 14 * billions / 8, 1e-6);
  EXPECT_NEAR(gb(ShardingStyle::zero2, Offload::optimizer, &Memory::weights), 2 * billions, 1e-6);
  EXPECT_EQ(gb(ShardingStyle::zero2, Offload::optimizer, &Memory::optimizer), 0);
  EXPECT_EQ(gb(ShardingStyle::zero2, Offload::optimizer, &Memory::gradients), 0);
  EXPECT_NEAR(gb(ShardingStyle::zero1, Offload::optimizer, &Memory::gradients), 2 * billions, 1e-6);
  EXPECT_NEAR(gb(ShardingStyle::zero1, Offload::optimizer, &Memory::host), 12 * billions / 8, 1e-6);
  EXPECT_EQ(gb(ShardingStyle::fsdp, Offload::parameters, &Memory::weights), 0);
  EXPECT_NEAR(gb(ShardingStyle::fsdp, Offload::parameters, &Memory::host), 16 * billions / 8, 1e-6);
  EXPECT_EQ(gb(ShardingStyle::fsdp, Offload::none, &Memory::host), 0);
}

TEST(ShardedStep, AnOffloadedStepWaitsForItsHost) {
  const Plan plan = plan_of(llama_8b(1024), 1, 2);
  Planner planner(plan);
  const auto step = [&](ShardingStyle style, Offload offload) {
    const Layout layout{.style = style, .checkpointing = Checkpointing::full, .offload = offload};
    PlannedStep planned = planner.estimate(eight_h100(), layout);
    EXPECT_EQ(planned.problem, "");
    return planned;
  };
  const auto added = [&](ShardingStyle style, Offload offload) {
    return (step(style, offload).communication.typical - step(style, Offload::none).communication.typical)
        .value;
  };
  // 28 bytes of each parameter cross the memory of two sockets; 2 of them the slot, once a pass. Weights do
  // before both directions of both passes.
  const double part = 8.030261248e9 / 8;
  const double update = 28 * part / (2 * 246e9 / 8);
  const double slot = 0.87 * 63e9;
  EXPECT_NEAR(added(ShardingStyle::zero2, Offload::optimizer), update + 2 * 2 * part / slot, 0.01 * update);
  EXPECT_NEAR(added(ShardingStyle::fsdp, Offload::parameters), update + 2 * (2 + 4) * part / slot,
              0.01 * update);
  const PlannedStep offloaded = step(ShardingStyle::zero2, Offload::optimizer);
  EXPECT_GT(offloaded.exposed.typical.value, update);
  EXPECT_LT(offloaded.exposed.low, offloaded.exposed.high);
  EXPECT_THAT(offloaded.assumptions,
              testing::Contains(testing::HasSubstr("Its host keeps 14.1 GB for each GPU, which")));
}

TEST(ShardedStep, OneGpuReachesOneSocketOfItsHost) {
  // Ren et al. 2021 update 10 B parameters on the CPUs of a DGX-2 in 2.57 s (table 4, from memory).
  const Transformer model{.layers = 50,
                          .hidden = 4096,
                          .heads = 32,
                          .kv_heads = 32,
                          .vocabulary = 50257,
                          .intermediate = 16384,
                          .gated = false,
                          .tied = true,
                          .sequence = 1024};
  Plan plan = plan_of(model, 8, 64);
  plan.workload.compute.precision = Precision::float16;
  Offer one;
  one.name = "V100";
  one.machine.gpu = Gpu{.model = "V100-SXM2-32GB"};
  one.machine.gpus_per_node = 16;
  one.machine.intra =
      IntraLink{.kind = IntraKind::nvlink, .generation = 2, .links_per_gpu = 6, .nvswitch = true};
  one.gpus = 1;
  Layout layout{
      .style = ShardingStyle::zero2, .checkpointing = Checkpointing::full, .offload = Offload::optimizer};
  const PlannedStep step = Planner(plan).estimate(one, layout);
  ASSERT_EQ(step.problem, "");
  const double parameters = static_cast<double>(parameters_of(model));
  EXPECT_NEAR(step.communication.typical.value - 64 * 2 * parameters / (0.76 * 15.75e9),
              28 * parameters / 102e9, 0.1);
}

TEST(ShardedStep, ExpertsAreSharedAndTokensGoToThem) {
  Transformer mixture = {.layers = 32,
                         .hidden = 4096,
                         .heads = 32,
                         .kv_heads = 8,
                         .vocabulary = 32000,
                         .intermediate = 14336,
                         .sequence = 4096};
  mixture.experts = 8;
  mixture.active_experts = 2;
  // Mixtral 8x7B: 46.7 G parameters, of which a token uses 12.9 G.
  EXPECT_NEAR(static_cast<double>(parameters_of(mixture)), 46.7e9, 0.1e9);
  EXPECT_NEAR(static_cast<double>(mixture.layers * active_elements_of_layer(mixture) + 2 * 32000 * 4096),
              12.9e9, 0.1e9);
  const Plan plan = plan_of(mixture, 1);
  Planner planner(plan);
  const PlannedStep alone = planner.estimate(eight_h100(), {.style = ShardingStyle::zero1});
  const PlannedStep shared = planner.estimate(eight_h100(), {.style = ShardingStyle::zero1, .expert = 8});
  EXPECT_NE(alone.problem, "");
  EXPECT_LT(shared.memory.weights, Bytes{15'000'000'000});
  const PlannedStep fsdp =
      planner.estimate(sixteen_h100(), {.style = ShardingStyle::fsdp, .checkpointing = Checkpointing::full});
  const PlannedStep both = planner.estimate(
      sixteen_h100(), {.style = ShardingStyle::fsdp, .expert = 8, .checkpointing = Checkpointing::full});
  ASSERT_EQ(fsdp.problem, "");
  ASSERT_EQ(both.problem, "");
  EXPECT_LT(both.communication.typical, fsdp.communication.typical);
  EXPECT_NE(planner.estimate(eight_h100(), {.expert = 3}).problem, "");
  // Two of the sixteen have the same experts, and send their gradients to each other besides the rest.
  const auto gradients = [](Transformer model, int intermediate) {
    model.intermediate = intermediate;
    const Plan wide = plan_of(model, 1);
    Planner of_model(wide);
    const Layout layout = {.style = ShardingStyle::zero1, .expert = 8, .checkpointing = Checkpointing::full};
    const PlannedStep step = of_model.estimate(sixteen_h100(), layout);
    EXPECT_EQ(step.problem, "");
    return step.communication.typical.value;
  };
  // At the least one expert's gradients pass a NIC of 12.5 GB/s.
  EXPECT_GT(gradients(mixture, 14336) - gradients(mixture, 7168), 32 * 3 * 7168.0 * 4096 * 2 / 12.5e9);
}

TEST(ShardedMemory, OnlyRanksWithTheSameExpertsCutThem) {
  Workload workload;
  Transformer mixture = llama_8b(1024);
  mixture.experts = 8;
  mixture.active_experts = 2;
  workload.transformer = mixture;
  workload.memory.optimizer = Optimizer::adam;
  workload.compute.precision = Precision::bfloat16;
  const Layout zero{.style = ShardingStyle::zero1, .expert = 8, .data = 16, .data_on_node = 8};
  const auto experts = static_cast<double>(mixture.layers * expert_elements_of_layer(mixture));
  const double others = static_cast<double>(parameters_of(mixture)) - experts;
  const TrainedElements trained = trained_on_rank(mixture, zero);
  EXPECT_NEAR(trained.experts, experts / 8, 1);
  EXPECT_NEAR(trained.others, others, 1);
  // 12 bytes of Adam: two of the sixteen ranks have the same experts, all have the rest.
  EXPECT_NEAR(static_cast<double>(sharded_memory(workload, zero, 1, 1).optimizer.value),
              12 * (experts / 8 / 2 + others / 16), 2);
  // Whatever is cut, nothing of an expert is kept twice once all ranks cut everything.
  const Layout fsdp{.style = ShardingStyle::fsdp, .expert = 8, .data = 16, .data_on_node = 8};
  EXPECT_NEAR(static_cast<double>(sharded_memory(workload, fsdp, 1, 1).weights.value),
              2 * (experts + others) / 16, 2);
  const Layout hybrid{.style = ShardingStyle::hybrid, .expert = 8, .data = 16, .data_on_node = 8};
  EXPECT_EQ(ranks_alike(hybrid), 8);
  EXPECT_EQ(ranks_alike_in_experts(hybrid), 1);
}

TEST(ShardedStep, TheSearchSharesExpertsAndSaysWhatNeedsLeastWhereNothingFits) {
  Transformer mixture = llama_8b(2048);
  mixture.experts = 8;
  mixture.active_experts = 2;
  const Plan plan = plan_of(mixture, 1);
  Planner planner(plan);
  const std::vector<PlannedStep> found = planner.search(sixteen_h100());
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                          [](const PlannedStep& step) { return step.layout->expert == 8; }));
  // 47 G parameters do not fit into 8 x 80 GB with Adam.
  const std::vector<PlannedStep> none = planner.search(eight_h100());
  ASSERT_EQ(none.size(), 1U);
  EXPECT_THAT(none.front().problem, HasSubstr("does not fit: "));
  EXPECT_GE(
      planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp, .checkpointing = Checkpointing::full})
          .memory.total(),
      none.front().memory.total());
}

TEST(ShardedMemory, TensorParallelRanksCutEveryWeightOfAMixture) {
  Transformer mixture = llama_8b(1024);
  mixture.experts = 8;
  mixture.active_experts = 2;
  const Plan plan = plan_of(mixture, 1);
  const auto memory = [&](const Layout& layout) { return sharded_memory(plan.workload, layout, 1, 1); };
  const auto parameters = static_cast<double>(parameters_of(mixture));
  EXPECT_NEAR(static_cast<double>(memory({}).weights.value), 2 * parameters, 2);
  EXPECT_NEAR(static_cast<double>(memory({.tensor = 2}).weights.value), 2 * parameters / 2, 2);
  // The layer at work, the next one, and the gradient of the layer before.
  const auto layer = static_cast<double>(parameters_of_layer(mixture));
  const Layout fsdp{.style = ShardingStyle::fsdp, .data = 8};
  EXPECT_NEAR(static_cast<double>(memory(fsdp).gathered.value), 2 * 3 * layer, 2);
}

TEST(ShardedStep, AGlobalBatchIsCutIntoPassesOfAMicroBatch) {
  Plan plan = plan_of(llama_8b(512), 1, 2);
  plan.workload.batch_per_gpu.reset();
  const Layout fsdp = {.style = ShardingStyle::fsdp, .checkpointing = Checkpointing::full};
  const auto passes = [&](int batch, std::optional<int> micro_batch = {}) {
    plan.workload.global_batch = batch;
    const PlannedStep step = Planner(plan).estimate(eight_h100(), fsdp, micro_batch);
    EXPECT_EQ(step.problem, "");
    return std::pair(step.micro_batch, step.micro_batches);
  };
  EXPECT_EQ(passes(64), std::pair(4, 2)) << "eight samples a GPU, in two passes";
  EXPECT_EQ(passes(72, 4), std::pair(4, 3)) << "the last pass is not full";
  EXPECT_EQ(passes(8), std::pair(1, 1)) << "no pass has less than one sample";
  plan.workload.global_batch = 7;
  EXPECT_THAT(Planner(plan).estimate(eight_h100(), fsdp).problem,
              HasSubstr("its 8 replicas have no sample each of the 7 of a step"));
}

TEST(ShardedStep, OneGpuIsAsUncertainAsItsComputing) {
  const Plan plan = plan_of(kGpt2, 8);
  Offer one = eight_h100();
  one.machine.gpus_per_node = 1;
  one.gpus = 1;
  const PlannedStep step = Planner(plan).estimate(one, {});
  ASSERT_EQ(step.problem, "");
  const auto share = [](Seconds end, Seconds typical) { return end.value / typical.value; };
  EXPECT_LT(step.total.low, step.total.typical);
  EXPECT_NEAR(share(step.total.low, step.total.typical), share(step.compute.low, step.compute.typical), 1e-9);
  EXPECT_NEAR(share(step.total.high, step.total.typical), share(step.compute.high, step.compute.typical),
              1e-9);
}

TEST(ShardedStep, WithAMeasuredSpeedCommunicationAloneIsUncertain) {
  Plan plan = plan_of(llama_8b(2048), 1);
  plan.workload.compute.measured = {{.gpu = "H100-SXM", .samples_per_second = 2}};
  const PlannedStep step = Planner(plan).estimate(
      sixteen_h100(), {.style = ShardingStyle::fsdp, .checkpointing = Checkpointing::full});
  ASSERT_EQ(step.problem, "");
  EXPECT_EQ(step.compute.low, step.compute.high);
  EXPECT_LT(step.communication.low, step.communication.high);
  EXPECT_LT(step.total.low, step.total.typical);
  EXPECT_GT(step.total.high, step.total.typical);
}

TEST(ShardedStep, HybridShardsNeedNodesAlike) {
  const Plan plan = plan_of(llama_8b(1024), 1);
  Offer offer = sixteen_h100();
  const auto problem = [&](int gpus) {
    offer.gpus = gpus;
    return Planner(plan)
        .estimate(offer, {.style = ShardingStyle::hybrid, .checkpointing = Checkpointing::full})
        .problem;
  };
  EXPECT_EQ(problem(16), "");
  EXPECT_EQ(problem(12), "nodes have different numbers of data-parallel ranks");
}

TEST(ShardedStep, IsNoFasterThanItsInput) {
  Plan plan = plan_of(llama_8b(2048), 1);
  plan.workload.input_per_node = 2;
  Planner planner(plan);
  const PlannedStep step =
      planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp, .checkpointing = Checkpointing::full});
  ASSERT_EQ(step.problem, "");
  EXPECT_DOUBLE_EQ(step.total.low.value, 8 / 2.0);
  EXPECT_DOUBLE_EQ(step.speed.high, 2 * 2048.0);
}

TEST(ShardedStep, TheStageWithMostLayersSetsThePace) {
  Transformer model = llama_8b(1024);
  model.layers = 20;
  const Plan uneven = plan_of(model, 1, 64);
  model.layers = 24;
  const Plan even = plan_of(model, 1, 64);
  const Layout way{.pipeline = 8, .checkpointing = Checkpointing::full};
  const PlannedStep twenty = Planner(uneven).estimate(eight_h100(), way);
  const PlannedStep all = Planner(even).estimate(eight_h100(), way);
  ASSERT_EQ(twenty.problem, "");
  ASSERT_EQ(all.problem, "");
  // Three layers on the longest of eight stages, of 20 layers as of 24.
  EXPECT_DOUBLE_EQ(twenty.compute.typical.value, all.compute.typical.value);
  // Parts of three layers, four on each stage: twelve instead of ten.
  const Layout parts{.pipeline = 2, .interleave = 4, .checkpointing = Checkpointing::full};
  EXPECT_EQ(layers_on_stage(*uneven.workload.transformer, parts), 12);
  EXPECT_EQ(Planner(uneven).estimate(eight_h100(), parts).problem, "");
  EXPECT_THAT(Planner(uneven).estimate(eight_h100(), {.pipeline = 4, .interleave = 6}).problem,
              HasSubstr("more stages than the 20 layers"));
}

TEST(ShardedStep, RanksOfAContextShareEverySequence) {
  const Plan plan = plan_of(llama_8b(32768), 1, 2);
  Planner planner(plan);
  const Layout whole{.style = ShardingStyle::fsdp, .checkpointing = Checkpointing::full};
  Layout shared = whole;
  shared.context = 4;
  const PlannedStep alone = planner.estimate(eight_h100(), whole);
  const PlannedStep four = planner.estimate(eight_h100(), shared);
  ASSERT_EQ(alone.problem, "");
  ASSERT_EQ(four.problem, "");
  EXPECT_EQ(four.layout->data, 2);
  EXPECT_EQ(four.micro_batches, 4 * alone.micro_batches);
  // The same weights on as many ranks; a fourth of the activations; for the same samples as much work in four
  // times as many launches.
  EXPECT_EQ(four.memory.optimizer, alone.memory.optimizer);
  EXPECT_NEAR(static_cast<double>(four.memory.activations.value),
              static_cast<double>(alone.memory.activations.value) / 4, 10);
  EXPECT_NEAR(four.compute.typical.value, alone.compute.typical.value, 0.01 * alone.compute.typical.value);
  EXPECT_GT(four.compute.typical, alone.compute.typical);
  EXPECT_GT(four.communication.typical, alone.communication.typical);
  EXPECT_THAT(planner.estimate(eight_h100(), {.context = 3}).problem, HasSubstr("context 3 does not divide"));
}

TEST(ShardedStep, CheckpointingRepeatsNothingAttentionOrLayers) {
  const Plan plan = plan_of(llama_8b(8192), 1);
  Planner planner(plan);
  const auto step = [&](Checkpointing checkpointing) {
    return planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp, .checkpointing = checkpointing});
  };
  const PlannedStep none = step(Checkpointing::none);
  const PlannedStep selective = step(Checkpointing::selective);
  const PlannedStep full = step(Checkpointing::full);
  EXPECT_LT(none.compute.typical, selective.compute.typical);
  EXPECT_LT(selective.compute.typical, full.compute.typical);
  EXPECT_EQ(none.memory.activations, selective.memory.activations) << "fused attention keeps no scores";
  EXPECT_LT(full.memory.activations, none.memory.activations);
}

TEST(ShardedStep, AsFewLayersAreCheckpointedAsMemoryAsksFor) {
  const Plan plan = plan_of(llama_8b(8192), 2);
  Planner planner(plan);
  const PlannedStep some = planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp});
  Layout fewer = *some.layout;
  fewer.checkpointed -= 1.0 / 32;
  EXPECT_GT(fewer.checkpointed, 0);
  EXPECT_LT(some.layout->recomputed(), 1);
  EXPECT_LE(some.memory.total(), *some.gpu_memory);
  EXPECT_GT(sharded_memory(plan.workload, fewer, 2, 1).total(), *some.gpu_memory);
  const PlannedStep full =
      planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp, .checkpointing = Checkpointing::full});
  EXPECT_LT(some.total.typical, full.total.typical);
  EXPECT_GT(some.memory.total(), full.memory.total());
  EXPECT_THAT(describe(*some.layout), HasSubstr(" % of layers"));
}

TEST(ShardedStep, EightBitsAreFasterWhereAGpuHasThem) {
  Plan plan = plan_of(llama_8b(4096), 1);
  const auto seconds = [&](const std::string& gpu, Precision precision) {
    plan.workload.compute.precision = precision;
    Offer offer = eight_h100();
    offer.machine.gpu = Gpu{.model = gpu};
    const PlannedStep step = Planner(plan).estimate(offer, {.style = ShardingStyle::fsdp});
    EXPECT_EQ(step.problem, "");
    return step.total.typical.value;
  };
  EXPECT_LT(seconds("H100-SXM", Precision::float8), 0.95 * seconds("H100-SXM", Precision::bfloat16));
  EXPECT_GT(seconds("H100-SXM", Precision::float8), 0.5 * seconds("H100-SXM", Precision::bfloat16));
}

TEST(ShardedMemory, WhatProductsTakeInIsKeptInEightBits) {
  const Transformer model = llama_8b(8192);
  const double whole = kept_bytes_of_layer(model, Precision::bfloat16);
  EXPECT_DOUBLE_EQ(whole, 2 * kept_elements_of_layer(model));
  EXPECT_DOUBLE_EQ(whole - kept_bytes_of_layer(model, Precision::float8), 8192.0 * (2 * 4096 + 3 * 14336));
}

TEST(ShardedStep, ShortSequencesTakeAsLongAsTheirLaunches) {
  const auto seconds = [&](std::int64_t sequence, const Layout& layout) {
    return Planner(plan_of(llama_8b(sequence), 1)).estimate(eight_h100(), layout).compute.typical.value;
  };
  const Layout lora{.adapters = Adapters::lora, .checkpointing = Checkpointing::none};
  EXPECT_LT(seconds(128, lora), 1.1 * seconds(64, lora));
  EXPECT_GT(seconds(8192, lora), 1.9 * seconds(4096, lora));
  EXPECT_GT(seconds(64, lora), 1.5 * seconds(64, {.checkpointing = Checkpointing::none}));
  EXPECT_GT(seconds(64, {.style = ShardingStyle::fsdp, .adapters = Adapters::lora}),
            1.3 * seconds(64, {.style = ShardingStyle::zero1, .adapters = Adapters::lora}));
}

TEST(ShardedStep, FsdpHidesMostOfWhatItGathers) {
  const Plan plan = plan_of(llama_8b(8192), 1);
  const PlannedStep step = Planner(plan).estimate(eight_h100(), {.style = ShardingStyle::fsdp});
  ASSERT_EQ(step.problem, "");
  EXPECT_LT(step.exposed.typical, 0.7 * step.communication.typical);
  PlanningParameters nothing_hidden = planning_parameters();
  nothing_hidden[PlanningParameter::exposed_sharded] = 1;
  const PlannedStep slow =
      Planner(plan, nothing_hidden).estimate(eight_h100(), {.style = ShardingStyle::fsdp});
  EXPECT_NEAR(slow.exposed.typical.value, slow.communication.typical.value, 1e-9);
}

TEST(ShardedStep, WhatDoesNotDivideAStepIsTheSlowestRanks) {
  Plan plan = plan_of(llama_8b(1024), 1);
  plan.workload.batch_per_gpu.reset();
  plan.workload.global_batch = 12;
  Planner planner(plan);
  const PlannedStep step = planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp});
  ASSERT_EQ(step.problem, "");
  EXPECT_EQ(step.micro_batch * step.micro_batches, 2);
  EXPECT_DOUBLE_EQ(step.speed.typical, 12 * 1024 / step.total.typical.value);
  EXPECT_THAT(step.assumptions,
              ::testing::Contains(HasSubstr("12 samples of a step are not 2 × 1 each for 8 replicas")));
  plan.workload.global_batch = 7;
  EXPECT_EQ(planner.estimate(eight_h100(), {.style = ShardingStyle::fsdp}).problem,
            "its 8 replicas have no sample each of the 7 of a step");
  EXPECT_EQ(Planner(plan).search(eight_h100()).front().problem, "") << "fewer replicas of more GPUs";
  plan.workload.global_batch = 24;
  const PlannedStep best = Planner(plan).search(eight_h100()).front();
  EXPECT_EQ(best.micro_batch * best.micro_batches * best.layout->data, 24) << "not 32 in powers of two";
}

TEST(ShardedStep, AMeasuredSpeedOfOneGpuIsWhatOneGpuReaches) {
  for (const Adapters adapters : {Adapters::none, Adapters::lora}) {
    Plan plan = plan_of(kGpt2, 8);
    plan.sharding = {{.adapters = adapters, .checkpointing = Checkpointing::full}};
    plan.workload.compute.measured = {{.gpu = "H100-SXM", .samples_per_second = 100}};
    Offer one = eight_h100();
    one.gpus = 1;
    one.machine.gpus_per_node = 1;
    Planner planner(plan);
    const PlannedStep step = planner.estimate(one, plan.sharding[0]);
    ASSERT_EQ(step.problem, "");
    EXPECT_NEAR(step.total.typical.value, 8 / 100.0, 1e-9);
    // With several ways it is the speed without checkpointing, which those with it are slower than.
    plan.sharding.push_back({.adapters = adapters, .checkpointing = Checkpointing::none});
    EXPECT_GT(planner.estimate(one, plan.sharding[0]).total.typical.value, 8.5 / 100.0);
    EXPECT_NEAR(planner.estimate(one, plan.sharding[1]).total.typical.value, 8 / 100.0, 1e-9);
  }
}

TEST(ShardedMemory, Float32IsTwiceTheWeightsAndNoCopyOfThem) {
  Plan plan = plan_of(llama_8b(1), 1);
  const auto memory = [&] { return sharded_memory(plan.workload, {}, 1, 1); };
  const Memory mixed = memory();
  plan.workload.compute.precision = Precision::float32;
  const Memory whole = memory();
  EXPECT_EQ(whole.weights.value, 2 * mixed.weights.value);
  EXPECT_EQ(whole.gradients.value, 2 * mixed.gradients.value);
  EXPECT_EQ(whole.weights.value + whole.gradients.value + whole.optimizer.value,
            mixed.weights.value + mixed.gradients.value + mixed.optimizer.value);
}

TEST(GroupTimes, AnAllToAllAcrossNodesTakesLongerThanAnAllGatherOfAsManyBytes) {
  const Machine nodes = sixteen_h100().machine;
  GroupTimes times(nodes);
  const Bytes bytes{1 << 28};
  EXPECT_GT(times.time(Collective::all_to_all, 16, 1, bytes).typical.value,
            3 * times.time(Collective::all_gather, 16, 1, bytes).typical.value);
  // With stragglers pairs take the place of NCCL: half of what eight GPUs send leaves through one NIC.
  Machine straggling = nodes;
  straggling.stragglers = {{.rank = 0, .slowdown = 2}};
  GroupTimes by_pairs(straggling);
  EXPECT_GT(by_pairs.time(Collective::all_to_all, 16, 1, bytes).typical.value,
            8 * 0.5 * static_cast<double>(bytes.value) / 12.5e9);
}

}  // namespace
}  // namespace ringside
