#include "real/measure.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/backends.hpp"
#include "real/gpus.hpp"
#include "real/interrupt.hpp"
#include "real/memory_check.hpp"
#include "real/ranks.hpp"
#include "real/recording.hpp"
#include "real/this_machine.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

void require_backend(Backend backend) {
  if (const std::optional<std::string> reason = unavailable(backend)) {
    throw Error(ErrorKind::environment, *reason);
  }
}

/// The work on every point.
struct PointWork {
  /// Why it cannot be done here; nothing when it can.
  std::function<std::optional<std::string>(const PointKey&)> unsupported;
  std::function<Job(const PointKey&)> job;
  std::function<void(const PointKey&, const Answer&)> report;
  /// A point that is unsupported, or that failed, and why.
  std::function<void(const PointKey&, Outcome, const std::string&)> give_up;
};

/// Ranks by their number, started when first needed.
class RankPool {
 public:
  RankPool(const LaunchOptions& options, InterruptGuard& interrupts)
      : options_(options), interrupts_(interrupts) {}

  Ranks& get(int num_ranks) {
    std::unique_ptr<Ranks>& ranks = ranks_[num_ranks];
    if (!ranks) {
      ranks = options_.backend == Backend::threads ? start_threads(num_ranks, options_)
                                                   : start_processes(num_ranks, options_, interrupts_);
    }
    return *ranks;
  }
  void drop(int num_ranks) { ranks_.erase(num_ranks); }

 private:
  const LaunchOptions& options_;
  InterruptGuard& interrupts_;
  std::map<int, std::unique_ptr<Ranks>> ranks_;
};

/// The answer of the ranks; none, and the point is given up, when they failed.
std::optional<Answer> run_with(RankPool& pool, const PointKey& key, const PointWork& work) {
  try {
    return pool.get(key.ranks).run(work.job(key));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failed) {
      throw;
    }
    pool.drop(key.ranks);  // After a failure of their own, ranks are of no more use.
    work.give_up(key, Outcome::failed, error.what());
    return std::nullopt;
  }
}

void work_locally(std::span<const PointKey> points, const LaunchOptions& launch, const PointWork& work,
                  InterruptGuard& interrupts) {
  require_points(points, launch);
  RankPool pool(launch, interrupts);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PointKey& key = points[i];
    if (const std::optional<std::string> reason = work.unsupported(key)) {
      work.give_up(key, Outcome::unsupported, *reason);
    } else if (const std::optional<Answer> answer = run_with(pool, key, work)) {
      work.report(key, *answer);
    }
    const auto later = points.subspan(i + 1);
    if (std::none_of(later.begin(), later.end(),
                     [&](const PointKey& other) { return other.ranks == key.ranks; })) {
      pool.drop(key.ranks);
    }
  }
}

void work_as_rank(const ExternalRank& external, std::span<const PointKey> points, const LaunchOptions& launch,
                  const PointWork& work, const std::string& purpose) {
  const std::unique_ptr<Ranks> ranks = join_external(external, launch, purpose);
  for (const PointKey& key : points) {
    std::optional<std::string> reason = work.unsupported(key);
    if (!reason && key.ranks != external.num_ranks) {
      reason = fmt::format("{} started {} ranks", external.launcher, external.num_ranks);
    }
    const std::optional<Answer> answer = reason ? std::nullopt : std::optional(ranks->run(work.job(key)));
    if (external.rank != 0) {
      continue;
    }
    if (answer) {
      work.report(key, *answer);
    } else {
      work.give_up(key, Outcome::unsupported, *reason);
    }
  }
}

void work_through(std::span<const PointKey> points, const LaunchOptions& launch, const PointWork& work,
                  const std::string& purpose) {
  require_backend(launch.backend);
  const std::optional<ExternalRank> external = external_rank();
  if (external && launch.backend != Backend::threads) {
    work_as_rank(*external, points, launch, work, purpose);
    return;
  }
  with_interrupts([&](InterruptGuard& interrupts) { work_locally(points, launch, work, interrupts); });
}

}  // namespace

void require_points(std::span<const PointKey> points, const LaunchOptions& options) {
  const bool on_gpus = options.backend == Backend::nccl;
  const GpuMachine gpus = on_gpus ? gpu_machine() : GpuMachine{};
  const Bytes available = available_memory();
  for (const PointKey& key : points) {
    if (unsupported(key, options.backend)) {
      continue;
    }
    if (on_gpus && external_rank()) {
      continue;  // They may be on several machines; each rank takes its own GPU and says what is wrong with it.
    }
    if (on_gpus) {
      require_gpu_memory(key, options.gpu.ranks_per_gpu, gpus.gpus);
    } else {
      require_memory(key, available);
    }
  }
}

void measure(std::span<const PointKey> points, const MeasureOptions& options, const PointMeasured& report) {
  RINGSIDE_CHECK(options.passes > 0, "points are measured in at least one pass");
  MeasureOptions of_pass = options;
  of_pass.budget_per_point = {options.budget_per_point.value / options.passes};
  std::vector<PointKey> keys;
  for (int pass = 0; pass < options.passes; ++pass) {
    keys.insert(keys.end(), points.begin(), points.end());
  }
  std::vector<std::pair<PointKey, Measurement>> known;
  const auto add = [&](const PointKey& key, const Measurement& measurement) {
    const auto earlier =
        std::find_if(known.begin(), known.end(), [&](const auto& point) { return point.first == key; });
    if (earlier == known.end()) {
      known.emplace_back(key, measurement);
      report(key, measurement);
    } else {
      earlier->second = with_pass(earlier->second, measurement);
      report(key, earlier->second);
    }
  };
  const PointWork work = {
      .unsupported =
          [&](const PointKey& key) {
            return unsupported(key, options.launch.backend, placement_of(options, key.ranks));
          },
      .job = [&](const PointKey& key) { return PointJob{.key = key, .options = of_pass}; },
      .report = [&](const PointKey& key, const Answer& answer) { add(key, *answer.measurement); },
      .give_up =
          [&](const PointKey& key, Outcome outcome, const std::string& why) {
            add(key, {.outcome = outcome, .backend = resolve(options.launch.backend), .note = why});
          }};
  work_through(keys, options.launch, work, "measure");
}

void record(std::span<const PointKey> points, const MeasureOptions& options, const PointRecorded& report) {
  const PointWork work = {
      .unsupported =
          [&](const PointKey& key) {
            if (key.algorithm == kNative) {
              return std::optional<std::string>("it has no schedule to be seen from outside");
            }
            if (options.launch.backend == Backend::nccl) {
              return std::optional<std::string>("the steps of a call on GPUs cannot be told apart; use gloo");
            }
            return unsupported(key, options.launch.backend, placement_of(options, key.ranks));
          },
      .job = [&](const PointKey& key) { return RecordJob{.key = key, .options = options}; },
      .report = [&](const PointKey& key, const Answer& answer) { report(key, *answer.recording); },
      .give_up =
          [&](const PointKey& key, Outcome outcome, const std::string& why) {
            report(key, {.outcome = outcome, .backend = resolve(options.launch.backend), .note = why});
          }};
  work_through(points, options.launch, work, "record");
}

}  // namespace ringside
