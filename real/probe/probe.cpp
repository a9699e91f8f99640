#include "real/probe/probe.hpp"

#include <algorithm>
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
#include "real/probe/probe_plan.hpp"
#include "real/probe/probe_run.hpp"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

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
                           ? group_of_nodes(ranks.front(), external->num_local, max_bytes, in_memory)
                           : group_of_all(ranks.front(), max_bytes, in_memory)};
  });
}

std::vector<ProbeSample> probe_pairs(const ProbeOptions& options, const ProbeProgress& progress) {
  const Bytes max_bytes = usable_max(options.max_bytes);
  return run_probes(options, progress, [&](const std::vector<int>& ranks) {
    return std::vector{group_of_pairs(*std::ranges::max_element(ranks), max_bytes)};
  });
}

}  // namespace ringside
