#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenario/plan/plan.hpp"
#include "scenario/yaml/keys.hpp"
#include "scenario/yaml/reader.hpp"

/// The list `offers` of a plan, and of files with nothing else.
namespace ringside {

std::string offers_form();
std::vector<KeyDescription> offer_keys();
/// As far as they could be read. `machines`: the folder whose machines may be named.
std::vector<Offer> read_offers(Reader& reader, const Value& list,
                               const std::optional<std::filesystem::path>& machines);

}  // namespace ringside
