#pragma once

#include <optional>
#include <string>

#include "scenario/machine/machine.hpp"

namespace ringside {

/// How much slower the machine was for a part of the time in which it was probed, what the kernel knows of
/// why, and which state predictions are for. None where it was quiet, or not probed three times.
std::optional<std::string> disturbance_sentence(const Machine& machine);

}  // namespace ringside
