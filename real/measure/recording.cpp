#include "real/measure/recording.hpp"

#include <string>

#include "real/backend/backends.hpp"
#include "real/launch/message.hpp"
#include "real/measure/point_recording.hpp"
#include "real/measure/point_work.hpp"
#include "schedule/registry.hpp"

namespace ringside {

/// Events are many, so they come without keys.
template <>
struct Codec<std::vector<TraceEvent>> : PlainCodec {
  static void write(JsonWriter& to, const std::vector<TraceEvent>& events) {
    to.begin('[');
    for (const TraceEvent& event : events) {
      ListCodec<TraceEvent>::write(to.element(), event);
    }
    to.end(']');
  }
  static std::vector<TraceEvent> read(const JsonPlace& from, Minimum /*minimum*/) {
    std::vector<TraceEvent> events;
    for (const JsonPlace& element : from.elements()) {
      events.push_back(ListCodec<TraceEvent>::read(element));
    }
    return events;
  }
};

template <>
const FieldTable<Recording>& field_table() {
  static const FieldTable<Recording> table = {
      .fields = fields<Recording>(
          required("outcome", &Recording::outcome), required("seconds", &Recording::seconds, "s"),
          required("iterations", &Recording::iterations), required("backend", &Recording::backend),
          optional("policy", &Recording::policy), optional("barrier_skew", &Recording::barrier_skew, "s"),
          required("events", &Recording::events), optional("note", &Recording::note))};
  return table;
}

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
            return unsupported(key, options.launch.backend, options.placement_of(key.ranks));
          },
      .task =
          [&](const PointKey& key) {
            return Task{kRecordPoint, message_of(request_of(key, options)), "recording " + description(key)};
          },
      .report = [&](const PointKey& key,
                    const std::string& result) { report(key, value_of<Recording>(result)); },
      .give_up =
          [&](const PointKey& key, Outcome outcome, const std::string& why) {
            report(key, {.outcome = outcome, .backend = resolve(options.launch.backend), .note = why});
          }};
  work_through(points, options.launch, work, "record");
}

}  // namespace ringside
