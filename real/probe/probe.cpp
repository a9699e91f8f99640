#include "real/probe/probe.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/launch/message.hpp"
#include "real/launch/ranks.hpp"
#include "real/probe/probe_run.hpp"
#include "scenario/machine/execution_rules.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSmallestMessage = 8;
/// The largest message of probes of pairs: several are under way at once, enough for any link.
constexpr std::int64_t kLargestOfPairs = 16LL << 20;

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

/// Ranks that start together, and what they probe.
struct ProbeGroup {
  int num_ranks = 2;
  std::vector<ProbeKey> keys = {};
};

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

/// Ranks of several nodes, `per_node` on each, one node after another. A pair of one node, a pair of two, and
/// all ranks of a node at once to those of the next: exchanges of neighbours would mix both sorts of links.
ProbeGroup of_nodes(int num_ranks, int per_node, Bytes max_bytes, bool in_memory) {
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

/// The smallest multiple of every element size that is not more than asked for.
Bytes usable_max(Bytes max_bytes) {
  if (max_bytes.value < kSmallestMessage) {
    throw bad_input("probes need messages of at least {} bytes, not {}", kSmallestMessage, max_bytes.value);
  }
  return {max_bytes.value / kSmallestMessage * kSmallestMessage};
}

/// "ping_pong, 2 ranks, 8 B"
std::string description(const ProbeKey& key) {
  return fmt::format("{}, {} ranks, {}", name(key.kind), key.ranks, format(key.bytes));
}

/// The share of a group's time in which every probe runs once; the rest goes to uncertain medians.
constexpr double kFirstRunShare = 0.6;
/// Relative 95 % interval of a median that is good enough.
constexpr double kGoodInterval = 0.03;

/// Runs the probes of one group within a budget: each once, then again those with the widest intervals.
class GroupRun {
 public:
  GroupRun(Ranks& ranks, const ProbeGroup& group, double budget, std::function<void(const ProbeKey&)> report)
      : ranks_(ranks), budget_(budget), report_(std::move(report)) {
    for (const ProbeKey& key : group.keys) {
      samples_.push_back({.key = key, .seconds = {}});
    }
    // Time that short messages leave goes to longer ones of every kind; the longest take their least anyway.
    std::ranges::stable_sort(samples_, {}, [](const ProbeSample& sample) { return sample.key.bytes; });
  }

  std::vector<ProbeSample> run() {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      // Time that one probe does not use goes to the next ones.
      const double left = kFirstRunShare * budget_ - elapsed();
      repeat(samples_[i], left / static_cast<double>(samples_.size() - i));
    }
    while (ProbeSample* widest = most_uncertain()) {
      repeat(*widest, (1 - kFirstRunShare) * budget_ / static_cast<double>(samples_.size()));
    }
    return std::move(samples_);
  }

 private:
  /// All ranks know the same time, and so choose the same probes.
  double elapsed() { return ranks_.agree(std::chrono::duration<double>(Clock::now() - begin_).count()); }

  void repeat(ProbeSample& sample, double budget) {
    report_(sample.key);
    const double start = elapsed();
    const Task task = {kProbe, message_of(ProbeRequest{.key = sample.key, .budget = {std::max(budget, 0.0)}}),
                       "probing " + description(sample.key)};
    const auto seconds = value_of<std::vector<double>>(ranks_.run(task));
    sample.seconds.insert(sample.seconds.end(), seconds.begin(), seconds.end());
    took_[&sample] = elapsed() - start;
  }

  /// The probe with the widest interval that fits into the remaining time; none when all are good enough.
  ProbeSample* most_uncertain() {
    ProbeSample* widest = nullptr;
    double width = kGoodInterval;
    const double left = budget_ - elapsed();
    for (ProbeSample& sample : samples_) {
      const double own = summarize(sample.seconds).relative_width();
      if (own > width && took_[&sample] <= left) {
        widest = &sample;
        width = own;
      }
    }
    return widest;
  }

  Ranks& ranks_;
  double budget_;
  std::function<void(const ProbeKey&)> report_;
  Clock::time_point begin_ = Clock::now();
  std::vector<ProbeSample> samples_;
  std::map<const ProbeSample*, double> took_;  ///< Seconds of the last run of each probe.
};

/// Repetitions may take this many times the budget in all.
constexpr double kOvertime = 1.1;

/// Rank r is on node r / per_node, for probes and for whoever predicts from them.
void require_node_by_node(Ranks& ranks, const LaunchOptions& launch) {
  const std::optional<ExternalRank> external = external_rank(launch);
  const bool astray = external && (external->local_rank != external->rank % external->num_local ||
                                   external->num_ranks % external->num_local != 0);
  if (ranks.agree(astray ? 1 : 0) > 0) {
    throw lacking(
        "ranks are not placed node by node, as many on each: start them with `mpirun --map-by slot` or "
        "`srun --distribution=block`, or measure without a prediction (`ringside measure`)");
  }
}

std::vector<ProbeSample> run_groups(const std::vector<ProbeGroup>& groups, const ProbeOptions& options,
                                    const StartRanks& start, const ProbeProgress& progress, int repetitions) {
  // Repetitions of the list follow each other, so that drift hits all probes alike.
  std::vector<const ProbeGroup*> runs;
  std::size_t probes_left = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (const ProbeGroup& group : groups) {
      runs.push_back(&group);
      probes_left += group.keys.size();
    }
  }
  double of_one = 0;
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::vector<ProbeSample> samples;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool another = i > 0 && i % groups.size() == 0;
    if (another && i == groups.size()) {
      of_one = elapsed();
    }
    if (another && elapsed() + of_one > kOvertime * options.budget.value) {
      break;  // Over slow links the least that probes take may be more than their share.
    }
    const ProbeGroup& group = *runs[i];
    const std::unique_ptr<Ranks> ranks = start(group.num_ranks);
    require_node_by_node(*ranks, options.launch);
    const double share = static_cast<double>(group.keys.size()) /
                         static_cast<double>(std::exchange(probes_left, probes_left - group.keys.size()));
    const double budget = share * (options.budget.value - ranks->agree(elapsed()));
    GroupRun run(*ranks, group, budget, [&](const ProbeKey& key) {
      if (progress) {
        progress(std::min(1.0, elapsed() / options.budget.value), description(key));
      }
    });
    const std::vector<ProbeSample> of_group = run.run();
    samples.insert(samples.end(), of_group.begin(), of_group.end());
  }
  if (progress) {
    progress(1, "done");
  }
  return samples;
}

/// Before the first rank starts.
void require_gpus(const ProbeOptions& options) {
  const int num_ranks = std::max(2, *std::ranges::max_element(options.ranks));
  const int num_gpus = static_cast<int>(gpu_machine().gpus.size());
  if (const auto too_few = too_few_gpus(num_gpus, num_ranks, options.launch.gpu.ranks_per_gpu)) {
    throw Error(ErrorKind::environment, *too_few);
  }
}

/// `all_groups_of(ranks)`: what to probe with these numbers of ranks, smallest first.
template <typename GroupsOf>
std::vector<ProbeSample> run_probes(const ProbeOptions& options, const ProbeProgress& progress,
                                    const GroupsOf& all_groups_of) {
  const RegisteredBackend& backend = registered(options.launch.backend);
  const auto groups_of = [&](const std::vector<int>& ranks) {
    std::vector<ProbeGroup> groups = all_groups_of(ranks);
    for (ProbeGroup& group : groups) {
      // A GPU posts no receive ahead: transfers that start together are one group, which is over only as a
      // whole, and ranks that wait for the last of it before they send again would wait for ever.
      std::erase_if(group.keys, [&](const ProbeKey& key) {
        const ProbeKindRow& row = row_of(key.kind);
        return (row.ahead && (backend.on_gpus || backend.reduces_on_arrival)) ||
               (row.on_arrival && !backend.reduces_on_arrival) ||
               (row.as_library && !backend.library_transport);
      });
    }
    return groups;
  };
  std::vector<ProbeSample> samples;
  with_ranks(options.launch, "probe", [&](const StartRanks& start) {
    const std::optional<ExternalRank> external = external_rank(options.launch);
    if (backend.on_gpus && !external) {
      require_gpus(options);
    }
    samples = run_groups(groups_of(external ? std::vector{external->num_ranks} : options.ranks), options,
                         start, progress, external ? 1 : options.repetitions);
  });
  return samples;
}

}  // namespace

std::vector<ProbeSample> probe(const ProbeOptions& options, const ProbeProgress& progress) {
  const Bytes max_bytes = usable_max(options.max_bytes);
  const bool in_memory = registered(options.launch.backend).reduces_on_arrival;
  return run_probes(options, progress, [&](const std::vector<int>& ranks) {
    const std::optional<ExternalRank> external = external_rank(options.launch);
    if (!external) {
      return local_groups(ranks, max_bytes, in_memory);
    }
    // Another launcher's ranks are as many as they are; they probe everything in one group.
    return std::vector{ranks_per_node(*external)
                           ? of_nodes(ranks.front(), external->num_local, max_bytes, in_memory)
                           : group_of(ranks.front(), true, true, max_bytes, in_memory)};
  });
}

std::vector<ProbeSample> probe_pairs(const ProbeOptions& options, const ProbeProgress& progress) {
  const Bytes max_bytes = usable_max(options.max_bytes);
  return run_probes(options, progress, [&](const std::vector<int>& ranks) {
    return std::vector{
        pairs_of(*std::ranges::max_element(ranks), std::min(max_bytes, Bytes{kLargestOfPairs}))};
  });
}

}  // namespace ringside
