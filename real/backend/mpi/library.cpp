#include "real/backend/mpi/library.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "libringside_mpi.so";

/// Beside the program or in ../lib, as it is built and installed; else wherever the loader finds it.
std::string place_of_module() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder / kModule, folder.parent_path() / "lib" / kModule}) {
    if (fs::exists(place, error)) {
      return place.string();
    }
  }
  return kModule;
}

struct Loaded {
  MpiLibrary* library = nullptr;
  std::string why_not = {};
};

Loaded load() {
  const std::string place = place_of_module();
  // MPI libraries load parts of their own that expect to see them.
  void* module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    const std::string why = ::dlerror();
    return {.why_not = place == kModule
                           ? fmt::format("there is no {}; install an MPI library (Debian: libopenmpi-dev or "
                                         "libmpich-dev) and build again",
                                         kModule)
                           : fmt::format("{} cannot be loaded: {}; install the MPI library that it was built "
                                         "with (Debian: openmpi-bin or mpich)",
                                         kModule, why)};
  }
  const auto function = reinterpret_cast<MpiModuleFunction>(::dlsym(module, kMpiModuleFunction));
  if (function == nullptr) {
    return {.why_not = fmt::format("{} is of another version of ringside", place)};
  }
  return {.library = function()};
}

/// MPI can be begun once in a process, so there is one library.
const Loaded& loaded() {
  static const Loaded kLoaded = load();
  return kLoaded;
}

}  // namespace

MpiLibrary& mpi_library() {
  if (loaded().library == nullptr) {
    throw Error(ErrorKind::environment, loaded().why_not);
  }
  return *loaded().library;
}

std::optional<std::string> mpi_missing() {
  return loaded().library == nullptr ? std::optional(loaded().why_not) : std::nullopt;
}

}  // namespace ringside
