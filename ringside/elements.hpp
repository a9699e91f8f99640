#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "common/names.hpp"

/// What messages are made of: borrowed, contiguous elements of one of four types.
namespace ringside {

/// Types that a Communicator moves and reduces.
template <typename T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t>;

/// A std::vector, std::array or std::span of such elements, but no temporary that owns them.
template <typename R>
concept Borrowed = std::ranges::contiguous_range<R> && std::ranges::borrowed_range<R> &&
    Element<std::remove_cv_t<std::ranges::range_value_t<R>>>;

template <Element T>
inline constexpr DataType kDataType = std::same_as<T, float>          ? DataType::float32
                                      : std::same_as<T, double>       ? DataType::float64
                                      : std::same_as<T, std::int32_t> ? DataType::int32
                                                                      : DataType::int64;

/// Elements that a call reads. Made implicitly from any vector, array or span of them; copies nothing.
class ConstElements {
 public:
  ConstElements() = default;
  template <Borrowed R>
  ConstElements(R&& elements)  // Implicit: a message is passed as it is.
      : bytes_(std::as_bytes(std::span(elements))),
        count_(static_cast<std::int64_t>(std::ranges::size(elements))),
        dtype_(kDataType<std::remove_cv_t<std::ranges::range_value_t<R>>>) {}
  ConstElements(std::span<const std::byte> bytes, std::int64_t count, DataType dtype, bool is_on_gpu = false)
      : bytes_(bytes), count_(count), dtype_(dtype), is_on_gpu_(is_on_gpu) {}
  /// In the memory of this rank's GPU; see Communicator.
  template <Element T>
  static ConstElements on_gpu(const T* data, std::int64_t count) {
    return {std::as_bytes(std::span(data, static_cast<std::size_t>(count))), count, kDataType<T>, true};
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  std::int64_t count() const { return count_; }
  DataType dtype() const { return dtype_; }
  bool is_on_gpu() const { return is_on_gpu_; }

 private:
  std::span<const std::byte> bytes_;
  std::int64_t count_ = 0;
  DataType dtype_ = DataType::float32;
  bool is_on_gpu_ = false;
};

/// Elements that a call writes.
class Elements {
 public:
  Elements() = default;
  template <Borrowed R>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
      Elements(R&& elements)  // Implicit: a message is passed as it is.
      : bytes_(std::as_writable_bytes(std::span(elements))),
        count_(static_cast<std::int64_t>(std::ranges::size(elements))),
        dtype_(kDataType<std::ranges::range_value_t<R>>) {}

  /// In the memory of this rank's GPU; see Communicator.
  template <Element T>
  static Elements on_gpu(T* data, std::int64_t count) {
    Elements elements{std::span(data, static_cast<std::size_t>(count))};
    elements.is_on_gpu_ = true;
    return elements;
  }

  std::span<std::byte> bytes() const { return bytes_; }
  std::int64_t count() const { return count_; }
  DataType dtype() const { return dtype_; }
  bool is_on_gpu() const { return is_on_gpu_; }
  operator ConstElements() const { return {bytes_, count_, dtype_, is_on_gpu_}; }

 private:
  std::span<std::byte> bytes_;
  std::int64_t count_ = 0;
  DataType dtype_ = DataType::float32;
  bool is_on_gpu_ = false;
};

}  // namespace ringside
