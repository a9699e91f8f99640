#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// SHA-256 (FIPS 180-4) of the bytes, in 64 hexadecimal digits. No library that is linked has it.
std::string sha256(std::string_view bytes);

}  // namespace ringside
