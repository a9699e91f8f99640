#include <algorithm>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define RINGSIDE_ON_DEVICE __device__
#include "real/backend/nccl/device/kernel_bodies.hpp"
#include "real/backend/nccl/device/kernels.hpp"

namespace ringside {

template <>
struct Widened<__half> {
  using Type = float;
  __device__ static float widen(__half value) { return __half2float(value); }
  __device__ static __half narrow(float value) { return __float2half_rn(value); }
};

template <>
struct Widened<__nv_bfloat16> {
  using Type = float;
  __device__ static float widen(__nv_bfloat16 value) { return __bfloat162float(value); }
  __device__ static __nv_bfloat16 narrow(float value) { return __float2bfloat16_rn(value); }
};

namespace {

/// Blocks per multiprocessor: some load while others compute; more work is walked over.
constexpr int kBlocksPerMultiprocessor = 8;

int num_blocks(std::int64_t num_items, int multiprocessors) {
  const std::int64_t needed = (num_items + kThreads - 1) / kThreads;
  const std::int64_t most = std::int64_t{multiprocessors} * kBlocksPerMultiprocessor;
  return static_cast<int>(std::clamp<std::int64_t>(needed, 1, std::max<std::int64_t>(most, 1)));
}

__device__ Walk this_thread() {
  return {.first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x,
          .stride = std::int64_t{gridDim.x} * blockDim.x};
}

template <typename T, ReduceOp kOp>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(T* target, const __grid_constant__ Sources sources, const __grid_constant__ Extent extent) {
  reduce_body<T, kOp>(target, sources, extent, this_thread());
}

template <typename T, ReduceOp kOp>
void reduce_as(const KernelReduction& reduction, int multiprocessors, cudaStream_t stream) {
  const Extent extent = extent_of<T>(reduction);
  const std::int64_t singles = extent.count - extent.vectors * Vector16<T>::kSize;
  const std::int64_t items = std::max((extent.vectors + kUnroll - 1) / kUnroll, singles);
  reduce_kernel<T, kOp><<<num_blocks(items, multiprocessors), kThreads, 0, stream>>>(
      static_cast<T*>(reduction.target), sources_of(reduction), extent);
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    divide_kernel(T* target, std::int64_t count, std::int64_t divisor) {
  divide_body(target, count, divisor, this_thread());
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    write_pattern_kernel(T* message, ElementRange elements, const T* pattern, std::int64_t period) {
  write_pattern_body(message, elements, pattern, period, this_thread());
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    find_wrong_kernel(const T* message, ElementRange elements, const T* pattern, std::int64_t period,
                      double tolerance, unsigned long long* first_wrong) {
  const std::int64_t wrong = find_wrong_body(message, elements, pattern, period, tolerance, this_thread());
  if (wrong >= 0) {
    atomicMin(first_wrong, static_cast<unsigned long long>(wrong));
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
