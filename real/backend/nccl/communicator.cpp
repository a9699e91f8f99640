#include "real/backend/nccl/communicator.hpp"

#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "real/execute/transport.hpp"

namespace ringside {
namespace {

using std::chrono::microseconds;

/// Between two looks at what NCCL or the GPU does.
constexpr microseconds kPause{20};
/// While the GPU works, NCCL is asked so often whether it still can.
constexpr microseconds kHealthInterval{10'000};
/// So long an abort may take before others hear of the failure.
constexpr microseconds kAbortPatience{1'000'000};

bool is_error(ncclResult_t result) { return result != ncclSuccess && result != ncclInProgress; }

}  // namespace

Error nccl_error(ncclResult_t result, Rank rank, std::string_view doing, std::string_view detail) {
  const std::string why = detail.empty() ? "" : fmt::format(": {}", detail);
  switch (result) {
    // A rank that is gone shows as a connection that breaks.
    case ncclRemoteError:
    case ncclSystemError:
      return Error(ErrorKind::peer_lost, fmt::format("rank {} lost a peer while {}{}", rank, doing, why));
    case ncclInvalidUsage:
    case ncclInvalidArgument:
      return Error(ErrorKind::environment,
                   fmt::format("NCCL refuses this at rank {} while {}{}", rank, doing, why));
    case ncclUnhandledCudaError:
      return Error(ErrorKind::failed,
                   fmt::format("CUDA failed inside NCCL at rank {} while {}{}", rank, doing, why));
    default:
      return Error(ErrorKind::failed, fmt::format("NCCL failed at rank {} while {}{}", rank, doing, why));
  }
}

NcclCommunicator::NcclCommunicator(std::shared_ptr<const NcclLibrary> library, ncclUniqueId id,
                                   const GpuRank& place)
    : library_(std::move(library)), place_(place), patience_(place.meeting_timeout) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  constexpr std::string_view kDoing = "connecting through NCCL";
  check(library_->comm_init_rank_config(&communicator_, place.num_ranks, id, place.rank, &config), kDoing);
  settle(kDoing);
}

NcclCommunicator::~NcclCommunicator() {
  // Other than ncclCommDestroy() it does not wait for peers that may be gone.
  if (communicator_ != nullptr) {
    library_->comm_abort(communicator_);
  }
}

void NcclCommunicator::check(ncclResult_t result, std::string_view doing) {
  if (!is_error(result)) {
    return;
  }
  // A communicator that has failed meanwhile refuses the next call; why it failed says more than that.
  ncclResult_t state = ncclSuccess;
  const bool known = communicator_ != nullptr &&
                     library_->comm_get_async_error(communicator_, &state) == ncclSuccess && is_error(state);
  give_up(nccl_error(known ? state : result, place_.rank, doing, last_error_text()));
}

void NcclCommunicator::group(std::string_view doing, const std::function<void()>& calls) {
  check(library_->group_start(), doing);
  group_is_open_ = true;
  calls();
  group_is_open_ = false;
  check(library_->group_end(), doing);
  settle(doing);
}

void NcclCommunicator::move(bool sends, Rank peer, std::span<std::byte> memory, cudaStream_t stream) {
  check(sends ? library_->send(memory.data(), memory.size(), ncclInt8, peer, communicator_, stream)
              : library_->receive(memory.data(), memory.size(), ncclInt8, peer, communicator_, stream),
        sends ? "sending" : "receiving");
}

/// Waits until what NCCL was asked for is on its stream.
void NcclCommunicator::settle(std::string_view doing) {
  const Clock::time_point deadline = Clock::now() + patience_;
  while (true) {
    ncclResult_t state = ncclSuccess;
    check(library_->comm_get_async_error(communicator_, &state), doing);
    if (state == ncclSuccess) {
      return;
    }
    check(state, doing);
    if (Clock::now() >= deadline) {
      give_up_at_deadline(doing);
    }
    std::this_thread::sleep_for(kPause);
  }
}

void NcclCommunicator::wait(cudaEvent_t event, std::string_view doing) {
  const Clock::time_point deadline = Clock::now() + patience_;
  Clock::time_point next_look = Clock::now() + kHealthInterval;
  while (true) {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaSuccess) {
      return;
    }
    if (status != cudaErrorNotReady) {
      give_up(cuda_error(status, place_.gpu, doing));
    }
    const Clock::time_point now = Clock::now();
    if (now >= deadline) {
      give_up_at_deadline(doing);
    }
    if (now >= next_look) {
      next_look = now + kHealthInterval;
      ncclResult_t state = ncclSuccess;
      check(library_->comm_get_async_error(communicator_, &state), doing);
      check(state, doing);
    }
    std::this_thread::sleep_for(kPause);
  }
}

void NcclCommunicator::give_up(const Error& error) {
  if (std::exchange(group_is_open_, false)) {
    library_->group_end();  // A group is this thread's, for all its communicators.
  }
  if (communicator_ != nullptr) {
    abandon();
  }
  throw error;
}

/// Aborts, but NCCL may wait for threads of its own without end, as 2.28.3 did on an H200: two ranks had
/// begun to connect in ways that did not match. The thread that waits is left behind; the process ends soon.
void NcclCommunicator::abandon() {
  std::packaged_task<void()> task([library = library_, communicator = std::exchange(communicator_, nullptr)] {
    library->comm_abort(communicator);
  });
  const std::future<void> done = task.get_future();
  std::thread(std::move(task)).detach();
  if (done.wait_for(kAbortPatience) == std::future_status::timeout) {
    give_up_gpu();
  }
}

void NcclCommunicator::give_up_at_deadline(std::string_view doing) {
  give_up(Error(ErrorKind::peer_lost, fmt::format("rank {} waited {} for the others while {}", place_.rank,
                                                  text_of(patience_), doing)));
}

std::string NcclCommunicator::last_error_text() const {
  const char* words = library_->get_last_error(communicator_);
  return words == nullptr ? "" : words;
}

}  // namespace ringside
