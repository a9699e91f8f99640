#pragma once

#include <cstddef>

#include "cli/reports/point_tables.hpp"
#include "study/plan/plan.hpp"

/// The tables of a plan: one kind of row, an offer, and the columns that each table asks for.
namespace ringside::cli {

/// The first `top` offers, where gradients are synchronised in buckets.
TextTable offers_table(const study::PlanStudy& study, std::size_t top);
/// What would be enough on the best offers with several GPUs; without rows where there are none.
TextTable thresholds_table(const study::PlanStudy& study);
/// What synchronising gradients takes, whatever is computed; without rows where no offer can be used.
TextTable gradients_table(const study::PlanStudy& study);
/// The first `top` layouts of a model that is spread, also those that cannot be.
TextTable layouts_table(const study::PlanStudy& study, std::size_t top);

}  // namespace ringside::cli
