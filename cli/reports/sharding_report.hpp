#pragma once

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "study/plan/plan.hpp"

namespace ringside::cli {

/// Memory, time, exposed communication and cost of every way to spread a language model, or the records for --format json.
void print_sharding(const study::ShardingStudy& study, int top, const CommonOptions& common);

/// Planned step times of published runs beside what was published, or records of them for --format json.
void print_runs(const std::vector<RunCheck>& checks, const CommonOptions& common);

}  // namespace ringside::cli
