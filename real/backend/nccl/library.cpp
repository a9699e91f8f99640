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
      std::shared_ptr<NcclLibrary> library(
          new NcclLibrary(handle, candidate));  // The constructor is private.
      library->find_functions();
      return library;
    }
    why = ::dlerror();
  }
  throw lacking(
      "the library of NCCL was not found ({}; looked for {}); install NCCL or PyTorch, or set "
      "RINGSIDE_NCCL_LIBRARY to the file",
      why, fmt::join(candidates, ", "));
}

NcclLibrary::NcclLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

// NCCL has threads that outlive its communicators for a moment; it stays loaded until the process ends.
NcclLibrary::~NcclLibrary() = default;

void NcclLibrary::find_functions() {
  const auto find = [this](const char* name, auto& function) {
    void* symbol = ::dlsym(handle_, name);
    if (symbol == nullptr) {
      throw lacking("{} is no NCCL of version {} or later: it has no {}", path_,
                    nccl_version_text(kOldestNccl), name);
    }
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find("ncclGetVersion", get_version);
  find("ncclGetUniqueId", get_unique_id);
  find("ncclCommInitRankConfig", comm_init_rank_config);
  find("ncclCommGetAsyncError", comm_get_async_error);
  find("ncclCommAbort", comm_abort);
  find("ncclGetErrorString", get_error_string);
  find("ncclGetLastError", get_last_error);
  find("ncclGroupStart", group_start);
  find("ncclGroupEnd", group_end);
  find("ncclSend", send);
  find("ncclRecv", receive);
  find("ncclAllReduce", all_reduce);
  find("ncclBroadcast", broadcast);
  find("ncclReduce", reduce);
  find("ncclAllGather", all_gather);
  find("ncclReduceScatter", reduce_scatter);
  path_ = file_of(reinterpret_cast<void*>(get_version), path_);
}

int NcclLibrary::version() const {
  int version = 0;
  return get_version(&version) == ncclSuccess ? version : 0;
}

}  // namespace ringside
