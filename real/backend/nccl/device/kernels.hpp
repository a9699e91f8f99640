#pragma once

#include <array>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "common/names.hpp"
#include "schedule/chunk_layout.hpp"

/// Everything that GPU ranks compute, as kernels put on a stream. All pointers are to memory of the current
/// device, aligned to the element. What goes wrong while a kernel runs shows when the stream is waited for.
namespace ringside {

/// As many arrivals are reduced in one pass over the target.
inline constexpr int kMaxReductionSources = 8;

struct KernelReduction {
  void* target = nullptr;
  std::array<const void*, kMaxReductionSources> sources = {};
  int num_sources = 1;
  std::int64_t count = 0;  ///< Elements.
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;
};

/// target[i] = target[i] op sources[0][i] op sources[1][i] …, in this order. 16-bit types are accumulated in
/// float32 and rounded once; op avg adds; integers wrap around. The grid is sized to `multiprocessors`.
cudaError_t launch_reduce(const KernelReduction& reduction, int multiprocessors, cudaStream_t stream);

/// target[i] = target[i] / divisor; integers truncate; 16-bit types are divided in float32.
struct KernelDivision {
  void* target = nullptr;
  std::int64_t count = 0;
  DataType dtype = DataType::float32;
  std::int64_t divisor = 1;
};
cudaError_t launch_divide(const KernelDivision& division, int multiprocessors, cudaStream_t stream);

/// A range of a message and its expected pattern: element i is pattern[i mod period].
struct KernelPattern {
  void* message = nullptr;
  ElementRange elements = {};
  const void* pattern = nullptr;
  std::int64_t period = 1;
  DataType dtype = DataType::float32;
};
cudaError_t launch_write_pattern(const KernelPattern& pattern, int multiprocessors, cudaStream_t stream);

/// Lowers *first_wrong (on the device) to the first element that differs from its pattern by more than
/// `tolerance`, relative; 0 = the values must be equal.
cudaError_t launch_find_wrong(const KernelPattern& pattern, double tolerance, unsigned long long* first_wrong,
                              int multiprocessors, cudaStream_t stream);

}  // namespace ringside
