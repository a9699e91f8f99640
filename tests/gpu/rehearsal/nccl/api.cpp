// libnccl.so.2 of the rehearsal device: its functions, and the rules of calling them.
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "tests/gpu/rehearsal/cuda/device.hpp"
#include "tests/gpu/rehearsal/cuda/settings.hpp"
#include "tests/gpu/rehearsal/nccl/communicator.hpp"

using namespace rehearsal;

/// A handle; it means nothing after an abort.
struct ncclComm {
  std::shared_ptr<Communicator> communicator;
  bool blocking = true;
};

namespace {

struct Everything {
  std::mutex mutex;
  std::set<ncclComm_t> comms;
  std::string words;  ///< The last error of calls without a communicator.
};

Everything& everything() {
  static auto* const everything = new Everything;  // Never destroyed: streams work until the process ends.
  return *everything;
}

thread_local int group_depth = 0;
thread_local std::vector<Call> group;
thread_local ncclResult_t group_error =
    ncclSuccess;  ///< What a call inside the group was refused with: then none of it is done.
thread_local std::string words_for_caller;

ncclResult_t refuse(const char* call, ncclResult_t result, const std::string& why) {
  complain(call, why);
  const std::lock_guard lock(everything().mutex);
  everything().words = std::string(call).append(": ").append(why);
  return result;
}

bool alive(ncclComm_t comm) {
  const std::lock_guard lock(everything().mutex);
  return everything().comms.contains(comm);
}

/// The fault that a test asks for here; `late` for the work of the call.
struct Faulty {
  bool returns = false;
  ncclResult_t result = ncclSuccess;
  ncclResult_t late = ncclSuccess;
};

Faulty faulty(const char* call) {
  const auto fault = fault_at(call, chosen_gpu());
  if (!fault) {
    return {};
  }
  const auto code = static_cast<ncclResult_t>(fault->code);
  switch (fault->kind) {
    case FaultKind::returns:
      return {.returns = true, .result = refuse(call, code, "asked for by a test")};
    case FaultKind::skipped:
      return {.returns = true};
    case FaultKind::late:
      return {.late = code};
  }
  return {};
}

ncclResult_t launch_group(const char* call, ncclResult_t late) {
  const std::vector<Call> calls = std::exchange(group, {});
  if (calls.empty()) {
    return ncclSuccess;
  }
  const ncclComm_t comm = calls.front().comm;
  for (const Call& one : calls) {
    if (one.comm != comm || one.stream != calls.front().stream) {
      return refuse(call, ncclInvalidUsage, "only groups of one communicator and one stream are rehearsed");
    }
  }
  comm->communicator->launch(calls, late);
  if (!comm->blocking) {
    return ncclInProgress;
  }
  comm->communicator->wait_until_idle();
  return comm->communicator->state();
}

ncclResult_t add_to_group(const Call& call) {
  const Faulty fault = faulty(call.name);
  if (fault.returns) {
    return fault.result;
  }
  if (!alive(call.comm)) {
    return refuse(call.name, ncclInvalidArgument, "this is no communicator, or it was aborted");
  }
  Communicator& communicator = *call.comm->communicator;
  if (communicator.state() != ncclSuccess) {
    return refuse(call.name, ncclInvalidArgument,
                  "the communicator is used before an earlier call has come to ncclSuccess");
  }
  if (call.peer < 0 || call.peer >= communicator.num_ranks()) {
    return refuse(call.name, ncclInvalidArgument, "there is no rank " + std::to_string(call.peer));
  }
  group.push_back(call);
  return group_depth > 0 ? ncclSuccess : launch_group(call.name, fault.late);
}

ncclResult_t add(const Call& call) {
  const ncclResult_t result = add_to_group(call);
  if (group_depth > 0 && result != ncclSuccess) {
    group_error = result;
  }
  return result;
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  const Faulty fault = faulty(__func__);
  *version = settings().nccl;
  return fault.result;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const Faulty fault = faulty(__func__);
  if (fault.returns) {
    return fault.result;
  }
  const std::string address = Mesh::open_meeting_point();
  *id = {};
  std::memcpy(id->internal, address.data(), address.size());
  return address.empty() ? refuse(__func__, ncclSystemError, "no socket could be opened") : ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int num_ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  const Faulty fault = faulty(__func__);
  if (fault.returns) {
    return fault.result;
  }
  if (config == nullptr || config->magic != 0xcafebeef || rank < 0 || rank >= num_ranks) {
    return refuse(__func__, ncclInvalidArgument, "the rank or the settings mean nothing");
  }
  auto* const made =
      new ncclComm{std::make_shared<Communicator>(rank, num_ranks, current_gpu()), config->blocking != 0};
  {
    const std::lock_guard lock(everything().mutex);
    everything().comms.insert(made);
  }
  *comm = made;
  made->communicator->meet(id.internal);
  if (!made->blocking) {
    return ncclInProgress;
  }
  made->communicator->wait_until_idle();
  return made->communicator->state();
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  const Faulty fault = faulty(__func__);
  if (fault.returns) {
    return fault.result;
  }
  if (!alive(comm)) {
    return refuse(__func__, ncclInvalidArgument, "this is no communicator, or it was aborted");
  }
  if (fault.late != ncclSuccess) {
    comm->communicator->fail(fault.late, "asked for by a test");
  }
  *error = comm->communicator->state();
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const Faulty fault = faulty(__func__);
  if (fault.returns) {
    return fault.result;
  }
  {
    const std::lock_guard lock(everything().mutex);
    if (everything().comms.erase(comm) == 0) {
      complain(__func__, "this is no communicator, or it was aborted before");
      return ncclInvalidArgument;
    }
  }
  comm->communicator->abort();
  delete comm;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t) { return "an error of the rehearsal device"; }

const char* ncclGetLastError(ncclComm_t comm) {
  if (alive(comm) && !comm->communicator->last_error().empty()) {
    words_for_caller = comm->communicator->last_error();
  } else {
    const std::lock_guard lock(everything().mutex);
    words_for_caller = everything().words;
  }
  return words_for_caller.c_str();
}

ncclResult_t ncclGroupStart() {
  const Faulty fault = faulty(__func__);
  if (fault.returns) {
    return fault.result;
  }
  ++group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group_depth == 0) {
    return refuse(__func__, ncclInvalidUsage, "no group was started");
  }
  --group_depth;
  const Faulty fault = faulty(__func__);
  const ncclResult_t refused = group_depth > 0 ? ncclSuccess : std::exchange(group_error, ncclSuccess);
  if (fault.returns || refused != ncclSuccess) {
    group.clear();
    return fault.returns ? fault.result : refused;
  }
  return group_depth > 0 ? ncclSuccess : launch_group(__func__, fault.late);
}

ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add({.name = __func__,
              .input = data,
              .count = count,
              .type = type,
              .peer = peer,
              .comm = comm,
              .stream = stream});
}

ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add({.name = __func__,
              .output = data,
              .count = count,
              .type = type,
              .peer = peer,
              .comm = comm,
              .stream = stream});
}

ncclResult_t ncclAllReduce(const void* input, void* output, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return add({.name = __func__,
              .input = input,
              .output = output,
              .count = count,
              .type = type,
              .op = op,
              .comm = comm,
              .stream = stream});
}

ncclResult_t ncclBroadcast(const void* input, void* output, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return add({.name = __func__,
              .input = input,
              .output = output,
              .count = count,
              .type = type,
              .peer = root,
              .comm = comm,
              .stream = stream});
}

ncclResult_t ncclReduce(const void* input, void* output, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return add({.name = __func__,
              .input = input,
              .output = output,
              .count = count,
              .type = type,
              .op = op,
              .peer = root,
              .comm = comm,
              .stream = stream});
}

ncclResult_t ncclAllGather(const void* input, void* output, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return add({.name = __func__,
              .input = input,
              .output = output,
              .count = count,
              .type = type,
              .comm = comm,
              .stream = stream});
}

ncclResult_t ncclReduceScatter(const void* input, void* output, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return add({.name = __func__,
              .input = input,
              .output = output,
              .count = count,
              .type = type,
              .op = op,
              .comm = comm,
              .stream = stream});
}
