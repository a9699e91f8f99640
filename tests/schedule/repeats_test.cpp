// What an algorithm says of rounds that repeat is checked against the rounds themselves.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/chunk_layout.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

namespace {

bool same_but_chunks(const Move& a, const Move& b) {
  return a.source == b.source && a.target == b.target && a.kind == b.kind && a.num_chunks == b.num_chunks;
}

/// Whether the move's reads and writes at `rank` touch what the other reads or writes there.
std::string touches(Rank rank, const Move& move, const Move& other) {
  std::string found;
  for (const bool reads : {true, false}) {
    for (const bool other_reads : {true, false}) {
      const bool both_there =
          (reads ? move.source : move.target) == rank && (other_reads ? other.source : other.target) == rank;
      const ChunkRange a = reads ? read_by(move) : written_by(move);
      const ChunkRange b = other_reads ? read_by(other) : written_by(other);
      found += both_there && a.touches(b) ? '1' : '0';
    }
  }
  return found;
}

std::vector<std::vector<Move>> rounds_of(const Schedule& schedule) {
  std::vector<std::vector<Move>> rounds(static_cast<std::size_t>(schedule.num_rounds()));
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    schedule.write_round(static_cast<std::int64_t>(round), rounds[round]);
  }
  return rounds;
}

/// Moves of two rounds touch the same memory where their images do, one period later.
bool touch_alike(const std::vector<std::vector<Move>>& rounds, std::size_t a, std::size_t b,
                 std::size_t period) {
  for (std::size_t i = 0; i < rounds[a].size(); ++i) {
    for (std::size_t j = 0; j < rounds[b].size(); ++j) {
      for (const Rank rank : {rounds[a][i].source, rounds[a][i].target}) {
        // Reductions are what later moves wait for.
        if (rounds[a][i].kind == MoveKind::reduce && rounds[a][i].target == rank &&
            touches(rank, rounds[a][i], rounds[b][j]) !=
                touches(rank, rounds[a + period][i], rounds[b + period][j])) {
          return false;
        }
      }
    }
  }
  return true;
}

bool sends_what_it_received(const std::vector<Move>& before, const std::vector<Move>& now) {
  return std::all_of(now.begin(), now.end(), [&](const Move& move) {
    return std::count_if(before.begin(), before.end(), [&](const Move& received) {
             return received.target == move.source && received.first_chunk == move.first_chunk &&
                    received.num_chunks == move.num_chunks;
           }) == 1;
  });
}

void check(const Schedule& schedule, const RepeatedRounds& line, const std::string& what) {
  const std::vector<std::vector<Move>> rounds = rounds_of(schedule);
  const auto period = static_cast<std::size_t>(line.period);
  const auto first = static_cast<std::size_t>(line.first);
  const auto last = static_cast<std::size_t>(line.end()) - period;
  for (std::size_t round = first; round < last; ++round) {
    ASSERT_TRUE(std::equal(rounds[round].begin(), rounds[round].end(), rounds[round + period].begin(),
                           rounds[round + period].end(), same_but_chunks))
        << what << ", round " << round;
    for (std::size_t later = round; later < last; ++later) {
      ASSERT_TRUE(touch_alike(rounds, round, later, period))
          << what << ", rounds " << round << " and " << later;
    }
    if (line.passes_on) {
      ASSERT_EQ(period, 1U) << what;
      ASSERT_TRUE(sends_what_it_received(rounds[round], rounds[round + 1])) << what << ", round " << round;
    }
  }
}

TEST(Repeats, AreWhatTheRoundsAre) {
  int lines_that_repeat = 0;
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const int ranks_per_node : {0, 2, 3, 4}) {
      for (int n = 1; n <= 9; ++n) {
        const ScheduleRequest request{
            .collective = algorithm.collective, .num_ranks = n, .ranks_per_node = ranks_per_node};
        if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
          continue;
        }
        const Schedule schedule(algorithm, request);
        std::int64_t next = 0;
        for (const RepeatedRounds& line : schedule.repeats()) {
          ASSERT_EQ(line.first, next) << algorithm.name;
          next = line.end();
          lines_that_repeat += line.times > 1 ? 1 : 0;
          check(schedule, line,
                fmt::format("{} {} on {} ranks, {} per node", name(algorithm.collective), algorithm.name, n,
                            ranks_per_node));
        }
        EXPECT_EQ(next, schedule.num_rounds()) << algorithm.name;
      }
    }
  }
  EXPECT_GT(lines_that_repeat, 100);
}

TEST(Repeats, OfARingAreItsTwoHalves) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 5});
  EXPECT_EQ(ring.repeats(), (std::vector<RepeatedRounds>{{.first = 0, .times = 4, .passes_on = true},
                                                         {.first = 4, .times = 4, .passes_on = true}}));
  const Schedule halving(*find_algorithm(Collective::all_reduce, "halving_doubling"), {.num_ranks = 4});
  EXPECT_EQ(halving.repeats().size(), 4U);
}

}  // namespace

}  // namespace ringside
