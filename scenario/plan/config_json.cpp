#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"
#include "scenario/plan/transformer.hpp"

/// config.json of Hugging Face transformers (src/transformers/models/*/configuration_*.py), also YAML.
namespace ringside {
namespace {

constexpr std::int64_t kLongestAssumed = 4096;

/// Text, in JSON; a number, true or false stands without quotes.
bool is_quoted(const YAML::Node& value) { return value.Tag() == "!"; }

class Config {
 public:
  Config(const YAML::Node& root, std::string file) : root_(root), file_(std::move(file)) {}

  /// What is wrong, put together by fmt.
  template <typename... Parts>
  [[noreturn]] void reject(fmt::format_string<Parts...> what, Parts&&... parts) const {
    throw bad_input("{}: {}", file_, fmt::format(what, std::forward<Parts>(parts)...));
  }

  std::optional<std::int64_t> number(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const YAML::Node value = root_[key];
      if (!value || value.IsNull()) {
        continue;
      }
      std::int64_t number = 0;
      if (is_quoted(value) || !YAML::convert<std::int64_t>::decode(value, number) || number < 1 ||
          number > std::int64_t{1'000'000'000}) {
        reject("{} is no number above 0", key);
      }
      return number;
    }
    return std::nullopt;
  }

  std::int64_t required(std::initializer_list<const char*> keys) const {
    const auto found = number(keys);
    if (!found) {
      reject("has no {}, which a transformer's config.json has", *keys.begin());
    }
    return *found;
  }

  bool flag(const char* key, bool otherwise) const {
    const YAML::Node value = root_[key];
    bool set = otherwise;
    if (value && !value.IsNull() && (is_quoted(value) || !YAML::convert<bool>::decode(value, set))) {
      reject("{} is neither true nor false", key);
    }
    return set;
  }

  bool has(const char* key) const { return root_[key] && !root_[key].IsNull(); }

  bool has_entries(const char* key) const {
    if (has(key) && !root_[key].IsSequence()) {
      reject("{} is no list", key);
    }
    return has(key) && root_[key].size() > 0;
  }

  std::string type() const {
    const YAML::Node value = root_["model_type"];
    if (!value || value.IsNull()) {
      return {};
    }
    if (!value.IsScalar()) {
      reject("model_type is no name of a kind of model");
    }
    return value.Scalar();
  }

 private:
  const YAML::Node& root_;
  std::string file_;
};

YAML::Node json_of(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostOfConfig = std::uint64_t{1} << 20;  // Real ones are a few KiB.
  if (std::error_code ignored; !std::ifstream(file) || std::filesystem::is_directory(file, ignored)) {
    throw bad_input("{}: there is no such file that can be read", file.string());
  }
  const std::string text = valid_utf8(read_text(file, kMostOfConfig));
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception&) {
    // It stays empty, and is no map.
  }
  if (!root.IsMap()) {
    throw bad_input("{}: is not the config.json of a model, a map of JSON", file.string());
  }
  return root;
}

/// What config.json leaves to the code of a `model_type` (transformers' modeling_*.py).
struct Kind {
  const char* type;
  bool gated = true;
  bool tied = false;  ///< Where the file does not say.
  bool biases = false;
  bool qkv_biases = false;
  std::int64_t positions = 0;  ///< Learnt ones, where the file does not say; 0 = none are learnt.
};

constexpr auto kKinds = std::to_array<Kind>({
    {.type = "llama"},
    {.type = "mistral"},
    {.type = "mixtral"},
    {.type = "qwen2", .qkv_biases = true},
    {.type = "qwen3"},
    {.type = "qwen3_moe"},
    {.type = "gpt_oss"},
    {.type = "phi3"},
    {.type = "olmo"},
    {.type = "olmo2"},
    {.type = "granite"},
    {.type = "smollm3"},
    {.type = "gemma", .tied = true},
    {.type = "gemma2", .tied = true},
    {.type = "gemma3_text", .tied = true},
    {.type = "cohere", .tied = true},
    {.type = "gpt2", .gated = false, .tied = true, .biases = true, .positions = 1024},
    {.type = "gpt_bigcode", .gated = false, .tied = true, .biases = true, .positions = 1024},
    {.type = "opt", .gated = false, .tied = true, .biases = true, .positions = 2048},
    {.type = "gpt_neox", .gated = false, .biases = true},
    {.type = "mpt", .gated = false, .tied = true},
});

/// One without a type is taken for Llama's.
Kind kind_of(const Config& config) {
  const std::string type = config.type();
  const auto found = std::ranges::find_if(
      kKinds, [&](const Kind& kind) { return kind.type == (type.empty() ? std::string("llama") : type); });
  if (found == kKinds.end()) {
    const std::vector<std::string> known =
        mapped(kKinds, [](const Kind& kind) { return std::string(kind.type); });
    config.reject("{}; write its numbers under `transformer`", unknown_name("model_type", type, known));
  }
  return *found;
}

/// Mixtures whose layers are all alike, without experts that every token goes through.
void require_alike_experts(const Config& config) {
  const bool qwen = config.type() == "qwen3_moe";
  for (const char* experts : {"num_experts", "n_routed_experts"}) {
    if (config.has(experts) && !qwen) {
      config.reject(
          "has {}: of mixtures of experts only those with num_local_experts, all alike, and Qwen "
          "3's are modelled",
          experts);
    }
  }
  if (qwen &&
      (config.number({"decoder_sparse_step"}).value_or(1) != 1 || config.has_entries("mlp_only_layers"))) {
    config.reject("has layers without experts (decoder_sparse_step, mlp_only_layers), which is not modelled");
  }
}

void read_experts(const Config& config, Transformer& model) {
  if (config.type() == "qwen3_moe") {
    model.intermediate = config.required({"moe_intermediate_size"});
  }
  model.experts = static_cast<int>(config.number({"num_local_experts", "num_experts"}).value_or(1));
  model.active_experts =
      static_cast<int>(config.number({"num_experts_per_tok", "experts_per_token"}).value_or(1));
}

}  // namespace

Transformer load_config_json(const std::filesystem::path& file, std::optional<std::int64_t> sequence) {
  const YAML::Node root = json_of(file);
  const Config config(root, file.string());
  const Kind kind = kind_of(config);
  require_alike_experts(config);
  Transformer model;
  model.layers = static_cast<int>(config.required({"num_hidden_layers", "n_layer", "n_layers"}));
  model.hidden = config.required({"hidden_size", "n_embd", "d_model"});
  model.heads = static_cast<int>(config.required({"num_attention_heads", "n_head", "n_heads"}));
  const int kv_heads = config.flag("multi_query", false) ? 1 : model.heads;
  model.kv_heads = static_cast<int>(config.number({"num_key_value_heads"}).value_or(kv_heads));
  model.head_dim = config.number({"head_dim"}).value_or(0);
  if (model.head_dim * model.heads == model.hidden) {
    model.head_dim = 0;
  }
  model.vocabulary = config.required({"vocab_size"});
  model.intermediate = config.number({"intermediate_size", "n_inner", "ffn_dim"})
                           .value_or(config.number({"expansion_ratio"}).value_or(4) * model.hidden);
  model.gated = kind.gated;
  model.tied = config.flag("tie_word_embeddings", kind.tied);
  model.biases = kind.biases;
  model.qkv_biases = kind.qkv_biases || config.flag("attention_bias", false);
  const std::int64_t positions = config.number({"max_position_embeddings", "n_positions", "max_seq_len"})
                                     .value_or(kind.positions > 0 ? kind.positions : kLongestAssumed);
  model.positions = kind.positions > 0 ? positions : 0;
  if (kind.positions > 0 && sequence && *sequence > positions) {
    config.reject("has learnt {} positions, and a sequence of {} tokens needs more", positions, *sequence);
  }
  if (config.number({"word_embed_proj_dim"}).value_or(model.hidden) != model.hidden) {
    config.reject(
        "has word_embed_proj_dim, embeddings of another width than its layers, which is not modelled");
  }
  model.sequence = sequence.value_or(std::min(positions, kLongestAssumed));
  read_experts(config, model);
  if (const std::string why = why_impossible(model); !why.empty()) {
    config.reject("{}", why);
  }
  return model;
}

}  // namespace ringside
