#pragma once

#include <string_view>

namespace ringside {

/// configs/nccl/parameters.yaml as it was when the program was built.
extern const std::string_view kNcclParametersYaml;

}  // namespace ringside
