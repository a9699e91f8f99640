#include "real/backend/nccl/device/kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "real/backend/nccl/device/cuda.hpp"
#include "real/execute/collective_values.hpp"
#include "real/execute/half.hpp"
#include "tests/gpu/gpu_case.hpp"
#include "tests/gpu/with_element.hpp"

namespace ringside {
namespace {

constexpr std::array kDataTypes = {DataType::float32,  DataType::float64, DataType::float16,
                                   DataType::bfloat16, DataType::int32,   DataType::int64};
constexpr std::array kOps = {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg};
constexpr int kGpu = 0;

void check(cudaError_t status) { ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status); }

/// What a type is computed in here: wide enough that only the kernel rounds.
template <typename T>
using Reference = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

template <typename T>
double to_double(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return to_float(value);
  } else {
    return static_cast<double>(value);
  }
}

template <typename T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// The distance from 1 to the next number of T.
template <typename T>
double epsilon() {
  if constexpr (std::is_same_v<T, Float16>) {
    return 0x1p-10;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return 0x1p-7;
  } else {
    return std::numeric_limits<T>::epsilon();
  }
}

/// How far numbers next to zero are apart: there a T is less exact than its epsilon says.
template <typename T>
double near_zero() {
  if constexpr (std::is_same_v<T, Float16>) {
    return 0x1p-24;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return 0x1p-133;
  } else {
    return std::numeric_limits<T>::denorm_min();
  }
}

/// A vector on the GPU that starts `shift` elements behind an aligned place.
template <typename T>
class DeviceVector {
 public:
  DeviceVector(const std::vector<T>& values, std::size_t shift)
      : memory_(static_cast<std::int64_t>((values.size() + shift) * sizeof(T)), kGpu),
        size_(values.size()),
        shift_(shift) {
    check(cudaMemcpy(data(), values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  T* data() const { return reinterpret_cast<T*>(memory_.data()) + shift_; }
  std::vector<T> values() const {
    std::vector<T> result(size_);
    check(cudaMemcpy(result.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  DeviceMemory memory_;
  std::size_t size_;
  std::size_t shift_;
};

template <typename T>
std::vector<T> random_values(std::size_t count, std::mt19937_64& random) {
  std::vector<T> values(count);
  std::uniform_real_distribution<double> real(-3, 3);  // 3^9 is a float16, 4^9 is none.
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      values[i] = static_cast<T>(random());
    } else {
      values[i] =
          from_double<T>(i % 100 == 50 ? 1e-5 * real(random) : real(random));  // Also what is next to zero.
    }
  }
  return values;
}

template <typename T>
T combined(T a, T b, ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
    case ReduceOp::sum:
    case ReduceOp::avg:
      break;
  }
  return a + b;
}

/// Element i reduced over the target and all sources; for floating types also the size of what was rounded.
template <typename T>
void expect_reduced(const std::vector<std::vector<T>>& operands, T found, std::size_t i, ReduceOp op) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
    T due = operands.front()[i];
    for (std::size_t k = 1; k < operands.size(); ++k) {
      due = ordered ? combined<T>(due, operands[k][i], op)
                    : static_cast<T>(
                          combined<std::uint64_t>(static_cast<U>(due), static_cast<U>(operands[k][i]), op));
    }
    ASSERT_EQ(found, due) << "element " << i;
  } else {
    double due = to_double(operands.front()[i]);
    double size = std::abs(due);
    for (std::size_t k = 1; k < operands.size(); ++k) {
      due = combined(due, to_double(operands[k][i]), op);
      size = op == ReduceOp::prod ? std::abs(due) : size + std::abs(to_double(operands[k][i]));
    }
    const double allowed = static_cast<double>(operands.size()) * epsilon<T>() * size + near_zero<T>();
    ASSERT_NEAR(to_double(found), due, allowed) << "element " << i;
  }
}

template <typename T>
void check_reduction(DataType dtype, ReduceOp op, std::size_t count, const std::vector<std::size_t>& shifts,
                     std::mt19937_64& random) {
  std::vector<std::vector<T>> operands;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    operands.push_back(random_values<T>(count, random));
  }
  const DeviceVector<T> target(operands.front(), shifts.front());
  std::vector<DeviceVector<T>> sources;
  sources.reserve(operands.size());
  KernelReduction reduction = {.target = target.data(),
                               .num_sources = static_cast<int>(operands.size()) - 1,
                               .count = static_cast<std::int64_t>(count),
                               .dtype = dtype,
                               .op = op};
  for (std::size_t i = 1; i < operands.size(); ++i) {
    reduction.sources.at(i - 1) = sources.emplace_back(operands[i], shifts[i]).data();
  }
  check(launch_reduce(reduction, 132, nullptr));
  const std::vector<T> result = target.values();
  for (std::size_t i = 0; i < count; ++i) {
    expect_reduced(operands, result[i], i, op);
  }
}

class Kernels : public GpuCase {};

TEST_F(Kernels, MatchAFloat64ReferenceForAllTypesAndOps) {
  std::mt19937_64 random(1);
  for (const DataType dtype : kDataTypes) {
    for (const ReduceOp op : kOps) {
      SCOPED_TRACE(fmt::format("{} {}", name(op), name(dtype)));
      with_element(dtype, [&](auto type) {
        using T = decltype(type);
        // Aligned, alike but not aligned, and not alike; one source and as many as there may be.
        for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{100'003}}) {
          check_reduction<T>(dtype, op, count, {0, 0}, random);
          check_reduction<T>(dtype, op, count, {1, 1, 1}, random);
          check_reduction<T>(dtype, op, count, {1, 0, 3}, random);
          check_reduction<T>(dtype, op, count, std::vector<std::size_t>(kMaxReductionSources + 1, 2), random);
        }
      });
    }
  }
}

TEST_F(Kernels, DivideAsCppDoes) {
  std::mt19937_64 random(2);
  for (const DataType dtype : kDataTypes) {
    SCOPED_TRACE(name(dtype));
    with_element(dtype, [&](auto type) {
      using T = decltype(type);
      const std::vector<T> before = random_values<T>(10'001, random);
      const DeviceVector<T> vector(before, 1);
      check(launch_divide({.target = vector.data(), .count = 10'001, .dtype = dtype, .divisor = 3}, 132,
                          nullptr));
      const std::vector<T> after = vector.values();
      for (std::size_t i = 0; i < before.size(); ++i) {
        if constexpr (std::is_integral_v<T>) {
          ASSERT_EQ(after[i], before[i] / 3);
        } else {
          const double due = to_double(before[i]) / 3;
          ASSERT_NEAR(to_double(after[i]), due, epsilon<T>() * std::abs(due) + near_zero<T>());
        }
      }
    });
  }
}

TEST_F(Kernels, WritePatternsAndFindTheFirstWrongElement) {
  for (const DataType dtype : kDataTypes) {
    SCOPED_TRACE(name(dtype));
    const CollectiveCall call = {.num_ranks = 2, .dtype = dtype, .num_elements = 10'000};
    const CollectiveValues values(call, 3);
    const PatternRange input = values.input(1).front();
    const std::size_t size = size_of(dtype);
    DeviceMemory message(static_cast<std::int64_t>(10'000 * size), kGpu);
    DeviceMemory pattern(static_cast<std::int64_t>(input.pattern.size()), kGpu);
    DeviceMemory first(sizeof(unsigned long long), kGpu);
    check(cudaMemcpy(pattern.data(), input.pattern.data(), input.pattern.size(), cudaMemcpyHostToDevice));
    const KernelPattern range = {.message = message.data(),
                                 .elements = {.first = 100, .count = 9'000},
                                 .pattern = pattern.data(),
                                 .period = CollectiveValues::period(),
                                 .dtype = dtype};
    check(launch_write_pattern(range, 132, nullptr));
    std::vector<std::byte> found(10'000 * size);
    std::vector<std::byte> due(10'000 * size);
    check(cudaMemcpy(found.data(), message.data(), found.size(), cudaMemcpyDeviceToHost));
    values.write_input(1, due);
    EXPECT_EQ(std::memcmp(found.data() + 100 * size, due.data() + 100 * size, 9'000 * size), 0);
    EXPECT_EQ(found[99 * size], std::byte{0}) << "outside its range nothing is written";

    const auto first_wrong = [&] {
      auto* place = reinterpret_cast<unsigned long long*>(first.data());
      unsigned long long element = 0;
      check(cudaMemset(place, 0xff, sizeof(*place)));
      check(launch_find_wrong(range, 0, place, 132, nullptr));
      check(cudaMemcpy(&element, place, sizeof(element), cudaMemcpyDeviceToHost));
      return element;
    };
    EXPECT_EQ(first_wrong(), std::numeric_limits<unsigned long long>::max());
    for (const std::size_t wrong : {std::size_t{8'999}, std::size_t{4'000}}) {
      check(cudaMemset(message.data() + wrong * size, 0x5a, size));
      EXPECT_EQ(first_wrong(), wrong);
    }
  }
}

/// Seconds that a run takes on an idle GPU: the median of several.
template <typename Run>
double median_seconds(const Run& run) {
  const CudaEvent begin(CudaEvent::Use::time, kGpu);
  const CudaEvent end(CudaEvent::Use::time, kGpu);
  std::vector<double> seconds;
  for (int i = 0; i < 11; ++i) {
    check(cudaEventRecord(begin.get(), nullptr));
    run();
    check(cudaEventRecord(end.get(), nullptr));
    check(cudaEventSynchronize(end.get()));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    if (i >= 2) {  // The first ones are warm-up.
      seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
    }
  }
  return summarize(seconds).median;
}

TEST_F(Kernels, SumOfAGibibyteReaches85PercentOfACopysBandwidth) {
  constexpr std::int64_t kBytes = 1LL << 30;
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, kGpu));
  const DeviceMemory target(kBytes, kGpu);
  const DeviceMemory source(kBytes, kGpu);
  const double copy = median_seconds([&] {
    check(cudaMemcpyAsync(target.data(), source.data(), kBytes, cudaMemcpyDeviceToDevice, nullptr));
  });
  KernelReduction reduction = {.target = target.data(), .count = kBytes / 4};
  reduction.sources.front() = source.data();
  const double sum = median_seconds([&] { check(launch_reduce(reduction, multiprocessors, nullptr)); });
  // A copy reads one vector and writes one; a sum reads two and writes one.
  const double copy_bandwidth = 2.0 * kBytes / copy;
  const double sum_bandwidth = 3.0 * kBytes / sum;
  RecordProperty("copy_GBps", fmt::format("{:.0f}", copy_bandwidth / 1e9));
  RecordProperty("sum_GBps", fmt::format("{:.0f}", sum_bandwidth / 1e9));
  GTEST_LOG_(INFO) << fmt::format("copy {:.0f} GB/s, float32 sum {:.0f} GB/s, {:.1f} %", copy_bandwidth / 1e9,
                                  sum_bandwidth / 1e9, 100 * sum_bandwidth / copy_bandwidth);
  EXPECT_GE(sum_bandwidth, 0.85 * copy_bandwidth);
}

}  // namespace
}  // namespace ringside
