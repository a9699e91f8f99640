// The files that ship with the program, and files that loader and schemas must refuse alike.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "common/text.hpp"
#include "files.hpp"
#include "scenario/machine/catalog.hpp"
#include "scenario/plan/transformer.hpp"
#include "scenario/plan/workload.hpp"
#include "scenario/scenario.hpp"
#include "schedule/registry.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::filesystem::path kSource = RINGSIDE_SOURCE_DIR;

std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / folder)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  EXPECT_THAT(files, Not(IsEmpty())) << folder;
  return files;
}

Machine shipped_machine(const std::string& name) { return load_machine(kSource / "configs/machines" / name); }

Scenario shipped_scenario(const std::string& name) {
  return load_scenario(kSource / "configs/scenarios" / name, test::known_names());
}

TEST(Configs, EveryMachineLoadsAndReadsBack) {
  for (const auto& file : yaml_files("configs/machines")) {
    const Machine machine = load_machine(file);
    const std::string yaml = to_yaml(machine);
    EXPECT_EQ(to_yaml(parse_machine(yaml, "round trip")), yaml) << file;
  }
}

TEST(Configs, EveryNamedMachineHasAGpuOfTheCatalogueAndAPriceWithItsDateOrItsReason) {
  std::set<std::string> models;
  for (const GpuSheet& sheet : gpu_sheets()) {
    models.insert(sheet.model);
  }
  models.insert("V100-SXM3-32GB");  // Found as the SXM2 board's, of which it is a faster clocked one.
  for (const auto& file : yaml_files("configs/machines")) {
    const Machine machine = load_machine(file);
    EXPECT_TRUE(!machine.gpu || models.contains(machine.gpu->model)) << file;
    EXPECT_TRUE(!machine.price || machine.price->currency == "USD") << file;
  }
}

TEST(Configs, EveryGpuOfTheCatalogueIsThereOnceAndAddsUp) {
  std::set<std::string> models;
  for (const GpuSheet& sheet : gpu_sheets()) {
    SCOPED_TRACE(sheet.model);
    EXPECT_TRUE(models.insert(sheet.model).second);
    EXPECT_EQ(sheet.vendor == Vendor::amd,
              sheet.architecture == Architecture::cdna || sheet.architecture == Architecture::rdna);
    EXPECT_FALSE(sheet.nvlink_generation && sheet.xgmi_generation);
    EXPECT_EQ(sheet.links.has_value(), sheet.nvlink_generation || sheet.xgmi_generation);
    EXPECT_EQ(sheet.links.has_value(), sheet.links_bandwidth.has_value());
    EXPECT_GT(sheet.memory_bandwidth, (BytesPerSecond{200e9}));
    EXPECT_LT(sheet.memory_bandwidth, (BytesPerSecond{10e12}));
  }
}

/// The algorithms that there really are.
std::vector<std::string> real_algorithms(Collective collective) {
  std::vector<std::string> names = algorithm_names(collective);
  names.emplace_back(kNative);
  return names;
}

TEST(Configs, EveryScenarioLoads) {
  const KnownNames known = {.algorithms = real_algorithms, .machines = kSource / "configs/machines"};
  for (const char* folder : {"configs/scenarios", "configs/evaluation"}) {
    for (const auto& file : yaml_files(folder)) {
      EXPECT_NO_THROW(load_scenarios(file, known)) << file;
    }
  }
}

/// The rows of a table `system,bytes,time_us`, by system.
std::map<std::string, std::set<Bytes>> table_rows(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line, "system,bytes,time_us") << file;
  std::map<std::string, std::set<Bytes>> sizes;
  while (std::getline(stream, line)) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    const Bytes bytes{std::stoll(line.substr(first + 1, second))};
    EXPECT_TRUE(sizes[line.substr(0, first)].insert(bytes).second) << line;
    EXPECT_GT(std::stod(line.substr(second + 1)), 0) << line;
  }
  return sizes;
}

TEST(Configs, EverySystemOfTheEvaluationSaysItsSourceAndAsksForWhatItsTableHolds) {
  for (const auto& file : yaml_files("configs/evaluation")) {
    std::map<std::string, std::set<Bytes>> measured =
        table_rows(std::filesystem::path(file).replace_extension(".csv"));
    for (const Scenario& scenario : load_scenarios(file, test::known_names())) {
      SCOPED_TRACE(scenario.name);
      ASSERT_TRUE(scenario.evaluation && scenario.machine && scenario.measured);
      EXPECT_TRUE(scenario.is_system);
      std::string source = lower(scenario.evaluation->group);
      std::replace(source.begin(), source.end(), ' ', '-');
      EXPECT_EQ(source, file.stem());
      EXPECT_EQ(scenario.measured->filename(), file.stem().string() + ".csv");
      EXPECT_THAT(scenario.algorithms, ElementsAre("native"));
      ASSERT_THAT(scenario.ranks, testing::SizeIs(1));
      const Machine& machine = *scenario.machine;
      EXPECT_EQ(machine.nodes * machine.gpus_per_node.value_or(0), scenario.ranks.front());
      EXPECT_TRUE(machine.gpu || scenario.evaluation->excluded);
      EXPECT_THAT(measured[scenario.name], testing::ElementsAreArray(scenario.message_sizes));
      measured.erase(scenario.name);
    }
    EXPECT_THAT(measured, IsEmpty()) << file << ": rows of systems that are not there";
  }
}

TEST(Configs, EverySystemOfTheEvaluationIsThereOnce) {
  int excluded = 0;
  std::multiset<std::string> names;
  for (const auto& file : yaml_files("configs/evaluation")) {
    for (const Scenario& scenario : load_scenarios(file, test::known_names())) {
      names.insert(scenario.name);
      EXPECT_EQ(names.count(scenario.name), 1U) << scenario.name;
      excluded += scenario.evaluation->excluded.has_value() ? 1 : 0;
    }
  }
  EXPECT_EQ(names.size(), 185U + 84U + 12U + 10U)
      << "tables of nccl-tests, of other collectives, sweeps of four machines at 2, 4 and 8 GPUs, and tables "
         "of other programs";
  EXPECT_EQ(excluded, 44 + 13);
}

TEST(Configs, EditorsAreToldWhereTheSchemaIs) {
  for (const auto& [folder, schema] :
       {std::pair("configs/machines", "machine"), std::pair("configs/scenarios", "scenario"),
        std::pair("configs/evaluation", "source")}) {
    for (const auto& file : yaml_files(folder)) {
      std::ifstream stream(file);
      std::string first;
      std::getline(stream, first);
      EXPECT_EQ(first, std::string("# yaml-language-server: $schema=../") + schema + ".schema.json") << file;
    }
  }
}

TEST(Configs, WhatIsBrokenIsRefusedByTheLoaderToo) {
  for (const auto& file : yaml_files("tests/scenario/broken/machines")) {
    EXPECT_THROW(load_machine(file, test::known_names()), Error) << file;
  }
  for (const auto& file : yaml_files("tests/scenario/broken/scenarios")) {
    EXPECT_THROW(load_scenario(file, test::known_names()), Error) << file;
  }
  for (const auto& file : yaml_files("tests/scenario/broken/sources")) {
    EXPECT_THROW(load_scenarios(file, test::known_names()), Error) << file;
  }
}

TEST(Configs, WhatTheSchemasAcceptIsAcceptedByTheLoaderToo) {
  for (const auto& file : yaml_files("tests/scenario/accepted/machines")) {
    EXPECT_NO_THROW(load_machine(file, test::known_names())) << file;
  }
  for (const auto& file : yaml_files("tests/scenario/accepted/scenarios")) {
    EXPECT_NO_THROW(load_scenario(file, test::known_names())) << file;
  }
  for (const auto& file : yaml_files("tests/scenario/accepted/sources")) {
    EXPECT_NO_THROW(load_scenarios(file, test::known_names())) << file;
  }
}

TEST(Configs, QuickstartComparesOnThisMachine) {
  const Scenario scenario = shipped_scenario("quickstart.yaml");
  EXPECT_EQ(scenario.name, "quickstart");
  EXPECT_THAT(scenario.algorithms, ElementsAre("naive", "tutorial_ring", "ring", "native"));
  EXPECT_THAT(scenario.ranks, ElementsAre(2, 4));
  EXPECT_EQ(scenario.message_sizes.front(), Bytes{4096});
  EXPECT_EQ(scenario.message_sizes.back(), Bytes{64 << 20});
  EXPECT_EQ(scenario.backend, Backend::automatic);
  EXPECT_FALSE(scenario.machine);
}

TEST(Configs, TheTextbookCaseIsWhatItSays) {
  const Scenario scenario = shipped_scenario("custom-10GBps.yaml");
  EXPECT_THAT(scenario.ranks, ElementsAre(8));
  EXPECT_THAT(scenario.message_sizes, ElementsAre(Bytes{80'000'000}));
  ASSERT_TRUE(scenario.machine && scenario.machine->intra);
  EXPECT_EQ(scenario.machine->intra->latency, Seconds{10e-6});
  EXPECT_EQ(scenario.machine->intra->bandwidth, BytesPerSecond{10e9});
}

/// What is said of the config.json of a small model with these further keys.
Transformer config_json(const std::string& keys, std::optional<std::int64_t> sequence = {}) {
  const test::Folder folder;
  return load_config_json(
      folder.write("config.json", R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8, )"
                                  R"("vocab_size": 100, "intermediate_size": 200)" +
                                      (keys.empty() ? "" : ", " + keys) + "}"),
      sequence);
}

std::string config_json_refused(const std::string& keys, std::optional<std::int64_t> sequence = {}) {
  try {
    config_json(keys, sequence);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "accepted";
}

TEST(ConfigJson, AKindOfModelSaysWhatItsFileLeavesOut) {
  struct Row {
    const char* type;
    bool gated = true;
    bool tied = false;
    bool biases = false;
    bool qkv_biases = false;
    std::int64_t positions = 0;
  };
  for (const Row& row : {Row{"llama"},
                         {"mistral"},
                         {"mixtral"},
                         {"qwen2", true, false, false, true},
                         {"qwen3"},
                         {"gpt_oss"},
                         {"phi3"},
                         {"olmo"},
                         {"olmo2"},
                         {"granite"},
                         {"smollm3"},
                         {"gemma", true, true},
                         {"gemma2", true, true},
                         {"gemma3_text", true, true},
                         {"cohere", true, true},
                         {"gpt2", false, true, true, false, 1024},
                         {"gpt_bigcode", false, true, true, false, 1024},
                         {"opt", false, true, true, false, 2048},
                         {"gpt_neox", false, false, true},
                         {"mpt", false, true}}) {
    const Transformer model = config_json(std::string(R"("model_type": ")") + row.type + "\"");
    EXPECT_EQ(model.gated, row.gated) << row.type;
    EXPECT_EQ(model.tied, row.tied) << row.type;
    EXPECT_EQ(model.biases, row.biases) << row.type;
    EXPECT_EQ(model.qkv_biases, row.qkv_biases) << row.type;
    EXPECT_EQ(model.positions, row.positions) << row.type;
    EXPECT_EQ(model.sequence, row.positions > 0 ? std::min<std::int64_t>(row.positions, 4096) : 4096)
        << row.type;
  }
}

TEST(ConfigJson, NumbersHaveTheNamesOfTheirKind) {
  const Transformer plain = config_json("");
  EXPECT_EQ(plain, (Transformer{.layers = 2,
                                .hidden = 64,
                                .heads = 8,
                                .kv_heads = 8,
                                .vocabulary = 100,
                                .intermediate = 200,
                                .sequence = 4096}));
  EXPECT_EQ(config_json(R"("model_type": null, "num_key_value_heads": 2)").kv_heads, 2);
  EXPECT_EQ(config_json(R"("attention_bias": true)").qkv_biases, true);
  EXPECT_EQ(config_json(R"("tie_word_embeddings": true)").tied, true);
  EXPECT_EQ(config_json(R"("head_dim": 16)").head_dim, 16);
  EXPECT_EQ(config_json(R"("head_dim": 8)").head_dim, 0) << "that of its width";
  EXPECT_EQ(config_json(R"("max_position_embeddings": 512)").sequence, 512);
  EXPECT_EQ(config_json(R"("max_position_embeddings": 8192)").sequence, 4096);
  EXPECT_EQ(config_json(R"("max_position_embeddings": 512)", 8192).sequence, 8192);
  const Transformer mixture = config_json(R"("num_local_experts": 8, "num_experts_per_tok": 2)");
  EXPECT_EQ(mixture.experts, 8);
  EXPECT_EQ(mixture.active_experts, 2);
  const test::Folder folder;
  const Transformer gpt2 = load_config_json(
      folder.write("config.json", R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 3, "n_head": 4, )"
                                  R"("vocab_size": 1000000000, "n_positions": 256})"),
      256);
  EXPECT_EQ(gpt2.layers, 3);
  EXPECT_EQ(gpt2.intermediate, 256) << "four times the width";
  EXPECT_EQ(gpt2.positions, 256);
  EXPECT_EQ(gpt2.vocabulary, 1'000'000'000) << "the most";
}

TEST(ConfigJson, WhatIsNotModelledOrNoNumberIsRefused) {
  using testing::HasSubstr;
  EXPECT_THAT(config_json_refused(R"("head_dim": 1000000001)"), HasSubstr("head_dim is no number above 0"));
  EXPECT_THAT(config_json_refused(R"("head_dim": 0)"), HasSubstr("head_dim is no number above 0"));
  EXPECT_THAT(config_json_refused(R"("model_type": "gpt2")", 1025), HasSubstr("learnt 1024 positions"));
  EXPECT_EQ(config_json_refused(R"("model_type": "gpt2")", 1024), "accepted");
  EXPECT_THAT(config_json_refused(R"("num_experts": 8)"), HasSubstr("has num_experts"));
  EXPECT_THAT(config_json_refused(R"("n_routed_experts": 8)"), HasSubstr("has n_routed_experts"));
  const std::string qwen = R"("model_type": "qwen3_moe", "moe_intermediate_size": 50, "num_experts": 8)";
  EXPECT_EQ(config_json_refused(qwen), "accepted");
  EXPECT_EQ(config_json_refused(qwen + R"(, "decoder_sparse_step": 1, "mlp_only_layers": [])"), "accepted");
  EXPECT_THAT(config_json_refused(qwen + R"(, "decoder_sparse_step": 2)"), HasSubstr("without experts"));
  EXPECT_THAT(config_json_refused(qwen + R"(, "mlp_only_layers": [1])"), HasSubstr("without experts"));
  EXPECT_THAT(config_json_refused(R"("num_local_experts": 2, "num_experts_per_tok": 3)"),
              HasSubstr("more experts than there are"));
  EXPECT_THAT(config_json_refused(R"("num_key_value_heads": 3)"), HasSubstr("do not divide"));
  EXPECT_THAT(config_json_refused(R"("word_embed_proj_dim": 32)"), HasSubstr("word_embed_proj_dim"));
  EXPECT_EQ(config_json_refused(R"("word_embed_proj_dim": 64)"), "accepted");
}

TEST(Workload, HasTheOperationsOfItsTransformerUnlessItSaysOthers) {
  const test::Folder folder;
  const auto with = [&](const std::string& keys) {
    return load_workload(
        folder.write("workload.yaml",
                     "transformer: {layers: 2, hidden: 64, heads: 8, vocabulary: 100, sequence: 32}\n"
                     "batch_per_gpu: 8\ncompute: {measured: [{gpu: any, samples_per_second: 10}]}\n" +
                         keys),
        folder.path());
  };
  const Workload counted = with("");
  ASSERT_TRUE(counted.transformer);
  EXPECT_EQ(counted.forward_flops, forward_flops_of(*counted.transformer));
  EXPECT_EQ(with("forward_flops: 3 GFLOP\n").forward_flops, 3e9);
}

TEST(Configs, ConsumerCardsHaveNoPeerToPeer) {
  EXPECT_EQ(shipped_machine("4x-rtx3090-pcie4.yaml").intra->peer_to_peer, false);
  EXPECT_EQ(shipped_scenario("pcie-two-sockets.yaml").machine->intra->peer_to_peer, false);
}

}  // namespace
}  // namespace ringside
