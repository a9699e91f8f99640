#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nccl.h>

#include "tests/gpu/rehearsal/cuda/worker.hpp"
#include "tests/gpu/rehearsal/nccl/mesh.hpp"

namespace rehearsal {

/// One call of NCCL that puts something on a stream.
struct Call {
  const char* name = "";
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  int peer = 0;  ///< Or root.
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

/// A rank's end of a communicator. A thread of its own does the work, as with NCCL's non-blocking ones.
class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  Communicator(int rank, int num_ranks, int gpu)
      : rank_(rank), num_ranks_(num_ranks), gpu_(gpu), mesh_(aborted_) {}

  int rank() const { return rank_; }
  int num_ranks() const { return num_ranks_; }
  Mesh& mesh() { return mesh_; }

  void meet(const std::string& meeting_point);
  /// Puts a group on its stream. `late` is an error to come to instead of doing it.
  void launch(std::vector<Call> calls, ncclResult_t late);
  void wait_until_idle() { worker_.wait_until_idle(); }
  void abort();

  ncclResult_t state() const { return state_; }
  std::string last_error();
  void fail(ncclResult_t result, const std::string& why);

 private:
  void launch_now(const std::vector<Call>& calls, ncclResult_t late);
  void order_behind_other_stream(cudaStream_t stream);
  void run(const std::vector<Call>& calls, ncclResult_t late);

  int rank_;
  int num_ranks_;
  int gpu_;
  std::atomic<bool> aborted_ = false;
  std::atomic<ncclResult_t> state_ = ncclSuccess;
  std::mutex running_;  ///< Held while a group of this communicator runs on its stream.
  Mesh mesh_;
  std::set<std::pair<int, bool>> talked_;  ///< To whom it has sent, and received from whom.
  cudaStream_t last_stream_ = nullptr;
  std::mutex words_mutex_;
  std::string words_;
  Worker worker_{0};
};

bool is_collective(const Call& call);
std::size_t size_of(ncclDataType_t type);

/// The transfers of a call, for connecting; of a collective, those with everybody.
std::vector<Transfer> transfers_of(const Call& call, int rank, int num_ranks);

/// Runs a collective to its end.
Outcome run_collective(Mesh& mesh, const Call& call, int rank, int num_ranks);

}  // namespace rehearsal
