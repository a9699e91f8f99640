// The runtime's calls about graphs. What two streams put into a graph runs side by side when it is launched,
// but for the waits that were captured with it.
#include <algorithm>
#include <utility>

#include "tests/gpu/rehearsal/cuda/state.hpp"

using namespace rehearsal;

namespace {

/// What can be launched, shared with the launches that are under way.
struct Executable {
  std::vector<Node> nodes;
  std::vector<std::shared_ptr<Worker>> others;  ///< One for each lane but the first.
  std::uint64_t seed = 0;

  void run_lane(std::size_t lane, std::vector<Completion>& completions) const {
    Pauses pauses(seed_of(seed, lane));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].lane == lane) {
        for (const std::size_t before : nodes[i].behind) {
          completions[before].wait();
        }
        pauses.pause();
        nodes[i].work();
        completions[i].complete();
      }
    }
  }
};

void launch(const std::shared_ptr<const Executable>& executable) {
  const auto completions = std::make_shared<std::vector<Completion>>(executable->nodes.size());
  for (std::size_t lane = 1; lane <= executable->others.size(); ++lane) {
    executable->others[lane - 1]->push([=] { executable->run_lane(lane, *completions); });
  }
  executable->run_lane(0, *completions);
  for (Completion& completion : *completions) {
    completion.wait();
  }
}

/// Whether all that was captured comes before what the first stream would do next.
bool all_joined(const Capture& capture, const std::vector<std::size_t>& frontier) {
  std::vector<bool> joined(capture.nodes.size());
  for (const std::size_t node : frontier) {
    joined[node] = true;
  }
  for (std::size_t node = capture.nodes.size(); node-- > 0;) {
    if (!joined[node]) {
      return false;
    }
    for (const std::size_t before : capture.nodes[node].behind) {
      joined[before] = true;
    }
  }
  return true;
}

}  // namespace

struct CUgraphExec_st {
  std::shared_ptr<const Executable> executable;
};

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    CUstream_st* const found = find_stream("cudaStreamBeginCapture", stream);
    if (found == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (stream == nullptr || found->capture != nullptr) {
      complain("cudaStreamBeginCapture", "this stream cannot be captured now");
      return cudaErrorStreamCaptureUnsupported;
    }
    found->capture = std::make_shared<Capture>(Capture{.origin = found, .mode = mode, .streams = {found}});
    found->frontier.clear();
    return cudaSuccess;
  });
}

namespace {

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  const std::lock_guard lock(state().mutex);
  CUstream_st* const found = find_stream("cudaStreamEndCapture", stream);
  if (found == nullptr || found->capture == nullptr || found->capture->origin != found) {
    complain("cudaStreamEndCapture", "no capture began on this stream");
    return cudaErrorStreamCaptureUnmatched;
  }
  const std::shared_ptr<Capture> capture = found->capture;
  capture->origin = nullptr;
  const std::vector<std::size_t> frontier = found->frontier;
  for (CUstream_st* member : capture->streams) {
    if (state().streams.contains(member)) {
      member->capture = nullptr;
      member->frontier.clear();
    }
  }
  if (capture->invalidated) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (!all_joined(*capture, frontier)) {
    complain("cudaStreamEndCapture", "work of another stream was not joined to the one that began");
    return cudaErrorStreamCaptureUnjoined;
  }
  *graph = new CUgraph_st{std::move(capture->nodes)};
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  // Also where it fails, the capture is over.
  const cudaError_t ended = end_capture(stream, graph);
  return runtime_call(__func__, [&] { return ended; });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
  return runtime_call(__func__, [&] {
    std::size_t lanes = 1;
    for (const Node& node : graph->nodes) {
      lanes = std::max(lanes, node.lane + 1);
    }
    auto made = std::make_shared<Executable>();
    made->nodes = graph->nodes;
    made->seed = seed_of(settings().seed, 2'000 + static_cast<std::uint64_t>(current_gpu()));
    for (std::size_t lane = 1; lane < lanes; ++lane) {
      made->others.push_back(std::make_shared<Worker>(0));
    }
    *executable = new CUgraphExec_st{std::move(made)};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return runtime_call(__func__, [&] {
    delete graph;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return runtime_call(__func__, [&] {
    delete executable;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    return put("cudaGraphLaunch", stream, [shared = executable->executable] { launch(shared); });
  });
}
