// What libFuzzer calls. RINGSIDE_FUZZ_TARGET in the environment says which target; libFuzzer has the command line.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

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
  std::fputs("RINGSIDE_FUZZ_TARGET must be one of:", stderr);
  for (const Target& target : ringside::fuzz::all_targets()) {
    std::fprintf(stderr, " %.*s", static_cast<int>(target.name.size()), target.name.data());
  }
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Target kTarget = chosen_target();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto fault = ringside::fuzz::fault_of(kTarget, text)) {
    std::fprintf(stderr, "exit status 70: %s\n", fault->c_str());
    std::abort();
  }
  return 0;
}
