#include "real/measure/recording.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "common/error.hpp"
#include "common/mapped.hpp"
#include "real/backend/backends.hpp"
#include "real/launch/message.hpp"
#include "real/system/this_machine.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside {
namespace {

/// So many calls are kept, of which one is shown.
constexpr int kMaxCalls = 25;

/// When one rank left the barrier, and what it did then.
struct CallTimes {
  Seconds start;
  std::vector<StepTime> steps;
};

/// The times of the last calls; memory for all of them is taken beforehand.
class CallLog {
 public:
  explicit CallLog(std::size_t num_steps)
      : calls_(kMaxCalls, CallTimes{.start = {}, .steps = std::vector<StepTime>(num_steps)}) {}

  /// Returns the seconds that it took.
  double run(Executor& executor) {
    CallTimes& call = calls_[next_++ % calls_.size()];
    call.start = steady_now();
    executor.run(call.steps);
    return (steady_now() - call.start).value;
  }

  /// The call before which there were `calls_ago` later ones, counted from the last (0).
  const CallTimes& call(std::size_t calls_ago) const {
    RINGSIDE_CHECK(calls_ago < std::min(next_, calls_.size()), "so many calls are not kept");
    return calls_[(next_ - 1 - calls_ago) % calls_.size()];
  }

 private:
  std::vector<CallTimes> calls_;
  std::size_t next_ = 0;
};

/// Equal where processes run on one kernel, and so share its steady clock.
double clock_identity(Rank rank) { return identity_on_this_machine().value_or(-1.0 - rank); }

bool share_one_clock(std::span<const double> clocks) {
  return std::adjacent_find(clocks.begin(), clocks.end(), std::not_equal_to<>()) == clocks.end();
}

std::vector<double> flattened(const CallTimes& call) {
  std::vector<double> values = {call.start.value};
  for (const StepTime& step : call.steps) {
    values.push_back(step.begin.value);
    values.push_back(step.end.value);
  }
  return values;
}

/// The steps of flattened(), counted from `zero`.
std::vector<StepTime> steps_since(Seconds zero, const std::vector<double>& values) {
  std::vector<StepTime> steps;
  for (std::size_t i = 1; i + 1 < values.size(); i += 2) {
    steps.push_back({.begin = Seconds{values[i]} - zero, .end = Seconds{values[i + 1]} - zero});
  }
  return steps;
}

std::vector<Program> programs_of(const PointRequest& request, const CollectiveCall& call,
                                 const ExecutionRules& rules) {
  const PointKey& key = request.key;
  const Schedule schedule = schedule_of(key, request.placement);
  const ExecutionPolicy policy = policy_for(schedule, buffer_of(key), rules);
  std::vector<Program> programs;
  for (Rank rank = 0; rank < key.ranks; ++rank) {
    programs.push_back(compile(
        schedule, {.num_elements = call.num_elements, .dtype = key.dtype, .op = key.op}, rank, policy));
  }
  return programs;
}

/// Gathers what all ranks did in one call and sets what the recording says of it.
void gather_events(const PointRequest& request, const CollectiveCall& call, const CallTimes& own,
                   const RankBackend& backend, Coordination& coordination, Recording& recording) {
  const std::vector<double> starts = coordination.all_values(own.start.value);
  const std::vector<double> clocks = coordination.all_values(clock_identity(backend.transport->rank()));
  const std::vector<std::vector<double>> all = coordination.gathered(flattened(own));
  if (share_one_clock(clocks)) {
    const auto [first, last] = std::minmax_element(starts.begin(), starts.end());
    recording.barrier_skew = Seconds{*last} - Seconds{*first};
  }
  const std::vector<Seconds> zeros = zeros_of(starts, clocks);
  std::vector<std::vector<StepTime>> times;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    times.push_back(steps_since(zeros[rank], all[rank]));
  }
  if (!times.empty()) {
    recording.events = trace_events(programs_of(request, call, backend.rules()), times);
  }
}

/// One side of transfers that have no other side yet, by source and target, in order.
class OpenReceives {
 public:
  struct Side {
    Seconds start;
    Seconds end;
  };

  void add(Rank source, Rank target, const Side& side) { sides_[{source, target}].push_back(side); }

  Side take(Rank source, Rank target) {
    std::deque<Side>& sides = sides_[{source, target}];
    RINGSIDE_CHECK(!sides.empty(), "a message is sent that nobody receives");
    const Side side = sides.front();
    sides.pop_front();
    return side;
  }

 private:
  std::map<std::pair<Rank, Rank>, std::deque<Side>> sides_;
};

/// When the transfer that step `index` started was waited for.
std::vector<Seconds> ends_of_transfers(const Program& program, const std::vector<StepTime>& times) {
  std::vector<Seconds> ends(program.steps.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (program.steps[i].kind == StepKind::wait) {
      ends[static_cast<std::size_t>(program.steps[i].transfer)] = times[i].end;
    }
  }
  return ends;
}

OpenReceives receives_of(std::span<const Program> programs, std::span<const std::vector<StepTime>> times) {
  OpenReceives receives;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const Program& program = programs[rank];
    const std::vector<Seconds> ends = ends_of_transfers(program, times[rank]);
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      if (program.steps[i].kind == StepKind::receive) {
        receives.add(program.steps[i].peer, program.rank, {.start = times[rank][i].begin, .end = ends[i]});
      }
    }
  }
  return receives;
}

/// A step that moves nothing between ranks.
TraceEvent local_event(const Program& program, const Step& step, const StepTime& time) {
  const bool reduces = step.kind == StepKind::divide ||
                       (step.kind == StepKind::reduce && step.source.buffer == program.staging());
  return {.rank = program.rank,
          .source = step.peer,
          .target = program.rank,
          .round = step.origin.round,
          .start = time.begin,
          .end = time.end,
          .kind = reduces ? TraceKind::reduction : TraceKind::local,
          .first_chunk = step.origin.first_chunk,
          .num_chunks = step.origin.num_chunks,
          .bytes = {step.target.bytes}};
}

}  // namespace

FieldTable<Recording> table_of(const Recording* /*any*/) {
  return fields(
      required<&Recording::outcome, &Recording::seconds, &Recording::iterations, &Recording::backend>(),
      optional<&Recording::policy, &Recording::barrier_skew>(), required<&Recording::events>(),
      optional<&Recording::note>());
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

const TaskKind kRecordPoint = {"record", run_task<PointRequest, Recording, record_point>};

std::size_t index_of_median(const std::vector<double>& samples) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
  std::nth_element(order.begin(), middle, order.end(),
                   [&](std::size_t a, std::size_t b) { return samples[a] < samples[b]; });
  return *middle;
}

std::vector<Seconds> zeros_of(std::span<const double> starts, std::span<const double> clocks) {
  return mapped(starts, [&](double start) {
    return Seconds{share_one_clock(clocks) ? *std::ranges::min_element(starts) : start};
  });
}

std::vector<TraceEvent> trace_events(std::span<const Program> programs,
                                     std::span<const std::vector<StepTime>> times) {
  RINGSIDE_CHECK(programs.size() == times.size(), "every rank has its times");
  OpenReceives receives = receives_of(programs, times);
  std::vector<TraceEvent> events;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const Program& program = programs[rank];
    RINGSIDE_CHECK(program.steps.size() == times[rank].size(), "every step has its time");
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const Step& step = program.steps[i];
      if (step.kind == StepKind::send) {
        const OpenReceives::Side receive = receives.take(program.rank, step.peer);
        const Seconds start = std::max(times[rank][i].begin, receive.start);
        events.push_back({.rank = program.rank,
                          .source = program.rank,
                          .target = step.peer,
                          .round = step.origin.round,
                          .start = start,
                          .end = std::max(start, receive.end),
                          .kind = TraceKind::transfer,
                          .first_chunk = step.origin.first_chunk,
                          .num_chunks = step.origin.num_chunks,
                          .bytes = {step.source.bytes}});
      } else if (step.kind != StepKind::receive && step.kind != StepKind::wait) {
        events.push_back(local_event(program, step, times[rank][i]));
      }
    }
  }
  std::ranges::stable_sort(events, [](const TraceEvent& a, const TraceEvent& b) {
    return std::tie(a.start, a.rank) < std::tie(b.start, b.rank);
  });
  return events;
}

Recording record_point(const PointRequest& request, const RankBackend& backend, Coordination& coordination) {
  PointRequest kept = request;
  kept.check_every_call = true;
  kept.limits.max_calls = std::min(kept.limits.max_calls, kMaxCalls);
  std::optional<CallLog> log;  // Made by the first call, which is not timed.
  const TimedPoint timed = time_point(kept, backend, coordination, [&](ReadyCall& ready) {
    RINGSIDE_CHECK(ready.executor() != nullptr, "only schedules on CPUs are recorded");
    if (!log) {
      log.emplace(ready.executor()->program().steps.size());
    }
    return log->run(*ready.executor());
  });
  Recording recording = {.outcome = timed.outcome, .backend = backend.backend, .note = timed.note};
  if (timed.outcome != Outcome::ok) {
    return recording;
  }
  recording.policy = timed.policy;
  const std::vector<double>& samples = timed.samples;
  const std::size_t shown = index_of_median(samples);
  recording.seconds = {samples[shown]};
  recording.iterations = static_cast<int>(samples.size());
  gather_events(request, timed.call, log->call(samples.size() - 1 - shown), backend, coordination, recording);
  return recording;
}

}  // namespace ringside
