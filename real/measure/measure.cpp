#include "real/measure/measure.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/message.hpp"
#include "real/measure/point_measurement.hpp"
#include "real/measure/point_work.hpp"

namespace ringside {
namespace {

/// A point in one repetition of the whole list.
struct Repetition {
  PointKey key;
  bool missing = true;
};

int repetitions_made(const Measurement& measurement) {
  return std::max(1, static_cast<int>(measurement.repetitions.size()));
}

/// An earlier run has finished the first repetitions; what it could not measure cannot be measured now.
bool is_missing(const PointKey& key, int number, const MeasureOptions& options) {
  const auto earlier = options.earlier.find(key);
  if (earlier == options.earlier.end()) {
    return true;
  }
  return earlier->second.outcome == Outcome::ok && repetitions_made(earlier->second) <= number;
}

std::vector<Repetition> all_repetitions(std::span<const PointKey> points, const MeasureOptions& options) {
  RINGSIDE_CHECK(options.repetitions > 0, "points are measured at least once");
  std::vector<Repetition> all;
  for (int number = 0; number < options.repetitions_now.value_or(options.repetitions); ++number) {
    for (const PointKey& key : points) {
      all.push_back({.key = key, .missing = is_missing(key, number, options)});
    }
  }
  return all;
}

}  // namespace

std::vector<PointKey> missing_repetitions(std::span<const PointKey> points, const MeasureOptions& options) {
  std::vector<PointKey> missing;
  for (const Repetition& repetition : all_repetitions(points, options)) {
    if (repetition.missing) {
      missing.push_back(repetition.key);
    }
  }
  return missing;
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
  const std::vector<Repetition> all = all_repetitions(points, options);
  std::vector<PointKey> keys;
  for (const Repetition& repetition : all) {
    keys.push_back(repetition.key);
  }
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
      .wanted = [&](std::size_t index) { return all[index].missing; },
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
  work_through(keys, options.launch, work, "measure");
}

}  // namespace ringside
