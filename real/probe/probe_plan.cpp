#include "real/probe/probe_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/failures.hpp"
#include "scenario/machine/execution_rules.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kSmallestMessage = 8;
/// The largest message of probes of pairs: several are under way at once, enough for any link.
constexpr Bytes kLargestOfPairs = {16LL << 20};

/// Whether a power of four, divided by so many ranks, is one: probes as long as chunks need not be
/// interpolated where caches end.
bool chunks_are_even(int num_ranks) { return std::bit_width(static_cast<unsigned>(num_ranks)) % 2 == 1; }

/// Several messages at once among all ranks need much memory.
constexpr Bytes kLargestOfSeveral = {8LL << 20};

/// smallest, ×4, ×4, …, `between` where it is, and `largest` itself. From `dense` on ×2.
std::vector<Bytes> sizes(std::int64_t smallest, Bytes between, Bytes dense, Bytes largest) {
  std::vector<Bytes> result;
  for (std::int64_t size = smallest; size < largest.value; size *= size < dense.value ? 4 : 2) {
    if (!result.empty() && result.back() < between && between.value < size) {
      result.push_back(between);
    }
    result.push_back({size});
  }
  result.push_back(largest);
  return result;
}

ProbeGroup group_of(int num_ranks, bool pairs, bool everybody, Bytes max_bytes, bool in_memory) {
  ProbeGroup group = {.num_ranks = num_ranks};
  // Shorter messages are copied twice.
  const Bytes between = in_memory ? rules_of(RankSite::memory).buffered : Bytes{};
  const auto add = [&](const ProbeKindRow& row, int ranks) {
    for (const int messages : row.messages) {
      Bytes largest = row.largest.value > 0 ? std::min(max_bytes, row.largest) : max_bytes;
      if (in_memory) {
        largest = row.kind == ProbeKind::ping_pong ? Bytes{2 * largest.value}
                  : messages > 1                   ? std::min(largest, kLargestOfSeveral)
                                                   : largest;
      }
      const int factor = in_memory && row.by_ranks && chunks_are_even(ranks) ? 2 : 1;
      // Two ranks send each other whole messages and halves of them; caches end in between.
      const Bytes dense = in_memory && ranks == 2 && messages <= 1 && !row.as_library ? between : largest;
      if (messages == 0 || (row.as_library && largest < row.smallest)) {
        continue;  // What is shorter does not lie where a library would write.
      }
      for (const Bytes size : sizes(factor * row.smallest.value, between, dense, largest)) {
        group.keys.push_back({.kind = row.kind, .ranks = ranks, .bytes = size, .messages = messages});
      }
    }
  };
  for (const ProbeKindRow& row : probe_kinds()) {
    if (pairs && (row.pair || row.alone)) {
      add(row, row.alone ? 1 : 2);
    }
  }
  for (const ProbeKindRow& row : probe_kinds()) {
    if (everybody && row.all && num_ranks >= row.min_ranks) {
      add(row, num_ranks);
    }
  }
  return group;
}

}  // namespace

ProbeGroup group_of_all(int num_ranks, Bytes max_bytes, bool in_memory) {
  return group_of(num_ranks, true, true, max_bytes, in_memory);
}

ProbeGroup group_of_nodes(int num_ranks, int per_node, Bytes max_bytes, bool in_memory) {
  ProbeGroup group = group_of(num_ranks, true, false, max_bytes, in_memory);
  std::vector<ProbeKey> between;
  for (ProbeKey key : group.keys) {
    if (key.kind == ProbeKind::ping_pong) {
      key.second = per_node;
      between.push_back(key);
    }
  }
  for (const Bytes bytes : {Bytes{std::max(max_bytes.value / 4, kSmallestMessage)}, max_bytes}) {
    between.push_back(
        {.kind = ProbeKind::neighbour_exchange, .ranks = num_ranks, .bytes = bytes, .second = per_node});
  }
  // Long enough for any library to ask the receiver first, and several times as long on the way as ours.
  const Bytes long_one = {std::clamp<std::int64_t>(max_bytes.value / 16, 128LL << 10, 1LL << 20)};
  between.push_back(
      {.kind = ProbeKind::native_exchange, .ranks = num_ranks, .bytes = long_one, .second = per_node});
  group.keys.insert(group.keys.end(), between.begin(), between.end());
  return group;
}

ProbeGroup group_of_pairs(int num_ranks, Bytes max_bytes) {
  const Bytes large = std::min(max_bytes, kLargestOfPairs);
  ProbeGroup group = {.num_ranks = num_ranks};
  const auto add = [&](ProbeKind kind, Bytes bytes, Rank first, Rank second) {
    group.keys.push_back({.kind = kind, .ranks = 2, .bytes = bytes, .first = first, .second = second});
  };
  for (Rank first = 0; first < num_ranks; ++first) {
    for (Rank second = first + 1; second < num_ranks; ++second) {
      add(ProbeKind::ping_pong, {kSmallestMessage}, first, second);
      add(ProbeKind::stream, large, first, second);
      add(ProbeKind::stream, large, second, first);
      add(ProbeKind::both_ways, large, first, second);
    }
  }
  return group;
}

std::vector<ProbeGroup> local_groups(std::vector<int> ranks, Bytes max_bytes, bool in_memory) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const bool two = std::ranges::find(ranks, 2) != ranks.end();
  std::vector<ProbeGroup> groups = {group_of(2, true, two, max_bytes, in_memory)};
  for (const int num_ranks : ranks) {
    if (num_ranks > 2) {
      groups.push_back(group_of(num_ranks, false, true, max_bytes, in_memory));
    }
  }
  return groups;
}

Bytes usable_max(Bytes max_bytes) {
  if (max_bytes.value < kSmallestMessage) {
    throw bad_input("probes need messages of at least {} bytes, not {}", kSmallestMessage, max_bytes.value);
  }
  return {max_bytes.value / kSmallestMessage * kSmallestMessage};
}

}  // namespace ringside
