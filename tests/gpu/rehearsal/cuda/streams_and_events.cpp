// The runtime's calls about streams and events.
#include <algorithm>
#include <utility>

#include "tests/gpu/rehearsal/cuda/state.hpp"

using namespace rehearsal;

namespace {

CUevent_st* find_event(const char* call, cudaEvent_t event) {
  if (!state().events.contains(event)) {
    complain(call, "this is no event, or it was destroyed");
    return nullptr;
  }
  return event;
}

/// `stream` comes behind what `event` recorded in a capture, and is part of that capture from here on.
cudaError_t join_capture(CUstream_st& stream, const CUevent_st& event) {
  if (event.capture->origin == nullptr) {
    complain("cudaStreamWaitEvent", "the event was recorded in a capture that has ended");
    return cudaErrorInvalidValue;
  }
  if (stream.capture != nullptr && stream.capture != event.capture) {
    stream.capture->invalidated = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (stream.capture == nullptr) {
    stream.capture = event.capture;
    stream.frontier.clear();
    if (std::find(event.capture->streams.begin(), event.capture->streams.end(), &stream) ==
        event.capture->streams.end()) {
      event.capture->streams.push_back(&stream);
    }
  }
  stream.frontier.insert(stream.frontier.end(), event.frontier.begin(), event.frontier.end());
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return runtime_call(__func__, [&] {
    if (flags != cudaStreamNonBlocking) {
      complain("cudaStreamCreateWithFlags", "only non-blocking streams are rehearsed");
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(state().mutex);
    const std::uint64_t which = state().streams_made++ + 100 * static_cast<std::uint64_t>(current_gpu());
    *stream = new CUstream_st(current_gpu(), seed_of(settings().seed, which));
    state().streams.insert(*stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    if (state().streams.erase(stream) == 0) {
      complain("cudaStreamDestroy", "this is no stream, or it was destroyed before");
      return cudaErrorInvalidResourceHandle;
    }
    delete stream;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    std::shared_ptr<Worker> worker;
    {
      const std::lock_guard lock(state().mutex);
      CUstream_st* const found = find_stream("cudaStreamSynchronize", stream);
      if (found == nullptr) {
        return cudaErrorInvalidResourceHandle;
      }
      if (found->capture != nullptr) {
        complain("cudaStreamSynchronize", "the stream is captured, and this cannot be");
        found->capture->invalidated = true;
        return cudaErrorStreamCaptureUnsupported;
      }
      worker = found->worker;
    }
    worker->wait_until_idle();
    return state().spoilt.load();
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    CUstream_st* const found = find_stream("cudaStreamWaitEvent", stream);
    CUevent_st* const awaited = find_event("cudaStreamWaitEvent", event);
    if (found == nullptr || awaited == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (awaited->capture != nullptr) {
      return join_capture(*found, *awaited);
    }
    if (found->capture != nullptr) {
      complain("cudaStreamWaitEvent", "a captured stream waits for an event that is not captured");
      found->capture->invalidated = true;
      return cudaErrorStreamCaptureIsolation;
    }
    if (awaited->last != nullptr) {
      found->worker->push([last = awaited->last] { last->wait(); });
    }
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    *event = new CUevent_st{.gpu = current_gpu(), .timed = (flags & cudaEventDisableTiming) == 0};
    state().events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    if (state().events.erase(event) == 0) {
      complain("cudaEventDestroy", "this is no event, or it was destroyed before");
      return cudaErrorInvalidResourceHandle;
    }
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    CUstream_st* const found = find_stream("cudaEventRecord", stream);
    CUevent_st* const recorded = find_event("cudaEventRecord", event);
    if (found == nullptr || recorded == nullptr || recorded->gpu != found->gpu) {
      return cudaErrorInvalidResourceHandle;
    }
    recorded->capture = found->capture;
    if (found->capture != nullptr) {
      recorded->frontier = found->frontier;
      return cudaSuccess;
    }
    recorded->last = std::make_shared<Completion>();
    found->worker->push([last = recorded->last] { last->complete(); });
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    CUevent_st* const found = find_event("cudaEventQuery", event);
    if (found == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (found->capture != nullptr) {
      complain("cudaEventQuery", "the event was recorded in a capture");
      return cudaErrorCapturedEvent;
    }
    return found->last == nullptr || found->last->is_complete() ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return runtime_call(__func__, [&] {
    std::shared_ptr<Completion> last;
    {
      const std::lock_guard lock(state().mutex);
      CUevent_st* const found = find_event("cudaEventSynchronize", event);
      if (found == nullptr || found->capture != nullptr) {
        return cudaErrorInvalidResourceHandle;
      }
      last = found->last;
    }
    if (last != nullptr) {
      last->wait();
    }
    return state().spoilt.load();
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    CUevent_st* const first = find_event("cudaEventElapsedTime", begin);
    CUevent_st* const second = find_event("cudaEventElapsedTime", end);
    if (first == nullptr || second == nullptr || !first->timed || !second->timed || first->last == nullptr ||
        second->last == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!first->last->is_complete() || !second->last->is_complete()) {
      return cudaErrorNotReady;
    }
    *milliseconds =
        std::chrono::duration<float, std::milli>(second->last->time() - first->last->time()).count();
    return cudaSuccess;
  });
}
