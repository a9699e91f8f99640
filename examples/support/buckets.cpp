#include "examples/support/buckets.hpp"

namespace examples {

using ringside::Bytes;

std::vector<Bucket> make_buckets(std::span<const Bytes> tensors, const BucketLimits& limits) {
  std::vector<Bucket> buckets;
  bool open = false;
  for (std::size_t tensor = tensors.size(); tensor-- > 0;) {
    if (!open) {
      buckets.emplace_back();
    }
    Bucket& bucket = buckets.back();
    bucket.tensors.push_back(tensor);
    bucket.bytes.value += tensors[tensor].value;
    open = bucket.bytes < (buckets.size() == 1 ? limits.first : limits.others);
  }
  return buckets;
}

}  // namespace examples
