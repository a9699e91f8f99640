#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// Ranks, links and devices are counted from 0 in a signed type, places of a container in an unsigned one.
inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace ringside
