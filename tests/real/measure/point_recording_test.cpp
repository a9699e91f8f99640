#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/measure/recording.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

void PrintTo(const TraceEvent& event, std::ostream* out) {
  *out << fmt::format("rank {}: kind {}, {} → {}, round {}, chunks {} +{}, {} B, {} to {}", event.rank,
                      static_cast<int>(event.kind), event.source, event.target, event.round,
                      event.first_chunk, event.num_chunks, event.bytes.value, event.start.value,
                      event.end.value);
}

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kElementBytes = 4;

Schedule schedule_of(const PointKey& key) {
  return Schedule(*find_algorithm(key.collective, key.algorithm),
                  {.collective = key.collective, .num_ranks = key.ranks});
}

std::vector<Program> programs_of(const PointKey& key) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < key.ranks; ++rank) {
    programs.push_back(compile(schedule_of(key), {.num_elements = key.bytes.value / kElementBytes}, rank));
  }
  return programs;
}

/// Step i of rank r takes from 10·i + r to 10·i + r + 4.
std::vector<std::vector<StepTime>> steady_times(const std::vector<Program>& programs) {
  std::vector<std::vector<StepTime>> times;
  for (const Program& program : programs) {
    times.emplace_back();
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const double begin = 10 * static_cast<double>(i) + program.rank;
      times.back().push_back({.begin = {begin}, .end = {begin + 4}});
    }
  }
  return times;
}

TEST(TraceEvents, ATransferLastsFromTheLaterStartToTheEndOfTheReceiversWait) {
  // Both: 0 receive, 1 send, 2 wait for 0, 3 reduce, 4 wait for 1, 5 receive, 6 send, 7 waits for 5, 8 for 6.
  const std::vector<Program> programs = programs_of({.algorithm = "ring", .ranks = 2, .bytes = {16}});
  ASSERT_EQ(programs[0].steps.size(), 9U);
  const auto transfer = [](Rank source, std::int64_t round, std::int32_t chunk, double start, double end) {
    return TraceEvent{.rank = source,
                      .source = source,
                      .target = 1 - source,
                      .round = round,
                      .start = {start},
                      .end = {end},
                      .kind = TraceKind::transfer,
                      .first_chunk = chunk,
                      .bytes = {8}};
  };
  const auto reduction = [](Rank rank, std::int32_t chunk, double start, double end) {
    return TraceEvent{.rank = rank,
                      .source = 1 - rank,
                      .target = rank,
                      .round = 0,
                      .start = {start},
                      .end = {end},
                      .kind = TraceKind::reduction,
                      .first_chunk = chunk,
                      .bytes = {8}};
  };
  EXPECT_THAT(trace_events(programs, steady_times(programs)),
              ElementsAre(transfer(0, 0, 1, 10, 25), transfer(1, 0, 0, 11, 24), reduction(0, 0, 30, 34),
                          reduction(1, 1, 31, 35), transfer(0, 1, 0, 60, 75), transfer(1, 1, 1, 61, 74)));
}

TEST(TraceEvents, ClocksThatDisagreeNeverMakeAnEventEndBeforeItStarts) {
  const std::vector<Program> programs = programs_of(
      {.collective = Collective::broadcast, .algorithm = "binomial_tree", .ranks = 2, .bytes = {8}});
  std::vector<std::vector<StepTime>> times = steady_times(programs);
  for (StepTime& time : times[1]) {
    time.begin.value -= 1000;
    time.end.value -= 1000;
  }
  const std::vector<TraceEvent> events = trace_events(programs, times);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].start, events[0].end);
}

TEST(TraceEvents, WhatARankDoesAloneIsAReductionOfWhatCameOrLocal) {
  const Region first = {.buffer = 0, .offset = 0, .bytes = 8};
  const Region second = {.buffer = 0, .offset = 8, .bytes = 12};
  const Region staging = {.buffer = 1, .offset = 0, .bytes = 8};
  Program program = {.rank = 3, .num_ranks = 4, .buffer_bytes = {20, 8}};
  const auto add = [&](StepKind kind, Rank peer, const Region& source, const Region& target) {
    const auto round = static_cast<std::int64_t>(program.steps.size());
    program.add({.kind = kind,
                 .peer = peer,
                 .source = source,
                 .target = target,
                 .origin = {.round = round, .first_chunk = 5, .num_chunks = 2}});
  };
  add(StepKind::copy, 3, first, second);
  add(StepKind::reduce, 3, first, second);
  add(StepKind::reduce, 1, staging, first);
  add(StepKind::divide, 3, {}, second);
  std::vector<TraceEvent> due;
  for (const auto& [peer, kind, bytes] :
       std::vector<std::tuple<Rank, TraceKind, std::int64_t>>{{3, TraceKind::local, 12},
                                                              {3, TraceKind::local, 12},
                                                              {1, TraceKind::reduction, 8},
                                                              {3, TraceKind::reduction, 12}}) {
    const auto step = static_cast<double>(due.size());
    due.push_back({.rank = 3,
                   .source = peer,
                   .target = 3,
                   .round = static_cast<std::int64_t>(due.size()),
                   .start = {10 * step + 3},
                   .end = {10 * step + 7},
                   .kind = kind,
                   .first_chunk = 5,
                   .num_chunks = 2,
                   .bytes = {bytes}});
  }
  const std::vector<Program> programs = {program};
  EXPECT_EQ(trace_events(programs, steady_times(programs)), due);
  EXPECT_THROW(trace_events(programs, {}), Bug);
  std::vector<std::vector<StepTime>> too_few = steady_times(programs);
  too_few[0].pop_back();
  EXPECT_THROW(trace_events(programs, too_few), Bug);
}

TEST(TraceEvents, AMessageThatNobodyReceivesIsABug) {
  const std::vector<Program> programs = programs_of({.algorithm = "ring", .ranks = 2, .bytes = {16}});
  const std::vector<Program> alone = {programs[0]};
  EXPECT_THROW(trace_events(alone, steady_times(alone)), Bug);
}

// ---- Real runs -----------------------------------------------------------------------------------------

MeasureOptions brief() {
  return {.launch = {.backend = Backend::threads, .timeout = 5s},
          .budget_per_point = {0.002},
          .max_iterations = 6};
}

std::vector<Recording> recorded(const std::vector<PointKey>& points) {
  std::vector<Recording> recordings;
  record(points, brief(), [&](const PointKey& key, const Recording& recording) {
    EXPECT_EQ(key, points[recordings.size()]);
    recordings.push_back(recording);
  });
  return recordings;
}

/// Round, source, target, first chunk, number of chunks, bytes.
using Message = std::tuple<std::int64_t, Rank, Rank, std::int32_t, std::int32_t, std::int64_t>;

std::multiset<Message> messages_of(const Schedule& schedule, std::int64_t num_elements, bool reduced) {
  const ChunkLayout layout(num_elements, schedule.num_chunks());
  std::multiset<Message> messages;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    for (const Move& move : moves) {
      const std::int64_t bytes = kElementBytes * layout.elements(move.first_chunk, move.num_chunks).count;
      if (bytes > 0 && !move.local() && (!reduced || move.kind == MoveKind::reduce)) {
        messages.emplace(round, move.source, move.target, move.first_chunk, move.num_chunks, bytes);
      }
    }
  }
  return messages;
}

std::multiset<Message> messages_in(const std::vector<TraceEvent>& events, TraceKind kind) {
  std::multiset<Message> messages;
  for (const TraceEvent& event : events) {
    if (event.kind == kind) {
      messages.emplace(event.round, event.source, event.target, event.first_chunk, event.num_chunks,
                       event.bytes.value);
    }
  }
  return messages;
}

/// What one rank does itself, it does one after another.
void expect_no_overlap_of_own_work(const std::vector<TraceEvent>& events) {
  std::map<Rank, Seconds> free;
  for (const TraceEvent& event : events) {
    if (event.kind != TraceKind::transfer) {
      EXPECT_GE(event.start, free[event.rank]);
      free[event.rank] = event.end;
    }
  }
}

void expect_times_within_the_run(const Recording& recording) {
  ASSERT_TRUE(recording.barrier_skew);
  Seconds earlier;
  for (const TraceEvent& event : recording.events) {
    EXPECT_GE(event.start, earlier) << "events are in order";
    EXPECT_LE(event.start, event.end);
    // The rank that left the barrier last still needs no longer than the slowest one.
    EXPECT_LE(event.end.value, (recording.seconds + *recording.barrier_skew).value + 1e-9);
    earlier = event.start;
  }
}

TEST(Recording, ShowsEveryTransferAndReductionOfEveryAlgorithm) {
  std::vector<PointKey> points;
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const int ranks : {1, 4, 5}) {
      const PointKey point = {.collective = algorithm.collective,
                              .algorithm = std::string(algorithm.name),
                              .ranks = ranks,
                              .bytes = {404}};
      if (!unsupported(point, Backend::threads)) {
        points.push_back(point);
      }
    }
  }
  const std::vector<Recording> recordings = recorded(points);
  ASSERT_EQ(recordings.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    SCOPED_TRACE(
        fmt::format("{} {}, {} ranks", name(points[i].collective), points[i].algorithm, points[i].ranks));
    const Recording& recording = recordings[i];
    ASSERT_EQ(recording.outcome, Outcome::ok) << recording.note;
    EXPECT_GE(recording.iterations, 5);
    EXPECT_EQ(recording.backend, Backend::threads);
    const Schedule schedule = schedule_of(points[i]);
    const std::int64_t elements =
        buffer_of_message(points[i].collective, points[i].ranks, points[i].bytes).value / 4;
    EXPECT_EQ(messages_in(recording.events, TraceKind::transfer), messages_of(schedule, elements, false));
    EXPECT_EQ(messages_in(recording.events, TraceKind::reduction), messages_of(schedule, elements, true));
    expect_no_overlap_of_own_work(recording.events);
    expect_times_within_the_run(recording);
  }
}

TEST(Recording, ShowsTheDivisionOfAnAverage) {
  PointKey point = {.algorithm = "ring", .ranks = 2, .bytes = {8}};
  point.op = ReduceOp::avg;
  const std::vector<TraceEvent> events = recorded({point}).at(0).events;
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const TraceEvent& event) {
                            return event.kind == TraceKind::reduction && event.round == 2 &&
                                   event.source == event.target;
                          }),
            2);
}

TEST(Recording, ShowsRanksInTheOrderInWhichTheyRan) {
  MeasureOptions options = brief();
  options.placements[4] = {.ranks_per_node = 4, .order = {0, 2, 1, 3}};
  const std::vector<PointKey> points = {{.algorithm = "ring", .ranks = 4, .bytes = {64}}};
  std::set<std::pair<Rank, Rank>> pairs;
  record(points, options, [&](const PointKey&, const Recording& recording) {
    for (const TraceEvent& event : recording.events) {
      if (event.kind == TraceKind::transfer) {
        pairs.insert({event.source, event.target});
      }
    }
  });
  EXPECT_EQ(pairs, (std::set<std::pair<Rank, Rank>>{{0, 2}, {2, 1}, {1, 3}, {3, 0}}));
}

TEST(Recording, ShowsTheLowerMedianCall) {
  EXPECT_EQ(index_of_median({7}), 0U);
  EXPECT_EQ(index_of_median({3, 1, 2}), 2U);
  EXPECT_EQ(index_of_median({4, 1, 3, 2}), 3U);
}

TEST(Recording, CountsFromTheFirstStartWhereRanksShareAClock) {
  const std::vector<double> starts = {5, 3, 4};
  const auto zeros = [&](const std::vector<double>& clocks) {
    std::vector<double> values;
    for (const Seconds zero : zeros_of(starts, clocks)) {
      values.push_back(zero.value);
    }
    return values;
  };
  EXPECT_THAT(zeros({9, 9, 9}), ElementsAre(3, 3, 3));
  EXPECT_THAT(zeros({9, 9, 8}), ElementsAre(5, 3, 4));
}

TEST(Recording, OfTheBackendsOwnAllReduceIsUnsupported) {
  const Recording recording = recorded({{.algorithm = "native", .ranks = 2, .bytes = {8}}}).at(0);
  EXPECT_EQ(recording.outcome, Outcome::unsupported);
  EXPECT_THAT(recording.note, HasSubstr("no schedule"));
  EXPECT_THAT(recording.events, IsEmpty());
}

}  // namespace
}  // namespace ringside
