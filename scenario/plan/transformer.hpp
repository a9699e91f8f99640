#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

/// A transformer language model by the few numbers of its config: what it has, computes and keeps.
namespace ringside {

/// Decoder (GPT-2, MPT, Llama, Mistral, Qwen, Gemma, …), or a mixture of experts (Mixtral, Qwen 3, gpt-oss).
struct Transformer {
  int layers = 0;
  std::int64_t hidden = 0;
  int heads = 0;
  int kv_heads = 0;           ///< Fewer than `heads` with grouped queries.
  std::int64_t head_dim = 0;  ///< Width of a head; 0 = hidden / heads.
  std::int64_t vocabulary = 0;
  std::int64_t intermediate = 0;  ///< Width of the MLP.
  bool gated = true;              ///< Three matrices in the MLP (SwiGLU) instead of two.
  bool tied = false;              ///< The output shares the embedding's matrix.
  bool biases = false;            ///< Every matrix and norm has one.
  bool qkv_biases = false;        ///< Those of query, key and value alone.
  std::int64_t positions = 0;     ///< Learnt position embeddings.
  std::int64_t sequence = 0;      ///< Tokens of a sample.
  int experts = 1;                ///< MLPs of a layer; every token goes through `active_experts` of them.
  int active_experts = 1;

  bool operator==(const Transformer&) const = default;

  std::int64_t head_width() const { return head_dim > 0 ? head_dim : hidden / heads; }
  /// Width of queries, and of what attention gives.
  std::int64_t query_width() const { return head_width() * heads; }
  /// Width of keys, and of values.
  std::int64_t kv_width() const { return head_width() * kv_heads; }
};

/// Elements of one layer's matrices.
std::int64_t matrix_elements_of_layer(const Transformer& model);
/// Those of the experts of a mixture; 0 where there is one MLP.
std::int64_t expert_elements_of_layer(const Transformer& model);
/// Those that a token is multiplied with.
std::int64_t active_elements_of_layer(const Transformer& model);
std::int64_t parameters_of_layer(const Transformer& model);
/// Embeddings, the output matrix where it is not tied, and the last norm.
std::int64_t parameters_outside_layers(const Transformer& model);
std::int64_t parameters_of(const Transformer& model);

/// Operations of one layer's forward pass for one sample, two per multiply-accumulate: matrices, and
/// attention to all tokens (Narayanan et al. 2021, arXiv 2104.04473, eq. 2 and appendix; generalised to
/// grouped queries).
double forward_flops_of_layer(const Transformer& model);
/// With the output matrix.
double forward_flops_of(const Transformer& model);

/// Elements of one sample that one layer keeps for its backward pass, with fused attention (no matrix of
/// scores): Korthikanti et al. 2022 (arXiv 2205.05198), section 4.1, counted for the model's own widths and
/// without dropout: inputs of both norms and of the matrices after them, query, key, value, and outputs of
/// attention, MLP and its activation.
double kept_elements_of_layer(const Transformer& model);

/// Why a model cannot be meant: parts that do not divide, more than 10^15 parameters, or bytes kept of a
/// sample. Empty = it can.
std::string why_impossible(const Transformer& model);

/// A config.json as Hugging Face transformers writes it. `sequence`: none = the config's positions, to 4,096.
/// Throws Error{bad_input} that names file and key: no JSON, no number, an unknown kind.
Transformer load_config_json(const std::filesystem::path& file, std::optional<std::int64_t> sequence);

/// The keys of `transformer` that say the same, on one line.
std::string to_yaml_line(const Transformer& model);

}  // namespace ringside
