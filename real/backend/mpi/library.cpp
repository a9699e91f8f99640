#include "real/backend/mpi/library.hpp"

#include <filesystem>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {
namespace {

constexpr const char* kModule = "libringside_mpi.so";

struct Loaded {
  MpiLibrary* library = nullptr;
  std::string why_not = {};
};

/// From beside the program or from ../lib, as it is built and installed; else from where the loader finds it.
Loaded load() {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::string place = kModule;
  for (const auto& candidate : {folder.parent_path() / "lib" / kModule, folder / kModule}) {
    place = std::filesystem::exists(candidate, error) ? candidate.string() : place;
  }
  // MPI libraries load parts of their own that expect to see them.
  void* module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* function = module == nullptr ? nullptr : ::dlsym(module, "ringside_mpi_library");
  if (function != nullptr) {
    return {.library = reinterpret_cast<MpiLibrary* (*)()>(function)()};
  }
  return {.why_not = place == kModule
                         ? fmt::format("there is no {}; install an MPI library (Debian: "
                                       "libopenmpi-dev or libmpich-dev) and build again",
                                       kModule)
                         : fmt::format("{} cannot be loaded: {}; install the MPI library that it was "
                                       "built with (Debian: openmpi-bin or mpich)",
                                       kModule, ::dlerror())};
}

/// MPI can be begun once in a process, so there is one library.
const Loaded& loaded() {
  static const Loaded kLoaded = load();
  return kLoaded;
}

}  // namespace

MpiLibrary& mpi_library() {
  if (const std::optional<std::string> reason = mpi_missing()) {
    throw Error(ErrorKind::environment, *reason);
  }
  return *loaded().library;
}

std::optional<std::string> mpi_missing() {
  return loaded().library == nullptr ? std::optional(loaded().why_not) : std::nullopt;
}

}  // namespace ringside
