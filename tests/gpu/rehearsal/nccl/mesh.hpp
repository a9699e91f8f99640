#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <nccl.h>

/// The connections of one communicator: a socket per direction between ranks that talk.
namespace rehearsal {

/// One rank sends what another receives. Both sides must say the same `call`, in the same order.
struct Transfer {
  int peer = 0;
  bool sends = false;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::string call = {};
};

/// What became of something that needs others. `result` is ncclSuccess, or says what `why` explains.
struct Outcome {
  ncclResult_t result = ncclSuccess;
  std::string why = {};
};

class Mesh {
 public:
  explicit Mesh(const std::atomic<bool>& aborted) : aborted_(aborted) {}
  ~Mesh();

  /// Opens a meeting point for all ranks; it works in a thread of its own. Empty where it fails.
  static std::string open_meeting_point();
  /// Meets the others there. Two ranks on one GPU of one host are refused, as NCCL does.
  Outcome meet(const std::string& meeting_point, int rank, int num_ranks, int gpu);

  bool connected(const std::vector<Transfer>& transfers);
  /// Connects all who are to talk; they must all do so.
  Outcome connect(const std::vector<Transfer>& transfers);
  /// All transfers at once; a send is done when it was received.
  Outcome exchange(std::vector<Transfer> transfers);

 private:
  void accept_others();

  const std::atomic<bool>& aborted_;
  int rank_ = 0;
  int listener_ = -1;
  std::vector<std::string> addresses_;
  std::thread accepting_;
  std::atomic<bool> closing_ = false;

  std::mutex mutex_;  ///< Guards what follows.
  std::condition_variable changed_;
  std::map<int, int> outgoing_;
  std::map<int, int> incoming_;
};

}  // namespace rehearsal
