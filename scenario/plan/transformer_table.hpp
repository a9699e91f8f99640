#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "scenario/plan/transformer.hpp"
#include "scenario/plan/workload.hpp"
#include "scenario/yaml/keys.hpp"
#include "scenario/yaml/reader.hpp"

/// The keys of a workload's `transformer`.
namespace ringside {

std::vector<KeyDescription> transformer_keys();
std::string transformer_form();

/// Nothing after a problem was added; `config` is relative to `folder`.
std::optional<Transformer> read_transformer(Reader& reader, const Value& value,
                                            const std::filesystem::path& folder);

/// Reads a language model's numbers into the workload; tensors beside them must agree on parameters.
void read_model_numbers(Reader& reader, const Value& value, const std::filesystem::path& folder,
                        Workload& workload);

}  // namespace ringside
