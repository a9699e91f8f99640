#include "real/probe.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/gpus.hpp"
#include "real/interrupt.hpp"
#include "real/ranks.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSmallestMessage = 8;
constexpr std::int64_t kSmallestReduction = 4096;
/// Of pairs: several of these are on their way at once, which is enough for any link.
constexpr std::int64_t kLargestOfPairs = 16LL << 20;

/// smallest, ×4, ×4, …, and `largest` itself.
std::vector<Bytes> sizes(std::int64_t smallest, Bytes largest) {
  std::vector<Bytes> result;
  for (std::int64_t size = smallest; size < largest.value; size *= 4) {
    result.push_back({size});
  }
  result.push_back(largest);
  return result;
}

/// Ranks that start together, and what they probe.
struct ProbeGroup {
  int num_ranks = 2;
  std::vector<ProbeKey> keys = {};
};

/// Sizes ascend within a kind; kinds that a pair of ranks probes come first.
ProbeGroup group_of(int num_ranks, bool pairs, bool everybody, Bytes max_bytes) {
  ProbeGroup group = {.num_ranks = num_ranks};
  const auto add = [&](ProbeKind kind, int ranks, std::int64_t smallest) {
    for (const Bytes size : sizes(smallest, max_bytes)) {
      group.keys.push_back({.kind = kind, .ranks = ranks, .bytes = size});
    }
  };
  if (pairs) {
    add(ProbeKind::ping_pong, 2, kSmallestMessage);
    add(ProbeKind::stream, 2, kSmallestMessage);
    add(ProbeKind::both_ways, 2, kSmallestMessage);
    add(ProbeKind::reduction, 1, kSmallestReduction);
  }
  if (everybody) {
    add(ProbeKind::shift, num_ranks, kSmallestMessage);
    add(ProbeKind::reduction, num_ranks, kSmallestReduction);
  }
  return group;
}

ProbeGroup pairs_of(int num_ranks, Bytes max_bytes) {
  ProbeGroup group = {.num_ranks = num_ranks};
  const auto add = [&](ProbeKind kind, Bytes bytes, Rank first, Rank second) {
    group.keys.push_back({.kind = kind, .ranks = 2, .bytes = bytes, .first = first, .second = second});
  };
  for (Rank first = 0; first < num_ranks; ++first) {
    for (Rank second = first + 1; second < num_ranks; ++second) {
      add(ProbeKind::ping_pong, {kSmallestMessage}, first, second);
      add(ProbeKind::stream, max_bytes, first, second);
      add(ProbeKind::stream, max_bytes, second, first);
      add(ProbeKind::both_ways, max_bytes, first, second);
    }
  }
  return group;
}

/// A pair always, then every number of ranks asked for.
std::vector<ProbeGroup> local_groups(std::vector<int> ranks, Bytes max_bytes) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const bool two = std::find(ranks.begin(), ranks.end(), 2) != ranks.end();
  std::vector<ProbeGroup> groups = {group_of(2, true, two, max_bytes)};
  for (const int num_ranks : ranks) {
    if (num_ranks > 2) {
      groups.push_back(group_of(num_ranks, false, true, max_bytes));
    }
  }
  return groups;
}

/// The smallest multiple of every element size that is not more than asked for.
Bytes usable_max(Bytes max_bytes) {
  if (max_bytes.value < kSmallestMessage) {
    throw Error(ErrorKind::bad_input, fmt::format("probes need messages of at least {} bytes, not {}",
                                                  kSmallestMessage, max_bytes.value));
  }
  return {max_bytes.value / kSmallestMessage * kSmallestMessage};
}

using StartRanks = std::function<std::unique_ptr<Ranks>(int num_ranks)>;

std::vector<ProbeSample> run_groups(const std::vector<ProbeGroup>& groups, const ProbeOptions& options,
                                    const StartRanks& start, const ProbeProgress& progress) {
  std::size_t total = 0;
  for (const ProbeGroup& group : groups) {
    total += group.keys.size();
  }
  const Clock::time_point begin = Clock::now();
  std::vector<ProbeSample> samples;
  for (const ProbeGroup& group : groups) {
    const std::unique_ptr<Ranks> ranks = start(group.num_ranks);
    for (const ProbeKey& key : group.keys) {
      if (progress) {
        progress(static_cast<double>(samples.size()) / static_cast<double>(total),
                 fmt::format("{}, {} ranks, {}", name(key.kind), key.ranks, format(key.bytes)));
      }
      // Time that one probe does not use goes to the next ones.
      const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
      const double share = (options.budget.value - spent) / static_cast<double>(total - samples.size());
      samples.push_back(
          {.key = key,
           .seconds = ranks->run(ProbeJob{.key = key, .budget = {std::max(share, 0.0)}}).seconds});
    }
  }
  if (progress) {
    progress(1, "done");
  }
  return samples;
}

}  // namespace

std::string_view name(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::ping_pong:
      return "ping_pong";
    case ProbeKind::stream:
      return "stream";
    case ProbeKind::both_ways:
      return "both_ways";
    case ProbeKind::shift:
      return "shift";
    case ProbeKind::reduction:
      return "reduction";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a probe kind has no name");
}

namespace {

/// Before the first rank starts.
void require_gpus(const ProbeOptions& options) {
  const int num_ranks = std::max(2, *std::max_element(options.ranks.begin(), options.ranks.end()));
  const int num_gpus = static_cast<int>(gpu_machine().gpus.size());
  if (const auto too_few = too_few_gpus(num_gpus, num_ranks, options.launch.gpu.ranks_per_gpu)) {
    throw Error(ErrorKind::environment, *too_few);
  }
}

/// `groups_of(ranks)`: what to probe with these numbers of ranks, smallest first.
template <typename GroupsOf>
std::vector<ProbeSample> run_probes(const ProbeOptions& options, const ProbeProgress& progress,
                                    const GroupsOf& groups_of) {
  if (const std::optional<std::string> reason = unavailable(options.launch.backend)) {
    throw Error(ErrorKind::environment, *reason);
  }
  if (options.launch.backend == Backend::threads) {
    return run_groups(
        groups_of(options.ranks), options,
        [&](int num_ranks) { return start_threads(num_ranks, options.launch); }, progress);
  }
  const std::optional<ExternalRank> external = external_rank();
  if (options.launch.backend == Backend::nccl && !external) {
    require_gpus(options);
  }
  if (external) {
    return run_groups(
        groups_of(std::vector<int>{external->num_ranks}), options,
        [&](int) { return join_external(*external, options.launch, "probe"); }, progress);
  }
  std::vector<ProbeSample> samples;
  with_interrupts([&](InterruptGuard& interrupts) {
    samples = run_groups(
        groups_of(options.ranks), options,
        [&](int num_ranks) { return start_processes(num_ranks, options.launch, interrupts); }, progress);
  });
  return samples;
}

}  // namespace

std::vector<ProbeSample> probe(const ProbeOptions& options, const ProbeProgress& progress) {
  const Bytes max_bytes = usable_max(options.max_bytes);
  return run_probes(options, progress, [&](const std::vector<int>& ranks) {
    // Another launcher's ranks are as many as they are; they probe everything in one group.
    return external_rank() && options.launch.backend != Backend::threads
               ? std::vector{group_of(ranks.front(), true, true, max_bytes)}
               : local_groups(ranks, max_bytes);
  });
}

std::vector<ProbeSample> probe_pairs(const ProbeOptions& options, const ProbeProgress& progress) {
  const Bytes max_bytes = usable_max(options.max_bytes);
  return run_probes(options, progress, [&](const std::vector<int>& ranks) {
    return std::vector{
        pairs_of(*std::max_element(ranks.begin(), ranks.end()), std::min(max_bytes, Bytes{kLargestOfPairs}))};
  });
}

}  // namespace ringside
