// Without ringside-lab.

#include "target.hpp"

namespace ringside::fuzz {

std::span<const Target> lab_targets() { return {}; }

}  // namespace ringside::fuzz
