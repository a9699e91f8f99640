#include "real/backend/nccl/library.hpp"

#include <cstdlib>
#include <optional>
#include <utility>

#include <dlfcn.h>
#include <fmt/ranges.h>

#include "common/failures.hpp"
#include "real/backend/nccl/settings.hpp"

namespace ringside {
namespace {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// The file behind a function of a loaded library.
std::string file_of(void* function, const std::string& otherwise) {
  Dl_info place{};
  return ::dladdr(function, &place) != 0 && place.dli_fname != nullptr ? place.dli_fname : otherwise;
}

}  // namespace

std::shared_ptr<const NcclLibrary> NcclLibrary::load() {
  const std::vector<std::string> candidates = nccl_library_candidates(environment_variable);
  std::string why;
  for (const std::string& candidate : candidates) {
    if (void* handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      // The constructor is private.
      return std::shared_ptr<const NcclLibrary>(new NcclLibrary(handle, candidate));
    }
    why = ::dlerror();
  }
  throw lacking(
      "the library of NCCL was not found ({}; looked for {}); install NCCL or PyTorch, or set "
      "RINGSIDE_NCCL_LIBRARY to the file",
      why, fmt::join(candidates, ", "));
}

NcclLibrary::NcclLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {
  path_ = file_of(reinterpret_cast<void*>(get_version), path_);
}

// NCCL has threads that outlive its communicators for a moment; it stays loaded until the process ends.
NcclLibrary::~NcclLibrary() = default;

NcclLibrary::Function NcclLibrary::find(const char* name) const {
  void* symbol = ::dlsym(handle_, name);
  if (symbol == nullptr) {
    throw lacking("{} is no NCCL of version {} or later: it has no {}", path_, nccl_version_text(kOldestNccl),
                  name);
  }
  return {symbol};
}

int NcclLibrary::version() const {
  int version = 0;
  return get_version(&version) == ncclSuccess ? version : 0;
}

}  // namespace ringside
