#include "tests/gpu/rehearsal/nccl/communicator.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "tests/gpu/rehearsal/cuda/device.hpp"
#include "tests/gpu/rehearsal/cuda/settings.hpp"

namespace rehearsal {
namespace {

bool readable_and_writable(const Call& call, int rank, int num_ranks) {
  const auto all = static_cast<std::size_t>(num_ranks);
  const std::string name = call.name;
  const std::size_t size = call.count * size_of(call.type);
  const bool reads = name != "ncclRecv" && (name != "ncclBroadcast" || call.peer == rank);
  const bool writes = name != "ncclSend" && (name != "ncclReduce" || call.peer == rank);
  return (!reads || accessible(call.name, call.input, name == "ncclReduceScatter" ? size * all : size)) &&
         (!writes || accessible(call.name, call.output, name == "ncclAllGather" ? size * all : size));
}

}  // namespace

void Communicator::meet(const std::string& meeting_point) {
  state_ = ncclInProgress;
  worker_.push([self = shared_from_this(), meeting_point] {
    const Outcome outcome = self->mesh_.meet(meeting_point, self->rank_, self->num_ranks_, self->gpu_);
    if (outcome.result != ncclSuccess) {
      self->fail(outcome.result, outcome.why);
    } else {
      self->state_ = ncclSuccess;
    }
  });
}

void Communicator::launch(std::vector<Call> calls, ncclResult_t late) {
  state_ = ncclInProgress;
  worker_.push(
      [self = shared_from_this(), calls = std::move(calls), late] { self->launch_now(calls, late); });
}

void Communicator::launch_now(const std::vector<Call>& calls, ncclResult_t late) {
  use_gpu(gpu_);
  const cudaStream_t stream = calls.front().stream;
  const auto capture = capture_of(stream);
  if (capture != nullptr && capture->mode != cudaStreamCaptureModeRelaxed) {
    return fail(ncclInvalidUsage,
                "a capture that is not relaxed refuses what NCCL's own thread puts on the stream");
  }
  if (late == ncclInProgress) {
    return;  // It never comes to an end.
  }
  for (const Call& call : calls) {
    const std::vector<Transfer> transfers = transfers_of(call, rank_, num_ranks_);
    // A collective connects ranks for collectives only.
    const std::pair<int, bool> first(call.peer, std::string(call.name) == "ncclSend");
    if (mesh_.connected(transfers) && (is_collective(call) || talked_.contains(first))) {
      continue;
    }
    if (capture != nullptr) {
      return fail(ncclInvalidUsage,
                  std::string(call.name) + " connects ranks for the first time, which cannot be captured");
    }
    if (const Outcome outcome = mesh_.connect(transfers); outcome.result != ncclSuccess) {
      return fail(outcome.result, std::string(call.name) + ": " + outcome.why);
    }
    if (!is_collective(call)) {
      talked_.insert(first);
    }
  }
  if (capture == nullptr) {
    order_behind_other_stream(stream);
  }
  const cudaError_t error =
      put(calls.front().name, stream, [self = shared_from_this(), calls, late] { self->run(calls, late); });
  if (error != cudaSuccess) {
    return fail(ncclUnhandledCudaError, std::string(calls.front().name) + ": " + cudaGetErrorName(error));
  }
  // Unless what is on the stream has failed already.
  ncclResult_t launching = ncclInProgress;
  state_.compare_exchange_strong(launching, ncclSuccess);
}

/// Groups of one communicator run in the order in which they were asked for, whichever stream they are on.
void Communicator::order_behind_other_stream(cudaStream_t stream) {
  const cudaStream_t before = std::exchange(last_stream_, stream);
  if (before == nullptr || before == stream) {
    return;
  }
  const auto done = std::make_shared<Completion>();
  if (put("a group on another stream", before, [done] { done->complete(); }) == cudaSuccess) {
    put("a group on another stream", stream, [done] { done->wait(); });
  }
}

void Communicator::run(const std::vector<Call>& calls, ncclResult_t late) {
  const std::lock_guard lock(running_);
  if (aborted_) {
    return;  // What was put on the stream before the abort ends at once.
  }
  Outcome outcome = {.result = late, .why = "asked for by a test"};
  if (late == ncclSuccess) {
    std::vector<Transfer> transfers;
    for (const Call& call : calls) {
      if (outcome.result == ncclSuccess && !readable_and_writable(call, rank_, num_ranks_)) {
        outcome = {ncclUnhandledCudaError,
                   std::string(call.name) + ": an illegal memory access was encountered"};
      }
      if (!is_collective(call)) {
        for (Transfer& transfer : transfers_of(call, rank_, num_ranks_)) {
          transfers.push_back(std::move(transfer));
        }
      }
    }
    if (outcome.result == ncclSuccess) {
      outcome = mesh_.exchange(std::move(transfers));
    }
    for (const Call& call : calls) {
      if (outcome.result == ncclSuccess && is_collective(call)) {
        outcome = run_collective(mesh_, call, rank_, num_ranks_);
      }
    }
  }
  if (outcome.result == ncclSuccess || aborted_) {
    return;
  }
  fail(outcome.result, std::string(calls.front().name) + ": " + outcome.why);
  // As a kernel of NCCL, it spins until somebody aborts it.
  while (!aborted_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Communicator::abort() {
  aborted_ = true;
  worker_.wait_until_idle();
  const std::lock_guard wait(running_);
}

std::string Communicator::last_error() {
  const std::lock_guard lock(words_mutex_);
  return words_;
}

void Communicator::fail(ncclResult_t result, const std::string& why) {
  const std::lock_guard lock(words_mutex_);
  words_ = why;
  state_ = result;
}

}  // namespace rehearsal
