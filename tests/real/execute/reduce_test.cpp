#include "real/execute/reduce.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;

template <typename T>
struct TypeTag;
template <>
struct TypeTag<float> {
  static constexpr DataType value = DataType::float32;
};
template <>
struct TypeTag<double> {
  static constexpr DataType value = DataType::float64;
};
template <>
struct TypeTag<std::int32_t> {
  static constexpr DataType value = DataType::int32;
};
template <>
struct TypeTag<std::int64_t> {
  static constexpr DataType value = DataType::int64;
};

template <typename T>
class Reduce : public ::testing::Test {
 protected:
  static std::vector<T> reduced(ReduceOp op, std::vector<T> target, const std::vector<T>& source) {
    reduce_into(target.data(), source.data(), static_cast<std::int64_t>(target.size()), TypeTag<T>::value,
                op);
    return target;
  }
};

using Types = ::testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Reduce, Types);

TYPED_TEST(Reduce, DoesWhatTheOperationSays) {
  const std::vector<TypeParam> a = {6, -3, 0};
  const std::vector<TypeParam> b = {2, 5, -7};
  EXPECT_THAT(this->reduced(ReduceOp::sum, a, b), ElementsAre(8, 2, -7));
  EXPECT_THAT(this->reduced(ReduceOp::avg, a, b), ElementsAre(8, 2, -7)) << "the division comes at the end";
  EXPECT_THAT(this->reduced(ReduceOp::prod, a, b), ElementsAre(12, -15, 0));
  EXPECT_THAT(this->reduced(ReduceOp::min, a, b), ElementsAre(2, -3, -7));
  EXPECT_THAT(this->reduced(ReduceOp::max, a, b), ElementsAre(6, 5, 0));
}

/// Whole vector registers, their remainders, and unaligned starts.
TYPED_TEST(Reduce, ReachesEveryElementAndNoOther) {
  for (std::size_t count = 0; count < 70; ++count) {
    for (std::size_t first = 0; first < 3; ++first) {
      std::vector<TypeParam> target(80, 1);
      const std::vector<TypeParam> source(80, 2);
      reduce_into(target.data() + first, source.data() + first, static_cast<std::int64_t>(count),
                  TypeTag<TypeParam>::value, ReduceOp::sum);
      for (std::size_t i = 0; i < target.size(); ++i) {
        const bool inside = i >= first && i < first + count;
        ASSERT_EQ(target[i], static_cast<TypeParam>(inside ? 3 : 1))
            << count << " elements from " << first << ", at " << i;
      }
    }
  }
}

TEST(ReduceInto, IntegersWrapAround) {
  std::int32_t small = std::numeric_limits<std::int32_t>::max();
  const std::int32_t one = 1;
  reduce_into(&small, &one, 1, DataType::int32, ReduceOp::sum);
  EXPECT_EQ(small, std::numeric_limits<std::int32_t>::min());
  std::int64_t large = std::numeric_limits<std::int64_t>::max();
  const std::int64_t two = 2;
  reduce_into(&large, &two, 1, DataType::int64, ReduceOp::prod);
  EXPECT_EQ(large, -2);
}

TYPED_TEST(Reduce, DivisionLosesTheFractionOfIntegersOnly) {
  const bool whole = std::is_integral_v<TypeParam>;
  std::vector<TypeParam> values = {7, -7, 7};
  divide(values.data(), 2, TypeTag<TypeParam>::value, 2);
  EXPECT_THAT(values, ElementsAre(static_cast<TypeParam>(whole ? 3 : 3.5),
                                  static_cast<TypeParam>(whole ? -3 : -3.5), 7));
}

TEST(ReduceInto, SaysWhichTypesACpuDoesNotReduce) {
  for (const DataType dtype : {DataType::float16, DataType::bfloat16}) {
    EXPECT_EQ(unsupported_on_cpu(dtype),
              fmt::format("CPU ranks do not reduce {}: there is no arithmetic for it in standard C++20",
                          name(dtype)));
    EXPECT_THROW(reduce_into(nullptr, nullptr, 0, dtype, ReduceOp::sum), Bug);
    EXPECT_THROW(divide(nullptr, 0, dtype, 2), Bug);
  }
  for (const DataType dtype : {DataType::float32, DataType::float64, DataType::int32, DataType::int64}) {
    EXPECT_EQ(unsupported_on_cpu(dtype), std::nullopt);
  }
}

TEST(CopyInCache, CopiesEveryByteAndNoOther) {
  std::vector<std::byte> source(300);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::byte>(1 + i % 251);
  }
  for (std::size_t size = 0; size < 260; ++size) {
    const std::size_t first = size % 5;
    std::vector<std::byte> target(300);
    copy_in_cache(target.data() + first, source.data() + size % 3, static_cast<std::int64_t>(size));
    for (std::size_t i = 0; i < target.size(); ++i) {
      const bool inside = i >= first && i < first + size;
      ASSERT_EQ(target[i], inside ? source[i - first + size % 3] : std::byte{0})
          << size << " bytes, at " << i;
    }
  }
}

}  // namespace
}  // namespace ringside
