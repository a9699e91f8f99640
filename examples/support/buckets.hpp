#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/units.hpp"

namespace examples {

/// Neighbouring tensors whose gradients travel in one message.
struct Bucket {
  std::vector<std::size_t>
      tensors;  ///< In the order in which their gradients come: the last of the model first.
  ringside::Bytes bytes;
};

struct BucketLimits {
  ringside::Bytes first{1 << 20};
  ringside::Bytes others{25 << 20};
};

/// Buckets as PyTorch's DistributedDataParallel makes them once it has seen a backward pass: tensors in reverse order are
/// added to a bucket, which is closed when it has reached its limit, so that it overshoots by up to one tensor and no
/// tensor is split. Source: torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size; limits of
/// reducer.hpp, kDefaultFirstBucketBytes and kDefaultBucketBytesCap.
std::vector<Bucket> make_buckets(std::span<const ringside::Bytes> tensors, const BucketLimits& limits);

}  // namespace examples
