#include "real/measure/measure.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/message.hpp"
#include "real/launch/ranks.hpp"
#include "real/measure/memory_check.hpp"
#include "real/measure/point_measurement.hpp"

namespace ringside {
namespace {

int repetitions_made(const Measurement& measurement) {
  return std::max(1, static_cast<int>(measurement.repetitions.size()));
}

/// Whether one of all_repetitions() is. An earlier run has finished the first ones; what it could not measure
/// cannot be measured now.
bool is_missing(std::size_t index, std::span<const PointKey> points, const MeasureOptions& options) {
  const PointKey& key = points[index % points.size()];
  const int number = static_cast<int>(index / points.size());
  const auto earlier = options.earlier.find(key);
  if (earlier == options.earlier.end()) {
    return true;
  }
  return earlier->second.outcome == Outcome::ok && repetitions_made(earlier->second) <= number;
}

/// The points in each repetition of the whole list.
std::vector<PointKey> all_repetitions(std::span<const PointKey> points, const MeasureOptions& options) {
  RINGSIDE_CHECK(options.repetitions > 0, "points are measured at least once");
  std::vector<PointKey> all;
  for (int number = 0; number < options.repetitions_now.value_or(options.repetitions); ++number) {
    all.insert(all.end(), points.begin(), points.end());
  }
  return all;
}

/// Ranks by their number, started when first needed.
class RankPool {
 public:
  explicit RankPool(const StartRanks& start) : start_(start) {}

  Ranks& get(int num_ranks) {
    std::unique_ptr<Ranks>& ranks = ranks_[num_ranks];
    if (!ranks) {
      ranks = start_(num_ranks);
    }
    return *ranks;
  }
  void drop(int num_ranks) { ranks_.erase(num_ranks); }

 private:
  const StartRanks& start_;
  std::map<int, std::unique_ptr<Ranks>> ranks_;
};

/// The result of the ranks; none, and the point is given up, when they failed.
std::optional<std::string> run_with(RankPool& pool, const PointKey& key, const PointWork& work) {
  try {
    return pool.get(key.ranks).run(work.task(key));
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

void work_locally(const StartRanks& start, std::span<const PointKey> points, const PointWork& work) {
  RankPool pool(start);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PointKey& key = points[i];
    if (const std::optional<std::string> reason = work.unsupported(key)) {
      work.give_up(key, Outcome::unsupported, *reason);
    } else if (const std::optional<std::string> result = run_with(pool, key, work)) {
      work.report(key, *result);
    }
    const auto later = points.subspan(i + 1);
    if (std::ranges::none_of(later, [&](const PointKey& other) { return other.ranks == key.ranks; })) {
      pool.drop(key.ranks);
    }
  }
}

void work_as_rank(const StartRanks& start, const ExternalRank& external, std::span<const PointKey> points,
                  const PointWork& work) {
  const std::unique_ptr<Ranks> ranks = start(external.num_ranks);
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
    const std::optional<std::string> result =
        reason ? std::nullopt : std::optional(ranks->run(work.task(key)));
    if (external.rank != 0) {
      continue;
    }
    if (result) {
      work.report(key, *result);
    } else {
      work.give_up(key, Outcome::unsupported, *reason);
    }
  }
}

}  // namespace

std::vector<PointKey> missing_repetitions(std::span<const PointKey> points, const MeasureOptions& options) {
  const PointWork work = {.wanted = [&](std::size_t index) { return is_missing(index, points, options); }};
  return wanted_points(all_repetitions(points, options), work);
}

MeasureOptions options_of_repetition(const MeasureOptions& options) {
  MeasureOptions one = options;
  one.budget_per_point = {options.budget_per_point.value / options.repetitions};
  one.min_iterations = (options.min_iterations + options.repetitions - 1) / options.repetitions;
  one.earlier.clear();
  one.repetitions_now.reset();
  return one;
}

void measure(std::span<const PointKey> points, const MeasureOptions& options, const PointMeasured& report,
             const PointMeasured& made) {
  const MeasureOptions of_repetition = options_of_repetition(options);
  std::map<PointKey, Measurement> known = options.earlier;
  const auto add = [&](const PointKey& key, const Measurement& measurement) {
    if (made) {
      made(key, measurement);
    }
    const auto [point, first] = known.try_emplace(key, measurement);
    if (!first) {
      point->second = with_repetition(point->second, measurement);
    }
    report(key, point->second);
  };
  const PointWork work = {
      .wanted = [&](std::size_t index) { return is_missing(index, points, options); },
      .unsupported =
          [&](const PointKey& key) {
            return unsupported(key, options.launch.backend, options.placement_of(key.ranks));
          },
      .task =
          [&](const PointKey& key) {
            return Task{kMeasurePoint, message_of(request_of(key, of_repetition)),
                        "running " + description(key)};
          },
      .report = [&](const PointKey& key,
                    const std::string& result) { add(key, value_of<Measurement>(result)); },
      .give_up =
          [&](const PointKey& key, Outcome outcome, const std::string& why) {
            add(key, {.outcome = outcome, .backend = resolve(options.launch.backend), .note = why});
          }};
  work_through(all_repetitions(points, options), options.launch, work, "measure");
}

void work_through(std::span<const PointKey> points, const LaunchOptions& launch, const PointWork& work,
                  const std::string& purpose) {
  with_ranks(launch, purpose, [&](const StartRanks& start) {
    if (const std::optional<ExternalRank> external = external_rank(launch)) {
      work_as_rank(start, *external, points, work);
      return;
    }
    const std::vector<PointKey> wanted = wanted_points(points, work);
    require_points(wanted, launch);
    work_locally(start, wanted, work);
  });
}

}  // namespace ringside
