#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "real/backend/nccl/device/kernels.hpp"

/// What one thread of each kernel does, as functions that compile for a GPU (kernels.cu) and for a host, so
/// that the same arithmetic is tested without a GPU. Whoever includes this says beforehand, with
/// RINGSIDE_ON_DEVICE, which functions a GPU can call, and specialises Widened for its 16-bit types.
namespace ringside {

inline constexpr int kThreads = 256;
/// Vectors of each operand that one thread has in flight.
inline constexpr int kUnroll = 4;
inline constexpr std::size_t kVectorBytes = 16;

/// Which thread of how many this is.
struct Walk {
  std::int64_t first;
  std::int64_t stride;
};

/// What an element type is computed in. Integers wrap around, which only unsigned arithmetic may do.
template <typename T>
struct Widened {
  using Type = T;
  RINGSIDE_ON_DEVICE static T widen(T value) { return value; }
  RINGSIDE_ON_DEVICE static T narrow(T value) { return value; }
};

template <typename T>
using Wide = typename Widened<T>::Type;

template <typename T>
RINGSIDE_ON_DEVICE Wide<T> widen(T value) {
  return Widened<T>::widen(value);
}

template <typename T>
RINGSIDE_ON_DEVICE T narrow(Wide<T> value) {
  return Widened<T>::narrow(value);
}

template <ReduceOp kOp, typename W>
RINGSIDE_ON_DEVICE W combine(W a, W b) {
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
  static constexpr int kSize = static_cast<int>(kVectorBytes / sizeof(T));
  T elements[kVectorBytes / sizeof(T)];
};

struct Sources {
  const void* pointers[kMaxReductionSources];
  int count;
};

/// Elements before the first vector, vectors, and all elements. The rest is done one by one, too.
struct Extent {
  std::int64_t head;
  std::int64_t vectors;
  std::int64_t count;
};

template <typename T, ReduceOp kOp>
RINGSIDE_ON_DEVICE void reduce_vectors(T* target, const Sources& sources, const Extent& extent,
                                       const Walk& walk) {
  using Vector = Vector16<T>;
  auto* const out = reinterpret_cast<Vector*>(target + extent.head);
  const std::int64_t stride = walk.stride;
  for (std::int64_t first = walk.first; first < extent.vectors; first += stride * kUnroll) {
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
RINGSIDE_ON_DEVICE void reduce_body(T* target, const Sources& sources, const Extent& extent,
                                    const Walk& walk) {
  reduce_vectors<T, kOp>(target, sources, extent, walk);
  const std::int64_t behind = extent.vectors * Vector16<T>::kSize;
  const std::int64_t singles = extent.count - behind;
  for (std::int64_t i = walk.first; i < singles; i += walk.stride) {
    const std::int64_t element = i < extent.head ? i : i + behind;
    Wide<T> sum = widen(target[element]);
    for (int s = 0; s < sources.count; ++s) {
      sum = combine<kOp>(sum, widen(static_cast<const T*>(sources.pointers[s])[element]));
    }
    target[element] = narrow<T>(sum);
  }
}

template <typename T>
RINGSIDE_ON_DEVICE void divide_body(T* target, std::int64_t count, std::int64_t divisor, const Walk& walk) {
  const auto d = static_cast<Wide<T>>(divisor);
  for (std::int64_t i = walk.first; i < count; i += walk.stride) {
    target[i] = narrow<T>(widen(target[i]) / d);
  }
}

template <typename T>
RINGSIDE_ON_DEVICE void write_pattern_body(T* message, const ElementRange& elements, const T* pattern,
                                           std::int64_t period, const Walk& walk) {
  for (std::int64_t i = walk.first; i < elements.count; i += walk.stride) {
    const std::int64_t element = elements.first + i;
    message[element] = pattern[element % period];
  }
}

template <typename T>
RINGSIDE_ON_DEVICE bool agree(T found, T due, double tolerance) {
  const Wide<T> a = widen(found);
  const Wide<T> b = widen(due);
  if constexpr (std::is_integral_v<Wide<T>>) {
    return a == b;
  } else {
    const double apart = static_cast<double>(a) - static_cast<double>(b);
    const auto size = static_cast<double>(b);
    return a == b || (apart < 0 ? -apart : apart) <= tolerance * (size < 0 ? -size : size);
  }
}

/// The first element of this thread that is wrong; negative where there is none.
template <typename T>
RINGSIDE_ON_DEVICE std::int64_t find_wrong_body(const T* message, const ElementRange& elements,
                                                const T* pattern, std::int64_t period, double tolerance,
                                                const Walk& walk) {
  for (std::int64_t i = walk.first; i < elements.count; i += walk.stride) {
    const std::int64_t element = elements.first + i;
    if (!agree(message[element], pattern[element % period], tolerance)) {
      return element;
    }
  }
  return -1;
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

inline Sources sources_of(const KernelReduction& reduction) {
  Sources sources = {};
  std::ranges::copy(reduction.sources, sources.pointers);
  sources.count = reduction.num_sources;
  return sources;
}

}  // namespace ringside
