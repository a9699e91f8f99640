#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/units.hpp"
#include "real/backend/nccl/device/cuda.hpp"
#include "real/backend/nccl/library.hpp"

namespace ringside {

/// One rank and its GPU.
struct GpuRank {
  Rank rank = 0;
  int num_ranks = 1;
  int gpu = 0;
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds meeting_timeout{60'000};  ///< Until all have met; others may still be starting.
};

/// What NCCL reports as an error of ours: a peer that is gone, a machine that cannot do it, or a failure.
/// `detail` is NCCL's own last word and may be empty.
Error nccl_error(ncclResult_t result, Rank rank, std::string_view doing, std::string_view detail);

/// All ranks' meeting point in NCCL. It is non-blocking: every wait for the others, also inside NCCL, ends at
/// the deadline. After an exception it is aborted and of no more use.
class NcclCommunicator {
 public:
  /// Called by all ranks at once; `id` is that of rank 0.
  NcclCommunicator(std::shared_ptr<const NcclLibrary> library, ncclUniqueId id, const GpuRank& place);
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  const NcclLibrary& library() const { return *library_; }
  ncclComm_t get() const { return communicator_; }
  /// False after an exception.
  bool usable() const { return communicator_ != nullptr; }
  const GpuRank& place() const { return place_; }
  /// From now on waits end after the timeout for all but meeting.
  void all_have_met() { patience_ = place_.timeout; }

  /// Inside a group: throws unless NCCL has taken the call.
  void check(ncclResult_t result, std::string_view doing);

  /// What `calls` asks of NCCL starts together. Returns when it is on its stream, not when it is done.
  void group(std::string_view doing, const std::function<void()>& calls);

  /// Inside a group: sends these bytes to a rank, or receives them from it.
  void move(bool sends, Rank peer, std::span<std::byte> memory, cudaStream_t stream);

  /// Waits for an event that the GPU is to come to. Throws Error{peer_lost} at the deadline or when NCCL
  /// reports a lost peer meanwhile.
  void wait(cudaEvent_t event, std::string_view doing);

 private:
  using Clock = std::chrono::steady_clock;

  void settle(std::string_view doing);
  [[noreturn]] void give_up(const Error& error);
  void abandon();
  [[noreturn]] void give_up_at_deadline(std::string_view doing);
  std::string last_error_text() const;

  std::shared_ptr<const NcclLibrary> library_;
  GpuRank place_;
  std::chrono::milliseconds patience_;  ///< Before a wait is given up.
  ncclComm_t communicator_ = nullptr;
  bool group_is_open_ = false;
};

}  // namespace ringside
