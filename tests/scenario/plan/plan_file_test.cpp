// 400 lines: every key of plans and workloads, and what is refused of it.
// Workloads and plans: what ships loads, and what is wrong is said.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "scenario/plan/plan.hpp"
#include "scenario/plan/transformer.hpp"
#include "scenario/yaml/csv.hpp"
#include "tests/paths.hpp"
#include "tests/scenario/files.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(RINGSIDE_SOURCE_DIR) / "configs";
const std::filesystem::path kWorkloads = kConfigs / "workloads";

KnownNames known() {
  KnownNames names = test::known_names();
  names.machines = kConfigs / "machines";
  return names;
}

/// A plan file beside nothing else.
class PlanFile : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) { return folder_.write(name, text); }

  Plan plan(const std::string& text, const std::vector<KeyOverride>& overrides = {}) {
    return load_plan(write("plan.yaml", text), known(), kWorkloads, overrides);
  }

  std::string refused(const std::string& text) {
    try {
      plan(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
      return error.what();
    }
    return "accepted";
  }

 private:
  test::Folder folder_;
};

const std::string kWorkload = R"(
  parameters: 1000000
  batch_per_gpu: 8
  compute: {measured: [{gpu: any, samples_per_second: 10}]}
)";
const std::string kOffers = R"(
offers:
  - {name: box, machine: {gpus_per_node: 4, intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}}, price: {per_hour: 2 USD}}
)";

std::vector<fs::path> shipped(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kConfigs / folder)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(ShippedWorkloads, LoadAndHaveTheirTensors) {
  EXPECT_GE(shipped("workloads").size(), 11U);
  for (const fs::path& file : shipped("workloads")) {
    const Workload workload = load_workload(file, kWorkloads / "tensors");
    EXPECT_GT(workload.tensors.size(), 10U) << file;
    EXPECT_GT(workload.forward_flops, 1e8) << file;
  }
}

TEST(ShippedPlans, Load) {
  for (const fs::path& file : shipped("plans")) {
    EXPECT_NO_THROW(load_plan(file, known(), kWorkloads)) << file;
  }
  EXPECT_GE(load_plan(kConfigs / "plans/resnet34-tutorial.yaml", known(), kWorkloads).offers.size(), 12U);
}

TEST(Examples, WhatTheSchemasAcceptAndRefuseTheLoaderDoesToo) {
  const fs::path tests = fs::path(RINGSIDE_SOURCE_DIR) / "tests/scenario";
  for (const auto& entry : fs::directory_iterator(tests / "accepted/workloads")) {
    EXPECT_NO_THROW(load_workload(entry, kWorkloads / "tensors")) << entry;
  }
  for (const auto& entry : fs::directory_iterator(tests / "broken/workloads")) {
    EXPECT_THROW(load_workload(entry, kWorkloads / "tensors"), Error) << entry;
  }
  for (const auto& entry : fs::directory_iterator(tests / "accepted/plans")) {
    EXPECT_NO_THROW(load_plan(entry, known(), kWorkloads)) << entry;
  }
  for (const auto& entry : fs::directory_iterator(tests / "broken/plans")) {
    EXPECT_THROW(load_plan(entry, known(), kWorkloads), Error) << entry;
  }
}

TEST_F(PlanFile, HasTheDefaultsOfDistributedDataParallel) {
  const Plan read = plan("workload:" + kWorkload + kOffers);
  EXPECT_EQ(read.synchronisation, SynchronisationSettings{});
  EXPECT_EQ(read.synchronisation.bucket, Bytes{26'214'400});
  EXPECT_EQ(read.synchronisation.first_bucket, Bytes{1'048'576});
  EXPECT_EQ(read.algorithm, "native");
  ASSERT_THAT(read.offers, SizeIs(1));
  EXPECT_EQ(read.offers[0].gpus, 4);
  EXPECT_EQ(read.offers[0].per_hour, (Money{.amount = 2, .currency = "USD"}));
}

TEST_F(PlanFile, AWorkloadIsANameAFileOrAMap) {
  EXPECT_EQ(plan("workload: resnet50").workload.parameters, 25'557'032);
  write("mine.yaml", kWorkload);
  EXPECT_EQ(plan("workload: mine.yaml").workload.parameters, 1'000'000);
  EXPECT_THAT(refused("workload: resnet5"), HasSubstr("did you mean 'resnet50'?"));
}

TEST_F(PlanFile, OtherValuesReplaceThoseOfTheFiles) {
  const Plan read = plan("workload: resnet50", {{.key = "global_batch", .value = "512", .origin = {}},
                                                {.key = "bucket", .value = "5 MiB", .origin = {}},
                                                {.key = "deadline", .value = "90 min", .origin = {}}});
  EXPECT_EQ(read.workload.global_batch, 512);
  EXPECT_FALSE(read.workload.batch_per_gpu);
  EXPECT_EQ(read.synchronisation.bucket, Bytes{5 << 20});
  EXPECT_EQ(read.deadline, Seconds{5400});
  EXPECT_TRUE(is_plan_key("accumulate"));
  EXPECT_FALSE(is_plan_key("lanes"));
}

TEST_F(PlanFile, WrongUnitsAreRefused) {
  EXPECT_THAT(refused("workload: resnet50\nsynchronisation: {bucket: 25}"), HasSubstr("plan.yaml:2:"));
  EXPECT_THAT(refused("workload: resnet50\ndeadline: 2 GB"), HasSubstr("the units of a time are"));
  EXPECT_THAT(refused("workload: resnet50\ndeadline: 2"), HasSubstr("has no unit"));
}

TEST_F(PlanFile, AListHasAtMostAHundredThousandOffers) {
  const auto listed = [](int offers) {
    std::string list = "workload: resnet50\noffers: [";
    for (int i = 0; i < offers; ++i) {
      list += "0,";
    }
    return list + "]";
  };
  EXPECT_THAT(refused(listed(100'001)), HasSubstr("has more than 100000 entries"));
  EXPECT_THAT(refused(listed(100'000)), Not(HasSubstr("entries")));
}

TEST_F(PlanFile, APriceNeedsACurrency) {
  EXPECT_THAT(refused("workload: resnet50\nbudget: 20"), HasSubstr("an amount and its currency"));
  EXPECT_THAT(refused("workload: resnet50\noffers: [{machine: p4d.24xlarge, price: {per_hour: 2}}]"),
              HasSubstr("an amount and its currency"));
}

TEST_F(PlanFile, AnExchangeRateHoldsBothWays) {
  const Plan read = plan("workload: resnet50\nexchange_rates: [2 EUR = 3 USD, 1 GBP = 4 USD]");
  ASSERT_THAT(read.exchange_rates, SizeIs(2));
  const auto dollars = exchanged({.amount = 4, .currency = "EUR"}, "USD", read.exchange_rates);
  EXPECT_EQ(dollars, (Money{.amount = 6, .currency = "USD"}));
  const auto pounds = exchanged({.amount = 8, .currency = "USD"}, "GBP", read.exchange_rates);
  EXPECT_EQ(pounds, (Money{.amount = 2, .currency = "GBP"}));
  EXPECT_FALSE(exchanged({.amount = 1, .currency = "EUR"}, "GBP", read.exchange_rates));
}

TEST_F(PlanFile, AnExchangeRateThatSaysNothingOrTwoThingsIsRefused) {
  for (const char* wrong :
       {"EUR 1.08", "1 EUR = 1.08", "1 EUR = 0 USD", "0 EUR = 1 USD", "1 EUR = 2 EUR", "'='"}) {
    EXPECT_THAT(refused(std::string("workload: resnet50\nexchange_rates: [") + wrong + "]"),
                AllOf(HasSubstr("plan.yaml:2:"), HasSubstr("an exchange rate such as `1 EUR = 1.08 USD`")))
        << wrong;
  }
  EXPECT_THAT(refused("workload: resnet50\nexchange_rates: [1 EUR = 2 USD, 1 USD = 3 EUR]"),
              HasSubstr("two rates between USD and EUR"));
}

TEST_F(PlanFile, OneWayToShardNeedsNoList) {
  const Plan read = plan("workload: gpt2-small\nsharding: fsdp");
  ASSERT_THAT(read.sharding, SizeIs(1));
  EXPECT_EQ(describe(read.sharding[0]), "fsdp");
}

TEST_F(PlanFile, WhatHasNothingToOffloadIsRefused) {
  const auto with = [](const std::string& sharding) { return "workload: gpt2-small\nsharding: " + sharding; };
  const Plan read =
      plan(with("[offload, {style: fsdp, offload: parameters}, {style: fsdp, adapters: qlora, "
                "offload: parameters}]"));
  EXPECT_EQ(describe(read.sharding[0]), "zero2 · optimizer on the host");
  EXPECT_EQ(describe(read.sharding[2]), "qlora · fsdp · parameters on the host");
  for (const auto& [wrong, why] :
       {std::pair("{offload: optimizer}",
                  "sharding.offload: is of states that ranks cut among them: write style zero1"),
        std::pair("{style: zero2, offload: parameters}", "write style zero3, fsdp or hybrid"),
        std::pair("{style: fsdp, adapters: lora, offload: optimizer}", "and adapters have few"),
        std::pair("{style: fsdp, offload: optimiser}", "did you mean 'optimizer'?")}) {
    EXPECT_THAT(refused(with(wrong)), AllOf(HasSubstr("plan.yaml:2:"), HasSubstr(why))) << wrong;
  }
}

TEST_F(PlanFile, ANegativeBatchIsRefused) {
  EXPECT_THAT(refused("workload: {model: resnet50, batch_per_gpu: -8, compute: {measured: [{gpu: any, "
                      "samples_per_second: 1}]}}"),
              HasSubstr("batch_per_gpu: '-8' is out of range"));
}

TEST_F(PlanFile, TensorsMustSumToTheParametersStated) {
  EXPECT_THAT(
      refused(
          "workload: {model: resnet50, parameters: 25557033, batch_per_gpu: 8, compute: {measured: [{gpu: "
          "any, samples_per_second: 1}]}}"),
      HasSubstr("parameters: is 25557033, but the 161 tensors have 25557032 elements"));
}

TEST_F(PlanFile, TensorsMayStandInAListOrAFileOfTheirOwn) {
  const std::string rest = "batch_per_gpu: 8, compute: {measured: [{gpu: any, step_time: 2 s}]}}";
  const Workload inline_list =
      plan("workload: {tensors: [{name: a, elements: 3}, {name: b, elements: 4}], " + rest).workload;
  EXPECT_EQ(inline_list.parameters, 7);
  EXPECT_DOUBLE_EQ(inline_list.compute.measured[0].samples_per_second, 4);
  write("mine.csv", "elements,name\n5,a\n");
  EXPECT_EQ(plan("workload: {tensors: mine.csv, " + rest).workload.parameters, 5);
  write("broken.csv", "elements,name\n-5,a\n");
  EXPECT_THAT(refused("workload: {tensors: broken.csv, " + rest), HasSubstr("broken.csv:2: elements: '-5'"));
  const auto listed = [&](const std::string& elements) {
    return "workload: {tensors: [{name: a, elements: " + elements + "}], " + rest;
  };
  for (const char* wrong : {"0", "1.5", "9000000000000002"}) {
    EXPECT_THAT(refused(listed(wrong)), HasSubstr("a whole number of at least 1")) << wrong;
  }
  EXPECT_EQ(plan(listed("1")).workload.parameters, 1);
  EXPECT_EQ(plan(listed("5e14")).workload.parameters, 500'000'000'000'000);
  write("empty.csv", "elements,name\n5,a\n0,b\n");
  EXPECT_THAT(refused("workload: {tensors: empty.csv, " + rest),
              HasSubstr("empty.csv:3: a tensor has no elements"));
}

TEST_F(PlanFile, GradientsHaveTheSizeOfTheirType) {
  EXPECT_EQ(gradient_bytes(plan("workload: {parameters: 1000}").workload), Bytes{4000});
  EXPECT_EQ(gradient_bytes(plan("workload: {parameters: 1000, gradients: bfloat16}").workload), Bytes{2000});
}

TEST_F(PlanFile, WhatAnOfferSaysCountsMoreThanWhatItsMachineSays) {
  const std::string machine =
      "{gpus_per_node: 4, intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}, price: {per_hour: 3 USD, "
      "as_of: "
      "2024-05}}";
  const Plan read =
      plan("workload: resnet50\noffers:\n  - {name: dear, gpus: 4, machine: " + machine +
           "}\n  - {name: cheap, machine: " + machine + ", price: {per_hour: 2 USD, as_of: 2025-01}}\n");
  ASSERT_THAT(read.offers, SizeIs(2));
  EXPECT_EQ(read.offers[0].name, "dear");
  EXPECT_EQ(read.offers[0].gpus, 4);
  EXPECT_EQ(read.offers[0].per_hour, (Money{.amount = 3, .currency = "USD"}));
  EXPECT_EQ(read.offers[0].as_of, "2024-05");
  EXPECT_EQ(read.offers[1].per_hour, (Money{.amount = 2, .currency = "USD"}));
  EXPECT_EQ(read.offers[1].as_of, "2025-01");
}

/// Qwen2-0.5B, whose config.json and number of parameters are published.
Transformer qwen() {
  return {.layers = 24,
          .hidden = 896,
          .heads = 14,
          .kv_heads = 2,
          .vocabulary = 151'936,
          .intermediate = 4864,
          .tied = true,
          .qkv_biases = true,
          .sequence = 1024};
}

TEST_F(PlanFile, OfAModelWithTensorsNothingIsDerivedThatTheyMayContradict) {
  const std::string model =
      "transformer: {layers: 2, hidden: 8, heads: 2, vocabulary: 10, sequence: 16}, batch_per_gpu: 8, "
      "compute: {measured: [{gpu: any, step_time: 2 s}]}}";
  const Workload derived = plan("workload: {" + model).workload;
  EXPECT_GT(derived.forward_flops, 0);
  EXPECT_TRUE(derived.memory.activations.has_value());
  const std::string count = std::to_string(derived.parameters);
  const Workload listed = plan("workload: {tensors: [{name: a, elements: " + count + "}], " + model).workload;
  EXPECT_EQ(listed.parameters, derived.parameters);
  EXPECT_EQ(listed.forward_flops, 0);
  EXPECT_FALSE(listed.memory.activations.has_value());
}

TEST(Transformer, HasTheParametersThatArePublished) { EXPECT_EQ(parameters_of(qwen()), 494'032'768); }

TEST(Transformer, HeadsMayBeWiderTogetherThanTheModel) {
  // Qwen3-0.6B and gemma-2-2b, as published, but for norms not counted: each head's, two more per layer.
  Transformer model = {.layers = 28,
                       .hidden = 1024,
                       .heads = 16,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .vocabulary = 151'936,
                       .intermediate = 3072,
                       .tied = true,
                       .sequence = 1024};
  EXPECT_EQ(parameters_of(model), 596'049'920 - 28 * 2 * 128);
  const double square = 4.0 * 1024 * 1024;
  Transformer narrow = model;
  narrow.head_dim = 0;
  EXPECT_DOUBLE_EQ(
      forward_flops_of_layer(model) - forward_flops_of_layer(narrow),
      2.0 * 1024 * static_cast<double>(matrix_elements_of_layer(model) - matrix_elements_of_layer(narrow)) +
          square * 1024);
  model = {.layers = 26,
           .hidden = 2304,
           .heads = 8,
           .kv_heads = 4,
           .head_dim = 256,
           .vocabulary = 256'000,
           .intermediate = 9216,
           .tied = true,
           .sequence = 1024};
  EXPECT_EQ(parameters_of(model), 2'614'341'888 - 26 * 2 * 2304);
}

TEST(Transformer, WhatNobodyCanMeanIsRefusedBeforeItIsCounted) {
  Transformer model = qwen();
  EXPECT_EQ(why_impossible(model), "");
  model.sequence = 10'000'000;
  EXPECT_EQ(why_impossible(model), "") << "a long context";
  model.sequence = 100'000'000'000;
  EXPECT_THAT(why_impossible(model), HasSubstr("bytes of one sample"));
  model = qwen();
  model.hidden = 9'000'000'000'000'000;
  EXPECT_THAT(why_impossible(model), HasSubstr("10^15 parameters"));
  model = qwen();
  model.head_dim = 9'000'000'000'000'000;
  EXPECT_THAT(why_impossible(model), HasSubstr("10^15 parameters"));
  model = qwen();
  model.experts = 4'000'000;
  EXPECT_THAT(why_impossible(model), HasSubstr("10^15 parameters"));
}

TEST(Transformer, AttentionGrowsWithTheSquareOfTheSequence) {
  Transformer longer = qwen();
  longer.sequence *= 2;
  // Scores and what they weigh: two products of 1024 x 1024 x 896 multiplications and additions.
  const double attention = 2 * 2.0 * 1024 * 1024 * 896;
  EXPECT_DOUBLE_EQ(forward_flops_of_layer(longer) - 2 * forward_flops_of_layer(qwen()), 2 * attention);
}

TEST(Transformer, TheOutputIsComputedToo) {
  EXPECT_DOUBLE_EQ(forward_flops_of(qwen()) - 24 * forward_flops_of_layer(qwen()),
                   2.0 * 1024 * 151'936 * 896);
}

TEST(Transformer, AGatedLayerKeepsBothHalvesBeforeAndAfterTheirActivation) {
  Transformer plain = qwen();
  plain.gated = false;
  EXPECT_DOUBLE_EQ(kept_elements_of_layer(qwen()) - kept_elements_of_layer(plain), 1024.0 * 2 * 4864);
}

TEST_F(PlanFile, SynchronisingPerTensorNeedsTensors) {
  EXPECT_THAT(refused("synchronisation: {style: per_tensor}\nworkload:" + kWorkload),
              HasSubstr("has no tensors"));
}

TEST_F(PlanFile, AWorkloadSaysOneBatchAndASpeed) {
  EXPECT_THAT(refused("workload: {model: resnet50, compute: {efficiency: {default: 30 %}}}"),
              HasSubstr("says no batch"));
  EXPECT_THAT(refused("workload: {model: resnet50, batch_per_gpu: 1, global_batch: 2, compute: {efficiency: "
                      "{default: 30 %}}}"),
              HasSubstr("write one of them"));
  EXPECT_THAT(refused("workload: {model: resnet50, batch_per_gpu: 1, compute: {precision: tf32}}"),
              HasSubstr("says no speed"));
  EXPECT_THAT(refused("workload: {model: resnet50, batch_per_gpu: 1, global_batch: 2}"),
              HasSubstr("write one of them"));
  EXPECT_FALSE(computes(plan("workload: {parameters: 22000000}").workload));
  EXPECT_THAT(
      refused("workload: {model: resnet50, batch_per_gpu: 1, compute: {efficiency: {default: 130 %}}}"),
      HasSubstr("more than 100 %"));
}

TEST_F(PlanFile, AnOfferIsAMachineThatIsThere) {
  EXPECT_THAT(refused("workload: resnet50\noffers: [{machine: p4d.24xlargee}]"), HasSubstr("p4d.24xlarge"));
  EXPECT_THAT(refused("workload: resnet50\noffers: [{machine: this}]"), HasSubstr("not on offer"));
  EXPECT_THAT(refused("workload: resnet50\noffers: [{machine: p4d.24xlarge, gpus: 9}]"), HasSubstr("9 GPUs"));
  EXPECT_THAT(refused("workload: resnet50\noffers: []"), HasSubstr("is an empty list"));
}

TEST_F(PlanFile, AFileOfOffersHoldsThem) {
  const std::string offer = "{machine: p4d.24xlarge, gpus: 4}";
  EXPECT_EQ(load_offers(write("offers.yaml", "offers: [" + offer + "]"), known()).at(0).gpus, 4);
  for (const std::string text : {"{}", "offers: {}", "offers: [{machine: p4d.24xlarge, gpus: 9}]"}) {
    EXPECT_THROW(load_offers(write("offers.yaml", text), known()), Error) << text;
  }
}

TEST(Csv, ReadsQuotesAndLineEnds) {
  const CsvTable table = parse_csv("a,b\r\n\"x, \"\"y\"\"\",2\r\n\r\n", "x.csv");
  EXPECT_THAT(table.header, ElementsAre("a", "b"));
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_THAT(table.rows[0].cells, ElementsAre("x, \"y\"", "2"));
  EXPECT_EQ(table.rows[0].line, 2);
}

TEST(Csv, LinesWithinQuotesCount) {
  const CsvTable table = parse_csv("a\n\"1\n2\"\n3\n", "x.csv");
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_THAT(table.rows[0].cells, ElementsAre("1\n2"));
  EXPECT_EQ(table.rows[1].line, 4);
}

TEST(Csv, AByteOrderMarkIsNoPartOfTheFirstName) {
  EXPECT_THAT(parse_csv("\xEF\xBB\xBF"
                        "a,b\n",
                        "x.csv")
                  .header,
              ElementsAre("a", "b"));
}

TEST(Csv, KeepsRowsOfAnotherLengthApartWhereThatIsAsked) {
  const CsvTable table = parse_csv("a,b\n1\n2,3\n4,5,6\n", "x.csv", RaggedRows::kept_apart);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("2", "3"));
  ASSERT_EQ(table.ragged.size(), 2U);
  EXPECT_EQ(table.ragged[0].line, 2);
  EXPECT_EQ(why_ragged(table, table.ragged[1]), "has 3 cells, but the header has 2");
}

TEST(Csv, SaysWhereItIsBroken) {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      parse_csv(text, "x.csv");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refused("a,b\n1\n"), "x.csv:2: has 1 cells, but the header has 2");
  EXPECT_THAT(refused("a\n\"1\n"), HasSubstr("x.csv:2: the quote"));
  EXPECT_THAT(refused("a\n\"1\" 2\n"), HasSubstr("x.csv:2: a quoted cell is followed by more text"));
  EXPECT_THAT(refused(""), HasSubstr("is empty"));
}

}  // namespace
}  // namespace ringside
