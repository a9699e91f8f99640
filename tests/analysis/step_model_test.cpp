#include "analysis/plan/step_model.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/paths.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;

Workload resnet34() {
  Workload workload;
  workload.tensors =
      load_tensors(std::string(RINGSIDE_SOURCE_DIR) + "/configs/workloads/tensors/resnet34-cifar10.csv");
  for (const Tensor& tensor : workload.tensors) {
    workload.parameters += tensor.elements;
  }
  return workload;
}

std::vector<std::int64_t> sizes(const std::vector<Bucket>& buckets) {
  std::vector<std::int64_t> result;
  for (const Bucket& bucket : buckets) {
    result.push_back(bucket.bytes.value);
  }
  return result;
}

std::vector<std::size_t> counts(const std::vector<Bucket>& buckets) {
  std::vector<std::size_t> result;
  for (const Bucket& bucket : buckets) {
    result.push_back(bucket.count);
  }
  return result;
}

/// Four gradients of 8 bytes that arrive evenly.
const std::vector<Gradient> kFour(4, {.bytes = {8}, .share = 0.25});

TrainingStep four_gradients(const SynchronisationSettings& settings, Seconds cost, bool overlap = true,
                            double slowdown = 0) {
  return simulate_step({.gradients = kFour,
                        .buckets = make_buckets(kFour, settings),
                        .forward = {4},
                        .backward = {8},
                        .accumulate = settings.accumulate,
                        .overlap = overlap,
                        .slowdown = slowdown},
                       [&](Bytes) { return cost; });
}

TEST(Gradients, OfResNet34AreThoseOfTheExercises) {
  const Workload workload = resnet34();
  EXPECT_EQ(workload.tensors.size(), 110U);
  EXPECT_EQ(gradient_bytes(workload), Bytes{85'159'208});
}

TEST(Gradients, ArriveInReverseAndShareTheWholeBackwardPass) {
  const Workload workload = resnet34();
  const std::vector<Gradient> gradients = arriving_gradients(workload);
  EXPECT_EQ(gradients.front().bytes, Bytes{40});     // fc.bias
  EXPECT_EQ(gradients.back().bytes, Bytes{37'632});  // conv1.weight
  const double all =
      std::accumulate(gradients.begin(), gradients.end(), 0.0,
                      [](double sum, const Gradient& gradient) { return sum + gradient.share; });
  EXPECT_NEAR(all, 1, 1e-12);
}

TEST(Gradients, OfATotalAloneAreCutIntoEvenPieces) {
  Workload workload;
  workload.parameters = (1 << 20) + 1;
  const std::vector<Gradient> gradients = arriving_gradients(workload);
  ASSERT_EQ(gradients.size(), 5U);
  EXPECT_EQ(gradients.back().bytes, Bytes{4});
  const double all =
      std::accumulate(gradients.begin(), gradients.end(), 0.0,
                      [](double sum, const Gradient& gradient) { return sum + gradient.share; });
  EXPECT_NEAR(all, 1, 1e-12);
  workload.parameters = 1 << 20;
  EXPECT_EQ(arriving_gradients(workload).size(), 4U);
}

TEST(Gradients, OfAHugeTotalAreNoMorePieces) {
  Workload workload;
  workload.parameters = std::int64_t{1} << 34;
  EXPECT_EQ(arriving_gradients(workload).size(), 65'536U);
  EXPECT_EQ(arriving_gradients(workload).front().bytes, Bytes{1 << 20});
  workload.parameters += 1;
  EXPECT_EQ(arriving_gradients(workload).size(), 32'769U);
  EXPECT_EQ(arriving_gradients(workload).front().bytes, Bytes{2 << 20});
  workload.parameters = 9'000'000'000'000'000;
  EXPECT_LE(arriving_gradients(workload).size(), 65'536U);
}

TEST(Gradients, OfTensorsHaveTheSizeOfTheirType) {
  Workload workload;
  workload.tensors = {{.name = "a", .elements = 3, .forward_flops = 1}};
  workload.gradients = DataType::bfloat16;
  EXPECT_EQ(arriving_gradients(workload).at(0).bytes, Bytes{6});
}

// Launch order, sizes and tensors of DDP's buckets after its rebuild, worked out by hand from reducer.cpp.
TEST(Buckets, OfResNet34AreThoseOfDistributedDataParallel) {
  const std::vector<Bucket> buckets = make_buckets(arriving_gradients(resnet34()), {});
  EXPECT_THAT(sizes(buckets), ElementsAre(9'461'800, 28'323'840, 26'499'072, 20'874'496));
  EXPECT_THAT(counts(buckets), ElementsAre(5, 9, 24, 72));
}

TEST(Buckets, OvershootTheirCapByAtMostOneTensor) {
  const std::vector<Gradient> gradients = {{.bytes = {100}, .share = 0.5}, {.bytes = {1}, .share = 0.5}};
  EXPECT_THAT(sizes(make_buckets(gradients, {.bucket = {10}, .first_bucket = {10}})), ElementsAre(100, 1));
}

TEST(Buckets, AreOneOrOnePerTensorWhereThePlanSaysSo) {
  EXPECT_THAT(sizes(make_buckets(kFour, {.style = Synchronisation::one_bucket})), ElementsAre(32));
  EXPECT_THAT(sizes(make_buckets(kFour, {.style = Synchronisation::per_tensor})), ElementsAre(8, 8, 8, 8));
}

TEST(TrainingStep, HidesWhatFitsBesideTheBackwardPassButNotTheLastBucket) {
  // Gradients arrive at 6, 8, 10 and 12; an all_reduce takes 1.
  const TrainingStep step = four_gradients({.bucket = {8}, .first_bucket = {8}}, {1});
  EXPECT_DOUBLE_EQ(step.compute.value, 12);
  EXPECT_DOUBLE_EQ(step.communication.value, 4);
  EXPECT_DOUBLE_EQ(step.exposed.value, 1);
  EXPECT_DOUBLE_EQ(step.total.value, 13);
}

TEST(TrainingStep, TakesLongerForAllReducesThatRunBesideIt) {
  // Three of four all_reduces of 1 run beside the backward pass of 8, the last one after it.
  const SynchronisationSettings settings{.bucket = {8}, .first_bucket = {8}};
  const TrainingStep step = four_gradients(settings, {1}, true, 0.5);
  EXPECT_DOUBLE_EQ(step.slowed.value, 1.5);
  EXPECT_DOUBLE_EQ(step.exposed.value, 2.5);
  EXPECT_DOUBLE_EQ(step.hidden().value, 1.5);
  EXPECT_DOUBLE_EQ(step.total.value, 14.5);

  const TrainingStep worse = four_gradients(settings, {1}, true, 2);
  EXPECT_DOUBLE_EQ(worse.exposed.value, 7);
  EXPECT_DOUBLE_EQ(worse.hidden().value, 0);

  EXPECT_DOUBLE_EQ(four_gradients(settings, {1}, false, 2).slowed.value, 0);
}

TEST(TrainingStep, LaunchesInOrderOnOneStream) {
  // All_reduces of 3 that become ready every 2 wait for one another: 6-9, 9-12, 12-15, 15-18.
  const TrainingStep step = four_gradients({.bucket = {8}, .first_bucket = {8}}, {3});
  std::vector<double> starts;
  for (const BucketTimes& bucket : step.buckets) {
    starts.push_back(bucket.start.value);
  }
  EXPECT_THAT(starts, ElementsAre(6, 9, 12, 15));
  EXPECT_DOUBLE_EQ(step.exposed.value, 6);
}

TEST(TrainingStep, WithoutOverlapExposesEverything) {
  const TrainingStep step = four_gradients({.bucket = {8}, .first_bucket = {8}}, {3}, false);
  EXPECT_DOUBLE_EQ(step.exposed.value, 12);
  EXPECT_DOUBLE_EQ(step.total.value, 24);
}

TEST(TrainingStep, SynchronisesOnlyInTheLastOfItsPasses) {
  SynchronisationSettings settings{.bucket = {8}, .first_bucket = {8}, .accumulate = 3};
  const TrainingStep step = four_gradients(settings, {1});
  EXPECT_DOUBLE_EQ(step.compute.value, 36);
  EXPECT_DOUBLE_EQ(step.communication.value, 4);
  EXPECT_DOUBLE_EQ(step.total.value, 37);
  EXPECT_DOUBLE_EQ(step.buckets.front().ready.value, 30) << "a quarter of the last backward pass";
}

TEST(TrainingStep, WaitsForTheSlowest) {
  const TrainingStep step = simulate_step({.gradients = kFour,
                                           .buckets = make_buckets(kFour, {}),
                                           .forward = {4},
                                           .backward = {8},
                                           .waiting = {1.5}},
                                          [](Bytes) { return Seconds{1}; });
  EXPECT_DOUBLE_EQ(step.exposed.value, 1);
  EXPECT_DOUBLE_EQ(step.total.value, 14.5);
}

// Tables of normal order statistics: 0.5642, 1.0294, 1.4236.
TEST(ExpectedLargest, IsThatOfNormalOrderStatistics) {
  EXPECT_EQ(expected_largest(1), 0);
  EXPECT_NEAR(expected_largest(2), 0.5642, 1e-4);
  EXPECT_NEAR(expected_largest(4), 1.0294, 1e-4);
  EXPECT_NEAR(expected_largest(8), 1.4236, 1e-4);
  EXPECT_NEAR(expected_largest(100), 2.5076, 1e-4);
}

TEST(TrainingStep, IsComputingAloneWhereNothingCostsAnything) {
  const TrainingStep step = four_gradients({}, {0});
  EXPECT_DOUBLE_EQ(step.exposed.value, 0);
  EXPECT_DOUBLE_EQ(step.total.value, step.compute.value);
}

}  // namespace
}  // namespace ringside
