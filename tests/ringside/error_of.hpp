#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {

/// The exit status and the words of what `call` throws.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return fmt::format("{}: {}", exit_status(error.kind()), error.what());
  }
  return "nothing was thrown";
}

}  // namespace ringside
