#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/gpu/rehearsal/cuda/device.hpp"
#include "tests/gpu/rehearsal/cuda/settings.hpp"

/// What lies behind the runtime's handles; of the runtime alone.
struct CUstream_st {
  CUstream_st(int of_gpu, std::uint64_t seed)
      : gpu(of_gpu), worker(std::make_shared<rehearsal::Worker>(seed)) {}

  int gpu;
  std::shared_ptr<rehearsal::Worker> worker;
  // While it is captured: what comes next on it comes behind these nodes.
  std::shared_ptr<rehearsal::Capture> capture;
  std::vector<std::size_t> frontier;
};

struct CUevent_st {
  int gpu = 0;
  bool timed = false;
  std::shared_ptr<rehearsal::Completion> last = nullptr;  ///< Null until it is recorded outside a capture.
  // Where it was recorded in a capture last.
  std::shared_ptr<rehearsal::Capture> capture = nullptr;
  std::vector<std::size_t> frontier = {};
};

struct CUgraph_st {
  std::vector<rehearsal::Node> nodes;
};

namespace rehearsal {

struct State {
  std::mutex mutex;  ///< Guards all but what a worker keeps.
  std::set<CUstream_st*> streams;
  std::map<int, CUstream_st*> default_streams;
  std::set<CUevent_st*> events;
  std::map<std::uintptr_t, std::size_t> allocations;
  std::int64_t allocated = 0;
  std::uint64_t streams_made = 0;
  std::atomic<int> chosen_gpu = 0;
  std::atomic<cudaError_t> spoilt = cudaSuccess;
};

State& state();

/// With the state's mutex held. Null, and said why, when it is none.
CUstream_st* find_stream(const char* call, cudaStream_t stream);
std::size_t add_node(CUstream_st& stream, Work work);

void choose_gpu(int gpu);
cudaError_t take_last_error();
/// Waits for all streams, as cudaFree() does.
void wait_until_idle();

}  // namespace rehearsal
