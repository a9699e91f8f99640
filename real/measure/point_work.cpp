#include "real/measure/point_work.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/external/external_rank.hpp"
#include "real/launch/external/external_ranks.hpp"
#include "real/launch/process_ranks.hpp"
#include "real/launch/thread_ranks.hpp"
#include "real/system/interrupt.hpp"
#include "real/system/memory_check.hpp"

namespace ringside {
namespace {

/// Ranks by their number, started when first needed.
class RankPool {
 public:
  /// `interrupts` may be missing where ranks are threads: they leave nothing behind, so signals end them as usual.
  RankPool(const LaunchOptions& options, InterruptGuard* interrupts)
      : options_(options), interrupts_(interrupts) {}

  Ranks& get(int num_ranks) {
    std::unique_ptr<Ranks>& ranks = ranks_[num_ranks];
    if (!ranks) {
      ranks = interrupts_ == nullptr ? start_threads(num_ranks, options_)
                                     : start_processes(num_ranks, options_, *interrupts_);
    }
    return *ranks;
  }
  void drop(int num_ranks) { ranks_.erase(num_ranks); }

 private:
  const LaunchOptions& options_;
  InterruptGuard* interrupts_;
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

bool is_wanted(const PointWork& work, std::size_t index) { return !work.wanted || work.wanted(index); }

std::vector<PointKey> wanted_points(std::span<const PointKey> points, const PointWork& work) {
  std::vector<PointKey> wanted;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_wanted(work, i)) {
      wanted.push_back(points[i]);
    }
  }
  return wanted;
}

void work_locally(std::span<const PointKey> points, const LaunchOptions& launch, const PointWork& work,
                  InterruptGuard* interrupts) {
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
  for (std::size_t i = 0; i < points.size(); ++i) {
    // Only rank 0 has the results of an earlier run.
    if (ranks->agree(external.rank == 0 && is_wanted(work, i) ? 1 : 0) == 0) {
      continue;
    }
    const PointKey& key = points[i];
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

}  // namespace

void work_through(std::span<const PointKey> points, const LaunchOptions& launch, const PointWork& work,
                  const std::string& purpose) {
  const RegisteredBackend& backend = registered(launch.backend);
  if (const std::optional<std::string> reason = backend.unavailable()) {
    throw Error(ErrorKind::environment, *reason);
  }
  const std::optional<ExternalRank> external = external_rank();
  if (external && !backend.ranks_are_threads) {
    work_as_rank(*external, points, launch, work, purpose);
    return;
  }
  const std::vector<PointKey> wanted = wanted_points(points, work);
  if (backend.ranks_are_threads) {
    work_locally(wanted, launch, work, nullptr);
    return;
  }
  with_interrupts([&](InterruptGuard& interrupts) { work_locally(wanted, launch, work, &interrupts); });
}

}  // namespace ringside
