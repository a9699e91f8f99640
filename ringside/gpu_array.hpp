#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringside/communicator.hpp"

namespace ringside {

/// `count` elements in the memory of a rank's GPU, zero at first, for programs that allocate nothing there
/// themselves. Owns the memory and releases it at its end; the communicator must live until then.
template <Element T>
class GpuArray {
 public:
  /// Throws Error{environment} with too little GPU memory, and Error{bad_input} without GPUs.
  GpuArray(Communicator& communicator, std::int64_t count)
      : communicator_(communicator),
        memory_(communicator.allocate_on_gpu({count * static_cast<std::int64_t>(sizeof(T))})),
        count_(count) {}
  GpuArray(Communicator& communicator, const std::vector<T>& values)
      : GpuArray(communicator, static_cast<std::int64_t>(values.size())) {
    write(values);
  }

  /// As cudaMalloc() would have returned it.
  T* data() const { return reinterpret_cast<T*>(memory_.get()); }
  std::int64_t count() const { return count_; }
  operator Elements() const { return Elements::on_gpu(data(), count_); }
  operator ConstElements() const { return ConstElements::on_gpu<T>(data(), count_); }

  /// From the host's memory, and back; they return when it is done.
  void write(std::span<const T> values) { communicator_.copy(values, *this); }
  std::vector<T> read() const {
    std::vector<T> values(static_cast<std::size_t>(count_));
    communicator_.copy(*this, values);
    return values;
  }

 private:
  Communicator& communicator_;
  std::shared_ptr<std::byte> memory_;
  std::int64_t count_;
};

}  // namespace ringside
