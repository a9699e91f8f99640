#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenario/plan/plan.hpp"
#include "scenario/yaml/keys.hpp"
#include "scenario/yaml/reader.hpp"

/// What the files of plans, workloads and offers read of each other. Nothing is returned after a problem was
/// added.
namespace ringside {

/// The list `offers` of a plan, and of files with nothing else.
std::string offers_form();
std::vector<KeyDescription> offer_keys();

/// As far as they could be read. `machines`: the folder whose machines may be named.
std::vector<Offer> read_offers(Reader& reader, const Value& list,
                               const std::optional<std::filesystem::path>& machines);

/// Files of the folder with this extension, without it, sorted; none where there is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder, const char* extension);

/// A workload that stands in `value`; relative paths are relative to `folder`.
std::optional<Workload> read_workload(Reader& reader, const Value& value, const std::filesystem::path& folder,
                                      const std::filesystem::path& models);

/// The keys of a workload's `transformer`.
std::vector<KeyDescription> transformer_keys();
std::string transformer_form();

/// Reads a language model's numbers into the workload; tensors beside them must agree on parameters. `config`
/// is relative to `folder`.
void read_model_numbers(Reader& reader, const Value& value, const std::filesystem::path& folder,
                        Workload& workload);

}  // namespace ringside
