#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"

/// The table of all algorithms. It is explicit because the linker drops self-registering objects from static
/// libraries.
namespace ringside {

/// All algorithms of all collectives, in the order in which people should read them.
std::span<const Algorithm> all_algorithms();

/// Names of the algorithms of a collective, in registry order, without `native`.
std::vector<std::string> algorithm_names(Collective collective);

/// Nullptr when there is none of this name.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

/// Throws Error{bad_input} with all names, `native` among them, when there is none of this name.
const Algorithm& known_algorithm(Collective collective, std::string_view algorithm);

/// `native` names the backend's own implementation: it can be measured but is no schedule of ours.
inline constexpr std::string_view kNative = "native";

}  // namespace ringside
