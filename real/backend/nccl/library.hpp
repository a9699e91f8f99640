#pragma once

#include <memory>
#include <string>

#include <nccl.h>

namespace ringside {

/// libnccl.so.2, found when the program runs: this build saw only its header, so that one program runs with
/// the NCCL of the system and with that of a PyTorch installation.
class NcclLibrary {
 public:
  /// Throws Error{environment} that says where it was looked for, or which function an old one lacks.
  static std::shared_ptr<const NcclLibrary> load();
  ~NcclLibrary();
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  /// The file that was loaded.
  const std::string& path() const { return path_; }
  int version() const;

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;

 private:
  NcclLibrary(void* handle, std::string path);
  void find_functions();

  void* handle_;
  std::string path_;
};

}  // namespace ringside
