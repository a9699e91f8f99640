#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "requests.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/schedule.hpp"

/// Runs schedules on real numbers, in the most obvious way: a vector per rank and buffer, and for every move
/// of a round first a copy of what it reads.
namespace ringside {
namespace {

using Message = std::vector<std::int64_t>;

constexpr std::int64_t kUndefined = -1'000'000'000'000;

/// Small, and different at every rank and index.
std::int64_t input(Rank rank, std::int64_t index) { return 1 + 37 * rank + 10'007 * index; }

class Machine {
 public:
  Machine(const Schedule& schedule, std::int64_t num_elements)
      : schedule_(schedule),
        layout_(num_elements, schedule.num_chunks()),
        buffers_(static_cast<std::size_t>(schedule.num_ranks() * schedule.num_buffers()),
                 Message(static_cast<std::size_t>(num_elements), kUndefined)) {
    for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
      for (std::int32_t chunk = 0; chunk < schedule.num_chunks(); ++chunk) {
        const ElementRange range = layout_.elements(chunk);
        for (std::int64_t i = range.first;
             holds_at_start(schedule, rank, chunk) && i < range.first + range.count; ++i) {
          buffer(rank, 0)[static_cast<std::size_t>(i)] = input(rank, i);
        }
      }
    }
  }

  void run() {
    std::vector<Move> moves;
    for (std::int64_t round = 0; round < schedule_.num_rounds(); ++round) {
      schedule_.write_round(round, moves);
      std::vector<Message> arrivals;
      for (const Move& move : moves) {
        const ElementRange range = layout_.elements(move.first_chunk, move.num_chunks);
        const auto first = buffer(move.source, move.source_buffer).begin() + range.first;
        arrivals.emplace_back(first, first + range.count);
      }
      for (std::size_t i = 0; i < moves.size(); ++i) {
        const ElementRange range = layout_.elements(moves[i].first_chunk, moves[i].num_chunks);
        const auto target = buffer(moves[i].target, moves[i].target_buffer).begin() + range.first;
        const bool copies = moves[i].kind == MoveKind::copy;
        std::transform(
            arrivals[i].begin(), arrivals[i].end(), target, target,
            [copies](std::int64_t arrived, std::int64_t old) { return copies ? arrived : arrived + old; });
      }
    }
  }

  void expect_promised_result() {
    for (Rank rank = 0; rank < schedule_.num_ranks(); ++rank) {
      for (std::int32_t chunk = 0; chunk < schedule_.num_chunks(); ++chunk) {
        if (!promised_at_end(schedule_, rank, chunk)) {
          continue;
        }
        const ElementRange range = layout_.elements(chunk);
        for (std::int64_t i = range.first; i < range.first + range.count; ++i) {
          ASSERT_EQ(buffer(rank, 0)[static_cast<std::size_t>(i)], expected(chunk, i))
              << label(schedule_) << ", " << layout_.num_elements() << " elements, rank " << rank
              << ", element " << i;
        }
      }
    }
  }

 private:
  Message& buffer(Rank rank, int index) {
    return buffers_[static_cast<std::size_t>(rank * schedule_.num_buffers() + index)];
  }

  std::int64_t expected(std::int32_t chunk, std::int64_t index) const {
    std::int64_t sum = 0;
    for (Rank rank = 0; rank < schedule_.num_ranks(); ++rank) {
      sum += holds_at_start(schedule_, rank, chunk) ? input(rank, index) : 0;
    }
    return sum;
  }

  const Schedule& schedule_;
  ChunkLayout layout_;
  std::vector<Message> buffers_;
};

void expect_exact_result(const Schedule& schedule) {
  const std::int64_t n = schedule.num_ranks();
  for (const std::int64_t num_elements :
       {std::int64_t{0}, std::int64_t{1}, n - 1, 3 * n + 2, std::int64_t{64}}) {
    Machine machine(schedule, num_elements);
    machine.run();
    machine.expect_promised_result();
  }
}

std::vector<ScheduleRequest> at_most(int num_ranks, std::vector<ScheduleRequest> requests) {
  requests.erase(
      std::remove_if(requests.begin(), requests.end(),
                     [=](const ScheduleRequest& request) { return request.num_ranks > num_ranks; }),
      requests.end());
  return requests;
}

TEST(ExactSum, IsRightForEveryAlgorithmRanksAndElements) {
  for_each_schedule(at_most(17, plain_requests()), expect_exact_result);
}

TEST(ExactSum, IsRightForOtherRootsSegmentsAndNodes) {
  for_each_schedule(at_most(12, unusual_requests()), expect_exact_result);
}

TEST(ExactSum, IsRightInAnyOrderOfRanks) {
  for (const std::vector<Rank>& order : unusual_orders(7)) {
    for_each_schedule({{.num_ranks = 7}}, [&](const Schedule& plain) {
      if (!scattered(plain.algorithm().collective)) {
        expect_exact_result(Schedule(plain.algorithm(), {.num_ranks = 7, .root = 2, .order = order}));
      }
    });
  }
}

}  // namespace
}  // namespace ringside
