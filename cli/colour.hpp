#pragma once

#include <string>
#include <string_view>

/// Colours of what a person sees: on a terminal, unless NO_COLOR or `--color` says otherwise.
namespace ringside::cli {

inline constexpr std::string_view kVerdictColour = "\033[1m";
inline constexpr std::string_view kWinnerColour = "\033[1;32m";
inline constexpr std::string_view kFailureColour = "\033[1;31m";
inline constexpr std::string_view kPlainColour = "\033[0m";

/// `auto`, `always` or `never`; `auto` colours terminals unless NO_COLOR is set. Throws Error{bad_input}.
void choose_colour(const std::string& when);
bool is_coloured(int descriptor);

}  // namespace ringside::cli
