#include "real/execute/reduce.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/parallel.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kLine = 64;

/// Sums and products of integers wrap around, which only unsigned arithmetic may do.
template <typename T, bool = std::is_integral_v<T>>
struct Wrapping {
  using type = T;
};
template <typename T>
struct Wrapping<T, true> {
  using type = std::make_unsigned_t<T>;
};

template <typename T>
[[gnu::always_inline]] inline void reduce_elements(void* target, const void* source, std::int64_t count,
                                                   ReduceOp op) {
  using W = typename Wrapping<T>::type;
  T* __restrict a = static_cast<T*>(target);
  const T* __restrict b = static_cast<const T*>(source);
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      for (std::int64_t i = 0; i < count; ++i) {
        a[i] = static_cast<T>(static_cast<W>(a[i]) + static_cast<W>(b[i]));
      }
      return;
    case ReduceOp::prod:
      for (std::int64_t i = 0; i < count; ++i) {
        a[i] = static_cast<T>(static_cast<W>(a[i]) * static_cast<W>(b[i]));
      }
      return;
    case ReduceOp::min:
      for (std::int64_t i = 0; i < count; ++i) {
        a[i] = b[i] < a[i] ? b[i] : a[i];
      }
      return;
    case ReduceOp::max:
      for (std::int64_t i = 0; i < count; ++i) {
        a[i] = a[i] < b[i] ? b[i] : a[i];
      }
      return;
  }
}

template <typename T>
[[gnu::always_inline]] inline void divide_elements(void* target, std::int64_t count, std::int64_t divisor) {
  T* a = static_cast<T*>(target);
  const T d = static_cast<T>(divisor);
  for (std::int64_t i = 0; i < count; ++i) {
    a[i] = a[i] / d;
  }
}

RINGSIDE_EACH_INSTRUCTION_SET
void reduce_any(void* target, const void* source, std::int64_t count, DataType dtype, ReduceOp op) {
  switch (dtype) {
    case DataType::float32:
      return reduce_elements<float>(target, source, count, op);
    case DataType::float64:
      return reduce_elements<double>(target, source, count, op);
    case DataType::int32:
      return reduce_elements<std::int32_t>(target, source, count, op);
    case DataType::int64:
      return reduce_elements<std::int64_t>(target, source, count, op);
    case DataType::float16:
    case DataType::bfloat16:
      return;
  }
}

RINGSIDE_EACH_INSTRUCTION_SET
void divide_any(void* target, std::int64_t count, DataType dtype, std::int64_t divisor) {
  switch (dtype) {
    case DataType::float32:
      return divide_elements<float>(target, count, divisor);
    case DataType::float64:
      return divide_elements<double>(target, count, divisor);
    case DataType::int32:
      return divide_elements<std::int32_t>(target, count, divisor);
    case DataType::int64:
      return divide_elements<std::int64_t>(target, count, divisor);
    case DataType::float16:
    case DataType::bfloat16:
      return;
  }
}

using Piece [[gnu::vector_size(16)]] = long long;
constexpr std::int64_t kPiece = 16;

/// Held in a register: otherwise the compiler makes one call of the C library's copy of the loop.
Piece loaded(const std::byte* source) {
  Piece piece;
  std::memcpy(&piece, source, kPiece);
#if defined(__x86_64__)
  asm volatile("" : "+x"(piece));
#endif
  return piece;
}

void copy_lines(std::byte* target, const std::byte* source, std::int64_t lines) {
  for (std::int64_t place = 0; place < lines * kLine; place += kPiece) {
    const Piece piece = loaded(source + place);
    std::memcpy(target + place, &piece, kPiece);
  }
}

}  // namespace

std::optional<std::string> unsupported_on_cpu(DataType dtype) {
  if (dtype == DataType::float16 || dtype == DataType::bfloat16) {
    return fmt::format("CPU ranks do not reduce {}: there is no arithmetic for it in standard C++20",
                       name(dtype));
  }
  return std::nullopt;
}

void reduce_into(void* target, const void* source, std::int64_t count, DataType dtype, ReduceOp op) {
  RINGSIDE_CHECK(!unsupported_on_cpu(dtype), "this data type cannot be reduced on a CPU");
  reduce_any(target, source, count, dtype, op);
}

void copy_in_cache(void* target, const void* source, std::int64_t bytes) {
  const std::int64_t whole = bytes / kLine * kLine;
  copy_lines(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), bytes / kLine);
  std::memcpy(static_cast<std::byte*>(target) + whole, static_cast<const std::byte*>(source) + whole,
              static_cast<std::size_t>(bytes - whole));
}

void divide(void* target, std::int64_t count, DataType dtype, std::int64_t divisor) {
  RINGSIDE_CHECK(!unsupported_on_cpu(dtype), "this data type cannot be divided on a CPU");
  divide_any(target, count, dtype, divisor);
}

}  // namespace ringside
