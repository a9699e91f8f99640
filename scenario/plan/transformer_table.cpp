
#include "common/error.hpp"
#include "scenario/plan/plan_parts.hpp"
#include "scenario/plan/plan_values.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

constexpr int kMostLayers = 10'000;

/// As it is written: a config.json or its numbers, of which zero = left out.
struct Draft : Transformer {
  std::optional<std::string> config;
};

MapTable<Draft> transformer_rows() {
  const auto small = whole_number_type({.min = 1, .max = kMostLayers});
  const auto count = count_type(1);
  return {.form = transformer_form(),
          .rows = {row<&Draft::config>(text_type("a file such as `config.json`")),
                   row<&Draft::sequence, Draft>(count), row<&Draft::layers, Draft>(small),
                   row<&Draft::hidden, Draft>(count), row<&Draft::heads, Draft>(small),
                   row<&Draft::kv_heads, Draft>(small), row<&Draft::head_dim, Draft>(count),
                   row<&Draft::vocabulary, Draft>(count), row<&Draft::intermediate, Draft>(count),
                   row<&Draft::gated, Draft>(bool_type(), {.default_value = "true"}),
                   row<&Draft::tied, Draft>(bool_type(), {.default_value = "false"}),
                   row<&Draft::biases, Draft>(bool_type(), {.default_value = "false"}),
                   row<&Draft::qkv_biases, Draft>(bool_type(), {.default_value = "false"}),
                   row<&Draft::positions, Draft>(count),
                   row<&Draft::experts, Draft>(small, {.default_value = "1"}),
                   row<&Draft::active_experts, Draft>(small, {.default_value = "1"})}};
}

/// Nothing after a problem was added; `config` is relative to `folder`.
std::optional<Transformer> read_transformer(Reader& reader, const Value& value,
                                            const std::filesystem::path& folder) {
  const auto draft = read_map(reader, value, transformer_rows());
  if (!draft) {
    return std::nullopt;
  }
  if (draft->config) {
    try {
      return load_config_json(folder / *draft->config,
                              draft->sequence > 0 ? std::optional(draft->sequence) : std::nullopt);
    } catch (const Error& error) {
      reader.fail(value, error.what());
      return std::nullopt;
    }
  }
  if (draft->layers == 0 || draft->hidden == 0 || draft->heads == 0 || draft->vocabulary == 0 ||
      draft->sequence == 0) {
    reader.fail(value, "says too little; write {}", transformer_form());
    return std::nullopt;
  }
  Transformer model = *draft;
  model.kv_heads = model.kv_heads > 0 ? model.kv_heads : model.heads;
  model.intermediate = model.intermediate > 0 ? model.intermediate : 4 * model.hidden;
  if (const std::string why = why_impossible(model); !why.empty()) {
    reader.fail(value, why);
    return std::nullopt;
  }
  if (model.positions > 0 && model.sequence > model.positions) {
    reader.fail(reader.find(value, "sequence").value_or(value),
                "is {}, and the model has learnt {} positions", model.sequence, model.positions);
    return std::nullopt;
  }
  return model;
}

}  // namespace

std::string transformer_form() {
  return "a map such as `{config: config.json, sequence: 4096}`, or with `layers`, `hidden`, `heads`, "
         "`vocabulary` and "
         "`sequence`";
}

std::vector<KeyDescription> transformer_keys() { return keys_of(transformer_rows()); }

std::string to_yaml_line(const Transformer& model) {
  YAML::Emitter out;
  write_map(out, Draft{model, {}}, transformer_rows());
  return out.c_str();
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
