#include "real/measure.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/backends.hpp"
#include "real/interrupt.hpp"
#include "real/memory_check.hpp"
#include "real/ranks.hpp"
#include "real/this_machine.hpp"

namespace ringside {
namespace {

void require_backend(Backend backend) {
  if (const std::optional<std::string> reason = unavailable(backend)) {
    throw Error(ErrorKind::environment, *reason);
  }
}

/// Everything that can be refused is refused before the first rank starts.
void require_all_points(std::span<const PointKey> points, Backend backend) {
  const Bytes available = available_memory();
  for (const PointKey& key : points) {
    if (!unsupported(key, backend)) {
      require_memory(key, available);
    }
  }
}

Measurement without_time(Outcome outcome, Backend backend, std::string note) {
  return {.outcome = outcome, .backend = backend, .note = std::move(note)};
}

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

Measurement measure_with(RankPool& pool, const PointKey& key, const MeasureOptions& options) {
  try {
    return *pool.get(key.ranks).run(PointJob{.key = key, .options = options}).measurement;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failed) {
      throw;
    }
    pool.drop(key.ranks);  // After a failure of their own, ranks are of no more use.
    return without_time(Outcome::failed, resolve(options.launch.backend), error.what());
  }
}

void measure_locally(std::span<const PointKey> points, const MeasureOptions& options,
                     const PointMeasured& report, InterruptGuard& interrupts) {
  require_all_points(points, options.launch.backend);
  RankPool pool(options.launch, interrupts);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PointKey& key = points[i];
    if (const std::optional<std::string> reason = unsupported(key, options.launch.backend)) {
      report(key, without_time(Outcome::unsupported, resolve(options.launch.backend), *reason));
    } else {
      report(key, measure_with(pool, key, options));
    }
    const auto later = points.subspan(i + 1);
    if (std::none_of(later.begin(), later.end(),
                     [&](const PointKey& other) { return other.ranks == key.ranks; })) {
      pool.drop(key.ranks);
    }
  }
}

void measure_as_rank(const ExternalRank& external, std::span<const PointKey> points,
                     const MeasureOptions& options, const PointMeasured& report) {
  const std::unique_ptr<Ranks> ranks = join_external(external, options.launch, "measure");
  for (const PointKey& key : points) {
    Measurement measurement;
    std::optional<std::string> reason = unsupported(key, options.launch.backend);
    if (!reason && key.ranks != external.num_ranks) {
      reason = fmt::format("{} started {} ranks", external.launcher, external.num_ranks);
    }
    if (reason) {
      measurement = without_time(Outcome::unsupported, resolve(options.launch.backend), *reason);
    } else {
      measurement = *ranks->run(PointJob{.key = key, .options = options}).measurement;
    }
    if (external.rank == 0) {
      report(key, measurement);
    }
  }
}

}  // namespace

void measure(std::span<const PointKey> points, const MeasureOptions& options, const PointMeasured& report) {
  require_backend(options.launch.backend);
  const std::optional<ExternalRank> external = external_rank();
  if (external && options.launch.backend != Backend::threads) {
    measure_as_rank(*external, points, options, report);
    return;
  }
  with_interrupts([&](InterruptGuard& interrupts) { measure_locally(points, options, report, interrupts); });
}

}  // namespace ringside
