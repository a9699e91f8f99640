#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "common/error.hpp"
#include "scenario/plan/transformer.hpp"

/// config.json of Hugging Face transformers (src/transformers/models/*/configuration_*.py), which is YAML, too.
namespace ringside {
namespace {

constexpr std::int64_t kLongestAssumed = 4096;

class Config {
 public:
  Config(const YAML::Node& root, std::string file) : root_(root), file_(std::move(file)) {}

  [[noreturn]] void reject(const std::string& what) const {
    throw Error(ErrorKind::bad_input, fmt::format("{}: {}", file_, what));
  }

  std::optional<std::int64_t> number(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const YAML::Node value = root_[key];
      if (!value || value.IsNull()) {
        continue;
      }
      std::int64_t number = 0;
      if (!YAML::convert<std::int64_t>::decode(value, number) || number < 1 ||
          number > std::int64_t{1'000'000'000}) {
        reject(fmt::format("{} is no number above 0", key));
      }
      return number;
    }
    return std::nullopt;
  }

  std::int64_t required(std::initializer_list<const char*> keys) const {
    const auto found = number(keys);
    if (!found) {
      reject(fmt::format("has no {}, which a transformer's config.json has", *keys.begin()));
    }
    return *found;
  }

  bool flag(const char* key, bool otherwise) const {
    const YAML::Node value = root_[key];
    bool set = otherwise;
    return value && YAML::convert<bool>::decode(value, set) ? set : otherwise;
  }

  std::string type() const {
    const YAML::Node value = root_["model_type"];
    return value && value.IsScalar() ? value.Scalar() : std::string{};
  }

 private:
  const YAML::Node& root_;
  std::string file_;
};

YAML::Node json_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception&) {
    root = {};
  }
  if (!root.IsMap()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: is not the config.json of a model, a map of JSON", file.string()));
  }
  return root;
}

}  // namespace

Transformer load_config_json(const std::filesystem::path& file, std::optional<std::int64_t> sequence) {
  const YAML::Node root = json_of(file);
  const Config config(root, file.string());
  for (const char* experts : {"num_experts", "n_routed_experts"}) {
    if (root[experts] && !root[experts].IsNull()) {
      config.reject(fmt::format(
          "has {}: of mixtures of experts only those with num_local_experts, all alike, are modelled",
          experts));
    }
  }
  const std::string type = config.type();
  // GPT-2 and its like have two matrices in the MLP, biases everywhere and learnt positions; MPT has neither biases nor positions.
  const bool gpt2 = type == "gpt2" || type == "gpt_bigcode";
  const bool mpt = type == "mpt";
  Transformer model;
  model.layers = static_cast<int>(config.required({"num_hidden_layers", "n_layer", "n_layers"}));
  model.hidden = config.required({"hidden_size", "n_embd", "d_model"});
  model.heads = static_cast<int>(config.required({"num_attention_heads", "n_head", "n_heads"}));
  model.kv_heads = static_cast<int>(config.number({"num_key_value_heads"}).value_or(model.heads));
  model.vocabulary = config.required({"vocab_size"});
  model.intermediate = config.number({"intermediate_size", "n_inner"}).value_or(4 * model.hidden);
  model.gated = !gpt2 && !mpt;
  model.tied = config.flag("tie_word_embeddings", gpt2 || mpt);
  model.biases = gpt2;
  model.qkv_biases = type == "qwen2" || config.flag("attention_bias", false);
  const std::int64_t positions =
      config.number({"max_position_embeddings", "n_positions", "max_seq_len"}).value_or(kLongestAssumed);
  model.positions = gpt2 ? positions : 0;
  model.sequence = sequence.value_or(std::min(positions, kLongestAssumed));
  model.experts = static_cast<int>(config.number({"num_local_experts"}).value_or(1));
  model.active_experts = static_cast<int>(config.number({"num_experts_per_tok"}).value_or(1));
  if (model.active_experts > model.experts) {
    config.reject("sends a token through more experts than there are");
  }
  if (model.hidden % model.heads != 0 || model.heads % model.kv_heads != 0) {
    config.reject("its heads do not divide its width");
  }
  return model;
}

}  // namespace ringside
