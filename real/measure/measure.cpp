#include "real/measure/measure.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/measure/point_work.hpp"

namespace ringside {

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
      earlier->second = with_repetition(earlier->second, measurement);
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

}  // namespace ringside
