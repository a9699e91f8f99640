#pragma once

#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "common/names.hpp"

namespace ringside::cli {

struct NativeFlags {
  std::optional<Backend> backend = {};
  std::optional<std::string> library = {};  ///< None: the one that is installed.
  Collective collective = Collective::all_reduce;
  int ranks = 2;
  std::optional<int> ranks_per_node = {};  ///< None: all on one node.
};

/// Which algorithm a library chooses for its own collective, and where it switches.
void show_native(const NativeFlags& flags, const CommonOptions& common);

}  // namespace ringside::cli
