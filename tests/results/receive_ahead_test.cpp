#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "real/program.hpp"
#include "schedule/registry.hpp"
#include "sim/chunk_sizes.hpp"
#include "sim/receivers.hpp"
#include "tests/schedule/requests.hpp"

namespace ringside {
namespace {

// What sim/ prices and what real/ does, which know nothing of each other.

/// A message: its round, its target, its source, its first chunk.
using Message = std::tuple<std::int64_t, Rank, Rank, std::int32_t>;
using Messages = std::set<Message>;

/// Which messages the executor starts to receive while transfers of an earlier round of theirs are under way.
Messages started_ahead(const Schedule& schedule, std::int64_t num_elements) {
  Messages ahead;
  for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
    std::vector<Step> started;
    const Program program = compile(schedule, {.num_elements = num_elements}, rank, Pacing::receive_ahead);
    for (const Step& step : program.steps) {
      if (step.kind == StepKind::receive) {
        started.push_back(step);
      } else if (step.kind == StepKind::wait) {
        const std::int64_t round = program.steps[static_cast<std::size_t>(step.transfer)].origin.round;
        for (const Step& receive : started) {
          if (receive.origin.round > round) {
            ahead.emplace(receive.origin.round, rank, receive.peer, receive.origin.first_chunk);
          }
        }
      }
    }
  }
  return ahead;
}

/// Which messages the simulation prices as such.
Messages priced_ahead(const Schedule& schedule, std::int64_t num_elements) {
  const auto bytes = num_elements * static_cast<std::int64_t>(size_of(DataType::float32));
  const ChunkSizes sizes({bytes}, DataType::float32, schedule.num_chunks());
  Receivers receivers(schedule.num_ranks(), sizes);
  Messages ahead;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    write_moves(schedule, sizes, round, moves);
    receivers.come_to(moves);
    for (const Move& move : moves) {
      if (receivers.of(move) == Receiver::ready) {
        ahead.emplace(round, move.target, move.source, move.first_chunk);
      }
    }
  }
  return ahead;
}

TEST(ReceiveAhead, IsPricedWhereItIsDone) {
  std::size_t messages = 0;
  for_each_schedule(requests_of_few_ranks(), [&](const Schedule& schedule) {
    for (const std::int64_t num_elements : {0, 1, 7, 100}) {
      const Messages done = started_ahead(schedule, num_elements);
      ASSERT_EQ(done, priced_ahead(schedule, num_elements))
          << label(schedule) << ", " << num_elements << " elements";
      messages += done.size();
    }
  });
  EXPECT_GT(messages, 0U);
}

TEST(ReceiveAhead, OfLongMessagesIsPricedWhereItIsDone) {
  // Two chunks of a ring that are on their way to be reduced take up to 64 MiB, or a little more.
  for (const std::int64_t chunk : {8 << 20, (8 << 20) + 64}) {
    const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 4});
    const Messages done = started_ahead(ring, 4 * chunk);
    EXPECT_EQ(done, priced_ahead(ring, 4 * chunk)) << chunk;
    // Of 5 rounds after the first, 2 more are to be reduced; what is copied needs no memory of its own.
    EXPECT_EQ(done.size(), 4U * (chunk == 8 << 20 ? 5 : 3)) << chunk;
  }
}

}  // namespace
}  // namespace ringside
