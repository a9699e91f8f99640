#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// As the catalogue's data sheets would spell what a listing calls a GPU: `RTX 6000Ada`, `4080S`,
/// `RTX_3090Ti`, `RTX PRO 6000 WS`, `RTXA6000`. What it does not know stays as it is.
std::string catalogue_gpu_name(std::string_view listed);

}  // namespace ringside
