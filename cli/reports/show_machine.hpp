#pragma once

#include <filesystem>

#include "cli/commands.hpp"

namespace ringside::cli {

/// `ringside show machine FILE`: the links of the ring's hops, and a drawing. `num_ranks` 0 = one per GPU.
void show_machine(const std::filesystem::path& file, int num_ranks, bool draw, const CommonOptions& common);

}  // namespace ringside::cli
