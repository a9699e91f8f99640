#pragma once

#include <memory>
#include <string>

#include <nccl.h>

namespace ringside {

/// libnccl.so.2, found when the program runs: this build saw only its header, so that one program runs with
/// the NCCL of the system and with that of a PyTorch installation.
class NcclLibrary {
  /// It takes the type of what it is given to.
  struct Function {
    void* symbol = nullptr;

    template <typename F>
    operator F*() const {
      return reinterpret_cast<F*>(symbol);
    }
  };

  void* handle_;
  std::string path_;

 public:
  /// Throws Error{environment} that says where it was looked for, or which function an old one lacks.
  static std::shared_ptr<const NcclLibrary> load();
  ~NcclLibrary();
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  /// The file that was loaded.
  const std::string& path() const { return path_; }
  int version() const;

  decltype(&ncclGetVersion) get_version = find("ncclGetVersion");
  decltype(&ncclGetUniqueId) get_unique_id = find("ncclGetUniqueId");
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = find("ncclCommInitRankConfig");
  decltype(&ncclCommGetAsyncError) comm_get_async_error = find("ncclCommGetAsyncError");
  decltype(&ncclCommAbort) comm_abort = find("ncclCommAbort");
  decltype(&ncclGetErrorString) get_error_string = find("ncclGetErrorString");
  decltype(&ncclGetLastError) get_last_error = find("ncclGetLastError");
  decltype(&ncclGroupStart) group_start = find("ncclGroupStart");
  decltype(&ncclGroupEnd) group_end = find("ncclGroupEnd");
  decltype(&ncclSend) send = find("ncclSend");
  decltype(&ncclRecv) receive = find("ncclRecv");
  decltype(&ncclAllReduce) all_reduce = find("ncclAllReduce");
  decltype(&ncclBroadcast) broadcast = find("ncclBroadcast");
  decltype(&ncclReduce) reduce = find("ncclReduce");
  decltype(&ncclAllGather) all_gather = find("ncclAllGather");
  decltype(&ncclReduceScatter) reduce_scatter = find("ncclReduceScatter");

 private:
  NcclLibrary(void* handle, std::string path);
  Function find(const char* name) const;
};

}  // namespace ringside
