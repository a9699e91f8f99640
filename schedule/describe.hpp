#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/proof.hpp"
#include "schedule/schedule.hpp"

/// A schedule in words, for people who want to see who sends what to whom. Nothing is printed here. Rounds
/// count from 1 in sentences, and i stands for a rank.
namespace ringside {

/// `0 → 1: reduce chunk 3`, `2: reduce everything from scratch 1`.
std::string describe(const Schedule& schedule, const Move& move);

/// The moves of a round, one text each; a single one, `every i → i+1: reduce chunk i−1 (mod 4)`, where all
/// ranks do the same relative to themselves.
std::vector<std::string> describe_round(const Schedule& schedule, std::int64_t round);

/// The same for some moves of a round; `part` stands before their chunks, such as `segment 3 of `.
std::vector<std::string> describe_moves(const Schedule& schedule, std::vector<Move> moves,
                                        std::string_view part = {});

/// Bytes are multiples of the message size S, with chunks of equal length.
struct ScheduleTotals {
  std::int64_t num_rounds = 0;
  std::int64_t num_messages = 0;     ///< By all ranks together.
  double bytes_sent = 0;             ///< By all ranks together.
  double bytes_sent_by_busiest = 0;  ///< By the rank that sends most.
  double bytes_reduced_by_busiest = 0;
  CriticalPath critical_path;
};

/// Goes through all moves.
ScheduleTotals total(const Schedule& schedule);

/// What one should know of this schedule, a sentence each: what is wrong or redundant according to its proof,
/// and how its traffic compares with naive's and with the least possible. May be empty.
std::vector<std::string> findings(const Schedule& schedule, const Proof& proof);

}  // namespace ringside
