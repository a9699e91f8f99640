// What libFuzzer calls. RINGSIDE_FUZZ_TARGET says which target, or `list`: the command line is libFuzzer's.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "target.hpp"

namespace {

using ringside::fuzz::Target;

Target chosen_target() {
  const char* name = std::getenv("RINGSIDE_FUZZ_TARGET");
  for (const Target& target : ringside::fuzz::all_targets()) {
    if (name != nullptr && target.name == name) {
      return target;
    }
  }
  const bool asked = name != nullptr && std::string_view(name) == "list";
  if (!asked) {
    std::fputs("RINGSIDE_FUZZ_TARGET must be one of:\n", stderr);
  }
  for (const Target& target : ringside::fuzz::all_targets()) {
    std::fprintf(asked ? stdout : stderr, "%.*s\n", static_cast<int>(target.name.size()), target.name.data());
  }
  std::exit(asked ? 0 : 2);
}

/// Set before the first text.
Target target;

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  target = chosen_target();
  return 0;
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto fault = ringside::fuzz::fault_of(target, text)) {
    std::fprintf(stderr, "exit status 70: %s\n", fault->c_str());
    std::abort();
  }
  return 0;
}
