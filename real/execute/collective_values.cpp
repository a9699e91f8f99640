#include "real/execute/collective_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "common/error.hpp"
#include "real/execute/half.hpp"

namespace ringside {
namespace {

/// A prime: elements of a pattern before it repeats.
constexpr std::int64_t kPeriod = 251;
/// Beyond so many factors of two a product of float32 could leave the range of exponents.
constexpr int kMaxFactors = 100;

/// The number in 0 … kPeriod−1 from which rank's contribution at `index` is made.
std::int64_t draw(std::uint64_t seed, Rank rank, std::int64_t index) {
  const auto start = static_cast<std::int64_t>(seed % kPeriod);
  return (start + 97 * (index % kPeriod) + 31 * (std::int64_t{rank} % kPeriod)) % kPeriod;
}

/// What values of T are computed in: exact for everything below.
template <typename T>
using Wide = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

template <typename T>
T narrow(Wide<T> value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
double to_double(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return to_float(value);
  } else {
    return static_cast<double>(value);
  }
}

/// The limits within which contributions keep every reduction of T exact.
struct ExactRange {
  std::int64_t largest_sum =
      std::numeric_limits<std::int32_t>::max();  ///< Whole numbers up to here are exact.
  int max_factors = kMaxFactors;
};

template <typename T>
ExactRange exact_range() {
  if constexpr (std::is_same_v<T, Float16>) {
    return {.largest_sum = 2048, .max_factors = 14};  // 11 significant bits; exponents from -14 on.
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return {.largest_sum = 256};  // 8 significant bits; the exponents of float32.
  } else {
    return {};
  }
}

template <typename T>
Wide<T> contribution(const CollectiveCall& call, Rank rank, std::int64_t draw) {
  switch (call.op) {
    case ReduceOp::sum:
    case ReduceOp::avg: {
      const std::int64_t most = exact_range<T>().largest_sum / call.num_ranks;
      return static_cast<Wide<T>>(draw % std::clamp<std::int64_t>(most + 1, 2, kPeriod));
    }
    case ReduceOp::min:
    case ReduceOp::max:
      return static_cast<Wide<T>>(draw - kPeriod / 2);
    case ReduceOp::prod:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    return static_cast<Wide<T>>(2 * (draw % 8) - 7);  // Odd: wrapping products keep all their information.
  } else {
    const int exponent = rank < exact_range<T>().max_factors ? static_cast<int>(draw % 3) - 1 : 0;
    return std::ldexp(draw % 2 == 0 ? 1.0 : -1.0, exponent);
  }
}

/// The reduction of all contributions, in 64 bits.
template <typename T>
Wide<T> reduced(const CollectiveCall& call, std::uint64_t seed, std::int64_t index) {
  using Wrapping = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  Wide<T> result = contribution<T>(call, 0, draw(seed, 0, index));
  for (Rank rank = 1; rank < call.num_ranks; ++rank) {
    const Wide<T> value = contribution<T>(call, rank, draw(seed, rank, index));
    switch (call.op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
        result += value;
        break;
      case ReduceOp::prod:
        result = static_cast<Wide<T>>(static_cast<Wrapping>(result) * static_cast<Wrapping>(value));
        break;
      case ReduceOp::min:
        result = std::min(result, value);
        break;
      case ReduceOp::max:
        result = std::max(result, value);
        break;
    }
  }
  // A quotient of numbers this small is rounded alike in double and in T.
  return call.op == ReduceOp::avg ? result / static_cast<Wide<T>>(call.num_ranks) : result;
}

/// One period of elements, written by `element(index)`.
template <typename T, typename Element>
std::vector<std::byte> pattern_of(const Element& element) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(kPeriod) * sizeof(T));
  for (std::int64_t i = 0; i < kPeriod; ++i) {
    const T value = narrow<T>(element(i));
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

/// What spoils any result that it gets into.
template <typename T>
Wide<T> undefined() {
  if constexpr (std::is_integral_v<T>) {
    return -1'000'003;
  } else {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

/// Calls `function` with a value of the C++ type of `dtype`.
template <typename Function>
auto with_type(DataType dtype, const Function& function) {
  switch (dtype) {
    case DataType::float32:
      return function(float{});
    case DataType::float64:
      return function(double{});
    case DataType::int32:
      return function(std::int32_t{});
    case DataType::int64:
      return function(std::int64_t{});
    case DataType::float16:
      return function(Float16{});
    case DataType::bfloat16:
      return function(BFloat16{});
  }
  throw_bug("a declared value", __FILE__, __LINE__, "this data type has no C++ type");
}

/// Cuts a range of elements where the pattern starts anew and calls `run(first element, bytes, pattern
/// bytes)` for each piece until one returns false.
template <typename Run>
void for_each_period(const ElementRange& range, std::size_t element_size, const Run& run) {
  std::int64_t element = range.first;
  const std::int64_t end = range.first + range.count;
  while (element < end) {
    const std::int64_t in_pattern = element % kPeriod;
    const std::int64_t count = std::min(kPeriod - in_pattern, end - element);
    if (!run(element, static_cast<std::size_t>(count) * element_size,
             static_cast<std::size_t>(in_pattern) * element_size)) {
      return;
    }
    element += count;
  }
}

}  // namespace

std::vector<ElementRange> parts_of(const Schedule& schedule, std::int64_t num_elements) {
  if (!scattered(schedule.algorithm().collective)) {
    return {};
  }
  const ChunkLayout layout(num_elements, schedule.num_chunks());
  const std::int32_t chunks_per_rank = schedule.num_chunks() / schedule.num_ranks();
  std::vector<ElementRange> parts;
  for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
    parts.push_back(layout.elements(rank * chunks_per_rank, chunks_per_rank));
  }
  return parts;
}

CollectiveValues::CollectiveValues(CollectiveCall call, std::uint64_t seed)
    : call_(std::move(call)), element_size_(size_of(call_.dtype)) {
  with_type(call_.dtype, [&](auto type) {
    using T = decltype(type);
    for (Rank rank = 0; rank < call_.num_ranks; ++rank) {
      contributions_.push_back(pattern_of<T>(
          [&](std::int64_t index) { return contribution<T>(call_, rank, draw(seed, rank, index)); }));
    }
    reduced_ = pattern_of<T>([&](std::int64_t index) { return reduced<T>(call_, seed, index); });
    undefined_ = pattern_of<T>([](std::int64_t) { return undefined<T>(); });
  });
}

std::int64_t CollectiveValues::period() { return kPeriod; }

std::vector<PatternRange> CollectiveValues::input(Rank rank) const {
  const ElementRange everything = {.count = call_.num_elements};
  const ElementRange held = held_at_start(rank);
  std::vector<PatternRange> ranges;
  if (held != everything) {
    ranges.push_back({.elements = everything, .pattern = undefined_});
  }
  ranges.push_back({.elements = held, .pattern = contributions_[static_cast<std::size_t>(rank)]});
  std::erase_if(ranges, [](const PatternRange& range) { return range.elements.count == 0; });
  return ranges;
}

void CollectiveValues::write_input(Rank rank, std::span<std::byte> message) const {
  for (const PatternRange& range : input(rank)) {
    for_each_period(range.elements, element_size_,
                    [&](std::int64_t element, std::size_t size, std::size_t in_pattern) {
                      std::memcpy(message.data() + static_cast<std::size_t>(element) * element_size_,
                                  range.pattern.data() + in_pattern, size);
                      return true;
                    });
  }
}

std::optional<std::int64_t> CollectiveValues::first_wrong(Rank rank,
                                                          std::span<const std::byte> message) const {
  for (const auto& [range, pattern] : promise(rank)) {
    std::optional<std::int64_t> wrong;
    for_each_period(
        range, element_size_, [&](std::int64_t element, std::size_t size, std::size_t in_pattern) {
          const std::byte* found = message.data() + static_cast<std::size_t>(element) * element_size_;
          const std::byte* due = pattern.data() + in_pattern;
          if (std::memcmp(found, due, size) != 0) {
            const std::byte* place = std::mismatch(found, found + size, due).first;
            wrong = element + (place - found) / static_cast<std::ptrdiff_t>(element_size_);
          }
          return !wrong.has_value();
        });
    if (wrong) {
      return wrong;
    }
  }
  return std::nullopt;
}

double CollectiveValues::value_at(std::span<const std::byte> message, std::int64_t element) const {
  return with_type(call_.dtype, [&](auto value) {
    std::memcpy(&value, message.data() + static_cast<std::size_t>(element) * element_size_, sizeof(value));
    return to_double(value);
  });
}

double CollectiveValues::value_due(Rank rank, std::int64_t element) const {
  for (const PatternRange& range : promise(rank)) {
    if (element >= range.elements.first && element < range.elements.first + range.elements.count) {
      return value_at(range.pattern, element % kPeriod);
    }
  }
  throw_bug("a promised element", __FILE__, __LINE__, "nothing is promised of this element");
}

ElementRange CollectiveValues::held_at_start(Rank rank) const {
  const ElementRange everything = {.count = call_.num_elements};
  switch (call_.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
      return everything;
    case Collective::broadcast:
      return rank == call_.root ? everything : ElementRange{};
    case Collective::gather:
    case Collective::all_gather:
    case Collective::all_to_all:
    case Collective::send_recv:
      return call_.parts[static_cast<std::size_t>(rank)];
  }
  return {};
}

std::vector<PatternRange> CollectiveValues::promise(Rank rank) const {
  const ElementRange everything = {.count = call_.num_elements};
  const bool at_root = rank == call_.root;
  std::vector<PatternRange> result;
  switch (call_.collective) {
    case Collective::all_reduce:
      return {{everything, reduced_}};
    case Collective::reduce:
      return at_root ? std::vector<PatternRange>{{everything, reduced_}} : result;
    case Collective::reduce_scatter:
      return {{call_.parts[static_cast<std::size_t>(rank)], reduced_}};
    case Collective::broadcast:
      return {{everything, contributions_[static_cast<std::size_t>(call_.root)]}};
    case Collective::gather:
    case Collective::all_gather:
      for (std::size_t owner = 0;
           (at_root || call_.collective == Collective::all_gather) && owner < call_.parts.size(); ++owner) {
        result.push_back({call_.parts[owner], contributions_[owner]});
      }
      return result;
    case Collective::all_to_all: {
      const ChunkLayout layout(call_.num_elements, call_.num_ranks * call_.num_ranks);
      for (Rank source = 0; source < call_.num_ranks; ++source) {
        result.push_back({layout.elements(source * call_.num_ranks + rank),
                          contributions_[static_cast<std::size_t>(source)]});
      }
      return result;
    }
    case Collective::send_recv: {
      const auto previous = static_cast<std::size_t>((rank + call_.num_ranks - 1) % call_.num_ranks);
      return {{call_.parts[previous], contributions_[previous]}};
    }
  }
  return result;
}

}  // namespace ringside
