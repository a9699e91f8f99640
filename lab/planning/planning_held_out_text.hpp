#pragma once

#include <string_view>

namespace ringside {

/// configs/planning/held_out.yaml as it was when the program was built.
extern const std::string_view kPlanningHeldOutYaml;

}  // namespace ringside
