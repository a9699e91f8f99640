// The runtime's calls about devices, errors and memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/gpu/rehearsal/cuda/state.hpp"

using namespace rehearsal;

namespace {

/// What keeps every call from working here.
cudaError_t trouble() {
  if (settings().driver < CUDART_VERSION / 1000 * 1000) {
    return cudaErrorInsufficientDriver;
  }
  return settings().gpus == 0 ? cudaErrorNoDevice : cudaSuccess;
}

template <typename Body>
cudaError_t device_call(const char* call, int gpu, const Body& body) {
  return runtime_call(call, [&] {
    if (const cudaError_t error = trouble(); error != cudaSuccess) {
      return error;
    }
    if (gpu < 0 || gpu >= settings().gpus) {
      return cudaErrorInvalidDevice;
    }
    body();
    return cudaSuccess;
  });
}

/// The first call that needs the device itself fails where another process has it.
cudaError_t need_device() {
  if (const cudaError_t error = trouble(); error != cudaSuccess) {
    return error;
  }
  return settings().taken ? cudaErrorDevicesUnavailable : cudaSuccess;
}

bool some_capture_forbids() {
  const std::lock_guard lock(state().mutex);
  return std::any_of(state().streams.begin(), state().streams.end(), [](const CUstream_st* stream) {
    return stream->capture != nullptr && stream->capture->mode != cudaStreamCaptureModeRelaxed;
  });
}

Work copying(const char* call, void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  return [=] {
    if ((kind == cudaMemcpyDeviceToHost || accessible(call, target, bytes)) &&
        (kind == cudaMemcpyHostToDevice || accessible(call, source, bytes))) {
      std::memcpy(target, source, bytes);
    }
  };
}

Work setting(const char* call, void* memory, int value, std::size_t bytes) {
  return [=] {
    if (accessible(call, memory, bytes)) {
      std::memset(memory, value, bytes);
    }
  };
}

}  // namespace

cudaError_t cudaDriverGetVersion(int* version) {
  return runtime_call(__func__, [&] {
    *version = settings().driver;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceCount(int* count) {
  return runtime_call(__func__, [&] {
    *count = 0;
    const cudaError_t error = trouble();
    *count = error == cudaSuccess ? settings().gpus : 0;
    return error;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return device_call(__func__, device, [&] {
    *properties = {};
    std::snprintf(properties->name, sizeof(properties->name), "rehearsal device");
    properties->totalGlobalMem = static_cast<std::size_t>(settings().memory);
    properties->major = 9;
    properties->multiProcessorCount = 2;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return device_call(__func__, device, [&] { *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : 0; });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return device_call(__func__, device, [&] {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", static_cast<unsigned>(device + 1));
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* access, int device, int peer) {
  return device_call(__func__, std::max(device, peer), [&] { *access = settings().peers ? 1 : 0; });
}

cudaError_t cudaSetDevice(int device) {
  return device_call(__func__, device, [&] { choose_gpu(device); });
}

cudaError_t cudaGetLastError() { return take_last_error(); }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureUnjoined:
      return "cudaErrorStreamCaptureUnjoined";
    case cudaErrorStreamCaptureIsolation:
      return "cudaErrorStreamCaptureIsolation";
    case cudaErrorCapturedEvent:
      return "cudaErrorCapturedEvent";
    default:
      return "cudaErrorOfTheRehearsalDevice";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorInitializationError:
      return "initialization error";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    default:
      return "an error of the rehearsal device";
  }
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return runtime_call(__func__, [&] {
    if (const cudaError_t error = need_device(); error != cudaSuccess) {
      return error;
    }
    if (some_capture_forbids()) {
      return cudaErrorStreamCaptureUnsupported;
    }
    constexpr std::size_t kAlignment = 256;
    const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::lock_guard lock(state().mutex);
    if (state().allocated + static_cast<std::int64_t>(whole) > settings().memory) {
      return cudaErrorMemoryAllocation;
    }
    *memory = std::aligned_alloc(kAlignment, whole);
    std::memset(*memory, 0xa5, whole);  // What was there before is anything.
    state().allocated += static_cast<std::int64_t>(whole);
    state().allocations[reinterpret_cast<std::uintptr_t>(*memory)] = whole;
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* memory) {
  return runtime_call(__func__, [&] {
    if (const cudaError_t error = need_device(); error != cudaSuccess || memory == nullptr) {
      return error;
    }
    wait_until_idle();
    const std::lock_guard lock(state().mutex);
    const auto found = state().allocations.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == state().allocations.end()) {
      complain("cudaFree", "this memory is not the device's, or was freed before");
      return cudaErrorInvalidValue;
    }
    std::memset(memory, 0x5a, found->second);
    state().allocated -= static_cast<std::int64_t>(found->second);
    state().allocations.erase(found);
    std::free(memory);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return runtime_call(__func__, [&] {
    const std::lock_guard lock(state().mutex);
    *total = static_cast<std::size_t>(settings().memory);
    *free = static_cast<std::size_t>(settings().memory - state().allocated);
    return cudaSuccess;
  });
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  // As on a device, it does not wait for what it asks for.
  return runtime_call(
      __func__, [&] { return put("cudaMemset", nullptr, setting("cudaMemset", memory, value, bytes)); });
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    return put("cudaMemsetAsync", stream, setting("cudaMemsetAsync", memory, value, bytes));
  });
}

cudaError_t cudaMemcpy(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  return runtime_call(__func__, [&] {
    Completion done;
    const Work copy = copying("cudaMemcpy", target, source, bytes, kind);
    const cudaError_t error = put("cudaMemcpy", nullptr, [&] {
      copy();
      done.complete();
    });
    if (error == cudaSuccess) {
      done.wait();
    }
    return error == cudaSuccess ? state().spoilt.load() : error;
  });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return runtime_call(__func__, [&] {
    return put("cudaMemcpyAsync", stream, copying("cudaMemcpyAsync", target, source, bytes, kind));
  });
}
