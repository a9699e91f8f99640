#pragma once

#include <string_view>

namespace ringside {

/// configs/nccl/left_out.yaml as it was when the program was built.
extern const std::string_view kNcclLeftOutYaml;

}  // namespace ringside
