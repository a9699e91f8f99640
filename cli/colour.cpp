#include "cli/colour.hpp"

#include <cstdlib>
#include <vector>

#include <unistd.h>

#include "common/error.hpp"
#include "common/names.hpp"

namespace ringside::cli {
namespace {

constexpr const char* kNoColour = "NO_COLOR";
constexpr const char* kForceColour = "CLICOLOR_FORCE";

bool is_said(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool is_coloured(int descriptor) {
  return !is_said(kNoColour) && (is_said(kForceColour) || isatty(descriptor) == 1);
}

void choose_colour(const std::string& when) {
  if (when != "auto" && when != "always" && when != "never") {
    throw Error(ErrorKind::bad_input,
                unknown_name("--color", when, std::vector<std::string>{"auto", "always", "never"}));
  }
  // The environment says it to programs that this one starts, too.
  if (when != "auto") {
    ::setenv(when == "never" ? kNoColour : kForceColour, "1", 1);
    ::unsetenv(when == "never" ? kForceColour : kNoColour);
  }
}

}  // namespace ringside::cli
