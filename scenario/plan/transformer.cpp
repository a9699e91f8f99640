#include "scenario/plan/transformer.hpp"

namespace ringside {
namespace {

std::int64_t attention_elements(const Transformer& model) {
  return 2 * model.hidden * model.query_width() + 2 * model.hidden * model.kv_width();
}

std::int64_t mlp_elements(const Transformer& model) {
  return (model.gated ? 3 : 2) * model.hidden * model.intermediate;
}

std::int64_t biases_of_layer(const Transformer& model) {
  const std::int64_t qkv = model.query_width() + 2 * model.kv_width();
  if (!model.biases) {
    return model.qkv_biases ? qkv : 0;
  }
  return qkv + model.hidden + (model.gated ? 2 : 1) * model.intermediate + model.hidden;
}

/// Weight, and bias where there are biases.
std::int64_t norm_elements(const Transformer& model) { return (model.biases ? 2 : 1) * model.hidden; }

}  // namespace

std::int64_t matrix_elements_of_layer(const Transformer& model) {
  // A mixture has a row per expert that says which tokens go there.
  const std::int64_t router = model.experts > 1 ? model.experts * model.hidden : 0;
  return attention_elements(model) + model.experts * mlp_elements(model) + router;
}

std::int64_t expert_elements_of_layer(const Transformer& model) {
  return model.experts > 1 ? model.experts * mlp_elements(model) : 0;
}

std::int64_t active_elements_of_layer(const Transformer& model) {
  return matrix_elements_of_layer(model) - (model.experts - model.active_experts) * mlp_elements(model);
}

std::int64_t parameters_of_layer(const Transformer& model) {
  return matrix_elements_of_layer(model) + biases_of_layer(model) + 2 * norm_elements(model);
}

std::int64_t parameters_outside_layers(const Transformer& model) {
  return (model.tied ? 1 : 2) * model.vocabulary * model.hidden + model.positions * model.hidden +
         norm_elements(model);
}

std::int64_t parameters_of(const Transformer& model) {
  return model.layers * parameters_of_layer(model) + parameters_outside_layers(model);
}

double forward_flops_of_layer(const Transformer& model) {
  const auto tokens = static_cast<double>(model.sequence);
  const double matrices = 2 * tokens * static_cast<double>(active_elements_of_layer(model));
  const double attention = 4 * tokens * tokens * static_cast<double>(model.query_width());
  return matrices + attention;
}

double forward_flops_of(const Transformer& model) {
  const double output = 2.0 * static_cast<double>(model.sequence) * static_cast<double>(model.vocabulary) *
                        static_cast<double>(model.hidden);
  return model.layers * forward_flops_of_layer(model) + output;
}

double kept_elements_of_layer(const Transformer& model) {
  const auto hidden = static_cast<double>(model.hidden);
  const double attention =
      2 * hidden + 2 * static_cast<double>(model.query_width()) + 2 * static_cast<double>(model.kv_width());
  const double mlp = 2 * hidden + (model.gated ? 4 : 2) * static_cast<double>(model.intermediate);
  return static_cast<double>(model.sequence) * (attention + model.active_experts * mlp);
}

std::string why_impossible(const Transformer& model) {
  if (model.active_experts > model.experts) {
    return "sends a token through more experts than there are";
  }
  constexpr double kMost = 1e15;
  const auto of = [](auto number) { return static_cast<double>(number); };
  const double head = model.head_dim > 0 ? of(model.head_dim) : of(model.hidden) / model.heads;
  const double attention = 2 * of(model.hidden) * head * (model.heads + model.kv_heads);
  const double experts = of(model.experts) * 3 * of(model.hidden) * of(model.intermediate);
  const double outside = (2 * of(model.vocabulary) + of(model.positions)) * of(model.hidden);
  if (model.layers * (attention + experts) + outside > kMost) {
    return "has more than 10^15 parameters";
  }
  const double widths = of(model.hidden) + head * (model.heads + model.kv_heads) +
                        model.active_experts * (of(model.hidden) + 2 * of(model.intermediate));
  // 16 bits each, and two of everything.
  if (4 * of(model.sequence) * (model.layers * widths + of(model.vocabulary)) > kMost) {
    return "keeps more than 10^15 bytes of one sample; are there so many tokens in it?";
  }
  if ((model.head_dim == 0 && model.hidden % model.heads != 0) || model.heads % model.kv_heads != 0) {
    return "its heads do not divide its width";
  }
  return {};
}

}  // namespace ringside
