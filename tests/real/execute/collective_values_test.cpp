#include "real/execute/collective_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
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

constexpr DataType kAllTypes[] = {DataType::float32, DataType::float64, DataType::int32,
                                  DataType::int64,   DataType::float16, DataType::bfloat16};
constexpr ReduceOp kAllOps[] = {ReduceOp::sum, ReduceOp::avg, ReduceOp::min, ReduceOp::max, ReduceOp::prod};

bool is_integer(DataType dtype) { return dtype == DataType::int32 || dtype == DataType::int64; }

/// The values said once more: what a rank holds at an index.
std::int64_t number_of(std::uint64_t seed, Rank rank, std::int64_t index) {
  return (static_cast<std::int64_t>(seed % 251) + 97 * (index % 251) + 31 * (rank % 251)) % 251;
}

double contributed(const CollectiveCall& call, std::uint64_t seed, Rank rank, std::int64_t index) {
  const std::int64_t number = number_of(seed, rank, index);
  if (call.op == ReduceOp::min || call.op == ReduceOp::max) {
    return static_cast<double>(number - 125);
  }
  const bool is_float16 = call.dtype == DataType::float16;
  if (call.op != ReduceOp::prod) {
    const std::int64_t largest_sum = is_float16 ? 2048 : call.dtype == DataType::bfloat16 ? 256 : 2147483647;
    return static_cast<double>(number % std::clamp<std::int64_t>(largest_sum / call.num_ranks + 1, 2, 251));
  }
  if (is_integer(call.dtype)) {
    return static_cast<double>(2 * (number % 8) - 7);
  }
  const auto exponent = rank < (is_float16 ? 14 : 100) ? static_cast<int>(number % 3) - 1 : 0;
  return std::ldexp(number % 2 == 0 ? 1.0 : -1.0, exponent);
}

/// As an element of this type holds it.
double held_as(DataType dtype, double value) {
  switch (dtype) {
    case DataType::float32:
      return static_cast<float>(value);
    case DataType::float16:
      return to_float(to_float16(static_cast<float>(value)));
    case DataType::bfloat16:
      return to_float(to_bfloat16(static_cast<float>(value)));
    default:
      return value;
  }
}

double reduced(const CollectiveCall& call, std::uint64_t seed, std::int64_t index) {
  double result = contributed(call, seed, 0, index);
  auto wrapped = static_cast<std::uint64_t>(static_cast<std::int64_t>(result));
  for (Rank rank = 1; rank < call.num_ranks; ++rank) {
    const double other = contributed(call, seed, rank, index);
    wrapped *= static_cast<std::uint64_t>(static_cast<std::int64_t>(other));
    result = call.op == ReduceOp::min    ? std::min(result, other)
             : call.op == ReduceOp::max  ? std::max(result, other)
             : call.op == ReduceOp::prod ? result * other
                                         : result + other;
  }
  if (call.op == ReduceOp::prod && is_integer(call.dtype)) {
    return call.dtype == DataType::int32 ? static_cast<double>(static_cast<std::int32_t>(wrapped))
                                         : static_cast<double>(static_cast<std::int64_t>(wrapped));
  }
  result = call.op == ReduceOp::avg ? result / call.num_ranks : result;
  return is_integer(call.dtype) ? std::trunc(result) : held_as(call.dtype, result);
}

TEST(CollectiveValues, OfEveryTypeOperationAndRankAreTheSameInEveryBuild) {
  EXPECT_EQ(CollectiveValues::period(), 251);
  for (const DataType dtype : kAllTypes) {
    for (const ReduceOp op : kAllOps) {
      for (const int num_ranks : {1, 3, 15, 130, 300}) {
        const std::uint64_t seed = num_ranks == 3 ? 1007 : 7;
        const CollectiveCall call = {.num_ranks = num_ranks, .dtype = dtype, .op = op, .num_elements = 260};
        const CollectiveValues values(call, seed);
        std::vector<std::byte> message(260 * size_of(dtype));
        SCOPED_TRACE(fmt::format("{} {}, {} ranks", name(dtype), name(op), num_ranks));
        for (const Rank rank : {0, 1, 2, 13, 14, 99, 100, num_ranks - 1}) {
          if (rank < num_ranks) {
            values.write_input(rank, message);
            for (std::int64_t i = 0; i < 260; i += 1 + i % 7) {
              ASSERT_EQ(values.value_at(message, i), contributed(call, seed, rank, i)) << rank << ", " << i;
            }
          }
        }
        for (std::int64_t i = 0; i < 260; i += 1 + i % 5) {
          ASSERT_EQ(values.value_due(num_ranks - 1, i), reduced(call, seed, i)) << i;
        }
      }
    }
  }
}

/// "0+5=?,3+2=1": five elements that are undefined, two of which are rank 1's; S is the sum of all.
std::string text_of(const CollectiveValues& values, const std::vector<PatternRange>& ranges) {
  std::string text;
  for (const PatternRange& range : ranges) {
    const double first = values.value_at(range.pattern, 0);
    std::string whose = std::isnan(first) ? "?" : "S";
    for (Rank rank = 0; rank < values.call().num_ranks; ++rank) {
      whose = first == static_cast<double>(number_of(kSeed, rank, 0)) ? fmt::to_string(rank) : whose;
    }
    text +=
        fmt::format("{}{}+{}={}", text.empty() ? "" : ",", range.elements.first, range.elements.count, whose);
  }
  return text;
}

TEST(CollectiveValues, EveryCollectiveStartsFromItsOwnPartsAndPromisesThose) {
  struct Row {
    Collective collective;
    std::vector<std::string> inputs;    ///< By rank.
    std::vector<std::string> promises;  ///< By rank.
  };
  const std::string gathered = "0+3=0,3+2=1,5+0=2";
  const std::vector<Row> rows = {
      {Collective::all_reduce, {"0+5=0", "0+5=1", "0+5=2"}, {"0+5=S", "0+5=S", "0+5=S"}},
      {Collective::reduce, {"0+5=0", "0+5=1", "0+5=2"}, {"", "0+5=S", ""}},
      {Collective::reduce_scatter, {"0+5=0", "0+5=1", "0+5=2"}, {"0+3=S", "3+2=S", "5+0=S"}},
      {Collective::broadcast, {"0+5=?", "0+5=1", "0+5=?"}, {"0+5=1", "0+5=1", "0+5=1"}},
      {Collective::gather, {"0+5=?,0+3=0", "0+5=?,3+2=1", "0+5=?"}, {"", gathered, ""}},
      {Collective::all_gather, {"0+5=?,0+3=0", "0+5=?,3+2=1", "0+5=?"}, {gathered, gathered, gathered}},
      {Collective::send_recv, {"0+5=?,0+3=0", "0+5=?,3+2=1", "0+5=?"}, {"5+0=2", "0+3=0", "3+2=1"}},
      {Collective::all_to_all,
       {"0+5=?,0+3=0", "0+5=?,3+2=1", "0+5=?"},
       {"0+1=0,3+1=1,5+0=2", "1+1=0,4+1=1,5+0=2", "2+1=0,5+0=1,5+0=2"}}};
  for (const Row& row : rows) {
    const CollectiveValues values(
        {.collective = row.collective,
         .num_ranks = 3,
         .root = 1,
         .num_elements = 5,
         .parts = {{.first = 0, .count = 3}, {.first = 3, .count = 2}, {.first = 5}}},
        kSeed);
    for (Rank rank = 0; rank < 3; ++rank) {
      const auto place = static_cast<std::size_t>(rank);
      EXPECT_EQ(text_of(values, values.input(rank)), row.inputs[place]) << name(row.collective) << rank;
      EXPECT_EQ(text_of(values, values.promise(rank)), row.promises[place]) << name(row.collective) << rank;
    }
  }
  EXPECT_TRUE(CollectiveValues({.num_ranks = 2}, kSeed).input(0).empty()) << "no elements";
}

TEST(CollectiveValues, WhatIsDueIsThatOfThePartInWhichAnElementLies) {
  const CollectiveCall call = {.collective = Collective::all_gather,
                               .num_ranks = 2,
                               .dtype = DataType::int32,
                               .num_elements = 5,
                               .parts = {{.first = 0, .count = 3}, {.first = 3, .count = 1}}};
  const CollectiveValues values(call, kSeed);
  for (std::int64_t element = 0; element < 4; ++element) {
    EXPECT_EQ(values.value_due(0, element), contributed(call, kSeed, element < 3 ? 0 : 1, element));
  }
  EXPECT_THROW(values.value_due(0, 4), Bug) << "nothing is promised of the last";
  std::vector<std::int32_t> message(5, 0);
  values.write_input(1, std::as_writable_bytes(std::span(message)));
  EXPECT_EQ(message[2], -1'000'003) << "what spoils any result";
  EXPECT_EQ(message[3], contributed(call, kSeed, 1, 3));
}

TEST(CollectiveValues, OnlyWhereEveryRankHasAPartThereAreParts) {
  EXPECT_TRUE(parts_of(scripted_schedule({.num_chunks = 6, .rounds = {}}, 3), 300).empty());
}

}  // namespace
}  // namespace ringside
