#include "scenario/plan/transformer_table.hpp"

#include <fmt/format.h>

#include "common/error.hpp"
#include "scenario/plan/plan_values.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

constexpr int kMostLayers = 10'000;

/// As it is written: a config.json or its numbers.
struct Draft {
  std::optional<std::string> config;
  std::optional<std::int64_t> sequence;
  std::optional<int> layers;
  std::optional<std::int64_t> hidden;
  std::optional<int> heads;
  std::optional<int> kv_heads;
  std::optional<std::int64_t> head_dim;
  std::optional<std::int64_t> vocabulary;
  std::optional<std::int64_t> intermediate;
  bool gated = true;
  bool tied = false;
  bool biases = false;
  bool qkv_biases = false;
  std::optional<std::int64_t> positions;
  int experts = 1;
  int active_experts = 1;
};

MapTable<Draft> transformer_rows() {
  const auto small = whole_number_type({.min = 1, .max = kMostLayers});
  const auto count = count_type(1);
  return {
      .form = transformer_form(),
      .rows = {
          row("config", &Draft::config, text_type("a file such as `config.json`"),
              {.meaning =
                   "The model's config.json as Hugging Face writes it, relative to this file; instead of its "
                   "numbers."}),
          row("sequence", &Draft::sequence, count,
              {.meaning = "Tokens of a sample; left out = the config's positions, at most 4096."}),
          row("layers", &Draft::layers, small, {.meaning = "Number of layers."}),
          row("hidden", &Draft::hidden, count, {.meaning = "Width of the hidden states."}),
          row("heads", &Draft::heads, small, {.meaning = "Attention heads."}),
          row("kv_heads", &Draft::kv_heads, small,
              {.meaning = "Heads of keys and values; left out = as many as `heads`."}),
          row("head_dim", &Draft::head_dim, count,
              {.meaning = "Width of a head; left out = `hidden` over `heads`."}),
          row("vocabulary", &Draft::vocabulary, count, {.meaning = "Tokens there are."}),
          row("intermediate", &Draft::intermediate, count,
              {.meaning = "Width of the MLP; left out = four times `hidden`."}),
          row("gated", &Draft::gated, bool_type(),
              {.meaning = "The MLP has three matrices (SwiGLU) instead of two.", .default_value = "true"}),
          row("tied", &Draft::tied, bool_type(),
              {.meaning = "The output shares the embedding's matrix.", .default_value = "false"}),
          row("biases", &Draft::biases, bool_type(),
              {.meaning = "Every matrix and norm has a bias.", .default_value = "false"}),
          row("qkv_biases", &Draft::qkv_biases, bool_type(),
              {.meaning = "Query, key and value have one.", .default_value = "false"}),
          row("positions", &Draft::positions, count,
              {.meaning = "Learnt position embeddings; left out = none."}),
          row("experts", &Draft::experts, small,
              {.meaning = "MLPs of every layer, in a mixture of experts.", .default_value = "1"}),
          row("active_experts", &Draft::active_experts, small,
              {.meaning = "Of these, how many a token goes through.", .default_value = "1"})}};
}

bool has_numbers(const Draft& draft) {
  return draft.layers && draft.hidden && draft.heads && draft.vocabulary && draft.sequence;
}

}  // namespace

std::string transformer_form() {
  return "a map such as `{config: config.json, sequence: 4096}`, or with `layers`, `hidden`, `heads`, "
         "`vocabulary` and "
         "`sequence`";
}

std::vector<KeyDescription> transformer_keys() { return keys_of(transformer_rows()); }

std::optional<Transformer> read_transformer(Reader& reader, const Value& value,
                                            const std::filesystem::path& folder) {
  const auto draft = read_map(reader, value, transformer_rows());
  if (!draft) {
    return std::nullopt;
  }
  if (draft->config) {
    try {
      return load_config_json(folder / *draft->config, draft->sequence);
    } catch (const Error& error) {
      reader.fail(value, error.what());
      return std::nullopt;
    }
  }
  if (!has_numbers(*draft)) {
    reader.fail(value, fmt::format("says too little; write {}", transformer_form()));
    return std::nullopt;
  }
  const Transformer model{.layers = *draft->layers,
                          .hidden = *draft->hidden,
                          .heads = *draft->heads,
                          .kv_heads = draft->kv_heads.value_or(*draft->heads),
                          .head_dim = draft->head_dim.value_or(0),
                          .vocabulary = *draft->vocabulary,
                          .intermediate = draft->intermediate.value_or(4 * *draft->hidden),
                          .gated = draft->gated,
                          .tied = draft->tied,
                          .biases = draft->biases,
                          .qkv_biases = draft->qkv_biases,
                          .positions = draft->positions.value_or(0),
                          .sequence = *draft->sequence,
                          .experts = draft->experts,
                          .active_experts = draft->active_experts};
  if (model.active_experts > model.experts) {
    reader.fail(value, "sends a token through more experts than there are");
    return std::nullopt;
  }
  if ((model.head_dim == 0 && model.hidden % model.heads != 0) || model.heads % model.kv_heads != 0) {
    reader.fail(value, "its heads do not divide its width");
    return std::nullopt;
  }
  if (model.positions > 0 && model.sequence > model.positions) {
    reader.fail(reader.find(value, "sequence").value_or(value),
                fmt::format("is {}, and the model has learnt {} positions", model.sequence, model.positions));
    return std::nullopt;
  }
  if (const std::string why = too_large(model); !why.empty()) {
    reader.fail(value, why);
    return std::nullopt;
  }
  return model;
}

void read_model_numbers(Reader& reader, const Value& value, const std::filesystem::path& folder,
                        Workload& workload) {
  const std::optional<Transformer> model = read_transformer(reader, value, folder);
  if (!model) {
    return;
  }
  workload.transformer = model;
  if (workload.parameters == 0) {
    workload.parameters = parameters_of(*model);
  }
  if (!workload.tensors.empty()) {
    return;
  }
  if (workload.forward_flops == 0) {
    workload.forward_flops = forward_flops_of(*model);
  }
  if (!workload.memory.activations) {
    workload.memory.activations =
        Bytes{static_cast<std::int64_t>(2 * model->layers * kept_elements_of_layer(*model))};
  }
}

}  // namespace ringside
