#include "real/execute/collective_values.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "real/execute/half.hpp"
#include "tests/schedule/scripted.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kSeed = 7;

template <typename T>
std::vector<T> input(const CollectiveCall& call, Rank rank, std::uint64_t seed = kSeed) {
  std::vector<T> values(static_cast<std::size_t>(call.num_elements));
  CollectiveValues(call, seed).write_input(rank, std::as_writable_bytes(std::span(values)));
  return values;
}

template <typename T>
std::optional<std::int64_t> first_wrong(const CollectiveCall& call, Rank rank,
                                        const std::vector<T>& message) {
  return CollectiveValues(call, kSeed).first_wrong(rank, std::as_bytes(std::span(message)));
}

/// Adds up the inputs in the given order of ranks.
std::vector<float> sum(const CollectiveCall& call, const std::vector<Rank>& order) {
  std::vector<float> result = input<float>(call, order.front());
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::vector<float> other = input<float>(call, order[i]);
    std::transform(result.begin(), result.end(), other.begin(), result.begin(), std::plus<>());
  }
  return result;
}

TEST(CollectiveValues, DifferAtEachRankAndIndexAndSeed) {
  const CollectiveCall call = {.num_ranks = 3, .num_elements = 100};
  const std::vector<float> zero = input<float>(call, 0);
  EXPECT_NE(zero, input<float>(call, 1));
  EXPECT_NE(zero, input<float>(call, 0, kSeed + 1));
  EXPECT_TRUE(std::adjacent_find(zero.begin(), zero.end()) == zero.end());
}

TEST(CollectiveValues, SumsAreExactInAnyOrder) {
  const CollectiveCall call = {.num_ranks = 4, .num_elements = 1000};
  EXPECT_EQ(first_wrong(call, 2, sum(call, {0, 1, 2, 3})), std::nullopt);
  EXPECT_EQ(first_wrong(call, 2, sum(call, {3, 1, 0, 2})), std::nullopt);
}

TEST(CollectiveValues, MissingDoubledAndForeignContributionsAreWrong) {
  const CollectiveCall call = {.num_ranks = 4, .num_elements = 1000};
  EXPECT_TRUE(first_wrong(call, 0, sum(call, {0, 1, 2})));
  EXPECT_TRUE(first_wrong(call, 0, sum(call, {0, 1, 2, 2})));
  EXPECT_TRUE(first_wrong(call, 0, sum(call, {0, 1, 2, 3, 0})));
}

TEST(CollectiveValues, NameTheFirstWrongElement) {
  const CollectiveCall call = {.num_ranks = 2, .num_elements = 1000};
  for (const std::size_t element : {0U, 250U, 251U, 252U, 999U}) {
    std::vector<float> message = sum(call, {0, 1});
    message[element] += 1;
    EXPECT_EQ(first_wrong(call, 1, message), static_cast<std::int64_t>(element));
    const CollectiveValues values(call, kSeed);
    EXPECT_EQ(values.value_at(std::as_bytes(std::span(message)), static_cast<std::int64_t>(element)),
              values.value_due(1, static_cast<std::int64_t>(element)) + 1);
  }
}

TEST(CollectiveValues, ChunksInTheWrongPlaceAreWrong) {
  const CollectiveCall call = {.num_ranks = 2, .num_elements = 1024};
  std::vector<float> message = sum(call, {0, 1});
  std::rotate(message.begin(), message.begin() + 512, message.end());
  EXPECT_TRUE(first_wrong(call, 0, message));
}

TEST(CollectiveValues, LookOnlyAtWhatARankIsPromised) {
  const std::vector<ElementRange> parts = {{.first = 0, .count = 3}, {.first = 3, .count = 2}};
  CollectiveCall call = {
      .collective = Collective::reduce_scatter, .num_ranks = 2, .num_elements = 5, .parts = parts};
  std::vector<float> message = sum(call, {0, 1});
  message[4] = -1;
  EXPECT_EQ(first_wrong(call, 0, message), std::nullopt);
  EXPECT_EQ(first_wrong(call, 1, message), 4);

  call.collective = Collective::reduce;
  EXPECT_EQ(first_wrong(call, 0, message), 4) << "the root";
  EXPECT_EQ(first_wrong(call, 1, message), std::nullopt);
}

TEST(CollectiveValues, WhatARankDoesNotHoldSpoilsAnyResult) {
  const std::vector<ElementRange> parts = {{.first = 0, .count = 3}, {.first = 3, .count = 2}};
  for (const Collective collective : {Collective::broadcast, Collective::all_gather, Collective::gather}) {
    const CollectiveCall call = {
        .collective = collective, .num_ranks = 2, .root = 0, .num_elements = 5, .parts = parts};
    EXPECT_TRUE(first_wrong(call, 0, input<float>(call, 1))) << name(collective);
  }
}

TEST(CollectiveValues, GatheredPartsAreThoseOfTheirOwners) {
  const std::vector<ElementRange> parts = {{.first = 0, .count = 3}, {.first = 3, .count = 2}};
  const CollectiveCall call = {
      .collective = Collective::all_gather, .num_ranks = 2, .num_elements = 5, .parts = parts};
  std::vector<float> message = input<float>(call, 0);
  const std::vector<float> other = input<float>(call, 1);
  std::copy(other.begin() + 3, other.end(), message.begin() + 3);
  EXPECT_EQ(first_wrong(call, 0, message), std::nullopt);
  EXPECT_EQ(first_wrong(call, 1, message), std::nullopt);
  message[4] += 1;
  EXPECT_EQ(first_wrong(call, 0, message), 4) << "in the second of its parts";
}

TEST(CollectiveValues, AGatherPromisesTheRootAloneAndABroadcastWhatTheRootHas) {
  const std::vector<ElementRange> parts = {{.first = 0, .count = 3}, {.first = 3, .count = 2}};
  const CollectiveCall gather = {
      .collective = Collective::gather, .num_ranks = 2, .root = 0, .num_elements = 5, .parts = parts};
  EXPECT_EQ(first_wrong(gather, 1, std::vector<float>(5, -1)), std::nullopt);
  const CollectiveCall broadcast = {
      .collective = Collective::broadcast, .num_ranks = 2, .root = 0, .num_elements = 5};
  EXPECT_EQ(first_wrong(broadcast, 1, input<float>(broadcast, 0)), std::nullopt);
}

TEST(CollectiveValues, WhatWasRightBeforeIsSpoiltWhereARankHoldsNothing) {
  const CollectiveCall call = {
      .collective = Collective::broadcast, .num_ranks = 2, .root = 0, .num_elements = 5};
  std::vector<float> message = input<float>(call, 0);
  CollectiveValues(call, kSeed).write_input(1, std::as_writable_bytes(std::span(message)));
  EXPECT_EQ(first_wrong(call, 1, message), 0);
}

TEST(CollectiveValues, OfEveryOperationAreWhatItGives) {
  for (const ReduceOp op : {ReduceOp::avg, ReduceOp::min, ReduceOp::max}) {
    const CollectiveCall call = {.num_ranks = 2, .op = op, .num_elements = 300};
    std::vector<float> result = input<float>(call, 0);
    const std::vector<float> other = input<float>(call, 1);
    std::transform(result.begin(), result.end(), other.begin(), result.begin(), [op](float a, float b) {
      return op == ReduceOp::avg ? (a + b) / 2 : op == ReduceOp::min ? std::min(a, b) : std::max(a, b);
    });
    EXPECT_EQ(first_wrong(call, 0, result), std::nullopt) << name(op);
    EXPECT_NE(result, other) << name(op);
  }
}

TEST(CollectiveValues, ARanksPartIsAllOfItsChunks) {
  const Schedule schedule =
      scripted_schedule({.collective = Collective::all_gather, .num_chunks = 6, .rounds = {}}, 3);
  const std::vector<ElementRange> parts = parts_of(schedule, 300);
  ASSERT_EQ(parts.size(), 3U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(parts[rank], (ElementRange{.first = 100 * static_cast<std::int64_t>(rank), .count = 100}));
  }
}

TEST(CollectiveValues, OfAnAllToAllEveryRankHasItsColumn) {
  const std::vector<ElementRange> parts = {{.first = 0, .count = 4}, {.first = 4, .count = 4}};
  const CollectiveCall call = {
      .collective = Collective::all_to_all, .num_ranks = 2, .num_elements = 8, .parts = parts};
  std::vector<float> message = input<float>(call, 0);
  const std::vector<float> other = input<float>(call, 1);
  EXPECT_EQ(first_wrong(call, 0, message), 4) << "what rank 1 sends to rank 0";
  std::copy(other.begin() + 4, other.begin() + 6, message.begin() + 4);
  EXPECT_EQ(first_wrong(call, 0, message), std::nullopt);
  EXPECT_EQ(first_wrong(call, 1, message), 6) << "what rank 1 keeps";
}

TEST(CollectiveValues, SentMessagesAreThoseOfTheRankBefore) {
  const std::vector<ElementRange> parts = {
      {.first = 0, .count = 2}, {.first = 2, .count = 2}, {.first = 4, .count = 2}};
  const CollectiveCall call = {
      .collective = Collective::send_recv, .num_ranks = 3, .num_elements = 6, .parts = parts};
  EXPECT_EQ(first_wrong(call, 2, input<float>(call, 1)), std::nullopt);
  EXPECT_EQ(first_wrong(call, 0, input<float>(call, 1)), 4);
}

/// The reduction of 16-bit inputs, rounded after every step as the most careless of libraries would.
template <typename T, typename Round>
std::vector<T> rounded_sum(const CollectiveCall& call, const Round& round) {
  std::vector<T> result = input<T>(call, 0);
  for (Rank rank = 1; rank < call.num_ranks; ++rank) {
    const std::vector<T> other = input<T>(call, rank);
    std::transform(result.begin(), result.end(), other.begin(), result.begin(),
                   [&](T a, T b) { return round(to_float(a) + to_float(b)); });
  }
  return result;
}

TEST(CollectiveValues, SumsOf16BitTypesAreExactHoweverTheyAreRounded) {
  for (const int ranks : {2, 3, 8, 64}) {
    CollectiveCall call = {.num_ranks = ranks, .dtype = DataType::float16, .num_elements = 600};
    EXPECT_EQ(first_wrong(call, 0, rounded_sum<Float16>(call, to_float16)), std::nullopt) << ranks;
    std::vector<Float16> spoiled = rounded_sum<Float16>(call, to_float16);
    spoiled[417] = to_float16(to_float(spoiled[417]) + 1);
    EXPECT_EQ(first_wrong(call, 0, spoiled), 417) << ranks;
    call.dtype = DataType::bfloat16;
    EXPECT_EQ(first_wrong(call, 0, rounded_sum<BFloat16>(call, to_bfloat16)), std::nullopt) << ranks;
  }
}

TEST(CollectiveValues, ProductsOfManyRanksStayExactAndFinite) {
  const CollectiveCall call = {.num_ranks = 500, .op = ReduceOp::prod, .num_elements = 300};
  const CollectiveValues values(call, kSeed);
  std::vector<float> product(300, 1);
  std::vector<float> factor(300);
  for (Rank rank = call.num_ranks - 1; rank >= 0; --rank) {
    values.write_input(rank, std::as_writable_bytes(std::span(factor)));
    std::transform(product.begin(), product.end(), factor.begin(), product.begin(), std::multiplies<>());
  }
  EXPECT_EQ(values.first_wrong(0, std::as_bytes(std::span(product))), std::nullopt);
}

}  // namespace
}  // namespace ringside
