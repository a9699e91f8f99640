#include "real/program.hpp"

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
#include "real/rank_rounds.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/registry.hpp"
#include "schedule/slices.hpp"
#include "tests/schedule/requests.hpp"
#include "tests/schedule/scripted.hpp"

namespace ringside {

void PrintTo(const Region& region, std::ostream* out) {
  *out << fmt::format("{}[{}, +{}]", region.buffer, region.offset, region.bytes);
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TEST(Program, OfARingOfTwoReceivesIntoLandingThenInPlace) {
  // Buffer 0 is the message, buffer 1 the landing.
  EXPECT_THAT(texts(program_of("ring", {.num_ranks = 2}, 4, 0)),
              ElementsAre("receive 1[0+8] from 1", "send 0[8+8] to 1", "wait 0",
                          // The reduced chunk is sent next, so it is reduced first.
                          "reduce 1[0+8] into 0[0+8]", "wait 1", "receive 0[8+8] from 1", "send 0[0+8] to 1",
                          "wait 5", "wait 6"));
}

TEST(Program, StartsToReceiveWhatTheSamePeerSendsNext) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 3});
  EXPECT_THAT(texts(compile(ring, {.num_elements = 6}, 0, Pacing::receive_ahead)),
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
  EXPECT_EQ(texts(compile(naive, vector, 0, Pacing::receive_ahead)),
            texts(compile(naive, vector, 0, Pacing::round_by_round)));
}

TEST(Program, ReducesBehindLaterTransfersThatTouchOtherChunks) {
  const std::vector<std::string> steps =
      texts(program_of("pipelined_ring", {.num_ranks = 2, .slices = 2}, 8, 0));
  // The second slice travels while the first is reduced.
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

TEST(Program, ReusesTheLandingForOneArrivalAfterAnother) {
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

/// Steps of long messages: 2 ranks with chunks of four slices.
constexpr std::int64_t kSliceElements = 96 << 10;

Program sliced_ring(Collective collective = Collective::all_reduce) {
  const Schedule ring(*find_algorithm(collective, "ring"), {.collective = collective, .num_ranks = 2});
  return compile(ring, {.num_elements = 8 * kSliceElements}, 0, Pacing::in_slices_on_own_cores);
}

TEST(Slices, AreReducedAndSentOnWhileOthersAreInFlight) {
  const std::vector<std::string> steps = texts(sliced_ring());
  // The first slice goes its whole way (…, reduced, sent on) before the last one is waited for.
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

TEST(Slices, TogetherAreTheChunk) {
  std::int64_t received = 0;
  for (const Step& step : sliced_ring().steps) {
    received += step.kind == StepKind::receive ? step.target.bytes : 0;
  }
  EXPECT_EQ(received, 4 * 8 * kSliceElements);
}

TEST(Slices, KeepTheLandingSmall) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 2});
  const Vector vector = {.num_elements = 16 << 20};
  EXPECT_EQ(compile(ring, vector, 0).buffer_bytes.back(), 32 << 20);
  EXPECT_LE(compile(ring, vector, 0, Pacing::in_slices_on_own_cores).buffer_bytes.back(), 2 << 20);
  EXPECT_LE(compile(ring, vector, 0, Pacing::in_slices_on_shared_cores).buffer_bytes.back(), 3 << 20);
}

TEST(Slices, AreForRingsWithLongMessages) {
  std::set<std::string> sliced;
  for (const std::string& algorithm : algorithm_names(Collective::all_reduce)) {
    const Schedule schedule(*find_algorithm(Collective::all_reduce, algorithm), {.num_ranks = 4});
    if (slicing_of(schedule, {64 << 20}, Cores::own).count > 1) {
      sliced.insert(algorithm);
    }
    EXPECT_EQ(slicing_of(schedule, {1 << 20}, Cores::own), Slicing()) << algorithm;
  }
  // Without nodes `hierarchical` is a ring.
  EXPECT_THAT(sliced, ElementsAre("hierarchical", "pipelined_ring", "ring"));
}

TEST(Program, OfOneRankOrOfNothingIsEmpty) {
  EXPECT_THAT(program_of("ring", {.num_ranks = 1}, 10, 0).steps, IsEmpty());
  EXPECT_THAT(program_of("ring", {.num_ranks = 4}, 0, 2).steps, IsEmpty());
}

/// Bytes of the messages from one rank to another, in order.
using Messages = std::map<std::pair<Rank, Rank>, std::vector<std::int64_t>>;

class ProgramOfEither : public ::testing::TestWithParam<Pacing> {};

INSTANTIATE_TEST_SUITE_P(, ProgramOfEither, ::testing::Values(Pacing::round_by_round, Pacing::receive_ahead),
                         [](const auto& mode) {
                           return mode.param == Pacing::round_by_round ? "RoundByRound" : "ReceiveAhead";
                         });

TEST_P(ProgramOfEither, SendsAndReceivesOfAllRanksMatchInOrderAndSize) {
  for_each_schedule(requests_of_few_ranks(), [](const Schedule& schedule) {
    for (const std::int64_t num_elements : {0, 1, 7, 100}) {
      Messages sent;
      Messages received;
      for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
        for (const Step& step : compile(schedule, {.num_elements = num_elements}, rank, GetParam()).steps) {
          if (step.kind == StepKind::send) {
            ASSERT_GT(step.source.bytes, 0) << label(schedule);
            sent[{rank, step.peer}].push_back(step.source.bytes);
          } else if (step.kind == StepKind::receive) {
            received[{step.peer, rank}].push_back(step.target.bytes);
          }
        }
      }
      ASSERT_EQ(sent, received) << label(schedule) << ", " << num_elements << " elements";
    }
  });
}

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
        for (const Step& step : compile(schedule, {.num_elements = num_elements}, rank, GetParam()).steps) {
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

/// Neither is read what arrives, nor written what leaves.
void expect_nothing_in_flight_is_touched(const Program& program, const std::string& label) {
  std::map<std::int32_t, Step> in_flight;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind == StepKind::wait) {
      ASSERT_EQ(in_flight.erase(step.transfer), 1U) << label;
      continue;
    }
    for (const auto& [index, transfer] : in_flight) {
      const bool receives = transfer.kind == StepKind::receive;
      const Region& busy = receives ? transfer.target : transfer.source;
      ASSERT_FALSE(receives && overlap(step.source, busy)) << label << ", step " << i;
      ASSERT_FALSE(overlap(step.target, busy)) << label << ", step " << i;
    }
    if (step.kind == StepKind::send || step.kind == StepKind::receive) {
      in_flight[static_cast<std::int32_t>(i)] = step;
    }
  }
  ASSERT_TRUE(in_flight.empty()) << label;
}

TEST_P(ProgramOfEither, TouchesNothingThatIsInFlight) {
  for_each_schedule(requests_of_few_ranks(), [](const Schedule& schedule) {
    for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
      expect_nothing_in_flight_is_touched(compile(schedule, {.num_elements = 40}, rank, GetParam()),
                                          label(schedule));
    }
  });
}

TEST(Slices, TouchNothingThatIsInFlight) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
    for (const int n : {2, 3, 8}) {
      const Schedule ring(*find_algorithm(collective, "ring"), {.collective = collective, .num_ranks = n});
      for (Rank rank = 0; rank < n; ++rank) {
        for (const Pacing pacing : {Pacing::in_slices_on_own_cores, Pacing::in_slices_on_shared_cores}) {
          expect_nothing_in_flight_is_touched(compile(ring, {.num_elements = n * 1'000'001LL}, rank, pacing),
                                              label(ring));
        }
      }
    }
  }
}

TEST(Program, LocalMovesReadTheValuesFromBeforeTheirRound) {
  // Rank 0 hands buffer 1 to buffer 2 and buffer 0 to buffer 1, in an order that would lose buffer 1.
  const auto local = [](std::uint8_t from, std::uint8_t to) {
    return Move{.kind = MoveKind::reduce, .source_buffer = from, .target_buffer = to};
  };
  const Schedule schedule = scripted_schedule(
      {.shape = {.num_buffers = 3, .num_rounds = 1}, .rounds = {{local(0, 1), local(1, 2)}}}, 1);
  const Program program = compile(schedule, {.num_elements = 1}, 0);
  EXPECT_THAT(texts(program), ElementsAre("reduce 1[0+4] into 2[0+4]", "reduce 0[0+4] into 1[0+4]"));
}

}  // namespace
}  // namespace ringside
