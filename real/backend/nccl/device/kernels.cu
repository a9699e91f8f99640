#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "real/backend/nccl/device/kernels.hpp"

namespace ringside {
namespace {

constexpr int kThreads = 256;
/// Blocks per multiprocessor: enough that loads of some are in flight while others compute; more work is walked over.
constexpr int kBlocksPerMultiprocessor = 8;
/// Vectors of each operand that one thread has in flight.
constexpr int kUnroll = 4;
constexpr int kVectorBytes = 16;

int num_blocks(std::int64_t num_items, int multiprocessors) {
  const std::int64_t needed = (num_items + kThreads - 1) / kThreads;
  const std::int64_t most = std::int64_t{multiprocessors} * kBlocksPerMultiprocessor;
  return static_cast<int>(std::clamp<std::int64_t>(needed, 1, std::max<std::int64_t>(most, 1)));
}

__device__ std::int64_t thread_index() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::int64_t num_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

// What each element type is computed in. Integers wrap around, which only unsigned arithmetic may do.

template <typename T>
__device__ auto widen(T value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __bfloat162float(value);
  } else {
    return value;
  }
}

template <typename T>
using Wide = decltype(widen(T{}));

template <typename T>
__device__ T narrow(Wide<T> value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(value);
  } else {
    return value;
  }
}

template <ReduceOp kOp, typename W>
__device__ W combine(W a, W b) {
  if constexpr (kOp == ReduceOp::min) {
    return b < a ? b : a;
  } else if constexpr (kOp == ReduceOp::max) {
    return a < b ? b : a;
  } else if constexpr (std::is_integral_v<W>) {
    using U = std::make_unsigned_t<W>;
    return static_cast<W>(kOp == ReduceOp::prod ? static_cast<U>(a) * static_cast<U>(b)
                                                : static_cast<U>(a) + static_cast<U>(b));
  } else {
    return kOp == ReduceOp::prod ? a * b : a + b;
  }
}

template <typename T>
struct alignas(kVectorBytes) Vector16 {
  static constexpr int kSize = kVectorBytes / sizeof(T);
  T elements[kSize];
};

struct Sources {
  const void* pointers[kMaxReductionSources];
  int count;
};

/// Elements before the first vector, vectors, and all elements. The rest behind the vectors is done one by one, too.
struct Extent {
  std::int64_t head;
  std::int64_t vectors;
  std::int64_t count;
};

template <typename T, ReduceOp kOp>
__device__ void reduce_vectors(T* target, const Sources& sources, const Extent& extent) {
  using Vector = Vector16<T>;
  auto* const out = reinterpret_cast<Vector*>(target + extent.head);
  const std::int64_t stride = num_threads();
  for (std::int64_t first = thread_index(); first < extent.vectors; first += stride * kUnroll) {
    Vector loaded[kUnroll];
    Wide<T> sums[kUnroll][Vector::kSize];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * stride < extent.vectors) {
        loaded[u] = out[first + u * stride];
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int i = 0; i < Vector::kSize; ++i) {
        sums[u][i] = widen(loaded[u].elements[i]);
      }
    }
    for (int s = 0; s < sources.count; ++s) {
      const auto* in =
          reinterpret_cast<const Vector*>(static_cast<const T*>(sources.pointers[s]) + extent.head);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (first + u * stride < extent.vectors) {
          loaded[u] = in[first + u * stride];
        }
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
        for (int i = 0; i < Vector::kSize; ++i) {
          sums[u][i] = combine<kOp>(sums[u][i], widen(loaded[u].elements[i]));
        }
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * stride < extent.vectors) {
#pragma unroll
        for (int i = 0; i < Vector::kSize; ++i) {
          loaded[u].elements[i] = narrow<T>(sums[u][i]);
        }
        out[first + u * stride] = loaded[u];
      }
    }
  }
}

template <typename T, ReduceOp kOp>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(T* target, const __grid_constant__ Sources sources, const __grid_constant__ Extent extent) {
  reduce_vectors<T, kOp>(target, sources, extent);
  const std::int64_t behind = extent.vectors * Vector16<T>::kSize;
  const std::int64_t singles = extent.count - behind;
  for (std::int64_t i = thread_index(); i < singles; i += num_threads()) {
    const std::int64_t element = i < extent.head ? i : i + behind;
    Wide<T> sum = widen(target[element]);
    for (int s = 0; s < sources.count; ++s) {
      sum = combine<kOp>(sum, widen(static_cast<const T*>(sources.pointers[s])[element]));
    }
    target[element] = narrow<T>(sum);
  }
}

/// Vectors are used where all operands lie alike within a vector; otherwise every element goes alone.
template <typename T>
Extent extent_of(const KernelReduction& reduction) {
  const auto offset = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % kVectorBytes;
  };
  const std::uintptr_t target = offset(reduction.target);
  const auto* end = reduction.sources.begin() + reduction.num_sources;
  if (!std::all_of(reduction.sources.begin(), end,
                   [&](const void* source) { return offset(source) == target; })) {
    return {.head = reduction.count, .vectors = 0, .count = reduction.count};
  }
  const auto before_vector = static_cast<std::int64_t>((kVectorBytes - target) % kVectorBytes / sizeof(T));
  const std::int64_t head = std::min(before_vector, reduction.count);
  return {.head = head, .vectors = (reduction.count - head) / Vector16<T>::kSize, .count = reduction.count};
}

template <typename T, ReduceOp kOp>
void reduce_as(const KernelReduction& reduction, int multiprocessors, cudaStream_t stream) {
  Sources sources = {};
  std::copy(reduction.sources.begin(), reduction.sources.end(), sources.pointers);
  sources.count = reduction.num_sources;
  const Extent extent = extent_of<T>(reduction);
  const std::int64_t singles = extent.count - extent.vectors * Vector16<T>::kSize;
  const std::int64_t items = std::max((extent.vectors + kUnroll - 1) / kUnroll, singles);
  reduce_kernel<T, kOp><<<num_blocks(items, multiprocessors), kThreads, 0, stream>>>(
      static_cast<T*>(reduction.target), sources, extent);
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    divide_kernel(T* target, std::int64_t count, std::int64_t divisor) {
  const auto d = static_cast<Wide<T>>(divisor);
  for (std::int64_t i = thread_index(); i < count; i += num_threads()) {
    target[i] = narrow<T>(widen(target[i]) / d);
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    write_pattern_kernel(T* message, ElementRange elements, const T* pattern, std::int64_t period) {
  for (std::int64_t i = thread_index(); i < elements.count; i += num_threads()) {
    const std::int64_t element = elements.first + i;
    message[element] = pattern[element % period];
  }
}

template <typename T>
__device__ bool agree(T found, T due, double tolerance) {
  const Wide<T> a = widen(found);
  const Wide<T> b = widen(due);
  if constexpr (std::is_integral_v<Wide<T>>) {
    return a == b;
  } else {
    const double difference = fabs(static_cast<double>(a) - static_cast<double>(b));
    return a == b || difference <= tolerance * fabs(static_cast<double>(b));
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    find_wrong_kernel(const T* message, ElementRange elements, const T* pattern, std::int64_t period,
                      double tolerance, unsigned long long* first_wrong) {
  for (std::int64_t i = thread_index(); i < elements.count; i += num_threads()) {
    const std::int64_t element = elements.first + i;
    if (!agree(message[element], pattern[element % period], tolerance)) {
      atomicMin(first_wrong, static_cast<unsigned long long>(element));
      return;  // This thread's later elements come behind it.
    }
  }
}

/// Calls `function` with a value of the device's type of `dtype`.
template <typename Function>
void with_type(DataType dtype, const Function& function) {
  switch (dtype) {
    case DataType::float32:
      return function(float{});
    case DataType::float64:
      return function(double{});
    case DataType::float16:
      return function(__half{});
    case DataType::bfloat16:
      return function(__nv_bfloat16{});
    case DataType::int32:
      return function(std::int32_t{});
    case DataType::int64:
      return function(std::int64_t{});
  }
}

}  // namespace

cudaError_t launch_reduce(const KernelReduction& reduction, int multiprocessors, cudaStream_t stream) {
  with_type(reduction.dtype, [&](auto type) {
    using T = decltype(type);
    switch (reduction.op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
        return reduce_as<T, ReduceOp::sum>(reduction, multiprocessors, stream);
      case ReduceOp::prod:
        return reduce_as<T, ReduceOp::prod>(reduction, multiprocessors, stream);
      case ReduceOp::min:
        return reduce_as<T, ReduceOp::min>(reduction, multiprocessors, stream);
      case ReduceOp::max:
        return reduce_as<T, ReduceOp::max>(reduction, multiprocessors, stream);
    }
  });
  return cudaGetLastError();
}

cudaError_t launch_divide(const KernelDivision& division, int multiprocessors, cudaStream_t stream) {
  with_type(division.dtype, [&](auto type) {
    using T = decltype(type);
    divide_kernel<T><<<num_blocks(division.count, multiprocessors), kThreads, 0, stream>>>(
        static_cast<T*>(division.target), division.count, division.divisor);
  });
  return cudaGetLastError();
}

cudaError_t launch_write_pattern(const KernelPattern& pattern, int multiprocessors, cudaStream_t stream) {
  with_type(pattern.dtype, [&](auto type) {
    using T = decltype(type);
    write_pattern_kernel<T><<<num_blocks(pattern.elements.count, multiprocessors), kThreads, 0, stream>>>(
        static_cast<T*>(pattern.message), pattern.elements, static_cast<const T*>(pattern.pattern),
        pattern.period);
  });
  return cudaGetLastError();
}

cudaError_t launch_find_wrong(const KernelPattern& pattern, double tolerance, unsigned long long* first_wrong,
                              int multiprocessors, cudaStream_t stream) {
  with_type(pattern.dtype, [&](auto type) {
    using T = decltype(type);
    find_wrong_kernel<T><<<num_blocks(pattern.elements.count, multiprocessors), kThreads, 0, stream>>>(
        static_cast<const T*>(pattern.message), pattern.elements, static_cast<const T*>(pattern.pattern),
        pattern.period, tolerance, first_wrong);
  });
  return cudaGetLastError();
}

}  // namespace ringside
