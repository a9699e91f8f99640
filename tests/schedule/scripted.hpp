#pragma once

#include <functional>
#include <vector>

#include "schedule/schedule.hpp"

/// Schedules that no algorithm would write, for tests that want to see them found out.
namespace ringside {

struct Script {
  Collective collective = Collective::all_reduce;
  ScheduleShape shape = {};
  std::vector<std::vector<Move>> rounds = {};
};

/// A schedule of exactly these rounds. An algorithm is a row of plain functions, so the script stands beside
/// it: the one that was made last counts for all scripted schedules.
Schedule scripted_schedule(Script script, int num_ranks, Rank root = 0);

/// The rounds of a schedule, to be damaged.
Script script_of(const Schedule& schedule);

}  // namespace ringside
