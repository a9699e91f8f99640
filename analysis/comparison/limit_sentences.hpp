#pragma once

#include <span>
#include <string>

#include "results/limit.hpp"

namespace ringside {

/// One phrase without a full stop: `2 flows share staging of GPU 0 in host memory, and so with other links of
/// this kind`. Links whose flows are all held back by another link do not count.
std::string limit_sentence(const Limit& limit);

/// All of them, `; ` between.
std::string limit_sentences(std::span<const Limit> limits);

}  // namespace ringside
