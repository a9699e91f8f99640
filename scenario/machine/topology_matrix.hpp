#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/machine/machine.hpp"

namespace ringside {

struct TopologyMachine {
  Machine machine;
  /// What the matrix does not say and somebody has to add, or what was taken for granted. Whole sentences.
  std::vector<std::string> notes = {};
};

/// Whether a text looks like what `nvidia-smi topo -m` prints.
bool holds_topology_matrix(std::string_view text);

/// The machine that `nvidia-smi topo -m` describes. The matrix names no GPU: `gpu` does, or lines of
/// `nvidia-smi -L` in the same text. `name` is what messages call the text, and the machine's name. Throws
/// Error{bad_input} when there is no matrix, it is cut, or its wiring is none that a machine can say.
TopologyMachine machine_of_topology(std::string_view text, const std::string& name,
                                    const std::optional<std::string>& gpu);

}  // namespace ringside
