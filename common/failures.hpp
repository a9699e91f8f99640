#pragma once

#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"

/// Errors whose text is put together: `throw bad_input("{}: is empty", file)`.
namespace ringside {

template <typename... Parts>
Error bad_input(fmt::format_string<Parts...> text, Parts&&... parts) {
  return {ErrorKind::bad_input, fmt::format(text, std::forward<Parts>(parts)...)};
}

/// This machine lacks it.
template <typename... Parts>
Error lacking(fmt::format_string<Parts...> text, Parts&&... parts) {
  return {ErrorKind::environment, fmt::format(text, std::forward<Parts>(parts)...)};
}

/// The text begins with the key.
template <typename... Parts>
KeyError bad_key(fmt::format_string<Parts...> text, Parts&&... parts) {
  return KeyError(fmt::format(text, std::forward<Parts>(parts)...));
}

}  // namespace ringside
