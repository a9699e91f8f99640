#include "examples/support/buckets.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace examples {
namespace {

using ringside::Bytes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::int64_t> sizes(const std::vector<Bucket>& buckets) {
  std::vector<std::int64_t> result;
  for (const Bucket& bucket : buckets) {
    result.push_back(bucket.bytes.value);
  }
  return result;
}

TEST(Buckets, AreClosedWhenTheyHaveReachedTheirLimitAndMayOvershootIt) {
  const std::vector<Bytes> tensors = {{100}, {10}, {10}, {10}, {70}, {5}};
  const std::vector<Bucket> buckets = make_buckets(tensors, {.first = {50}, .others = {30}});
  EXPECT_THAT(sizes(buckets), ElementsAre(75, 30, 100));
  EXPECT_THAT(buckets[0].tensors, ElementsAre(5, 4));
  EXPECT_THAT(buckets[1].tensors, ElementsAre(3, 2, 1));
  EXPECT_THAT(buckets[2].tensors, ElementsAre(0));
}

TEST(Buckets, WhatIsLeftAtTheEndIsASmallerBucket) {
  EXPECT_THAT(sizes(make_buckets(std::vector<Bytes>{{1}, {2}, {3}}, {.first = {3}, .others = {10}})),
              ElementsAre(3, 3));
  EXPECT_THAT(make_buckets({}, {}), IsEmpty());
}

/// Parameters of ResNet-34 with 10 classes in the order of torchvision's Model.parameters(), float32.
std::vector<Bytes> resnet34() {
  std::vector<Bytes> tensors;
  const auto convolution = [&](int in, int out, int kernel) {
    for (const int count : {in * out * kernel * kernel, out, out}) {  // And the batch norm behind it.
      tensors.push_back({4LL * count});
    }
  };
  convolution(3, 64, 7);
  int channels = 64;
  for (const auto& [width, blocks] : {std::pair{64, 3}, {128, 4}, {256, 6}, {512, 3}}) {
    for (int block = 0; block < blocks; ++block) {
      convolution(channels, width, 3);
      convolution(width, width, 3);
      if (channels != width) {
        convolution(channels, width, 1);
      }
      channels = width;
    }
  }
  tensors.push_back({4LL * 512 * 10});
  tensors.push_back({4LL * 10});
  return tensors;
}

// The same walk over the same tensors in PyTorch gives these buckets (launch order, default limits).
TEST(Buckets, OfResNet34AreThoseOfDistributedDataParallel) {
  const std::vector<Bytes> tensors = resnet34();
  ASSERT_EQ(tensors.size(), 110U);
  const std::vector<Bucket> buckets = make_buckets(tensors, {});
  EXPECT_THAT(sizes(buckets), ElementsAre(9461800, 28323840, 26499072, 20874496));
  EXPECT_EQ(buckets[0].tensors.size(), 5U);
  EXPECT_EQ(buckets[1].tensors.size(), 9U);
  EXPECT_EQ(buckets[2].tensors.size(), 24U);
  EXPECT_EQ(buckets[3].tensors.size(), 72U);
}

}  // namespace
}  // namespace examples
