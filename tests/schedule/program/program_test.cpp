#include "schedule/program/program.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/program/staging.hpp"
#include "schedule/registry.hpp"
#include "tests/schedule/requests.hpp"
#include "tests/schedule/scripted.hpp"

namespace ringside {

void PrintTo(const Region& region, std::ostream* out) {
  *out << fmt::format("{}[{}, +{}]", region.buffer, region.offset, region.bytes);
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ExecutionPolicy kReceivesAhead = {.receives_ahead = true};

Program program_of(std::string_view algorithm, ScheduleRequest request, std::int64_t num_elements, Rank rank,
                   ReduceOp op = ReduceOp::sum) {
  const Schedule schedule(*find_algorithm(request.collective, algorithm), request);
  return compile(schedule, {.num_elements = num_elements, .op = op}, rank);
}

/// "recv 1 3[0, +8]" and so on: one short text per step.
std::vector<std::string> texts(const Program& program) {
  const auto text = [](const Region& region) {
    return fmt::format("{}[{}+{}]", region.buffer, region.offset, region.bytes);
  };
  std::vector<std::string> result;
  for (const Step& step : program.steps) {
    switch (step.kind) {
      case StepKind::receive:
        result.push_back(fmt::format("receive {} from {}", text(step.target), step.peer));
        break;
      case StepKind::send:
        result.push_back(fmt::format("send {} to {}", text(step.source), step.peer));
        break;
      case StepKind::wait:
        result.push_back(fmt::format("wait {}", step.transfer));
        break;
      case StepKind::copy:
        result.push_back(fmt::format("copy {} to {}", text(step.source), text(step.target)));
        break;
      case StepKind::reduce:
        result.push_back(fmt::format("reduce {} into {}", text(step.source), text(step.target)));
        break;
      case StepKind::divide:
        result.push_back(fmt::format("divide {}", text(step.target)));
        break;
    }
  }
  return result;
}

TEST(Program, OfARingOfTwoReceivesIntoTheStagingBufferThenInPlace) {
  // Buffer 0 is the message, buffer 1 the staging buffer.
  EXPECT_THAT(texts(program_of("ring", {.num_ranks = 2}, 4, 0)),
              ElementsAre("receive 1[0+8] from 1", "send 0[8+8] to 1", "wait 0",
                          // The reduced chunk is sent next, so it is reduced first.
                          "reduce 1[0+8] into 0[0+8]", "wait 1", "receive 0[8+8] from 1", "send 0[0+8] to 1",
                          "wait 5", "wait 6"));
}

TEST(Program, StartsToReceiveWhatTheSamePeerSendsNext) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 3});
  EXPECT_THAT(texts(compile(ring, {.num_elements = 6}, 0, kReceivesAhead)),
              ElementsAre("receive 1[8+8] from 2", "send 0[16+8] to 1", "receive 1[64+8] from 2", "wait 0",
                          "reduce 1[8+8] into 0[8+8]", "wait 1",
                          // Into the place of the chunk that has just gone.
                          "send 0[8+8] to 1", "receive 0[16+8] from 2", "wait 2",
                          "reduce 1[64+8] into 0[0+8]", "wait 6", "send 0[0+8] to 1", "receive 0[8+8] from 2",
                          "wait 7", "wait 11", "send 0[16+8] to 1", "wait 12", "wait 15"));
}

TEST(Program, DoesNotReceiveAheadFromAnotherPeer) {
  // Both would share the link into this rank.
  const Schedule naive(*find_algorithm(Collective::all_reduce, "naive"), {.num_ranks = 3});
  const Vector vector = {.num_elements = 6};
  EXPECT_EQ(texts(compile(naive, vector, 0, kReceivesAhead)), texts(compile(naive, vector, 0)));
}

TEST(Program, ReducesBehindLaterTransfersThatTouchOtherChunks) {
  const std::vector<std::string> steps =
      texts(program_of("pipelined_ring", {.num_ranks = 2, .segments = 2}, 8, 0));
  // The second segment travels while the first is reduced.
  const auto second_send = std::find(steps.begin(), steps.end(), "send 0[24+8] to 1");
  const auto first_reduction = std::find(steps.begin(), steps.end(), "reduce 1[0+8] into 0[0+8]");
  ASSERT_NE(second_send, steps.end());
  ASSERT_NE(first_reduction, steps.end());
  EXPECT_LT(second_send, first_reduction);
}

TEST(Program, WaitsForASendBeforeReducingIntoWhatIsSent) {
  EXPECT_THAT(texts(program_of("recursive_doubling", {.num_ranks = 2}, 2, 0)),
              ElementsAre("receive 1[0+8] from 1", "send 0[0+8] to 1", "wait 0", "wait 1",
                          "reduce 1[0+8] into 0[0+8]"));
}

TEST(Program, ReusesTheStagingBufferForOneArrivalAfterAnother) {
  const Program root = program_of("naive", {.num_ranks = 9}, 100, 0);
  EXPECT_THAT(root.buffer_bytes, ElementsAre(400, 448));  // Whole cache lines.
  const Program other = program_of("naive", {.num_ranks = 9}, 100, 3);
  EXPECT_THAT(other.buffer_bytes, ElementsAre(400, 0));
}

TEST(Program, DividesTheSumOnceWhereTheResultIsPromised) {
  EXPECT_EQ(texts(program_of("ring", {.num_ranks = 3}, 10, 1, ReduceOp::avg)).back(), "divide 0[0+40]");
  const ScheduleRequest scatter = {.collective = Collective::reduce_scatter, .num_ranks = 2};
  EXPECT_EQ(texts(program_of("ring", scatter, 10, 1, ReduceOp::avg)).back(), "divide 0[20+20]");
  const ScheduleRequest broadcast = {.collective = Collective::broadcast, .num_ranks = 2};
  const Algorithm* first =
      find_algorithm(Collective::broadcast, algorithm_names(Collective::broadcast).front());
  const Program copies = compile(Schedule(*first, broadcast), {.num_elements = 10, .op = ReduceOp::avg}, 0);
  for (const Step& step : copies.steps) {
    EXPECT_NE(step.kind, StepKind::divide) << "a broadcast has nothing to average";
  }
}

/// Steps of long messages: 2 ranks with chunks of four segments.
constexpr std::int64_t kSegmentElements = 96 << 10;
const ExecutionPolicy kSegments = {.receives_ahead = true, .segments = 4, .stride = 4, .in_flight = 4};

Program segmented_ring(Collective collective = Collective::all_reduce) {
  const Schedule ring(*find_algorithm(collective, "ring"), {.collective = collective, .num_ranks = 2});
  return compile(ring, {.num_elements = 8 * kSegmentElements}, 0, kSegments);
}

TEST(ProgramInSegments, AreReducedAndSentOnWhileOthersAreInFlight) {
  const std::vector<std::string> steps = texts(segmented_ring());
  // The first segment goes its whole way (…, reduced, sent on) before the last one is waited for.
  const auto sent_on = std::find(steps.begin(), steps.end(), "send 0[0+393216] to 1");
  ASSERT_NE(sent_on, steps.end());
  EXPECT_EQ(*(sent_on - 2), "reduce 1[0+393216] into 0[0+393216]");
  const auto last_received = std::find(steps.begin(), steps.end(), "receive 1[1179648+393216] from 1");
  ASSERT_NE(last_received, steps.end());
  const auto last_wait =
      std::find(steps.begin(), steps.end(), fmt::format("wait {}", last_received - steps.begin()));
  EXPECT_LT(last_received, sent_on);
  EXPECT_LT(sent_on, last_wait);
}

TEST(ProgramInSegments, TogetherAreTheChunk) {
  std::int64_t received = 0;
  for (const Step& step : segmented_ring().steps) {
    received += step.kind == StepKind::receive ? step.target.bytes : 0;
  }
  EXPECT_EQ(received, 4 * 8 * kSegmentElements);
}

TEST(ProgramInSegments, KeepTheStagingBufferSmall) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 2});
  const Vector vector = {.num_elements = 16 << 20};
  EXPECT_EQ(compile(ring, vector, 0).buffer_bytes.back(), 32 << 20);
  const ExecutionPolicy interleaved = {.receives_ahead = true, .segments = 86, .stride = 4, .in_flight = 4};
  EXPECT_LE(compile(ring, vector, 0, interleaved).buffer_bytes.back(), 2 << 20);
  const ExecutionPolicy consecutive = {.receives_ahead = true, .segments = 47, .stride = 47, .in_flight = 2};
  EXPECT_LE(compile(ring, vector, 0, consecutive).buffer_bytes.back(), 3 << 20);
}

TEST(Program, OfOneRankOrOfNothingIsEmpty) {
  EXPECT_THAT(program_of("ring", {.num_ranks = 1}, 10, 0).steps, IsEmpty());
  EXPECT_THAT(program_of("ring", {.num_ranks = 4}, 0, 2).steps, IsEmpty());
}

class ProgramOfEither : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(, ProgramOfEither, ::testing::Bool(),
                         [](const auto& ahead) { return ahead.param ? "ReceivesAhead" : "RoundByRound"; });

/// A move as a step at one of its ranks shows it.
using Part = std::tuple<StepKind, std::int64_t, Rank, Rank, std::int32_t, std::int32_t>;

std::multiset<Part> parts_of_moves(const Schedule& schedule, std::int64_t num_elements) {
  const ChunkLayout layout(num_elements, schedule.num_chunks());
  std::multiset<Part> parts;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    for (const Move& move : moves) {
      if (layout.elements(move.first_chunk, move.num_chunks).count == 0) {
        continue;
      }
      const auto add = [&](StepKind kind, Rank rank, Rank peer) {
        parts.emplace(kind, round, rank, peer, move.first_chunk, move.num_chunks);
      };
      if (!move.local()) {
        add(StepKind::send, move.source, move.target);
        add(StepKind::receive, move.target, move.source);
      }
      if (move.kind == MoveKind::reduce) {
        add(StepKind::reduce, move.target, move.source);
      } else if (move.local()) {
        add(StepKind::copy, move.target, move.source);
      }
    }
  }
  return parts;
}

TEST_P(ProgramOfEither, EveryStepKnowsTheMoveThatItDoes) {
  for_each_schedule(requests_of_few_ranks(), [](const Schedule& schedule) {
    for (const std::int64_t num_elements : {1, 100}) {
      std::multiset<Part> parts;
      for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
        for (const Step& step :
             compile(schedule, {.num_elements = num_elements}, rank, {.receives_ahead = GetParam()}).steps) {
          if (step.kind != StepKind::wait) {
            parts.emplace(step.kind, step.origin.round, rank, step.peer, step.origin.first_chunk,
                          step.origin.num_chunks);
          }
        }
      }
      ASSERT_EQ(parts, parts_of_moves(schedule, num_elements)) << label(schedule);
    }
  });
}

TEST(Program, TheDivisionComesAfterTheLastRound) {
  const Program program = program_of("ring", {.num_ranks = 3}, 10, 1, ReduceOp::avg);
  EXPECT_EQ(program.steps.back().origin, (StepOrigin{.round = 4, .first_chunk = 0, .num_chunks = 3}));
  EXPECT_EQ(program.steps.back().peer, 1);
}

TEST(Program, LocalMovesReadTheValuesFromBeforeTheirRound) {
  // Rank 0 hands buffer 1 to buffer 2 and buffer 0 to buffer 1, in an order that would lose buffer 1.
  const auto local = [](std::uint8_t from, std::uint8_t to) {
    return Move{.kind = MoveKind::reduce, .source_buffer = from, .target_buffer = to};
  };
  const Schedule schedule = scripted_schedule({.num_buffers = 3, .rounds = {{local(0, 1), local(1, 2)}}}, 1);
  const Program program = compile(schedule, {.num_elements = 1}, 0);
  EXPECT_THAT(texts(program), ElementsAre("reduce 1[0+4] into 2[0+4]", "reduce 0[0+4] into 1[0+4]"));
}

TEST(Program, LocalMovesIntoWhatIsBeingSentWaitForIt) {
  const Move sent = {.source = 0, .target = 1, .source_buffer = 0, .target_buffer = 1};
  const Move local = {.source_buffer = 1, .target_buffer = 0};
  const Schedule schedule = scripted_schedule({.num_buffers = 2, .rounds = {{sent, local}}}, 2);
  const Program program = compile(schedule, {.num_elements = 1}, 0);
  EXPECT_THAT(texts(program), ElementsAre("send 0[0+4] to 1", "wait 0", "copy 1[0+4] to 0[0+4]"));
}

TEST(Staging, IsAsLargeAsWhatWasEverTakenAtOnce) {
  StagingAllocator staging;
  staging.give_back(staging.take(1'000, 0));
  staging.take(10, 0);
  EXPECT_EQ(staging.peak(), 1'024);
}

}  // namespace
}  // namespace ringside
