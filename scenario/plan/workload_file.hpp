#pragma once

#include <filesystem>
#include <optional>

#include "scenario/plan/workload.hpp"
#include "scenario/yaml/reader.hpp"

/// What load_workload() and a plan's `workload:` share. Nothing is returned after a problem was added.
namespace ringside {

/// A workload that stands in `value`; relative paths are relative to `folder`.
std::optional<Workload> read_workload(Reader& reader, const Value& value, const std::filesystem::path& folder,
                                      const std::filesystem::path& models);

}  // namespace ringside
