#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

/// Schedules that no algorithm would write, for tests that want to see them found out.
namespace ringside {

struct Script {
  Collective collective = Collective::all_reduce;
  std::int32_t num_chunks = 1;
  std::int32_t num_buffers = 1;
  std::vector<std::vector<Move>> rounds = {};
};

/// A schedule of exactly these rounds.
Schedule scripted_schedule(Script script, int num_ranks, Rank root = 0);

/// The rounds of a schedule, to be damaged.
Script script_of(const Schedule& schedule);

}  // namespace ringside
