#include "real/measure/recording.hpp"

#include <string>

#include "real/backend/backends.hpp"
#include "real/measure/point_work.hpp"
#include "schedule/registry.hpp"

namespace ringside {

void record(std::span<const PointKey> points, const MeasureOptions& options, const PointRecorded& report) {
  const PointWork work = {
      .unsupported =
          [&](const PointKey& key) {
            if (key.algorithm == kNative) {
              return std::optional<std::string>("it has no schedule to be seen from outside");
            }
            if (registered(options.launch.backend).on_gpus) {
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
