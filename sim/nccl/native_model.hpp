#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Whose answer for NCCL's own collectives: ours, NCCL's cost table, or the textbook's α-β model.
enum class NativeModel { ringside, nccl_tuner, alpha_beta };

std::string_view name(NativeModel value);
std::vector<std::string> native_model_names();
std::optional<NativeModel> parse_native_model(std::string_view text);

}  // namespace ringside
