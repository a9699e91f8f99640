#pragma once

#include <string_view>

namespace ringside {

/// configs/planning/parameters.yaml as it was when the program was built.
extern const std::string_view kPlanningParametersYaml;

}  // namespace ringside
