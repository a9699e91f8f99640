#pragma once

#include <cstddef>

#include "cli/reports/point_tables.hpp"
#include "study/plan/plan.hpp"

/// The tables of a plan: one kind of row, an offer, and the columns that each table asks for.
namespace ringside::cli {

/// What would be enough on the best offers with several GPUs; without rows where there are none.
TextTable thresholds_table(const study::PlanStudy& study);
/// The first `top` offers, or layouts of a model that is spread, also those that cannot be. Where nothing is
/// computed, what synchronising gradients takes. Without rows where no offer can be used.
TextTable plan_table(const study::PlanStudy& study, std::size_t top);

}  // namespace ringside::cli
